#include "parley/memory/memory.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "message/arena.h"
#include "parley/base/clock.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

Message user(Text text) { return Message::user_message(text); }
Message with_id(Role role, Text id, Text text) {
  return MessageBuilder(role).id(id).content(text).build().value();
}

Message call(std::initializer_list<Text> ids) {
  MessageBuilder builder(Role::Assistant);
  for (const Text& id : ids) builder.block(ToolUseBlock{id, "f", "{}"});
  return builder.build().value();
}
Message result(const Text& id) { return Message::tool_message("done", "f", id); }

Memory memory_of(Budget budget) { return Memory::create({.budget = budget}).value(); }
Memory exact(std::size_t messages) { return memory_of({.messages = messages, .low_water = 1}); }

// The texts of messages, calls and results, in brief.
std::string shown(std::span<const Message> messages) {
  std::string out;
  for (const Message& message : messages) {
    if (!out.empty()) out += ' ';
    for (const Block& block : message.blocks()) {
      if (const auto* text = block.as<TextBlock>()) out += text->text.view();
      if (const auto* use = block.as<ToolUseBlock>()) out += "?" + use->id.str();
      if (const auto* answer = block.as<ToolResultBlock>()) out += "!" + answer->id.str();
    }
  }
  return out;
}
std::string shown(const Memory& memory) { return shown(memory.window()); }

void add_all(Memory& memory, std::initializer_list<Message> messages) {
  for (const Message& message : messages) {
    const auto change = memory.add(message);
    ASSERT_TRUE(change) << change.error().message;
  }
}

// MEMORY4 in corrected tokens: what is too many leaves with the next message.
TEST(Memory, ACalibrationMakesTheWindowSmaller) {
  Calibration twice;
  ASSERT_TRUE(twice.update(100, 200));
  const auto make = [](const TokenCost& cost) {
    Memory memory =
        Memory::create({.budget = {.messages = {}, .tokens = 400, .low_water = 1}, .token_cost = cost})
            .value();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(memory.add(user("hello")));
    return memory;
  };
  Memory memory = make(cost_by(TokenCounter::for_model("unknown")));
  const std::size_t full = memory.size();
  const std::size_t tokens = memory.tokens();
  memory.calibrate(twice);
  EXPECT_EQ(memory.size(), full);
  EXPECT_EQ(memory.tokens(), 2 * tokens);
  const auto change = memory.add(user("hello"));
  ASSERT_TRUE(change);
  EXPECT_EQ(memory.size(), full / 2);
  EXPECT_EQ(change->evicted.size(), full + 1 - full / 2);
  EXPECT_LE(memory.tokens(), 400U);
  std::string words;
  for (int i = 0; i < 250; ++i) words += " word";
  const auto large = memory.add(user(Text(words)));
  ASSERT_FALSE(large);
  EXPECT_TRUE(large.error().message.starts_with("the budget of 400 tokens is too small: "))
      << large.error().message;
  EXPECT_TRUE(large.error().message.contains("protected messages need 5")) << large.error().message;

  for (const TokenCost& exact_cost : {cost_by(TokenCounter::for_model("gpt-4o")),
                                      TokenCost([](const Message&) { return std::size_t{4}; })}) {
    Memory other = make(exact_cost);
    const std::size_t before = other.tokens();
    other.calibrate(twice);
    EXPECT_EQ(other.tokens(), before);
  }
}

TEST(Memory, ACounterThatIsCalibratedCountsCorrectedTokensOnce) {
  const TokenCounter counter =
      TokenCounter::for_model("unknown").calibrated({.estimated = 10, .reported = 30});
  Memory memory = Memory::create({.token_cost = cost_by(counter)}).value();
  ASSERT_TRUE(memory.add(user("hello")));
  EXPECT_EQ(memory.tokens(), counter.count(user("hello")));
  memory.calibrate(counter.calibration());
  EXPECT_EQ(memory.tokens(), counter.count(user("hello")));
}

TEST(Memory, HoldsAHundredMessagesByDefault) {
  Memory memory;
  for (int i = 0; i < 101; ++i) ASSERT_TRUE(memory.add_message(Message::assistant_message("x")));
  EXPECT_EQ(memory.size(), 75U);  // the low water mark
  EXPECT_EQ(memory.log_size(), 101U);
}

// MEMORY1: the exchange is dropped whole, and returned (MEMORY5).
TEST(Memory, DropsWholeExchanges) {
  Memory memory = exact(4);
  add_all(memory, {user("a"), call({"1", "2"}), result("2"), result("1")});
  const auto evicted = memory.add_message(user("b"));
  ASSERT_TRUE(evicted);
  EXPECT_EQ(shown(*evicted), "a");
  const auto more = memory.add_message(user("c"));
  ASSERT_TRUE(more);
  EXPECT_EQ(shown(*more), "?1?2 !2 !1");
  EXPECT_EQ(shown(memory), "b c");
  EXPECT_EQ(shown(memory.log()), "a ?1?2 !2 !1 b c");    // MEMORY6
  EXPECT_EQ(shown(memory.uncovered()), "a ?1?2 !2 !1");  // MEMORY10
}

// MEMORY2
TEST(Memory, KeepsSystemMessagesPinsAndTheNewestRequest) {
  Memory memory = exact(4);
  add_all(memory, {Message::system_message("rules"), with_id(Role::Assistant, "p", "pinned")});
  ASSERT_TRUE(memory.pin("p"));
  add_all(memory, {user("question")});
  for (int i = 0; i < 10; ++i) add_all(memory, {Message::assistant_message("step")});
  EXPECT_EQ(shown(memory), "rules pinned question step");
  ASSERT_TRUE(memory.unpin("p"));
  add_all(memory, {user("next")});
  EXPECT_EQ(shown(memory), "rules question step next");
}

// MEMORY3
TEST(Memory, LetsOnlyResultsComeToAnOpenExchange) {
  Memory memory = exact(3);
  add_all(memory, {user("go"), call({"1", "2"})});
  for (const Message& message : {user("well?"), Message::assistant_message("hm"), call({"3"}), result("4"),
                                 Message::system_message("s")}) {
    const auto change = memory.add(message);
    ASSERT_FALSE(change);
    EXPECT_EQ(change.error().code, Code::BrokenHistory);
  }
  EXPECT_EQ(memory.pending().size(), 2U);
  EXPECT_EQ(memory.remove(1).error().code, Code::Invalid);
  add_all(memory, {result("1")});
  EXPECT_EQ(shown(memory), "go ?1?2 !1");
  add_all(memory, {result("2")});  // neither the exchange nor the request can go, so the limit gives way
  EXPECT_EQ(shown(memory), "go ?1?2 !1 !2");
  EXPECT_TRUE(memory.pending().empty());
}

// MEMORY4
TEST(Memory, ShowsTheNewestRequestAndExchangeWholeAtAnyNumberOfMessages) {
  for (const std::size_t most : {1U, 2U, 3U, 5U, 8U}) {
    for (const Budget& budget : {Budget{.messages = most, .low_water = 1}, Budget{.messages = most},
                                 Budget{.messages = {}, .exchanges = most}}) {
      Memory memory = Memory::create({.budget = budget}).value();
      add_all(memory, {Message::system_message("s"), user("old"), call({"0"}), result("0"), user("go"),
                       call({"1", "2", "3", "4", "5"})});
      for (const Text& id : {Text("1"), Text("2"), Text("3"), Text("4"), Text("5")}) {
        add_all(memory, {result(id)});
      }
      EXPECT_TRUE(shown(memory).ends_with("go ?1?2?3?4?5 !1 !2 !3 !4 !5")) << most << ": " << shown(memory);
      EXPECT_TRUE(shown(memory).starts_with("s ")) << shown(memory);
      EXPECT_TRUE(validate_history(memory.window()).empty());
      add_all(memory, {Message::assistant_message("done"), user("next")});
      EXPECT_LE(memory.size(), std::max<std::size_t>(budget.messages.value_or(memory.size()), 2));
    }
  }
}

TEST(Memory, RefusesResultsBeforeTheirCallsAndTwice) {
  Memory memory = exact(10);
  EXPECT_EQ(memory.add(result("1")).error().code, Code::BrokenHistory);
  add_all(memory, {call({"1"}), result("1")});
  EXPECT_EQ(memory.add(result("1")).error().code, Code::BrokenHistory);
  EXPECT_EQ(shown(memory), "?1 !1");
}

TEST(Memory, AnswersCallsOfOneIdAsOftenAsTheyWait) {
  Memory memory = exact(10);
  add_all(memory, {call({"1", "1", "1"}), result("1")});
  ASSERT_TRUE(memory.complete_pending("cancelled"));
  EXPECT_TRUE(memory.pending().empty());
  EXPECT_EQ(shown(memory), "?1?1?1 !1 !1!1");
}

// MEMORY2: wherever it stands.
TEST(Memory, KeepsASystemMessageThatBringsResults) {
  Memory memory = exact(4);
  const Message rule =
      MessageBuilder(Role::System).block(ToolResultBlock{"1", "f", Text("ok")}).text("rule").build().value();
  add_all(memory, {call({"1"}), rule, user("a"), user("b"), user("c")});
  EXPECT_EQ(shown(memory), "?1 !1rule b c");
}

TEST(Memory, TakesAnEmptyIdForNone) {
  Memory memory = exact(10);
  const Message nameless = with_id(Role::User, "", "a");
  EXPECT_EQ(memory.add(nameless)->count, 1U);
  EXPECT_EQ(memory.add(nameless)->count, 1U);
}

TEST(Memory, LetsTimeStandStillWhenTheClockGoesBack) {
  ScopedClock clock(1'000'000);
  Memory memory = memory_of({.messages = {}, .age = std::chrono::seconds(10), .low_water = 1});
  add_all(memory, {Message::assistant_message("a")});
  clock.advance(-500'000);
  add_all(memory, {Message::assistant_message("b"), Message::assistant_message("c")});
  clock.advance(520'000);
  add_all(memory, {Message::assistant_message("d")});
  EXPECT_EQ(shown(memory), "d");
}

// What must stay is more than the low mark: then no more goes than has to.
TEST(Memory, DropsNoMoreThanItMustIfTheLowMarkIsOutOfReach) {
  Memory memory = memory_of({.messages = 10, .low_water = 0.5});
  for (int i = 0; i < 6; ++i) add_all(memory, {Message::system_message("s")});
  for (int i = 0; i < 5; ++i) add_all(memory, {Message::assistant_message("x")});
  EXPECT_EQ(memory.size(), 10U);
}

TEST(Memory, GivesWaitingCallsAnAnswer) {
  Memory memory = exact(10);
  add_all(memory, {user("go"), call({"1", "2", "3"}), result("2")});
  const auto change = memory.complete_pending("cancelled by the user");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->count, 1U);
  EXPECT_EQ(shown(memory), "go ?1?2?3 !2 !1!3");
  EXPECT_TRUE(validate_history(memory.window()).empty());
  const Message last = memory.window().back();
  EXPECT_EQ(last.blocks().front().as<ToolResultBlock>()->is_error, true);
  EXPECT_EQ(memory.complete_pending("again")->count, 0U);
}

// MEMORY4
TEST(Memory, SaysWhatForbidsABudget) {
  const auto cost = [](const Message& message) { return message.get_text_content()->size(); };
  Memory memory = Memory::create({.budget = {.messages = {}, .tokens = 10}, .token_cost = cost}).value();
  const auto change = memory.add(with_id(Role::System, "sys", "twelve bytes"));
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().code, Code::LimitExceeded);
  EXPECT_EQ(change.error().message,
            "the budget of 10 tokens is too small: protected messages need 12, of which the system message "
            "'sys' takes 12");
  EXPECT_EQ(memory.size(), 0U);
  EXPECT_EQ(memory.log_size(), 0U);
  add_all(memory, {with_id(Role::System, "sys", "ten bytes!")});  // its id is free again
}

// The worked numbers of OpenManus' formula: 10, 6 and 9 tokens, and 2 for the list.
TEST(Memory, CountsTokensByARule) {
  const TokenCounter counter = TokenCounter::openmanus(Encoding::cl100k_base());
  Memory memory = Memory::create({.budget = {.messages = {}, .tokens = 19, .low_water = 1},
                                  .token_cost = cost_by(counter)})
                      .value();
  add_all(memory, {Message::system_message("You are a helpful assistant"), user("Hello")});
  EXPECT_EQ(memory.tokens(), 16U);
  add_all(memory, {user("How are you?")});
  EXPECT_EQ(memory.tokens(), 19U);
  EXPECT_EQ(shown(memory), "You are a helpful assistant How are you?");
  EXPECT_EQ(counter.count(memory.window()), 21U);
}

TEST(Memory, DropsToTheLowWaterMarkAtOnce) {
  Memory memory = memory_of({.messages = 10, .low_water = 0.5});
  std::size_t changes = 0;
  for (int i = 0; i < 100; ++i)
    changes += memory.add(Message::assistant_message("x"))->evicted.empty() ? 0 : 1;
  EXPECT_EQ(changes, 15U);  // the eleventh message drops six, and every sixth after it
}

TEST(Memory, CountsExchangesBytesAndAge) {
  Memory exchanges = memory_of({.messages = {}, .exchanges = 1, .low_water = 1});
  add_all(exchanges,
          {user("a"), call({"1"}), result("1"), Message::assistant_message("b"), call({"2"}), result("2")});
  EXPECT_EQ(shown(exchanges), "a b ?2 !2");  // what is no exchange is older than the one that may stay

  Memory bytes = memory_of({.messages = {}, .bytes = 1000});
  for (int i = 0; i < 100; ++i) add_all(bytes, {Message::assistant_message("some text")});
  EXPECT_LE(bytes.bytes(), 1000U);
  EXPECT_GT(bytes.size(), 1U);

  ScopedClock clock(1'000'000);
  Memory age = memory_of({.messages = {}, .age = std::chrono::seconds(10), .low_water = 1});
  add_all(age, {Message::system_message("s"), Message::assistant_message("old")});
  clock.advance(9'000);
  add_all(age, {Message::assistant_message("young")});
  clock.advance(2'000);
  add_all(age, {Message::assistant_message("new")});
  EXPECT_EQ(shown(age), "s young new");
}

// MEMORY1, MEMORY2: for a model that says it was shown too much.
TEST(Memory, EvictsAShareOfWhatMayGo) {
  Memory memory;
  ASSERT_TRUE(memory.add(Message::system_message("be good")));
  const ToolCall call{"call_1", "function", {"look", "{}"}};
  ASSERT_TRUE(memory.add(Message::user_message("an old question")));
  ASSERT_TRUE(memory.add(Message::from_tool_calls({&call, 1})));
  ASSERT_TRUE(memory.add(Message::tool_message("seen", "look", "call_1")));
  ASSERT_TRUE(memory.add(Message::assistant_message("an old answer")));
  ASSERT_TRUE(memory.add(Message::user_message("the newest question")));
  const std::size_t bytes = memory.bytes();
  const Result<Change> some = memory.evict(0.9);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->evicted.size(), 1U);
  EXPECT_LE(memory.bytes(), bytes * 9 / 10);
  const Result<Change> rest = memory.evict(0);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->evicted.size(), 3U);
  EXPECT_EQ(memory.size(), 2U) << "the system message and the request stay";
  EXPECT_EQ(memory.log_size(), 6U);
  const Result<Change> none = memory.evict(0.5);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::LimitExceeded);
}

TEST(Memory, RefusesBudgetsThatMakeNoSense) {
  const auto code = [](Budget budget) { return Memory::create({.budget = budget}).error().code; };
  EXPECT_EQ(code({.messages = 0}), Code::Invalid);
  EXPECT_EQ(code({.exchanges = 0}), Code::Invalid);
  EXPECT_EQ(code({.bytes = 0}), Code::Invalid);
  EXPECT_EQ(code({.age = std::chrono::milliseconds(0)}), Code::Invalid);
  EXPECT_EQ(code({.age = std::chrono::milliseconds(-1)}), Code::Invalid);
  EXPECT_EQ(code({.low_water = 0}), Code::Invalid);
  EXPECT_EQ(code({.low_water = 1.01}), Code::Invalid);
  EXPECT_EQ(code({.tokens = 100}), Code::Invalid);  // and no function that counts them
  EXPECT_EQ(Memory::create({.text_bytes = 10}).error().code, Code::Invalid);
  EXPECT_EQ(Memory::create({.compression = {.above_messages = 0}}).error().code, Code::Invalid);
}

TEST(Memory, TakesTheLargestNumbersForNoLimit) {
  constexpr auto kLargest = static_cast<std::size_t>(-1);
  Memory memory =
      Memory::create({.budget = {.messages = kLargest, .bytes = kLargest, .low_water = 1},
                      .compressor = std::make_shared<ExtractiveCompressor>(),
                      .compression = {.keep_recent = 0, .deadline = std::chrono::milliseconds::max()}})
          .value();
  for (int i = 0; i < 50; ++i)
    add_all(memory, {Message::assistant_message("a longer text than its summary has.")});
  EXPECT_TRUE(memory.compress());
}

TEST(Memory, HoldsOneMessageIfThatIsAllItMay) {
  Memory memory = exact(1);
  for (const char* text : {"a", "b", "c"}) add_all(memory, {user(Text(text))});
  EXPECT_EQ(shown(memory), "c");
  add_all(memory, {Message::system_message("s")});  // the request must stay, and so must this
  EXPECT_EQ(shown(memory), "c s");
  const auto change = memory.add(Message::system_message("t"));
  EXPECT_EQ(change.error().code, Code::LimitExceeded);
  EXPECT_EQ(shown(memory), "c s");
}

TEST(Memory, TakesAListAsAWholeOrNotAtAll) {
  Memory memory = exact(10);
  const std::vector<Message> list = {user("a"), call({"1"}), user("b")};
  EXPECT_FALSE(memory.add_messages(list));
  EXPECT_EQ(memory.size(), 0U);
  EXPECT_TRUE(memory.pending().empty());
  const std::vector<Message> many(25, Message::assistant_message("x"));
  Memory keeps =
      Memory::create({.budget = {.messages = 10, .low_water = 1}, .duplicates = Duplicates::Keep}).value();
  EXPECT_EQ(keeps.add_messages(many)->size(), 15U);
  EXPECT_EQ(keeps.size(), 10U);
}

// AgentScope's backends disagree about these; this is the one answer.
TEST(Memory, AddsAnIdOnce) {
  const Message one = with_id(Role::User, "m1", "hi");
  Memory skips = exact(10);
  EXPECT_EQ(skips.add(one)->count, 1U);
  EXPECT_EQ(skips.add(one)->count, 0U);
  const std::vector<Message> twice = {with_id(Role::User, "m2", "a"), with_id(Role::User, "m2", "b")};
  EXPECT_EQ(skips.add(twice)->count, 1U);  // in one list, too
  EXPECT_EQ(shown(skips), "hi a");

  Memory keeps = Memory::create({.duplicates = Duplicates::Keep}).value();
  EXPECT_EQ(keeps.add(twice)->count, 2U);
  const Text id = "m2";
  EXPECT_EQ(keeps.remove({&id, 1})->count, 2U);

  Memory refuses = Memory::create({.duplicates = Duplicates::Refuse}).value();
  EXPECT_EQ(refuses.add(twice).error().code, Code::Invalid);
  EXPECT_EQ(refuses.size(), 0U);
}

// A removed message leaves the log, so that it can come again.
TEST(Memory, AddsARemovedMessageAgain) {
  const Message one = with_id(Role::User, "m1", "hi");
  for (const Duplicates duplicates : {Duplicates::Skip, Duplicates::Keep, Duplicates::Refuse}) {
    Memory memory = Memory::create({.duplicates = duplicates}).value();
    add_all(memory, {one, user("between")});
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(memory.remove("m1")->count, 1U);
      const auto again = memory.add(one);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->count, 1U);
      EXPECT_EQ(again->skipped, 0U);
      EXPECT_EQ(shown(memory), "between hi");
    }
    EXPECT_EQ(memory.log_size(), 5U);
    EXPECT_EQ(memory.log_dropped(), 3U);
    EXPECT_EQ(shown(memory.log()), "between hi");
  }
  Memory evicts = exact(1);
  add_all(evicts, {one, user("next")});
  EXPECT_EQ(evicts.add(one)->skipped, 1U) << "the log holds what was evicted";
}

// The memory of a message is freed with its last holder.
std::weak_ptr<const Arena> tracked(const Message& message) { return Arena::of(message).weak_from_this(); }

// MEMORY11
TEST(Memory, FreesWhatIsRemoved) {
  Memory memory;
  std::weak_ptr<const Arena> gone;
  {
    const Message large = with_id(Role::User, "m1", Text(std::string(100'000, 'x')));
    gone = tracked(large);
    add_all(memory, {user("a"), large, user("b")});
  }
  EXPECT_FALSE(gone.expired());
  ASSERT_TRUE(memory.remove("m1"));
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(shown(memory.log()), "a b");
}

// MEMORY11
TEST(Memory, HoldsNoMoreThanALimitBeyondTheWindow) {
  const LogLimit limit{.messages = 40, .bytes = std::nullopt};
  Memory memory = Memory::create({.budget = {.messages = 10, .low_water = 1}, .log_limit = limit}).value();
  std::weak_ptr<const Arena> first;
  {
    const Message message = Message::assistant_message("0");
    first = tracked(message);
    add_all(memory, {Message::system_message("s"), message});
  }
  for (int i = 1; i < 1000; ++i) {
    add_all(memory, {Message::assistant_message(Text(std::to_string(i)))});
    ASSERT_LE(memory.log().size(), memory.size() + 40);
  }
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(memory.log_size(), 1001U);
  EXPECT_EQ(memory.log_dropped(), 1001U - memory.log().size());
  EXPECT_GE(memory.log().size(), memory.size() + 35) << "an eighth of the limit may be free";
  EXPECT_EQ(memory.uncovered_size(), 1001U - memory.size());
  EXPECT_EQ(shown(memory.log()).substr(0, 2), "s ");
  EXPECT_EQ(memory.log().back().content()->view(), "999");
  EXPECT_EQ(memory.add(memory.log()[20])->skipped, 1U);
}

// MEMORY11
TEST(Memory, HoldsNoMoreBytesThanALimitBeyondTheWindow) {
  const LogLimit limit{.messages = std::nullopt, .bytes = 100'000};
  Memory memory = Memory::create({.budget = {.messages = 10}, .log_limit = limit}).value();
  for (int i = 0; i < 500; ++i) {
    add_all(memory, {Message::assistant_message(Text(std::string(5000, 'x')))});
    ASSERT_LE(memory.log().size(), memory.size() + 20);
  }
  EXPECT_GE(memory.log().size(), memory.size() + 15);
  // One that is larger than the limit is not held at all.
  add_all(memory, {Message::assistant_message(Text(std::string(200'000, 'x')))});
  for (int i = 0; i < 12; ++i) add_all(memory, {Message::assistant_message("y")});
  for (const Message& message : memory.log()) EXPECT_EQ(message.content()->view(), "y");
}

TEST(Memory, HasALimitByDefault) {
  Memory memory;
  for (int i = 0; i < 30'000; ++i) add_all(memory, {Message::assistant_message("x")});
  EXPECT_EQ(memory.log_size(), 30'000U);
  EXPECT_LE(memory.log().size(), 10'100U);
  Memory unlimited = Memory::create({.log_limit = LogLimit::unlimited()}).value();
  for (int i = 0; i < 30'000; ++i) add_all(unlimited, {Message::assistant_message("x")});
  EXPECT_EQ(unlimited.log().size(), 30'000U);
}

// MEMORY7: what one copy frees, another still has.
TEST(Memory, KeepsForASnapshotWhatItFrees) {
  Memory memory = Memory::create({.budget = {.messages = 5}, .log_limit = {.messages = 0}}).value();
  add_all(memory, {user("a"), Message::assistant_message("b")});
  const Snapshot snapshot = memory.snapshot();
  const Memory fork = memory.fork();
  for (int i = 0; i < 100; ++i) add_all(memory, {user("x")});
  EXPECT_EQ(memory.log().size(), memory.size());
  EXPECT_EQ(shown(snapshot.messages()), "a b");
  EXPECT_EQ(shown(fork.log()), "a b");
}

TEST(Memory, MarksMessages) {
  Memory memory = exact(10);
  const Text hint = "hint";
  ASSERT_TRUE(memory.add(with_id(Role::User, "m1", "a"), {&hint, 1}));
  ASSERT_TRUE(memory.add(with_id(Role::User, "m2", "b"), {&hint, 1}));
  ASSERT_TRUE(memory.add(with_id(Role::User, "m3", "c")));
  const Text ids[] = {"m1", "m3", "missing"};

  EXPECT_EQ(memory.update_messages_mark("hint", {}, std::span(ids, 1)), 0U);  // it has it: not counted
  EXPECT_EQ(memory.update_messages_mark({}, {}), 0U);                         // nothing to do: nothing done
  EXPECT_EQ(memory.update_messages_mark("hint", "hint"), 0U);                 // replaced by itself: kept
  EXPECT_EQ(shown(memory.get({.mark = "hint"})), "a b");
  EXPECT_EQ(memory.update_messages_mark("x", {}, ids), 2U);
  EXPECT_EQ(shown(memory.get({.mark = "x"})), "a c");  // in the order of the conversation
  EXPECT_EQ(shown(memory.get({.mark = "x", .exclude_mark = "hint"})), "c");
  EXPECT_EQ(shown(memory.get({.exclude_mark = "hint"})), "c");
  EXPECT_EQ(memory.update_messages_mark("y", "x"), 2U);
  EXPECT_TRUE(memory.get({.mark = "x"}).empty());
  EXPECT_EQ(memory.update_messages_mark({}, "y"), 2U);
  EXPECT_TRUE(memory.get({.mark = "y"}).empty());
  EXPECT_TRUE(memory.get({.mark = "never"}).empty());

  const Text unknown = "missing";
  EXPECT_EQ(memory.remove({&unknown, 1})->count, 0U);
  EXPECT_EQ(memory.remove_by_mark({&unknown, 1})->count, 0U);
  EXPECT_EQ(memory.remove_by_mark({&hint, 1})->count, 2U);
  EXPECT_EQ(shown(memory), "c");
}

TEST(Memory, TakesListsOfMarksAndIds) {
  Memory memory = exact(10);
  ASSERT_TRUE(memory.add(with_id(Role::User, "m1", "a"), {"x", "y"}));
  const std::vector<Message> two = {with_id(Role::User, "m2", "b"), with_id(Role::User, "m3", "c")};
  ASSERT_TRUE(memory.add(two, {"y", "z"}));
  EXPECT_EQ(shown(memory.get({.mark = "y"})), "a b c");
  EXPECT_EQ(memory.remove_by_mark({"x", "never"})->count, 1U);
  EXPECT_EQ(memory.remove({"m2", "missing"})->count, 1U);
  EXPECT_EQ(shown(memory), "c");
}

TEST(Memory, MarksAndRemovesWholeExchanges) {
  Memory memory = exact(10);
  const Text mark = "m";
  add_all(memory, {user("go")});
  ASSERT_TRUE(memory.add(call({"1"}), {&mark, 1}));
  add_all(memory, {result("1"), Message::assistant_message("done")});
  EXPECT_EQ(shown(memory.get({.mark = "m"})), "?1 !1");
  const auto change = memory.remove(2);  // the result
  ASSERT_TRUE(change);
  EXPECT_EQ(shown(change->evicted), "?1 !1");
  EXPECT_EQ(shown(memory), "go done");
  EXPECT_EQ(memory.remove(2).error().code, Code::NotFound);
}

TEST(Memory, FindsTheRequestBeforeOneThatWasRemoved) {
  Memory memory = exact(3);
  add_all(memory, {user("first"), Message::assistant_message("a"), user("second")});
  ASSERT_TRUE(memory.remove(2));
  for (int i = 0; i < 5; ++i) add_all(memory, {Message::assistant_message("b")});
  EXPECT_EQ(shown(memory), "first b b");
}

TEST(Memory, GivesTheRecentWithTheirExchanges) {
  Memory memory = exact(10);
  add_all(memory, {user("a"), call({"1"}), result("1"), user("b")});
  EXPECT_EQ(shown(*memory.get_recent_messages(1)), "b");
  EXPECT_EQ(shown(*memory.get_recent_messages(2)), "?1 !1 b");
  EXPECT_EQ(shown(*memory.get_recent_messages(4)), "a ?1 !1 b");
  EXPECT_EQ(shown(*memory.get_recent_messages(99)), "a ?1 !1 b");
  EXPECT_TRUE(memory.get_recent_messages(0)->empty());
  EXPECT_EQ(memory.get_recent_messages(-1).error().code, Code::Invalid);
}

TEST(Memory, WritesDicts) {
  Memory memory;
  add_all(memory, {user("hi")});
  EXPECT_EQ(memory.to_dict_list().front().text().view(), R"({"role":"user","content":"hi"})");
  add_all(memory, {call({"1", "2"})});
  ASSERT_TRUE(memory.complete_pending("no"));  // two results in one message, two messages in OpenManus
  ASSERT_EQ(memory.to_dict_list().size(), 4U);
  EXPECT_EQ(memory.to_dict_list().back().text().view(),
            R"({"role":"tool","content":"Error: no","name":"f","tool_call_id":"2"})");
}

TEST(Memory, WritesDictsAsReadOrAsTheOriginal) {
  Memory memory;
  const std::string_view wire = R"({"content":"hi","role":"user","name":null,"x":1})";
  add_all(memory, {from_dict(wire, Dialect::OpenManus).value()});
  EXPECT_EQ(memory.to_dict_list().front().text().view(), wire);
  EXPECT_EQ(memory.to_dict_list(Dialect::OpenManus, Form::Canonical).front().text().view(),
            R"({"role":"user","content":"hi"})");
}

TEST(Memory, ShowsLongTextsCutAndKeepsThem) {
  Memory memory = Memory::create({.text_bytes = 100}).value();
  add_all(memory, {user(Text(std::string(5000, 'x')))});
  EXPECT_LE(memory.window().front().content()->size(), 100U);
  EXPECT_NE(memory.window().front().content()->view().find(" characters cut ...]"), std::string::npos);
  EXPECT_EQ(memory.log().front().content()->size(), 5000U);
  EXPECT_LT(memory.bytes(), 1000U);
  EXPECT_EQ(memory.snapshot().messages().front().content()->size(),
            memory.window().front().content()->size());
}

TEST(Memory, ForgetsEverythingWhenCleared) {
  Memory memory = exact(10);
  const Text mark = "m";
  ASSERT_TRUE(memory.add(with_id(Role::User, "m1", "a"), {&mark, 1}));
  ASSERT_TRUE(memory.pin("m1"));
  ASSERT_TRUE(memory.update_compressed_summary("so far"));
  memory.clear();
  EXPECT_EQ(memory.size(), 0U);
  EXPECT_EQ(memory.log_size(), 0U);
  EXPECT_FALSE(memory.summary());
  EXPECT_TRUE(memory.window().empty());
  EXPECT_TRUE(memory.get({.mark = "m"}).empty());
  ASSERT_TRUE(memory.add(with_id(Role::User, "m1", "a")));
}

// MEMORY7: other threads read snapshots while the memory changes.
TEST(Memory, IsReadThroughSnapshotsByOtherThreads) {
  Memory memory = memory_of({.messages = 50});
  add_all(memory, {Message::system_message("s"), user("go")});
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    const Snapshot snapshot = memory.snapshot();
    const std::string before = shown(memory);
    readers.emplace_back([snapshot, before] {
      for (int round = 0; round < 50; ++round) ASSERT_EQ(shown(snapshot.messages()), before);
    });
    for (int k = 0; k < 200; ++k) add_all(memory, {Message::assistant_message("x")});
  }
  Memory fork = memory.fork();
  std::thread writer([&fork] {
    for (int k = 0; k < 500; ++k) add_all(fork, {Message::assistant_message("y")});
  });
  for (int k = 0; k < 500; ++k) add_all(memory, {Message::assistant_message("z")});
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(fork.log_size(), memory.log_size());
  EXPECT_EQ(shown(fork.log()).find('z'), std::string::npos);
  EXPECT_EQ(shown(memory.log()).find('y'), std::string::npos);
}

TEST(Memory, ATokenBudgetAloneSetsNoLimitOnMessages) {
  Memory memory =
      Memory::create({.budget = {.tokens = 1'000'000}, .token_cost = [](const Message&) { return 1; }})
          .value();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(memory.add(Message::user_message(std::to_string(i))));
  EXPECT_EQ(memory.size(), 300U);
}

TEST(Memory, AddsAListAndTakesARuleForDuplicates) {
  Memory memory;
  const Message a = Message::user_message("a"), b = Message::assistant_message("b");
  EXPECT_EQ(memory.add({a, b})->count, 2U);
  EXPECT_EQ(memory.add({&a, 1})->skipped, 1U);
  EXPECT_EQ(memory.add({&a, 1}, {}, Duplicates::Refuse).error().code, Code::Invalid);
  EXPECT_EQ(memory.add({&a, 1}, {}, Duplicates::Keep)->count, 1U);
  EXPECT_TRUE(memory.add_messages({Message::user_message("c"), Message::assistant_message("d")}));
  EXPECT_EQ(memory.size(), 5U);
}

}  // namespace
}  // namespace parley
