// Decoding a stream: bytes as a connection delivers them, to the text, the call and the usage of the answer.
// Rivals do the same: they cut events, parse each chunk, and append what it says.
#pragma once

#include <string>
#include <vector>

#include "harness.h"

namespace bench::stream_task {

struct Stream {
  std::string name;
  std::string bytes;
  std::size_t piece = 0;  // how many bytes come at once
};

std::vector<Contender> parley(const Stream& stream);
std::vector<Contender> nlohmann(const Stream& stream);

// What every contender gives back: the bytes of text and of arguments it has put together.
std::vector<Group> groups();

}  // namespace bench::stream_task
