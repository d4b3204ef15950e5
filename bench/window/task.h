// What a memory costs: adding at any size, the next request, trimming, a million messages held, and how often
// the front of the window stays as a provider has cached it.
#pragma once

#include <string>
#include <vector>

#include "generate.h"
#include "harness.h"

namespace bench::window_task {

std::vector<Group> groups(const std::vector<Document>& documents);

// A memory of a million messages, read in documents of one or of a thousand.
struct Resident {
  std::size_t messages = 0;
  std::size_t together = 0;    // in one document
  std::size_t json_bytes = 0;  // a message
  double held_bytes = 0;       // a message, all included, by the growth of the heap
};
std::vector<Resident> measure_resident();

// A long run: many messages added to a memory with a window of 100, and what it holds after them.
struct LongRun {
  const char* memory = "";  // of which kind
  std::size_t added = 0;
  std::size_t json_bytes = 0;  // a message
  double held_mib = 0;         // all included, by the growth of the heap
};
std::vector<LongRun> measure_long_runs();

// A tool-calling loop in a window of 100 messages: how many requests begin with all of the one before.
struct Prefix {
  double low_water = 0;
  double unchanged = 0;  // share of the requests
};
std::vector<Prefix> measure_prefixes();

std::string to_markdown(const std::vector<Resident>& all);
std::string to_markdown(const std::vector<LongRun>& runs);
std::string to_markdown(const std::vector<Prefix>& prefixes);

std::vector<Contender> id_set(std::size_t messages);  // the rival: a bare set of ids

}  // namespace bench::window_task
