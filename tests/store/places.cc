#include "places.h"

namespace parley::store {
namespace {

class MemoryPlace final : public Place {
 public:
  explicit MemoryPlace(Store store) : store_(std::make_shared<Store>(std::move(store))) {}
  Result<std::shared_ptr<Store>> open() override { return store_; }

 private:
  std::shared_ptr<Store> store_;
};

Result<std::unique_ptr<Place>> memory_place() {
  PARLEY_TRY(Store store, open_store("memory:"));
  return std::make_unique<MemoryPlace>(std::move(store));
}

constexpr PlaceKind kKinds[] = {
    {"memory", memory_place},
};

}  // namespace

std::span<const PlaceKind> place_kinds() { return kKinds; }

}  // namespace parley::store
