#include "dialect/anthropic/thinking_limits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dialect/core/patch.h"
#include "dialect/format.h"

namespace parley::dialect {
namespace {

constexpr std::int64_t kLeastBudget = 1024;

class Thinker {
 public:
  Thinker(Json envelope, const ThinkingPlaces& places, std::vector<Note>& notes)
      : envelope_(std::move(envelope)), places_(places), notes_(notes) {}

  Json run() && {
    const Json type = at(std::string(places_.thinking) + "/type");
    const bool is_enabled = type == Json::string("enabled");
    if (!is_enabled && type != Json::string("adaptive")) return std::move(envelope_);
    if (is_enabled) budget();
    drop_unless(places_.temperature, [](double value) { return value == 1; });
    drop_unless(places_.top_p, [](double value) { return value >= 0.95; });
    if (!at(places_.top_k).is_null()) drop(places_.top_k);
    return std::move(envelope_);
  }

 private:
  Json at(std::string_view pointer) const { return envelope_.at(pointer).value_or(Json()); }

  void note(std::string_view action, Text detail) {
    notes_.push_back({"setting_clamped", Severity::Minor, std::nullopt, std::nullopt,
                      to_string(places_.dialect), action, std::move(detail)});
  }

  void budget() {
    const std::string place = std::string(places_.thinking) + "/budget_tokens";
    const auto asked = at(place).as_int64();
    const std::int64_t budget = std::clamp(asked.value_or(kLeastBudget), kLeastBudget, kMostBudget);
    if (asked != budget) {
      note("changed", said("thinking needs a budget of 1024 tokens or more; it is written as " +
                           std::to_string(budget)));
      envelope_ = with_value(envelope_, place, Json::number(budget));
    }
    // With tools the budget may be that of several answers (interleaved thinking).
    const auto most = at(places_.max_tokens).as_int64();
    if (!most || *most > budget || !at(places_.tools).elements().empty()) return;
    const std::int64_t raised = budget + std::max<std::int64_t>(*most, 1);
    note("changed",
         said("the limit of " + std::to_string(*most) +
              " tokens must be above the budget for thinking; it is written as " + std::to_string(raised)));
    envelope_ = with_value(envelope_, places_.max_tokens, Json::number(raised));
  }

  template <typename IsTaken>
  void drop_unless(std::string_view place, IsTaken is_taken) {
    const auto value = at(place).as_double();
    if (value && !is_taken(*value)) drop(place);
  }

  void drop(std::string_view place) {
    const std::string_view name = place.substr(place.rfind('/') + 1);
    note("dropped", said("while the model thinks, the target refuses " + std::string(name) + " " +
                         at(place).text().str() + "; it is left out"));
    envelope_ = with_value(envelope_, place, std::nullopt);
  }

  Json envelope_;
  const ThinkingPlaces& places_;
  std::vector<Note>& notes_;
};

}  // namespace

Json within_thinking(const Json& request, const ThinkingPlaces& places, std::vector<Note>& notes) {
  return Thinker(request, places, notes).run();
}

}  // namespace parley::dialect
