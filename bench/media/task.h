// Base64 and images: 10 MB of base64 decoded, checked and encoded; images of just under 10 MiB judged by
// their headers, base64 included; the size of an image out of its base64.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"

namespace bench::media_task {

struct Document {
  std::string name;
  std::string text;   // base64
  std::string bytes;  // what it spells
};

// Only results larger than this are measured in fresh memory too: smaller ones never lie there for long.
inline constexpr std::size_t kLarge = 1'000'000;

// Contenders for base64, for the judgement of an image, and for its size.
std::vector<Contender> parley(const Document& document);
std::vector<Contender> table(const Document& document);
std::vector<Contender> parley_validate(const Document& document);
std::vector<Contender> parley_size(const Document& document);

// Images made here, and those that lie in `folder` as base64 (*.b64), if one is given.
std::vector<Group> groups(std::string_view folder);

}  // namespace bench::media_task
