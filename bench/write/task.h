// Writing conversations: back to the dialect they came from, to another one, and from plain texts.
//
//   write      the document again, unchanged and with one message more
//   gather     the same as a list of pieces for writev(2)
//   translate  OpenManus to AgentScope: the first time, and again with what was kept from the first
//   build      plain texts to one body: making the messages (which escapes), writing them, and both
//
// Rivals start from their own parsed value where the text is at hand, and from the plain texts for "build".
#pragma once

#include <vector>

#include "generate.h"
#include "harness.h"

namespace bench::write_task {

// What each contender brings to each task; empty where it has nothing of the kind.
std::vector<Contender> parley_write(const Document& document);
std::vector<Contender> parley_gather(const Document& document);
std::vector<Contender> parley_translate(const Document& document);
std::vector<Contender> parley_build(const Document& document);

std::vector<Contender> rapidjson_write(const Document& document);
std::vector<Contender> rapidjson_build(const Document& document);

std::vector<Contender> boost_json_write(const Document& document);
std::vector<Contender> boost_json_build(const Document& document);

std::vector<Contender> nlohmann_write(const Document& document);
std::vector<Contender> nlohmann_translate(const Document& document);
std::vector<Contender> nlohmann_build(const Document& document);

// The bytes of the document in AgentScope's dialect.
std::size_t translated_size(const Document& document);

std::vector<Group> groups(const std::vector<Document>& documents);

}  // namespace bench::write_task
