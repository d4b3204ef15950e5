// Converting: a request that was read in one provider's dialect is written in another's.
//
// The request is the conversation of a document (1,000 messages: calls with arguments that hold white space
// and escapes, results of code, JSON and terminal output, images in "mixed" only) with a model, a limit and
// the tools it calls. It comes from OpenAI's dialect, and from Anthropic's where OpenAI's is the target.
//
//   first time            nothing is kept with the messages
//   one message appended  written before, then a message appended and all of it written again
//
// Rivals start from their own parsed value, build the value of the other dialect and dump it; they keep
// nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate.h"
#include "harness.h"

namespace bench::convert_task {

struct Conversion {
  std::string_view from, to;  // names of dialects
  std::string_view document;
  std::string source;

  std::string name() const {
    return std::string(from) + " to " + std::string(to) + ", " + std::string(document);
  }
};

// The document as a request in a provider's dialect.
std::string to_request(const Document& document, std::string_view dialect);
std::size_t converted_size(const Conversion& conversion);

std::vector<Contender> parley(const Conversion& conversion);
std::vector<Contender> nlohmann(const Conversion& conversion);  // three of the conversions

std::vector<Group> groups(const std::vector<Document>& documents);

// The groups there are, for the goals.
std::vector<std::string> names();

}  // namespace bench::convert_task
