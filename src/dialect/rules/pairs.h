// Who answers whom.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dialect/rules/report.h"

namespace parley::rules {

// The calls of one step, and which of them were answered. To begin another step, make another: clearing would
// cost what the largest step needed.
class Step {
 public:
  enum class Answer : std::uint8_t { Orphan, First, Again };

  // False, and nothing changes, if a call has this id already.
  bool ask(const Report::Mark& where, std::string_view id);
  // A call without an id, which nothing can name.
  void ask(const Report::Mark& where) { calls_.push_back({where}); }
  Answer answer(std::string_view id);

  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }
  // Adds a finding for every call without an answer but the first `spared` of them.
  void complain(Report& report, const Rule& rule, std::size_t spared = 0) const;

 private:
  struct Call {
    Report::Mark mark;
    bool is_answered = false;
  };

  std::vector<Call> calls_;
  std::unordered_map<std::string, std::size_t> by_id_;
};

struct PairRules {
  Rule orphan, missing, duplicate;
};

// Calls and results as OpenAI pairs them: the results of a step are messages of their own, right after the
// assistant's, before anything else.
class Pairs {
 public:
  Pairs(Report& report, const PairRules& rules) : report_(report), rules_(rules) {}

  // A message that is no result begins: every call before it must be answered by now.
  void other_message() { close(rules_.missing); }
  // A call of the message that has begun. Where ids are missing, numbers must do.
  void call(const Json& where, const std::optional<Text>& id);
  void result(const Json& where, const std::optional<Text>& id);
  // Nothing follows. Calls that nothing at all follows are pending.
  void finish() { close(has_results_ ? rules_.missing : kPendingCall); }

 private:
  void close(const Rule& rule);

  Report& report_;
  const PairRules& rules_;
  Step step_;
  std::size_t nameless_results_ = 0;
  bool has_nameless_calls_ = false;
  bool has_results_ = false;
};

}  // namespace parley::rules
