// The corpus against what tiktoken made of it: counts and a hash of all ids, in golden.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/hash.h"
#include "corpus.h"
#include "parley/token/encoding.h"

namespace parley::test {
namespace {

// XXH3 of the ids as four bytes each, the lowest first.
std::uint64_t hash_of(const std::vector<std::uint32_t>& ids) {
  std::string bytes;
  for (const std::uint32_t id : ids) {
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift);
  }
  return hash64(bytes);
}

// E1, E2. A line: section, seed, bytes, encoding, count, hash.
TEST(TokenGolden, EncodesAsTiktokenDoes) {
  std::ifstream file(PARLEY_SOURCE_DIR "/tests/token/golden.txt");
  std::size_t cases = 0;
  std::string text, text_name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string section, encoding_name, hash;
    std::uint64_t seed = 0;
    std::size_t bytes = 0, count = 0;
    ASSERT_TRUE(words >> section >> seed >> bytes >> encoding_name >> count >> hash) << line;
    if (text_name != section) {
      text = section == "every_scalar" ? every_scalar() : corpus_text(section, seed, bytes);
      text_name = section;
    }
    ASSERT_FALSE(text.empty()) << line;
    const Encoding encoding = Encoding::named(encoding_name).value();
    const std::vector<std::uint32_t> ids = encoding.encode(text);
    EXPECT_EQ(ids.size(), count) << line;
    EXPECT_EQ(encoding.count(text), count) << line;
    EXPECT_EQ(hash_of(ids), std::stoull(hash, nullptr, 16)) << line;
    ++cases;
  }
  EXPECT_EQ(cases, (corpus_sections().size() + 1) * 2);
}

}  // namespace
}  // namespace parley::test
