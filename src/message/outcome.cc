#include "parley/message/outcome.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace parley {
namespace {

constexpr std::array<std::string_view, 11> kFinishes = {
    "",         "stop",    "stop_sequence", "tool_calls",     "length", "context_full",
    "filtered", "refused", "paused",        "malformed_call", "error"};

}  // namespace

std::string_view to_string(Finish finish) { return kFinishes[static_cast<std::size_t>(finish)]; }

std::optional<Finish> finish_named(std::string_view name) {
  const auto found = std::find(kFinishes.begin(), kFinishes.end(), name);
  if (found == kFinishes.end()) return std::nullopt;
  return static_cast<Finish>(found - kFinishes.begin());
}

}  // namespace parley
