#include "parley/store/record.h"

#include <array>

namespace parley::store {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"message", "summary", "change"};
constexpr std::array<std::string_view, 3> kDurabilities = {"none", "normal", "full"};
constexpr std::array<std::string_view, 3> kCircuits = {"closed", "open", "half_open"};

}  // namespace

std::string_view to_string(RecordKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(Durability durability) {
  return kDurabilities[static_cast<std::size_t>(durability)];
}
std::string_view to_string(Circuit circuit) { return kCircuits[static_cast<std::size_t>(circuit)]; }

std::optional<RecordKind> record_kind_of(std::string_view name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<RecordKind>(i);
  }
  return {};
}

}  // namespace parley::store
