// Random operations on memories with random budgets. After each, all invariants of memory.h hold and a second
// memory, written as plainly as can be, agrees about every message.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "parley/base/clock.h"
#include "parley/memory/memory.h"
#include "parley/message/validate.h"
#include "parley/token/counter.h"

namespace parley {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRuns = 40;
#else
constexpr int kRuns = 1000;
#endif
constexpr int kOperations = 1000;  // of one run

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return random() % end; }
bool chance(Random& random, int percent) { return below(random, 100) < static_cast<std::size_t>(percent); }

Text text(const std::string& from) { return Text(from); }

std::size_t tokens_of(const Message& message) {
  const auto content = message.get_text_content();
  return 3 + (content ? content->size() / 4 : 0);
}

// Everything is found out anew for every question, by reading the whole list.
class PlainMemory {
 public:
  // What a block says about calls.
  struct Event {
    BlockType type;
    std::string id;
  };
  static std::vector<Event> events_of(const Message& message) {
    std::vector<Event> out;
    for (const Block& block : message.blocks()) {
      Event event{block.type(), {}};
      if (const auto* use = block.as<ToolUseBlock>()) event.id = use->id.str();
      if (const auto* result = block.as<ToolResultBlock>()) event.id = result->id.str();
      out.push_back(event);
    }
    return out;
  }

  struct Item {
    Message message;
    std::string id;
    Role role;
    std::vector<Event> events;
    std::size_t tokens = 0;
    bool is_shown = true;
    bool is_pinned = false;
    std::set<std::string> marks;
    std::size_t bytes = 0;
    std::int64_t added_ms = 0;
    bool is_removed = false;
  };

  explicit PlainMemory(Budget budget) : budget_(budget) {}

  // The unit of each item, as the index of its first one.
  std::vector<std::size_t> units() const {
    std::vector<std::size_t> out;
    std::multiset<std::string> waiting;
    for (std::size_t i = 0; i < items.size(); ++i) {
      out.push_back(waiting.empty() ? i : out.back());
      follow(items[i].events, waiting);
    }
    return out;
  }

  std::multiset<std::string> waiting() const {
    std::multiset<std::string> out;
    for (const Item& item : items) follow(item.events, out);
    return out;
  }

  // Whether that was allowed; what was evicted goes to `evicted`.
  bool add(const std::vector<Message>& messages, const std::vector<std::size_t>& bytes,
           std::vector<Message>& evicted) {
    const std::vector<Item> before = items;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string id = messages[i].id()->str();
      const auto same_id = [&](const Item& item) { return item.id == id && !item.is_removed; };
      if (std::any_of(items.begin(), items.end(), same_id)) continue;
      std::multiset<std::string> now = waiting();
      const bool must_answer = !now.empty();
      const std::vector<Event> events = events_of(messages[i]);
      if (!follow(events, now)) {
        items = before;
        return false;
      }
      Item item{messages[i], id, messages[i].role(), events,  tokens_of(messages[i]), true,
                false,       {}, bytes[i],           now_ms()};
      if (must_answer) {  // it is part of what was marked and pinned before
        const Item& first = items[units().back()];
        item.is_pinned = first.is_pinned;
        item.marks = first.marks;
      }
      items.push_back(item);
    }
    if (!trim(evicted)) {
      items = before;
      return false;
    }
    return true;
  }

  std::vector<Message> shown() const {
    std::vector<Message> out;
    for (const Item& item : items) {
      if (item.is_shown) out.push_back(item.message);
    }
    return out;
  }

  void each_of_unit(std::size_t unit, const std::function<void(Item&)>& visit) {
    const std::vector<std::size_t> all = units();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (all[i] == unit) visit(items[i]);
    }
  }

  // The unit of the newest user request that is shown, if there is one.
  std::optional<std::size_t> request_unit() const {
    for (std::size_t i = items.size(); i-- > 0;) {
      if (items[i].is_shown && items[i].role == Role::User) return units()[i];
    }
    return std::nullopt;
  }

  bool is_protected(std::size_t unit) const {
    const std::vector<std::size_t> all = units();
    if (request_unit() == unit) return true;
    if (all.back() == unit) return true;  // the newest, which may be open
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (all[i] == unit && (items[i].role == Role::System || items[i].is_pinned)) return true;
    }
    return false;
  }

  struct Sums {
    std::size_t messages = 0, exchanges = 0, tokens = 0, bytes = 0;
  };
  Sums sums(const std::function<bool(std::size_t)>& counts = [](std::size_t) { return true; }) const {
    Sums out;
    const std::vector<std::size_t> all = units();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_shown || !counts(i)) continue;
      ++out.messages;
      out.tokens += items[i].tokens;
      out.bytes += items[i].bytes;
      const auto is_use = [](const Event& event) { return event.type == BlockType::ToolUse; };
      if (all[i] == i && std::any_of(items[i].events.begin(), items[i].events.end(), is_use)) ++out.exchanges;
    }
    return out;
  }

  std::vector<Item> items;

 private:
  // False if a message of these blocks cannot come now.
  static bool follow(const std::vector<Event>& events, std::multiset<std::string>& waiting) {
    const auto is_other = [](const Event& event) { return event.type != BlockType::ToolResult; };
    const auto first_other = std::find_if(events.begin(), events.end(), is_other);
    const auto results_before = static_cast<std::size_t>(first_other - events.begin());
    if (results_before < waiting.size() && (first_other != events.end() || events.empty())) return false;
    for (const Event& event : events) {
      if (event.type == BlockType::ToolUse) waiting.insert(event.id);
      if (event.type != BlockType::ToolResult) continue;
      const auto found = waiting.find(event.id);
      if (found == waiting.end()) return false;
      waiting.erase(found);
    }
    return true;
  }

  static bool fits(const Sums& sums, const std::array<std::size_t, 4>& most) {
    return sums.messages <= most[0] && sums.exchanges <= most[1] && sums.tokens <= most[2] &&
           sums.bytes <= most[3];
  }

  bool trim(std::vector<Message>& evicted) {
    const std::vector<Item> before = items;
    if (!trim_to(budget_.low_water, evicted)) {  // out of reach: no more than must be
      items = before;
      evicted.clear();
      trim_to(1, evicted);
    }
    return fits(sums(), limits());
  }

  static constexpr std::size_t kAny = 1'000'000'000;
  // The numbers of messages and exchanges give way to what is newest, not to what the caller keeps.
  std::array<std::size_t, 4> limits() const {
    std::array<std::size_t, 4> out = {budget_.messages.value_or(kAny), budget_.exchanges.value_or(kAny),
                                      budget_.tokens.value_or(kAny), budget_.bytes.value_or(kAny)};
    const Sums now = sums();
    if (now.messages <= out[0] && now.exchanges <= out[1]) return out;
    const std::vector<std::size_t> all = units();
    std::set<std::size_t> staying, keeping;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_shown || all[i] != i) continue;
      if (is_protected(i)) staying.insert(i);
      if (is_kept(i)) keeping.insert(i);
    }
    const Sums stays = sums([&](std::size_t i) { return staying.contains(all[i]); });
    const Sums kept = sums([&](std::size_t i) { return keeping.contains(all[i]); });
    if (kept.messages <= out[0]) out[0] = std::max(out[0], stays.messages);
    if (kept.exchanges <= out[1]) out[1] = std::max(out[1], stays.exchanges);
    return out;
  }

  // System messages, and pins but for the newest.
  bool is_kept(std::size_t unit) const {
    const std::vector<std::size_t> all = units();
    const bool is_newest = request_unit() == unit || all.back() == unit;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (all[i] != unit) continue;
      if (items[i].role == Role::System || (items[i].is_pinned && !is_newest)) return true;
    }
    return false;
  }

  bool trim_to(double share, std::vector<Message>& evicted) {
    const Sums now = sums();
    const std::array<std::size_t, 4> have = {now.messages, now.exchanges, now.tokens, now.bytes};
    const std::array<std::size_t, 4> most = limits();
    std::array<std::size_t, 4> goal{};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto low = static_cast<std::size_t>(static_cast<double>(most[i]) * share);
      goal[i] = have[i] > most[i] ? std::max<std::size_t>(low, 1) : kAny;
    }
    const auto age_of = [&](std::size_t unit) {
      return static_cast<double>(now_ms() - items[unit].added_ms);
    };
    const double oldest = budget_.age ? static_cast<double>(budget_.age->count()) : 1e18;
    std::optional<bool> has_expired;
    for (;;) {
      const auto unit = oldest_that_may_go();
      if (!unit) break;
      if (!has_expired) has_expired = age_of(*unit) > oldest;
      const bool is_old = *has_expired && age_of(*unit) > oldest * share;
      if (fits(sums(), goal) && !is_old) break;
      each_of_unit(*unit, [&](Item& item) {
        item.is_shown = false;
        evicted.push_back(item.message);
      });
    }
    return fits(sums(), goal);
  }

  std::optional<std::size_t> oldest_that_may_go() const {
    const std::vector<std::size_t> all = units();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_shown && all[i] == i && !is_protected(i)) return i;
    }
    return std::nullopt;
  }

  Budget budget_;
};

Budget random_budget(Random& random) {
  Budget budget = Budget::unlimited();
  if (chance(random, 70)) budget.messages = 1 + below(random, 25);
  if (chance(random, 30)) budget.exchanges = 1 + below(random, 5);
  if (chance(random, 30)) budget.tokens = 10 + below(random, 200);
  if (chance(random, 30)) budget.bytes = 100 + below(random, 1500);
  if (chance(random, 20)) budget.age = std::chrono::milliseconds(1 + below(random, 40));
  budget.low_water = chance(random, 40) ? 1 : 0.05 + 0.01 * static_cast<double>(below(random, 95));
  return budget;
}

class Rehearsal {
 public:
  explicit Rehearsal(std::uint64_t seed)
      : random_(seed), clock_(1'000'000), budget_(random_budget(random_)), memory_(make()), plain_(budget_) {}

  void operate() {
    if (chance(random_, 10)) clock_.advance(static_cast<std::int64_t>(below(random_, 8)));
    const std::size_t kind = below(random_, 100);
    if (kind < 62) {
      add();
    } else if (kind < 68) {
      complete();
    } else if (kind < 74) {
      remove();
    } else if (kind < 80) {
      pin();
    } else if (kind < 88) {
      mark();
    } else if (kind < 92) {
      recent();
    } else if (kind < 96) {
      fork();
    } else if (kind < 98) {
      save_and_load();
    } else if (plain_.items.size() > 40) {
      memory_.clear();
      plain_.items.clear();
    }
    check();
  }

 private:
  Memory make() { return Memory::create({.budget = budget_, .token_cost = tokens_of}).value(); }

  Text fresh_id(const char* what) { return text(what + std::to_string(++last_id_)); }

  Message any_message() {
    const std::string words(below(random_, 80), 'x');
    switch (below(random_, 10)) {
      case 0:
        return MessageBuilder(Role::System).id(fresh_id("m")).content(text(words)).build().value();
      case 1:
      case 2:
      case 3:
        return MessageBuilder(Role::User).id(fresh_id("m")).content(text(words)).build().value();
      case 4:
      case 5:
        return MessageBuilder(Role::Assistant).id(fresh_id("m")).content(text(words)).build().value();
      case 6:  // a result that nobody asked for
        return result_of(text("nobody"));
      default:
        break;
    }
    MessageBuilder builder(Role::Assistant);
    builder.id(fresh_id("m")).text(text(words));
    for (std::size_t i = 0, calls = 1 + below(random_, 3); i < calls; ++i) {
      // Some providers number the calls of each step anew.
      const Text id = chance(random_, 30) ? text("call_" + std::to_string(i)) : fresh_id("c");
      builder.block(ToolUseBlock{id, "f", "{}"});
      if (chance(random_, 10)) builder.block(ToolResultBlock{id, "f", text(words)});
    }
    return builder.build().value();
  }

  Message result_of(const Text& id) {
    const std::string words(below(random_, 80), 'y');
    const bool is_users = chance(random_, 10);  // as Anthropic has it, with a request behind the results
    MessageBuilder builder(is_users ? Role::User : Role::Tool);
    builder.id(fresh_id("m")).block(ToolResultBlock{id, "f", text(words)});
    if (is_users) builder.text("go on");
    return builder.build().value();
  }

  std::vector<Message> next_messages() {
    std::vector<Message> out;
    const std::multiset<std::string> waiting = plain_.waiting();
    if (!waiting.empty() && chance(random_, 85)) {
      std::vector<std::string> ids(waiting.begin(), waiting.end());
      std::shuffle(ids.begin(), ids.end(), random_);
      ids.resize(1 + below(random_, ids.size()));
      for (const std::string& id : ids) out.push_back(result_of(text(id)));
    } else {
      for (std::size_t i = 0, count = chance(random_, 80) ? 1 : below(random_, 5); i < count; ++i)
        out.push_back(any_message());
    }
    if (chance(random_, 5) && !plain_.items.empty()) {  // one that is there already
      out.push_back(plain_.items[below(random_, plain_.items.size())].message);
    }
    return out;
  }

  void add() { add(next_messages()); }

  void add(const std::vector<Message>& messages) {
    std::vector<std::size_t> bytes;
    for (const Message& message : messages) bytes.push_back(bytes_of(message));
    std::vector<Message> evicted;
    const bool allowed = plain_.add(messages, bytes, evicted);
    const std::size_t size = memory_.size();
    const auto change = memory_.add(messages);
    ASSERT_EQ(change.has_value(), allowed) << (change ? "" : change.error().message);
    if (change) {
      expect_same(change->evicted, evicted);  // MEMORY5
    } else {
      EXPECT_TRUE(change.error().code == Code::BrokenHistory || change.error().code == Code::LimitExceeded);
      EXPECT_EQ(memory_.size(), size);
    }
  }

  // Nothing here needs an escape, so JSON spells all of it as it is.
  static std::size_t bytes_of(const Message& message) {
    std::size_t bytes = 0;
    for (const Block& block : message.blocks()) {
      if (const auto* words = block.as<TextBlock>()) bytes += words->text.size();
      if (const auto* use = block.as<ToolUseBlock>())
        bytes += use->id.size() + use->name.size() + use->arguments.size();
      if (const auto* result = block.as<ToolResultBlock>()) {
        bytes += result->id.size() + result->name.size() + std::get<Text>(result->output).size();
      }
    }
    return bytes;
  }

  void complete() {
    const std::size_t waiting = plain_.waiting().size();
    const Memory before = memory_;
    const auto change = memory_.complete_pending("cancelled");
    if (!change) {
      EXPECT_EQ(change.error().code, Code::LimitExceeded);
      return;
    }
    EXPECT_EQ(change->count, waiting != 0 ? 1U : 0U);
    if (waiting == 0) return;
    const std::vector<Message> added = {memory_.log().back()};
    std::vector<std::size_t> bytes;
    for (const Message& message : added) bytes.push_back(bytes_of(message));
    std::vector<Message> evicted;
    EXPECT_TRUE(plain_.add(added, bytes, evicted));
    expect_same(change->evicted, evicted);
  }

  std::optional<std::size_t> any_shown() {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < plain_.items.size(); ++i) {
      if (plain_.items[i].is_shown) shown.push_back(i);
    }
    if (shown.empty()) return std::nullopt;
    return shown[below(random_, shown.size())];
  }

  void remove() {
    const auto target = any_shown();
    if (!target) return;
    const std::vector<std::size_t> units = plain_.units();
    const bool is_open = !plain_.waiting().empty() && units.back() == units[*target];
    Result<Change> change;
    if (chance(random_, 50)) {
      std::size_t index = 0;
      for (std::size_t i = 0; i < *target; ++i) index += plain_.items[i].is_shown ? 1 : 0;
      change = memory_.remove(index);
    } else {
      const Text id = *plain_.items[*target].message.id();
      change = memory_.remove({&id, 1});
    }
    ASSERT_EQ(change.has_value(), !is_open);
    if (is_open) return;
    std::vector<Message> removed;
    plain_.each_of_unit(units[*target], [&](PlainMemory::Item& item) {
      item.is_shown = false;
      item.is_removed = true;
      removed.push_back(item.message);
    });
    expect_same(change->evicted, removed);
  }

  void pin() {
    const auto target = any_shown();
    if (!target) return;
    const bool pins = chance(random_, 40);
    const Text id = *plain_.items[*target].message.id();
    EXPECT_TRUE(pins ? memory_.pin(id) : memory_.unpin(id));
    plain_.each_of_unit(plain_.units()[*target], [&](PlainMemory::Item& item) { item.is_pinned = pins; });
  }

  void mark() {
    static const Text kMarks[] = {"a", "b", "c"};
    const auto any_mark = [&] { return chance(random_, 70) ? kMarks[below(random_, 3)] : Text(); };
    const Text new_mark = any_mark();
    const Text old_mark = any_mark();
    std::optional<Text> id;
    const auto chosen = chance(random_, 70) ? any_shown() : std::nullopt;
    const std::size_t target = chosen.value_or(0);
    if (chosen) id = plain_.items[target].message.id();
    std::optional<std::span<const Text>> ids;
    if (id) ids = std::span<const Text>(&*id, 1);
    std::size_t count = 0;
    const std::vector<std::size_t> units = plain_.units();
    for (std::size_t i = 0; i < plain_.items.size(); ++i) {
      PlainMemory::Item& item = plain_.items[i];
      if (!item.is_shown || (chosen && units[i] != units[target])) continue;
      if (!old_mark.empty() && !item.marks.contains(old_mark.str())) continue;
      const std::set<std::string> before = item.marks;
      if (!old_mark.empty()) item.marks.erase(old_mark.str());
      if (!new_mark.empty()) item.marks.insert(new_mark.str());
      count += before != item.marks ? 1 : 0;
    }
    EXPECT_EQ(memory_.update_messages_mark(new_mark, old_mark, ids), count);
  }

  void recent() {
    const auto n = below(random_, 12);
    const auto got = memory_.get_recent_messages(static_cast<std::int64_t>(n));
    const std::vector<std::size_t> units = plain_.units();
    std::vector<Message> expected;
    std::size_t left = n;
    for (std::size_t i = plain_.items.size(); i-- > 0;) {
      if (!plain_.items[i].is_shown) continue;
      const bool is_begun = !expected.empty() && i + 1 < units.size() && units[i + 1] == units[i];
      if (left == 0 && !is_begun) break;
      expected.insert(expected.begin(), plain_.items[i].message);
      left -= left != 0 ? 1 : 0;
    }
    ASSERT_TRUE(got);
    expect_same(*got, expected);
  }

  // MEMORY7: a fork goes its own way, and what was seen before is still seen.
  void fork() {
    Memory other = memory_.fork();
    const Snapshot snapshot = memory_.snapshot();
    const std::vector<Message> before = memory_.window();
    for (int i = 0; i < 3; ++i) {
      const auto ignored = other.add(any_message());
      (void)ignored;
    }
    if (other.size() != 0) {
      const auto ignored = other.remove(0);
      (void)ignored;
    }
    expect_same(memory_.window(), before);
    if (chance(random_, 50)) {
      add();
    } else if (chance(random_, 50)) {
      other = memory_;
      memory_ = other;
    }
    expect_same(snapshot.messages(), before);
    EXPECT_EQ(snapshot.size(), before.size());
  }

  void save_and_load() {
    const auto state = memory_.state_dict();
    ASSERT_TRUE(state);
    Memory loaded = make();
    const auto good = loaded.load_state_dict(*state);
    if (budget_.age) return;  // some may be too old by now
    ASSERT_TRUE(good) << good.error().message << good.error().path;
    expect_same(loaded.log(), plain_ids_log());
    if (loaded.size() == memory_.size()) expect_same(loaded.window(), memory_.window());
  }

  std::vector<Message> plain_ids_log() const {
    std::vector<Message> out;
    for (const PlainMemory::Item& item : plain_.items) {
      if (!item.is_removed) out.push_back(item.message);
    }
    return out;
  }

  static void expect_same(const std::vector<Message>& got, const std::vector<Message>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i].id(), expected[i].id()) << "message " << i;
  }

  void check() {
    const std::vector<Message> window = memory_.window();
    expect_same(window, plain_.shown());          // MEMORY2, MEMORY3, MEMORY8
    expect_same(memory_.log(), plain_ids_log());  // MEMORY6
    EXPECT_EQ(memory_.log_size(), plain_.items.size());
    std::vector<Message> uncovered;  // MEMORY10
    for (const PlainMemory::Item& item : plain_.items) {
      if (!item.is_shown && !item.is_removed) uncovered.push_back(item.message);
    }
    expect_same(memory_.uncovered(), uncovered);
    EXPECT_EQ(memory_.uncovered_size(), uncovered.size());
    for (const Finding& finding : validate_history(window)) {  // MEMORY1
      const bool is_allowed = finding.code == "pending_call" || finding.code == "duplicate_call";
      EXPECT_TRUE(is_allowed) << finding.code;
    }
    const PlainMemory::Sums sums = plain_.sums();
    EXPECT_EQ(memory_.size(), sums.messages);
    EXPECT_EQ(memory_.tokens(), sums.tokens);
    EXPECT_EQ(memory_.bytes(), sums.bytes);
    for (const char* mark : {"a", "b"}) {
      std::vector<Message> marked;
      for (const PlainMemory::Item& item : plain_.items) {
        if (item.is_shown && item.marks.contains(mark)) marked.push_back(item.message);
      }
      expect_same(memory_.get({.mark = text(mark)}), marked);
    }
    EXPECT_EQ(memory_.pending().size(), plain_.waiting().size());
  }

  Random random_;
  ScopedClock clock_;
  Budget budget_;
  Memory memory_;
  PlainMemory plain_;
  int last_id_ = 0;
};

// In four parts, so that they may run beside each other: 1,000,000 operations.
class MemoryProperty : public testing::TestWithParam<int> {};

// How many messages of a window are system messages, the newest user request, or the newest exchange.
std::size_t must_stay(const std::vector<Message>& window) {
  std::size_t newest = window.size();
  while (newest > 0 && window[newest - 1].role() == Role::Tool) --newest;
  if (newest > 0) --newest;
  std::size_t out = window.size() - newest;
  bool has_request = out > 0 && window[newest].role() == Role::User;
  for (std::size_t i = newest; i-- > 0;) {
    const bool is_request = window[i].role() == Role::User && !has_request;
    has_request = has_request || is_request;
    if (is_request || window[i].role() == Role::System) ++out;
  }
  return out;
}

TEST_P(MemoryProperty, AgreesWithThePlainMemoryWhateverHappens) {
  for (int seed = GetParam(); seed < kRuns; seed += 4) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rehearsal run(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < kOperations; ++i) {
      run.operate();
      ASSERT_FALSE(testing::Test::HasFailure()) << "operation " << i;
    }
  }
}

// With a compressor that fails, throws, lies, is wordy or works: the window stays whole and within its
// budget, and every message is in the window, covered by the summary, or was returned.
TEST_P(MemoryProperty, SurvivesAnyCompressor) {
  class Moody : public Compressor {
   public:
    explicit Moody(Random& random) : random_(random) {}
    Result<CompressionAnswer> compress(const CompressionRequest& request) override {
      EXPECT_TRUE(!request.messages.empty() || request.previous);
      for (const Finding& finding : validate_history(request.messages)) {
        EXPECT_TRUE(finding.code == "duplicate_call") << finding.code;
      }
      switch (below(random_, 8)) {
        case 0:
          return fail(Code::Unavailable, "away");
        case 1:
          throw std::runtime_error("oops");
        case 2:
          return CompressionAnswer{"a lie", request.messages.size() + 1};
        case 3:
          return CompressionAnswer{text(std::string(request.most_bytes, 'w')), request.messages.size()};
        default:
          return CompressionAnswer{"in short", request.messages.size()};
      }
    }
    std::size_t window_bytes() const override { return 400; }

   private:
    Random& random_;
  };

  for (int seed = GetParam(); seed < kRuns / 4; seed += 4) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<std::uint64_t>(seed));
    Budget budget = random_budget(random);
    budget.age.reset();
    Memory memory =
        Memory::create({.budget = budget,
                        .token_cost = tokens_of,
                        .compressor = std::make_shared<Moody>(random),
                        .compression = {.keep_recent = below(random, 4), .most_summary_bytes = 200}})
            .value();
    std::set<std::string> gone;  // what was returned
    int last_id = 0;
    for (int i = 0; i < 300; ++i) {
      std::vector<Message> messages;
      const std::vector<Text> waiting = memory.pending();
      MessageBuilder builder(waiting.empty() ? Role::Assistant : Role::Tool);
      builder.id(text("m" + std::to_string(++last_id)));
      if (!waiting.empty()) {
        builder.block(ToolResultBlock{waiting.front(), "f", text(std::string(below(random, 200), 'y'))});
      } else if (chance(random, 40)) {
        for (std::size_t k = 0, calls = 1 + below(random, 3); k < calls; ++k) {
          builder.block(
              ToolUseBlock{text("c" + std::to_string(last_id) + "_" + std::to_string(k)), "f", "{}"});
        }
      } else {
        builder = MessageBuilder(chance(random, 10)   ? Role::System
                                 : chance(random, 30) ? Role::User
                                                      : Role::Assistant);
        builder.id(text("m" + std::to_string(last_id))).content(text(std::string(below(random, 200), 'x')));
      }
      const auto change = chance(random, 95) ? memory.add(builder.build().value()) : memory.compress();
      if (change) {
        for (const Message& message : change->evicted) gone.insert(message.id()->str());
      }
      const std::vector<Message> window = memory.window();
      ASSERT_EQ(window.size(), memory.size());
      ASSERT_LE(memory.size(), std::max(budget.messages.value_or(memory.size()), must_stay(window)));
      ASSERT_LE(memory.tokens(), budget.tokens.value_or(memory.tokens()));
      ASSERT_LE(memory.bytes(), budget.bytes.value_or(memory.bytes()));
      for (const Finding& finding : validate_history(window)) ASSERT_EQ(finding.code, "pending_call");
      std::set<std::string> seen = gone;
      for (const Message& message : window) seen.insert(message.id()->str());
      for (const Message& message : memory.log()) ASSERT_TRUE(seen.contains(message.id()->str()));
      std::size_t covered = 0;
      for (const Message& message : memory.covered()) covered += gone.contains(message.id()->str()) ? 1U : 0U;
      ASSERT_EQ(covered, memory.summary() ? memory.summary()->count : 0U);
    }
  }
}

std::string words(Random& random, std::size_t most) {
  static const char* const kWords[] = {"the",          "weather",   "in",     "Oslo", "is",
                                       "12 degrees",   "and",       "rain. ", "so",   "na\u00efve",
                                       "\u4f60\u597d", "{\"a\":1}", "\n"};
  std::string out;
  for (std::size_t i = 0, count = below(random, most); i < count; ++i) {
    out += kWords[below(random, std::size(kWords))];
    out += ' ';
  }
  return out;
}

// The next message of a conversation in which tools are called.
Message next_message(Random& random, const Memory& memory, int number) {
  const Text id = text("m" + std::to_string(number));
  const std::vector<Text> waiting = memory.pending();
  if (!waiting.empty()) {
    ToolResultBlock result{waiting.front(), "search", text(words(random, 60))};
    if (chance(random, 20)) result.is_error = true;
    return MessageBuilder(Role::Tool).id(id).block(std::move(result)).build().value();
  }
  if (chance(random, 30)) {
    MessageBuilder builder(Role::Assistant);
    builder.id(id).text(text(words(random, 20)));
    for (std::size_t k = 0, calls = 1 + below(random, 2); k < calls; ++k) {
      const Text call = text("c" + std::to_string(number) + "_" + std::to_string(k));
      builder.block(ToolUseBlock{call, "search", "{\"query\":\"the weather\"}"});
    }
    return builder.build().value();
  }
  const bool is_system = number == 1 && chance(random, 50);
  const Role role = is_system ? Role::System : chance(random, 40) ? Role::User : Role::Assistant;
  const std::size_t most = chance(random, 10) ? 400 : 40;
  return MessageBuilder(role).id(id).content(text(words(random, is_system ? 8 : most))).build().value();
}

void insert_ids(const std::vector<Message>& messages, std::multiset<std::string>& into) {
  for (const Message& message : messages) into.insert(message.id()->str());
}

// MEMORY10: at every budget, however the compressor does, every message of the log is shown, covered, or
// reported as uncovered; nothing becomes uncovered without a reason; and a summary keeps to its share.
TEST_P(MemoryProperty, ShowsCoversOrReportsEveryMessage) {
  class Tired : public ExtractiveCompressor {
   public:
    Tired(Random& random, int percent) : random_(random), percent_(percent) {}
    Result<CompressionAnswer> compress(const CompressionRequest& request) override {
      if (chance(random_, percent_)) return fail(Code::Unavailable, "away");
      return ExtractiveCompressor::compress(request);
    }

   private:
    Random& random_;
    int percent_;
  };

  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  for (int seed = GetParam(); seed < kRuns / 2; seed += 4) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<std::uint64_t>(seed));
    Budget budget = Budget::unlimited();
    budget.tokens = 64 + below(random, std::size_t{1} << (4 + below(random, 9)));
    if (chance(random, 30)) budget.messages = 4 + below(random, 40);
    if (chance(random, 30)) budget.bytes = 300 + below(random, 5000);
    const int failing = chance(random, 50) ? 0 : 30;
    Memory memory = Memory::create({.budget = budget,
                                    .token_cost = cost_by(counter),
                                    .compressor = std::make_shared<Tired>(random, failing),
                                    .compression = {.keep_recent = below(random, 6)}})
                        .value();
    for (int i = 1; i <= 200; ++i) {
      const std::size_t uncovered = memory.uncovered_size();
      const auto change = memory.add(next_message(random, memory, i));
      if (!change) {
        ASSERT_EQ(change.error().code, Code::LimitExceeded) << change.error().message;
        if (!memory.pending().empty()) break;  // results that have no room
        continue;
      }
      ASSERT_EQ(change->uncovered, memory.uncovered_size() - uncovered);
      if (change->uncovered != 0) {
        ASSERT_TRUE(memory.compression_error()) << "message " << i;
      }
      ASSERT_LE(memory.tokens(), *budget.tokens);
      std::vector<Message> window = memory.window();
      if (memory.summary()) {
        ASSERT_LE(counter.count(memory.summary()->message), *budget.tokens / 4);
        std::erase_if(window, [&](const Message& m) { return m.id() == memory.summary()->message.id(); });
      }
      std::multiset<std::string> all, log;
      insert_ids(window, all);
      insert_ids(memory.covered(), all);
      insert_ids(memory.uncovered(), all);
      insert_ids(memory.log(), log);
      ASSERT_EQ(all, log) << "message " << i;
      ASSERT_EQ(memory.log_size(), log.size());
      ASSERT_EQ(memory.covered().size(), memory.summary() ? memory.summary()->count : 0U);
    }
  }
}

// MEMORY11: whatever the limit, the log holds the window and the newest of the rest, and counts what it
// dropped. A state that is saved and loaded is the same.
TEST_P(MemoryProperty, HoldsNoMoreThanItsLimit) {
  for (int seed = GetParam(); seed < kRuns / 2; seed += 4) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<std::uint64_t>(seed));
    LogLimit limit = LogLimit::unlimited();
    if (chance(random, 70)) limit.messages = below(random, 40);
    if (chance(random, 50)) limit.bytes = below(random, 20'000);
    MemoryOptions options{.budget = {.messages = 4 + below(random, 20)}, .log_limit = limit};
    options.compression.keep_recent = below(random, 4);
    if (chance(random, 50)) options.compressor = std::make_shared<ExtractiveCompressor>();
    Memory memory = Memory::create(options).value();
    std::vector<std::string> added;
    std::set<std::string> removed;
    for (int i = 1; i <= 200; ++i) {
      const std::size_t kind = below(random, 100);
      const std::vector<Message> window = memory.window();
      const Message any = window.empty() ? Message::user_message("x") : window[below(random, window.size())];
      if (kind < 80) {
        const Text mark = "m";
        const Message next = next_message(random, memory, i);
        if (!memory.add(next, chance(random, 50) ? std::span(&mark, 1) : std::span<const Text>())) continue;
        added.push_back(next.id()->str());
      } else if (kind < 88) {
        const auto change = memory.remove(*any.id());
        if (change) {
          for (const Message& message : change->evicted) removed.insert(message.id()->str());
        }
      } else if (kind < 92) {
        (void)memory.pin(*any.id());
      } else if (kind < 96) {
        (void)memory.unpin(*any.id());
      } else {
        (void)memory.evict(0.7);
      }
      const std::vector<Message> log = memory.log();
      ASSERT_EQ(memory.log_size(), added.size());
      ASSERT_EQ(memory.log_dropped(), added.size() - log.size());
      const std::size_t shown = memory.size() - (memory.summary() ? 1 : 0);
      ASSERT_LE(log.size(), shown + limit.messages.value_or(log.size()));
      // In order, and of what left the window the newest.
      auto next = added.begin();
      for (const Message& message : log) {
        next = std::find(next, added.end(), message.id()->str());
        ASSERT_NE(next, added.end());
        ASSERT_FALSE(removed.contains(*next));
      }
      const std::size_t covered = memory.summary() ? memory.summary()->count : 0;
      ASSERT_EQ(shown + covered + memory.uncovered_size() + removed.size(), added.size());  // MEMORY10
      ASSERT_TRUE(validate_history(memory.log()).empty() || !memory.pending().empty());
    }
    const auto state = memory.state_dict();
    ASSERT_TRUE(state);
    Memory loaded = Memory::create(options).value();
    const auto change = loaded.load_state_dict(*state);
    ASSERT_TRUE(change) << change.error().message << change.error().path;
    if (memory.size() > *options.budget.messages) continue;  // loading lets go what need not stay (MEMORY4)
    // A message that was read takes other memory than one that was made.
    if (!limit.bytes) {
      ASSERT_TRUE(loaded.state_dict()->text() == state->text());
    }
    ASSERT_EQ(loaded.log_size(), memory.log_size());
    ASSERT_EQ(loaded.uncovered_size(), memory.uncovered_size());
  }
}

INSTANTIATE_TEST_SUITE_P(Random, MemoryProperty, testing::Range(0, 4));

}  // namespace
}  // namespace parley
