#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/sha256.h"

namespace parley {
namespace {

// From FIPS 180-4's examples.
TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, GivesTheSameDigestAsBytes) {
  const auto digest = sha256("abc");
  EXPECT_EQ(digest[0], 0xBA);
  EXPECT_EQ(digest[1], 0x78);
  EXPECT_EQ(digest[31], 0xAD);
}

// Every length around the ends of blocks, in one piece and in several, as libsodium has it.
TEST(Sha256, IsTheSameByInstructionsAndByLibsodium) {
  std::string bytes;
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string_view all = bytes;
    for (const std::size_t cut : {std::size_t{0}, length / 3, length / 2, length}) {
      const std::string_view pieces[] = {all.substr(0, cut), "", all.substr(cut)};
      EXPECT_EQ(sha256_of(pieces), sha256_portable({&all, 1})) << length << " cut at " << cut;
    }
    bytes += static_cast<char>(length * 7);
  }
}

// XXH3 of the empty input is part of the format's definition.
TEST(Hash, MatchesXxh3OfTheEmptyInput) {
  EXPECT_EQ(hash64(""), 0x2D06800538D394C2);
  EXPECT_EQ(hash128(""), (Id128{0x99AA06D3014798D8, 0x6001C324468D497F}));
  EXPECT_EQ(hash64(std::string_view()), hash64(""));
}

TEST(Hash, DependsOnEveryByteOnTheLengthAndOnTheSeed) {
  std::set<std::uint64_t> small;
  std::set<Id128> large;
  std::size_t inputs = 0;
  for (std::size_t length = 1; length < 300; length += 7) {
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i <= length; ++i) {
      if (i < length) bytes[i] = 1;  // The last round hashes the unchanged bytes.
      small.insert(hash64(bytes));
      large.insert(hash128(bytes));
      ++inputs;
      if (i < length) bytes[i] = 0;
    }
    small.insert(hash64(bytes, 1));
    large.insert(hash128(bytes, 1));
    ++inputs;
    EXPECT_EQ(hash64(bytes), hash64(std::string(bytes), 0));
    EXPECT_EQ(hash128(bytes), hash128(std::string(bytes), 0));
  }
  EXPECT_EQ(small.size(), inputs);
  EXPECT_EQ(large.size(), inputs);
}

}  // namespace
}  // namespace parley
