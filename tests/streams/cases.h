// The cases in tests/streams/cases: README.md there describes their format.
#pragma once

#include <string>
#include <vector>

#include "parley/dialect/dialect.h"

namespace parley::test {

struct StreamCase {
  std::string place;  // file:line
  Dialect dialect = Dialect::OpenAI;
  std::string bytes;     // what the server sends
  std::string expected;  // events, "----", message
};

std::vector<StreamCase> stream_cases();

}  // namespace parley::test
