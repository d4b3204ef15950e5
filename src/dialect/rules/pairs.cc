#include "dialect/rules/pairs.h"

namespace parley::rules {

bool Step::ask(const Report::Mark& where, std::string_view id) {
  if (!by_id_.try_emplace(std::string(id), calls_.size()).second) return false;
  ask(where);
  return true;
}

Step::Answer Step::answer(std::string_view id) {
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return Answer::Orphan;
  Call& call = calls_[found->second];
  const Answer answer = call.is_answered ? Answer::Again : Answer::First;
  call.is_answered = true;
  return answer;
}

void Step::complain(Report& report, const Rule& rule, std::size_t spared) const {
  for (const Call& call : calls_) {
    if (call.is_answered) continue;
    if (spared != 0) {
      --spared;
    } else {
      report.add(rule, call.mark);
    }
  }
}

void Pairs::call(const Json& where, const std::optional<Text>& id) {
  has_nameless_calls_ = has_nameless_calls_ || !id;
  if (!id) {
    step_.ask(report_.mark(where));
  } else {
    step_.ask(report_.mark(where), *id);  // One result answers all calls of an id.
  }
}

void Pairs::result(const Json& where, const std::optional<Text>& id) {
  has_results_ = true;
  if (!id || has_nameless_calls_) {
    if (++nameless_results_ > step_.size()) report_.add(rules_.orphan, where);
    return;
  }
  switch (step_.answer(*id)) {
    case Step::Answer::Orphan:
      report_.add(rules_.orphan, where);
      break;
    case Step::Answer::Again:
      report_.add(rules_.duplicate, where);
      break;
    case Step::Answer::First:
      break;
  }
}

void Pairs::close(const Rule& rule) {
  step_.complain(report_, rule, nameless_results_);
  step_ = {};
  nameless_results_ = 0;
  has_nameless_calls_ = has_results_ = false;
}

}  // namespace parley::rules
