// The state of a Memory: the log, and the window over it as a list of spans.
//
// A unit enters and leaves the window as a whole: an exchange, or a message outside of any. Units are
// contiguous in the log, because only results can be added while tool uses are pending (MEMORY3), so a window
// is a list of spans of whole units. All but the newest span hold protected messages.
//
// Every position of the log is in the window or has a fate: covered, uncovered or removed (MEMORY10). The log
// holds the entries of the window and the covered and uncovered entries from kept_from_ on; it forgets the
// rest.
//
// Everything here is cheap to copy: large parts are shared, copy-on-write.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/copy_on_write.h"
#include "memory/id_index.h"
#include "memory/log.h"
#include "memory/spans.h"
#include "memory/waiting_calls.h"
#include "parley/memory/memory.h"

namespace parley::memory {

// The newest span of a window has no end: it includes new messages.
inline constexpr Position kNoEnd = 0xFFFFFFFF;
inline constexpr std::size_t kMostMessages = 4'294'967'000;
inline constexpr auto kNoLimit = static_cast<std::size_t>(-1);

struct Totals {
  std::size_t messages = 0, exchanges = 0, tokens = 0, bytes = 0;

  Totals& operator+=(const Totals& more);
  Totals& operator-=(const Totals& less);
};

using Positions = std::vector<Position>;  // sorted

// The bytes of what a message says, as Budget::bytes counts them.
std::size_t content_bytes(const Message& message);

// What a model is shown.
struct View {
  Log log;
  CopyOnWrite<Spans> spans;
  CopyOnWrite<std::map<Position, Message>> instead;  // shown in place of others
  std::optional<Summary> summary;

  Position end(const Span& span) const {
    return span.last == kNoEnd ? static_cast<Position>(log.size()) : span.last;
  }
  // Calls visit(position) for each message of the window, in order, until it returns false.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const Span& span : *spans) {
      for (Position i = span.first, last = end(span); i < last; ++i) {
        if (!visit(i)) return;
      }
    }
  }
  const Message& shown(Position position) const;
  bool holds(Position position) const;                  // in the window
  Spans closed_spans() const;                           // of the window, none empty, each with its end
  std::size_t count_before(Position position) const;    // messages of the window before it
  std::optional<Position> at(std::size_t index) const;  // of the window, the summary not counted
  std::size_t size() const;
  // The messages that `selects` says yes to, and the summary at its place if it is wanted.
  template <typename Selects>
  std::vector<Message> messages(bool with_summary, Selects&& selects) const {
    std::vector<Message> out;
    out.reserve(size());
    bool is_due = with_summary && summary.has_value();
    each([&](Position position) {
      if (is_due && position >= summary->first) {
        out.push_back(summary->message);
        is_due = false;
      }
      if (selects(position)) out.push_back(shown(position));
      return true;
    });
    if (is_due) out.push_back(summary->message);
    return out;
  }
  std::vector<Message> messages() const {
    return messages(true, [](Position) { return true; });
  }
};

// The calls that wait for results, and where their exchange began.
struct OpenExchange {
  Position unit = kNoEnd;
  WaitingCalls waiting;

  bool is_open() const { return !waiting.empty(); }
  // Takes note of what `message` calls and answers. Fails with BrokenHistory, and may then hold anything, if
  // it cannot come now.
  Result<void> follow(const Message& message, Position position);
};

// A smaller window.
struct Plan {
  Spans spans;
  Spans dropped;
  Totals totals;
  bool drops_summary = false;
};

// A window whose older part is a summary.
struct Compression {
  Plan plan;
  Summary summary;
  Totals summary_cost;
};

// What becomes of a message that leaves the window.
enum class Fate : std::uint8_t { Covered, Uncovered, Removed };

class State {
 public:
  explicit State(MemoryOptions options);

  // Appends a message, regardless of the budget. REQUIRES: `open` has followed it. Fails with
  // Invalid, and changes nothing, if MemoryOptions::window_filter changes what it must not.
  Result<void> append(const Message& message, Position unit);
  // Goes on at `position`; what is skipped is in no window. REQUIRES: the window is all of the log so far.
  void skip_to(Position position);
  // Takes the newest messages away again, down to `size` of the log, and puts back what append() and
  // `open` changed. REQUIRES: nothing left the window since.
  struct Before {
    std::size_t size;
    Position request;
    OpenExchange open;
    std::int64_t newest_ms;
  };
  Before before() const { return {view.log.size(), request, open, newest_ms_}; }
  void take_back(const Before& before);
  // The log holds a message of its id, or a store does that has the log.
  bool knows(const Message& message) const;

  // A window within its budget; nothing if this one is. A summary of more than its share goes first, any
  // other last. Fails with LimitExceeded.
  Result<std::optional<Plan>> trimmed() const;
  bool is_over(const Budget& budget) const;
  // The budget of the options; its tokens are uncorrected, as the totals are.
  Budget budget() const;
  // The window without the units that judge(unit, totals so far) says Drop to, until it says Stop.
  enum class Verdict : std::uint8_t { Keep, Drop, Stop };
  template <typename Judge>
  Plan without(Judge&& judge) const;
  Plan without_units(const Positions& units) const;
  // Makes it the window. What left it is returned.
  std::vector<Message> apply(Plan plan, Fate fate);
  std::vector<Message> messages_in(const Spans& spans) const;  // REQUIRES: the log holds them

  // A unit that no budget and no compression takes out of the window (MEMORY2, MEMORY3), and why.
  bool is_protected(Position unit) const;
  std::string_view what_is(Position unit) const;
  bool is_pinned(Position unit) const;
  Position unit_end(Position unit) const;
  Totals cost_of(Position unit) const;

  // What the summary before covered and this one does not is uncovered.
  void set_summary(std::optional<Summary> summary, Totals cost = {}, Spans covers = {});
  Totals cost_of_message(const Message& message) const;
  std::size_t after_system() const;  // the position after the first system messages

  // What would be if the older part of the window were a summary, all of it within `budget`. Fails if there
  // is nothing to compress, no room for a summary, or if the compressor has no good answer. May throw what a
  // user's function throws.
  Result<Compression> compressed(const Budget& budget) const;
  std::vector<Message> apply(Compression compression);
  bool compression_is_due() const;
  void delay_compression();
  // What an operation on the window changes, to be restored if it fails.
  struct Window {
    CopyOnWrite<Spans> spans;
    CopyOnWrite<std::map<Position, Message>> instead;
    std::optional<Summary> summary;
    Totals summary_cost;
    CopyOnWrite<Spans> covered, uncovered;
    std::size_t uncovered_count;
    Totals totals, kept;
    Spans to_forget;
  };
  Window window() const;
  void restore(Window window);

  // Forgets what was removed and, of what left the window otherwise, the oldest above the limit. Does nothing
  // while a store has the log: then forget_all() comes when the store has it.
  void settle();
  void forget_all();
  void set_uncovered(Spans spans);
  Spans held() const;  // all positions whose entries the log holds
  // Says which positions have entries, in a state that was loaded. Fails with Invalid if MEMORY11 does not
  // hold.
  Result<void> keep_from(const Spans& held);

  // The units of the window that hold a message of one of these ids, or that have one of these marks.
  Positions units_of_ids(std::span<const Text> ids) const;
  Positions units_of_marks(std::span<const Text> marks) const;
  bool has_mark(std::string_view mark, Position unit) const;
  // Both are for units in order.
  void add_mark(const Text& mark, const Positions& units);
  void remove_mark(const Text& mark, const Positions& units);
  Result<void> pin(const Text& id, bool is_pinned);
  Result<Change> remove(const Positions& units);

  // Where the first message of this id is in the log. Of what the log forgot, a hash of 64 bits decides.
  std::optional<Position> find(std::string_view id) const {
    std::optional<Position> found;
    ids_.find(hash_of_id(id), [&](Position position) {
      const bool is_it = view.log.holds(position)
                             ? view.log[position].message.id().value_or(Text()).view() == id
                             : is_stored && position < view.log.size() && !contains(*removed, position);
      if (is_it) found = position;
      return !is_it;
    });
    return found;
  }

  std::shared_ptr<const MemoryOptions> options;
  View view;
  Totals totals;        // of the window, the summary included
  Totals summary_cost;  // 0 without a summary
  OpenExchange open;
  Position request = kNoEnd;    // the unit of the newest user request
  CopyOnWrite<Positions> pins;  // units
  CopyOnWrite<std::map<std::string, CopyOnWrite<Positions>, std::less<>>> marks;  // units, by mark
  std::optional<std::int64_t> added_ms;  // when append() says a message came, if not now
  CopyOnWrite<Spans> covered;            // the summary stands for them
  CopyOnWrite<Spans> uncovered;          // they left the window, and nothing stands for them
  CopyOnWrite<Spans> removed;
  std::size_t uncovered_count = 0;
  Calibration calibration;  // of the tokens
  std::optional<Error> compression_error;
  bool is_stored = false;  // a store has the log, so that ids are known of what was forgotten
  std::size_t clears = 0;  // how often all of it was thrown away

 private:
  Result<std::optional<Message>> shown_instead(const Message& message) const;
  Error over_budget(std::string_view name, std::size_t limit, std::size_t Totals::* total) const;
  Plan cut_to(const Budget& budget, double share, bool drops_summary, bool& reaches) const;
  // The budget with its numbers of messages and exchanges raised to what must stay, unless what the caller
  // chose to keep (system messages, pins) passes them alone.
  Budget allowed(Budget budget) const;
  bool is_system(Position unit) const;
  bool is_newest(Position unit) const;  // the newest user request, or the newest of all
  Totals protected_totals() const;
  void find_request();
  bool is_progress(const Totals& after) const;
  Result<Totals> room_for_summary(const Budget& budget) const;
  Positions compressible(const Budget& budget, const Totals& room) const;
  using Deadline = std::chrono::steady_clock::time_point;
  Result<Text> summarised(const Positions& units, std::size_t most_bytes, Deadline deadline) const;
  Result<Message> fitting_summary(const Positions& units, const Totals& room) const;
  Result<std::vector<Message>> readable(Position unit, std::size_t most_bytes) const;
  void leave(const Spans& dropped, Fate fate);
  void forget(LogLimit limit);
  Spans above(const LogLimit& limit);
  void forget_ids();
  static std::uint64_t hash_of_id(std::string_view id);

  IdIndex ids_;  // of each id the first message, so that many of one id cost no more than others
  bool has_repeated_ids_ = false;  // then they must be looked for
  std::size_t retry_at_ = 0;    // size of the log before which a compression that failed is not tried again
  std::int64_t newest_ms_ = 0;  // when the newest message was added
  Position kept_from_ = 0;      // what left the window before it is forgotten
  Totals kept_;                 // what the log holds of what left the window: messages, and bytes of memory
  Spans to_forget_;             // not in order
};

template <typename Judge>
Plan State::without(Judge&& judge) const {
  Plan plan{{}, {}, totals};
  bool stopped = false;
  for (const Span& span : *view.spans) {
    Position kept_from = span.first;
    const Position end = view.end(span);
    for (Position unit = span.first; unit < end && !stopped;) {
      const Position next = unit_end(unit);
      const Verdict verdict = judge(unit, plan.totals);
      stopped = verdict == Verdict::Stop;
      if (verdict == Verdict::Drop) {
        if (kept_from != unit) plan.spans.push_back({kept_from, unit});
        plan.totals -= cost_of(unit);
        if (!plan.dropped.empty() && plan.dropped.back().last == unit) {
          plan.dropped.back().last = next;
        } else {
          plan.dropped.push_back({unit, next});
        }
        kept_from = next;
      }
      unit = next;
    }
    if (kept_from != end || span.last == kNoEnd) plan.spans.push_back({kept_from, span.last});
  }
  return plan;
}

}  // namespace parley::memory
