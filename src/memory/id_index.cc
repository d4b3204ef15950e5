#include "memory/id_index.h"

#include <algorithm>
#include <atomic>

namespace parley::memory {
namespace {

std::uint64_t next_owner() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

IdIndex::IdIndex() : owner_(next_owner()), root_(std::make_shared<Node>(owner_)) {}

IdIndex::IdIndex(const IdIndex& other) : owner_(next_owner()), root_(other.root_) {
  other.owner_ = next_owner();
}

IdIndex& IdIndex::operator=(const IdIndex& other) {
  owner_ = next_owner();
  other.owner_ = next_owner();
  root_ = other.root_;
  return *this;
}

IdIndex::Node& IdIndex::own(std::shared_ptr<Node>& node) const {
  if (node->owner != owner_) node = std::make_shared<Node>(*node, owner_);
  return *node;
}

IdIndex::Node& IdIndex::own_bucket(std::uint64_t hash, int& depth) {
  Node* node = &own(root_);
  for (depth = 0; node->children; ++depth)
    node = &own((*node->children)[hash >> (kBits * depth) & (kWays - 1)]);
  return *node;
}

void IdIndex::split(Node& bucket, int depth) const {
  auto children = std::make_unique<Node::Children>();
  for (std::shared_ptr<Node>& child : *children) child = std::make_shared<Node>(owner_);
  for (const Item& item : bucket.items) {
    (*children)[item.hash >> (kBits * depth) & (kWays - 1)]->items.push_back(item);
  }
  bucket.items = {};
  bucket.children = std::move(children);
}

void IdIndex::insert(std::uint64_t hash, Position position) {
  int depth = 0;
  Node* bucket = &own_bucket(hash, depth);
  // Items of one hash stay together, however many they are.
  constexpr int kDeepest = 60 / kBits;
  if (bucket->items.size() >= kMostItems && depth < kDeepest) {
    split(*bucket, depth);
    bucket = &own_bucket(hash, depth);
  }
  bucket->items.push_back({hash, position});
}

void IdIndex::erase(std::uint64_t hash, Position position) {
  int depth = 0;
  std::vector<Item>& items = own_bucket(hash, depth).items;
  items.erase(std::find_if(items.begin(), items.end(),
                           [&](const Item& item) { return item.hash == hash && item.position == position; }));
}

}  // namespace parley::memory
