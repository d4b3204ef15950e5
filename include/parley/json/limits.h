// The limits every reader of JSON obeys. A plain value.
#pragma once

#include <cstddef>

namespace parley::json {

struct Limits {
  std::size_t bytes = std::size_t{64} * 1024 * 1024;   // a document; never more than 4 GiB - 1
  std::size_t string = std::size_t{32} * 1024 * 1024;  // one string, as spelled between its quotes
  std::size_t depth = 512;                             // nested arrays and objects
};

}  // namespace parley::json
