#include "history.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "parley/memory/memory.h"
#include "parley/message/validate.h"

namespace parley::store {
namespace {

constexpr int kMostOfOneInvariant = 3;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Value {
  std::string_view batch;
  std::size_t index = 0, count = 0;
};

template <typename T>
bool read_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Value> read_value(std::string_view text) {
  const std::size_t second = text.rfind('/');
  if (second == std::string_view::npos || second == 0) return {};
  const std::size_t first = text.rfind('/', second - 1);
  if (first == std::string_view::npos) return {};
  Value out{text.substr(0, first), 0, 0};
  if (!read_number(text.substr(first + 1, second - first - 1), out.index)) return {};
  if (!read_number(text.substr(second + 1), out.count) || out.index >= out.count) return {};
  return out;
}

// All that is known of one batch of a session.
struct BatchStory {
  std::size_t count = 0;
  std::int64_t first_sent = kNever;
  std::int64_t first_acknowledged = kNever;
  bool has_hope = false;  // some try did not fail
  std::size_t told_new = 0;
  std::optional<Position> place = {};  // of its first record, as read
  std::vector<const Operation*> appends = {}, resolves = {};
};

// Checks one session. The steps of check() build on each other: reads give the log, the log gives batches
// their places.
class SessionChecker {
 public:
  SessionChecker(std::string session, std::vector<Violation>& out)
      : session_(std::move(session)), out_(out) {}

  void add(const Operation& op) {
    if (op.kind == Operation::Kind::Read) {
      if (op.outcome == Operation::Outcome::Ok) reads_.push_back(&op);
      return;
    }
    BatchStory& story = batches_[op.batch];
    if (op.kind == Operation::Kind::Resolve) {
      if (op.outcome == Operation::Outcome::Ok) story.resolves.push_back(&op);
      return;
    }
    story.appends.push_back(&op);
    story.count = op.count;
    story.first_sent = std::min(story.first_sent, op.invoked_ns);
    story.has_hope |= op.outcome != Operation::Outcome::Failed;
    if (op.outcome != Operation::Outcome::Ok) return;
    story.first_acknowledged = std::min(story.first_acknowledged, op.completed_ns);
    story.told_new += op.is_new ? 1 : 0;
  }

  void check() {
    learn_log();
    check_records();
    check_batches();
    check_read_sizes();
    check_writers();
    check_real_time();
    for (const auto& [batch, story] : batches_) check_resolves(batch, story);
    check_views();
  }

 private:
  void violated(int invariant, const std::string& what) {
    if (++counts_[static_cast<std::size_t>(invariant)] > kMostOfOneInvariant) return;
    out_.push_back({invariant, "session " + session_ + ": " + what});
  }

  // What each position holds: every read must agree (6).
  void learn_log() {
    for (const Operation* read : reads_) {
      if (read->first + read->values.size() > std::max(read->size, read->first)) {
        violated(5, "a read returned records after the size " + std::to_string(read->size));
      }
      for (std::size_t i = 0; i < read->values.size(); ++i) {
        const Position at = read->first + i;
        if (at >= log_.size()) log_.resize(at + 1);
        if (log_[at].empty()) log_[at] = read->values[i];
        if (log_[at] != read->values[i]) {
          violated(6, "position " + std::to_string(at) + " was " + log_[at] + " and " + read->values[i]);
        }
      }
    }
  }

  void check_records() {
    std::set<std::string_view> seen;
    for (Position at = 0; at < log_.size(); ++at) {
      const std::string& text = log_[at];
      const std::string where = text + " at position " + std::to_string(at);
      if (text.empty()) {
        violated(5, "no read returned position " + std::to_string(at));
        continue;
      }
      const std::optional<Value> value = read_value(text);
      const auto batch = value ? batches_.find(std::string(value->batch)) : batches_.end();
      if (batch == batches_.end() || batch->second.appends.empty() || batch->second.count != value->count) {
        violated(2, where + " was never sent");
        continue;
      }
      if (!batch->second.has_hope) violated(2, where + " is of a batch that failed");
      if (!seen.insert(text).second) violated(4, where + " was there before");
      if (value->index == 0) {
        if (!batch->second.place) batch->second.place = at;
      } else if (at == 0 || log_[at - 1] != value_of(value->batch, value->index - 1, value->count)) {
        violated(3, where + " does not follow its batch");
      }
      if (!ends_batch(at) && at + 1 == log_.size()) violated(3, where + " ends the session");
    }
  }

  bool ends_batch(Position at) const {
    const std::optional<Value> value = read_value(log_[at]);
    return !value || value->index + 1 == value->count;
  }

  void check_batches() {
    for (const auto& [batch, story] : batches_) {
      if (story.told_new > 1) violated(4, batch + " was new to more than one");
      if (story.first_acknowledged != kNever && !story.place) violated(1, batch + " is nowhere");
      for (const Operation* append : story.appends) {
        if (append->outcome == Operation::Outcome::Ok && story.place && *story.place != append->first) {
          violated(9, batch + " is at " + std::to_string(*story.place) + ", not at " +
                          std::to_string(append->first));
        }
      }
    }
  }

  // A read has all that was acknowledged (1) or read (6) before it began, and ends after a batch (3).
  void check_read_sizes() {
    struct Known {
      std::int64_t since;
      Position size;
      int invariant;
    };
    std::vector<Known> known;
    for (const auto& [batch, story] : batches_) {
      for (const Operation* append : story.appends) {
        if (append->outcome != Operation::Outcome::Ok) continue;
        known.push_back({append->completed_ns, append->first + append->count, 1});
      }
    }
    for (const Operation* read : reads_) known.push_back({read->completed_ns, read->size, 6});
    std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) { return a.since < b.since; });
    std::vector<const Operation*> reads = reads_;
    std::sort(reads.begin(), reads.end(),
              [](const Operation* a, const Operation* b) { return a->invoked_ns < b->invoked_ns; });
    Known most{0, 0, 1};
    std::size_t next = 0;
    for (const Operation* read : reads) {
      for (; next < known.size() && known[next].since < read->invoked_ns; ++next) {
        if (known[next].size > most.size) most = known[next];
      }
      if (read->size < most.size) {
        violated(most.invariant, "a read saw " + std::to_string(read->size) + " records when there were " +
                                     std::to_string(most.size));
      }
      if (read->size > 0 && read->size <= log_.size() && !ends_batch(read->size - 1)) {
        violated(3, "a read of size " + std::to_string(read->size) + " ended inside a batch");
      }
    }
  }

  void check_writers() {
    std::map<std::string_view, std::vector<const Operation*>> writers;
    for (const auto& [batch, story] : batches_) {
      for (const Operation* append : story.appends) {
        if (append->outcome == Operation::Outcome::Ok && append->is_new)
          writers[append->writer].push_back(append);
      }
    }
    for (auto& [writer, appends] : writers) {
      std::sort(appends.begin(), appends.end(),
                [](const Operation* a, const Operation* b) { return a->invoked_ns < b->invoked_ns; });
      for (std::size_t i = 1; i < appends.size(); ++i) {
        const std::optional<Position> before = batches_.at(appends[i - 1]->batch).place;
        const std::optional<Position> after = batches_.at(appends[i]->batch).place;
        if (before && after && *before > *after) {
          violated(7, appends[i]->batch + " came before " + appends[i - 1]->batch + " of the same writer");
        }
      }
    }
  }

  void check_real_time() {
    std::vector<const BatchStory*> by_sent, by_acknowledged;
    for (const auto& [batch, story] : batches_) {
      if (!story.place) continue;
      by_sent.push_back(&story);
      if (story.first_acknowledged != kNever) by_acknowledged.push_back(&story);
    }
    std::sort(by_sent.begin(), by_sent.end(),
              [](const BatchStory* a, const BatchStory* b) { return a->first_sent < b->first_sent; });
    std::sort(by_acknowledged.begin(), by_acknowledged.end(), [](const BatchStory* a, const BatchStory* b) {
      return a->first_acknowledged < b->first_acknowledged;
    });
    const BatchStory* latest = nullptr;
    std::size_t next = 0;
    for (const BatchStory* story : by_sent) {
      for (; next < by_acknowledged.size() && by_acknowledged[next]->first_acknowledged < story->first_sent;
           ++next) {
        if (latest == nullptr || *by_acknowledged[next]->place > *latest->place)
          latest = by_acknowledged[next];
      }
      if (latest != nullptr && *latest->place > *story->place) {
        violated(8, story->appends[0]->batch + " came before " + latest->appends[0]->batch +
                        ", which was acknowledged before it was sent");
      }
    }
  }

  // True if the batch was on its way when `answer` was asked for, or was sent later. An append that never
  // came back is over by then: that is what resolve is for.
  static bool may_come_after(const BatchStory& story, const Operation& answer) {
    return std::any_of(story.appends.begin(), story.appends.end(), [&](const Operation* append) {
      const bool was_on_its_way = append->completed_ns != kNever && append->completed_ns > answer.invoked_ns;
      return append->invoked_ns > answer.invoked_ns || was_on_its_way;
    });
  }

  void check_resolves(const std::string& batch, const BatchStory& story) {
    std::int64_t first_found = story.first_acknowledged;  // from then on it is known to be there
    for (const Operation* answer : story.resolves) {
      if (!answer->is_found) continue;
      first_found = std::min(first_found, answer->completed_ns);
      if (story.place != answer->first) violated(10, batch + " was resolved where it is not");
    }
    for (const Operation* answer : story.resolves) {
      if (answer->is_found) continue;
      if (first_found < answer->invoked_ns)
        violated(10, batch + " was known to be there, then resolved to nothing");
      if (story.place && !may_come_after(story, *answer))
        violated(10, batch + " was resolved to nothing, and is there");
    }
  }

  // What a model would be shown after each read. Reads agree, so one memory that grows has them all.
  void check_views() {
    std::set<Position> sizes;
    for (const Operation* read : reads_) sizes.insert(read->size);
    MemoryOptions options;
    options.budget.messages = 8;
    Result<Memory> memory = Memory::create(options);
    for (Position at = 0; memory && at < log_.size(); ++at) {
      const std::optional<Value> value = read_value(log_[at]);
      if (!value) continue;
      if (const auto added = memory->add(message_of(*value)); !added) {
        violated(11, "a memory refused " + log_[at] + ": " + added.error().message);
        return;
      }
      if (!sizes.contains(at + 1)) continue;
      const std::vector<Message> window = memory->window();
      const std::vector<Finding> findings = validate_history(window);
      if (!findings.empty())
        violated(11, "the view at size " + std::to_string(at + 1) + ": " + findings[0].sentence);
    }
  }

  // The last two records of a batch are a call and its result.
  static Message message_of(const Value& value) {
    const std::string id = std::string(value.batch);
    if (value.count == 1 || value.index + 2 < value.count) return Message::user_message(Text(id));
    if (value.index + 1 == value.count) {
      return Message::tool_message(Text("done"), Text("work"), Text(id));
    }
    const ToolCall call{.id = Text(id), .function = {Text("work"), Text("{}")}};
    return Message::from_tool_calls({&call, 1});
  }

  std::string session_;
  std::vector<Violation>& out_;
  std::array<int, 12> counts_ = {};
  std::unordered_map<std::string, BatchStory> batches_;
  std::vector<const Operation*> reads_;
  std::vector<std::string> log_;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) out.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

using Words = std::span<const std::string_view>;

bool read_invoke(Words words, Operation& op) {
  if (words.size() < 3 || !read_number(words[0], op.invoked_ns)) return false;
  op.session = words[2];
  if (words[1] == "append") {
    op.kind = Operation::Kind::Append;
    if (words.size() != 5 || !read_number(words[4], op.count)) return false;
    op.batch = words[3];
    return true;
  }
  if (words.size() != 4) return false;
  if (words[1] == "read") {
    op.kind = Operation::Kind::Read;
    return read_number(words[3], op.first);
  }
  op.kind = Operation::Kind::Resolve;
  op.batch = words[3];
  return words[1] == "resolve";
}

bool read_ok(Words words, Operation& op) {
  if (words.size() < 2 || !read_number(words[0], op.completed_ns)) return false;
  op.outcome = Operation::Outcome::Ok;
  switch (op.kind) {
    case Operation::Kind::Append:
      op.is_new = words.size() == 3 && words[2] == "new";
      return words.size() == 3 && read_number(words[1], op.first);
    case Operation::Kind::Read:
      op.values.assign(words.begin() + 2, words.end());
      return read_number(words[1], op.size);
    case Operation::Kind::Resolve:
      op.is_found = words[1] != "none";
      return words.size() == 2 && (!op.is_found || read_number(words[1], op.first));
  }
  return false;
}

bool read_line(std::string_view line, std::vector<Operation>& out,
               std::unordered_map<std::string_view, std::size_t>& open) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 3) return false;
  const Words rest = Words(words).subspan(2);
  if (words[0] == "invoke") {
    if (!open.emplace(words[1], out.size()).second) return false;
    Operation& op = out.emplace_back();
    op.writer = words[1].substr(0, words[1].find(':'));
    return read_invoke(rest, op);
  }
  const auto found = open.find(words[1]);
  if (found == open.end()) return false;
  Operation& op = out[found->second];
  open.erase(found);
  if (words[0] == "ok") return read_ok(rest, op);
  op.outcome = words[0] == "fail" ? Operation::Outcome::Failed : Operation::Outcome::Unknown;
  return (words[0] == "fail" || words[0] == "unknown") && read_number(rest[0], op.completed_ns);
}

}  // namespace

std::vector<Violation> check_history(std::span<const Operation> operations) {
  std::vector<Violation> out;
  std::map<std::string, SessionChecker> sessions;
  for (const Operation& op : operations)
    sessions.try_emplace(op.session, op.session, out).first->second.add(op);
  for (auto& [name, session] : sessions) session.check();
  return out;
}

Result<std::vector<Operation>> read_history(std::string_view lines) {
  std::vector<Operation> out;
  std::unordered_map<std::string_view, std::size_t> open;
  std::size_t number = 0;
  for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
    ++number;
    if (!read_line(lines.substr(0, end), out, open)) {
      return fail(Code::Malformed, "line " + std::to_string(number) + " is no line of a history");
    }
    lines.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace parley::store
