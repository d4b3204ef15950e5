// The names of the states and rules of turns.
#include "parley/server/turn.h"

#include <charconv>

namespace parley::server {
namespace {

constexpr std::string_view kStatuses[] = {"queued",     "in_progress", "completed",
                                          "incomplete", "failed",      "cancelled"};
constexpr std::string_view kOnBusy[] = {"queue", "reject", "interrupt", "fork"};

template <typename Enum, std::size_t N>
std::optional<Enum> named(const std::string_view (&names)[N], std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(TurnStatus status) { return kStatuses[static_cast<std::size_t>(status)]; }
std::optional<TurnStatus> turn_status_named(std::string_view name) {
  return named<TurnStatus>(kStatuses, name);
}
std::optional<OnBusy> on_busy_named(std::string_view name) { return named<OnBusy>(kOnBusy, name); }

std::optional<Disconnect> disconnect_named(std::string_view name) {
  using Rule = Disconnect::Rule;
  if (name == "continue") return Disconnect{.rule = Rule::Continue};
  if (name == "cancel") return Disconnect{.rule = Rule::Cancel};
  constexpr std::string_view kGrace = "grace:";
  if (name == "grace") return Disconnect{};
  if (!name.starts_with(kGrace) || !name.ends_with('s')) return std::nullopt;
  const std::string_view number = name.substr(kGrace.size(), name.size() - kGrace.size() - 1);
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  constexpr std::uint32_t kLongest = 24 * 60 * 60;
  if (error != std::errc() || end != number.data() + number.size() || seconds > kLongest) return std::nullopt;
  return Disconnect{.rule = Rule::Grace, .grace = std::chrono::seconds(seconds)};
}

}  // namespace parley::server
