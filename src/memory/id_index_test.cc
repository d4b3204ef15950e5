#include "memory/id_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace parley::memory {
namespace {

std::set<Position> found(const IdIndex& index, std::uint64_t hash) {
  std::set<Position> out;
  index.find(hash, [&](Position position) {
    out.insert(position);
    return true;
  });
  return out;
}

// Compared with a map, with copies that diverge; few hashes, so that many share theirs.
TEST(IdIndex, AgreesWithAMap) {
  struct Pair {
    IdIndex index;
    std::map<std::uint64_t, std::set<Position>> plain;
  };
  std::mt19937_64 random(7);
  std::vector<Pair> pairs(1);
  const auto any_hash = [&] {
    return random() % 3 == 0 ? random() % 50 : (random() % 2000) * 0x9E3779B97F4A7C15U;
  };
  for (int i = 0; i < 40'000; ++i) {
    Pair& pair = pairs[random() % pairs.size()];
    const std::uint64_t hash = any_hash();
    if (random() % 10 != 0) {
      const auto position = static_cast<Position>(i);
      pair.index.insert(hash, position);
      pair.plain[hash].insert(position);
    } else if (!pair.plain[hash].empty()) {  // the same again changes nothing that can be seen
      pair.index.insert(hash, *pair.plain[hash].rbegin());
    }
    ASSERT_EQ(found(pair.index, hash), pair.plain[hash]);
    if (i % 40 == 0) {
      Pair copy = pair;
      if (pairs.size() < 20) {
        pairs.push_back(std::move(copy));
      } else {
        pairs[random() % pairs.size()] = std::move(copy);
      }
    }
  }
  for (Pair& pair : pairs) {
    for (const auto& [hash, positions] : pair.plain) ASSERT_EQ(found(pair.index, hash), positions);
  }
}

TEST(IdIndex, StopsWhenTheVisitorReturnsFalse) {
  IdIndex index;
  for (Position i = 0; i < 100; ++i)
    index.insert(5, i);  // more than a bucket holds, and they cannot be parted
  EXPECT_EQ(found(index, 5).size(), 100U);
  int visited = 0;
  index.find(5, [&](Position) { return ++visited < 3; });
  EXPECT_EQ(visited, 3);
}

}  // namespace
}  // namespace parley::memory
