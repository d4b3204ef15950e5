// Counting the tokens of 1 MiB of English, Chinese and code, in both encodings. tiktoken.sh has the same
// texts counted by tiktoken and prints the ratios.
#pragma once

#include <string>
#include <vector>

#include "harness.h"
#include "parley/token/encoding.h"

namespace bench::tokens_task {

struct Text {
  std::string name;
  std::string bytes;
};

std::vector<Contender> parley(const Text& text, const ::parley::Encoding& encoding);

std::vector<Group> groups();

}  // namespace bench::tokens_task
