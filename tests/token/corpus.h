// Texts to count, the same for the same seed on every machine: prose, code, all scripts, emoji, white space,
// words broken in odd places, every code point. All are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parley::test {

struct CorpusSection {
  const char* name;
  std::string (*make)(std::uint64_t seed, std::size_t bytes);  // at least so many bytes
};

const std::vector<CorpusSection>& corpus_sections();

// The text of one section.
std::string corpus_text(std::string_view section, std::uint64_t seed, std::size_t bytes);

// Every scalar value once, in order.
std::string every_scalar();

}  // namespace parley::test
