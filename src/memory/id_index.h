// IdIndex finds positions by the hash of an id; its copies cost the same at any size.
//
// A trie of eight-way nodes over the bits of the hash, with buckets at its ends. Nodes are shared between
// copies: each belongs to the index that made it, which alone may change it, and a copy makes both sides
// strangers to what they share.
//
// One thread at a time; copies may be used by other threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/log.h"

namespace parley::memory {

class IdIndex {
 public:
  IdIndex();
  IdIndex(const IdIndex& other);
  IdIndex& operator=(const IdIndex& other);

  void insert(std::uint64_t hash, Position position);
  // Takes one position away again. REQUIRES: it was inserted with this hash.
  void erase(std::uint64_t hash, Position position);

  // Calls visit(position) for everything inserted with this hash, until it returns false.
  template <typename Visit>
  void find(std::uint64_t hash, Visit&& visit) const {
    const Node* node = root_.get();
    for (std::uint64_t rest = hash; node->children; rest >>= kBits)
      node = (*node->children)[rest % kWays].get();
    for (const Item& item : node->items) {
      if (item.hash == hash && !visit(item.position)) return;
    }
  }

 private:
  static constexpr int kBits = 3;
  static constexpr std::size_t kWays = 1 << kBits;
  static constexpr std::size_t kMostItems = 24;

  struct Item {
    std::uint64_t hash;
    Position position;
  };
  struct Node {
    explicit Node(std::uint64_t the_owner) : owner(the_owner) {}
    Node(const Node& other, std::uint64_t the_owner)
        : owner(the_owner),
          items(other.items),
          children(other.children ? std::make_unique<Children>(*other.children) : nullptr) {}

    using Children = std::array<std::shared_ptr<Node>, kWays>;
    std::uint64_t owner;
    std::vector<Item> items;             // of a bucket
    std::unique_ptr<Children> children;  // of any other node
  };

  // The bucket of a hash, `depth` nodes below the root, with all on the way to it made this index's own.
  Node& own_bucket(std::uint64_t hash, int& depth);
  Node& own(std::shared_ptr<Node>& node) const;
  void split(Node& bucket, int depth) const;

  mutable std::uint64_t owner_;
  std::shared_ptr<Node> root_;
};

}  // namespace parley::memory
