#include "parley/agent/event.h"

#include <array>

namespace parley {

std::string_view to_string(RunEnd end) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"answered", "terminated", "max_steps", "stuck", "cancelled", "failed"});
  return kNames[static_cast<std::size_t>(end)];
}

}  // namespace parley
