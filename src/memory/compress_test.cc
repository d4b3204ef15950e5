#include <gtest/gtest.h>

#include <stdexcept>

#include "parley/memory/compressor.h"
#include "parley/memory/memory.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

Message call(const Text& id) {
  const ToolCall one{id, "function", {"search", "{\"q\":\"x\"}"}};
  return Message::from_tool_calls({&one, 1});
}

// Does what a test wants.
class Scripted : public Compressor {
 public:
  using Script = std::function<Result<CompressionAnswer>(const CompressionRequest&)>;
  explicit Scripted(Script script, std::size_t window = 1 << 20)
      : script_(std::move(script)), window_(window) {}
  Result<CompressionAnswer> compress(const CompressionRequest& request) override {
    ++asked;
    return script_(request);
  }
  std::size_t window_bytes() const override { return window_; }
  int asked = 0;

 private:
  Script script_;
  std::size_t window_;
};

CompressionAnswer short_answer(const CompressionRequest& request) {
  return {"in short", request.messages.size()};
}

Memory memory_with(std::shared_ptr<Compressor> compressor, CompressionPolicy policy = {},
                   Budget budget = {}) {
  return Memory::create({.budget = budget, .compressor = std::move(compressor), .compression = policy})
      .value();
}

void fill(Memory& memory, int steps) {
  ASSERT_TRUE(memory.add(Message::system_message("rules")));
  ASSERT_TRUE(memory.add(Message::user_message("the question")));
  for (int i = 0; i < steps; ++i) {
    const Text id = Text("c" + std::to_string(i));
    ASSERT_TRUE(memory.add(call(id)));
    ASSERT_TRUE(memory.add(Message::tool_message("found a page about it", "search", id)));
  }
}

// MEMORY9
TEST(Compression, ReplacesTheOlderPartByASummary) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer));
  fill(memory, 10);
  const auto change = memory.compress();
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->count, 14U);  // three exchanges stay
  const std::vector<Message> window = memory.window();
  ASSERT_EQ(window.size(), 1U + 1U + 1U + 6U);
  EXPECT_EQ(window[0].role(), Role::System);
  EXPECT_EQ(window[1].content()->view(), "the question");  // MEMORY2
  EXPECT_EQ(window[2].content()->view(), "in short");
  EXPECT_EQ(memory.size(), window.size());
  EXPECT_TRUE(validate_history(window).empty());
  ASSERT_TRUE(memory.summary());
  EXPECT_EQ(memory.summary()->first, 2U);
  EXPECT_EQ(memory.summary()->last, 15U);
  EXPECT_EQ(memory.summary()->count, 14U);
  EXPECT_EQ(memory.covered().size(), 14U);
  EXPECT_EQ(memory.log_size(), 22U);  // MEMORY6
  EXPECT_EQ(window[2].id(), memory.window()[2].id());
}

TEST(Compression, RollsTheSummaryOn) {
  std::vector<std::optional<Text>> previous;
  auto compressor = std::make_shared<Scripted>([&](const CompressionRequest& request) {
    previous.push_back(request.previous);
    return short_answer(request);
  });
  Memory memory = memory_with(compressor);
  fill(memory, 10);
  ASSERT_TRUE(memory.compress());
  for (int i = 10; i < 15; ++i) {
    const Text id = Text("c" + std::to_string(i));
    ASSERT_TRUE(memory.add(call(id)));
    ASSERT_TRUE(memory.add(Message::tool_message("more", "search", id)));
  }
  ASSERT_TRUE(memory.compress());
  EXPECT_EQ(previous, (std::vector<std::optional<Text>>{std::nullopt, Text("in short")}));
  EXPECT_EQ(memory.summary()->count, 24U);
  EXPECT_EQ(memory.covered().size(), 24U);
}

TEST(Compression, NeverAsksForMoreThanTheCompressorCanTake) {
  std::size_t largest = 0;
  auto compressor = std::make_shared<Scripted>(
      [&](const CompressionRequest& request) -> Result<CompressionAnswer> {
        Memory scale = Memory::create({.budget = Budget::unlimited()}).value();
        EXPECT_TRUE(scale.add(request.messages));  // whole exchanges
        largest = std::max(largest, scale.bytes());
        return short_answer(request);
      },
      400);
  Memory memory = memory_with(compressor);
  fill(memory, 30);
  ASSERT_TRUE(memory.compress());
  EXPECT_GT(compressor->asked, 3);
  EXPECT_LE(largest, 400U);
}

TEST(Compression, CutsWhatIsLargerThanTheCompressorsWindow) {
  std::size_t seen = 0;
  auto compressor = std::make_shared<Scripted>(
      [&](const CompressionRequest& request) -> Result<CompressionAnswer> {
        for (const Message& message : request.messages) seen = std::max(seen, message.content()->size());
        return short_answer(request);
      },
      1000);
  Memory memory = memory_with(compressor, {.keep_recent = 0});
  ASSERT_TRUE(memory.add(Message::assistant_message(Text(std::string(50'000, 'x')))));
  ASSERT_TRUE(memory.add(Message::assistant_message("the newest stays")));
  ASSERT_TRUE(memory.compress());
  EXPECT_LE(seen, 1000U);
  EXPECT_EQ(memory.covered().front().content()->size(), 50'000U);
}

// Whatever a compressor does, the memory stays as it was.
TEST(Compression, SurvivesEveryCompressor) {
  using Script = Scripted::Script;
  const struct {
    const char* what;
    Script script;
    Code code;
  } kTable[] = {
      {"nothing", [](const CompressionRequest& r) { return CompressionAnswer{"", r.messages.size()}; },
       Code::Invalid},
      {"a lie about its range", [](const CompressionRequest&) { return CompressionAnswer{"all is well", 1}; },
       Code::Invalid},
      {"a novel",
       [](const CompressionRequest& r) {
         return CompressionAnswer{Text(std::string(r.most_bytes + 1, 'x')), r.messages.size()};
       },
       Code::LimitExceeded},
      {"an error", [](const CompressionRequest&) { return fail(Code::Unavailable, "the model is away"); },
       Code::Unavailable},
      {"an exception",
       [](const CompressionRequest&) -> Result<CompressionAnswer> { throw std::runtime_error("oops"); },
       Code::Unavailable},
      {"any exception", [](const CompressionRequest&) -> Result<CompressionAnswer> { throw 7; },
       Code::Unavailable},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.what);
    Memory memory = memory_with(std::make_shared<Scripted>(row.script));
    fill(memory, 10);
    const std::vector<Message> before = memory.window();
    const auto change = memory.compress();
    ASSERT_FALSE(change);
    EXPECT_EQ(change.error().code, row.code) << change.error().message;
    EXPECT_EQ(memory.window(), before);
    EXPECT_FALSE(memory.summary());
  }
}

TEST(Compression, ThrowsALateAnswerAway) {
  Memory memory =
      memory_with(std::make_shared<Scripted>(short_answer), {.deadline = std::chrono::milliseconds(-1)});
  fill(memory, 10);
  EXPECT_EQ(memory.compress().error().code, Code::Timeout);
}

// A summary may have more bytes than many small messages, unless bytes are what is short.
TEST(Compression, JudgesProgressByWhatIsLimited) {
  auto wordy = std::make_shared<Scripted>([](const CompressionRequest& request) {
    return CompressionAnswer{Text(std::string(500, 'x')), request.messages.size()};
  });
  for (const bool is_short : {false, true}) {
    Budget budget = {.messages = 10};
    if (is_short) budget.bytes = 200;
    Memory memory = memory_with(wordy, {.keep_recent = 1}, budget);
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(memory.add(Message::assistant_message("hello")));
    EXPECT_EQ(memory.compress().has_value(), !is_short);
    EXPECT_EQ(memory.size(), is_short ? 8U : 2U);
  }
}

// One that failed is tried again, not at every message but before long.
TEST(Compression, RecoversWhenItsCompressorDoes) {
  int asked = 0;
  auto moody =
      std::make_shared<Scripted>([&](const CompressionRequest& request) -> Result<CompressionAnswer> {
        if (++asked == 1) return fail(Code::Unavailable, "away");
        return short_answer(request);
      });
  Memory memory = memory_with(moody, {}, {.messages = 20});
  fill(memory, 100);
  EXPECT_TRUE(memory.summary());
  EXPECT_FALSE(memory.compression_error());
}

// A budget that can be met without a summary is met, whatever a summary would take.
TEST(Compression, DoesNotTakeTheRoomOfWhatMustStay) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer), {.keep_recent = 0},
                              {.messages = 3, .low_water = 1});
  ASSERT_TRUE(memory.add(Message::system_message("s")));
  ASSERT_TRUE(memory.add(Message::user_message("u")));
  ASSERT_TRUE(memory.add(Message::assistant_message(Text(std::string(300, 'x')))));
  const auto change = memory.add(Message::assistant_message("y"));
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->evicted.size(), 1U);
  EXPECT_FALSE(memory.summary());
  // MEMORY10: what left is reported, and why no summary covers it.
  EXPECT_EQ(change->uncovered, 1U);
  EXPECT_EQ(memory.uncovered().size(), 1U);
  ASSERT_TRUE(memory.compression_error());
  EXPECT_EQ(memory.compression_error()->message,
            "no room for a summary: of the budget of 3 messages it may use 0, needed: at least 1");
}

// A statement of some words, each other than the one before.
Message statement(int i) {
  const std::string words = "Statement " + std::to_string(i) +
                            " is about the weather in the town of number " + std::to_string(i * 7) +
                            ". It continues for a while, so that it takes some tokens.";
  return i % 2 == 0 ? Message::user_message(Text(words)) : Message::assistant_message(Text(words));
}

// A summary leaves room for what comes after it: it never grows until nothing else has a place.
TEST(Compression, ContinuesAtEveryBudget) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  for (const std::size_t tokens : {200U, 300U, 600U, 1000U, 3000U}) {
    SCOPED_TRACE(tokens);
    Memory memory = Memory::create({.budget = {.messages = {}, .tokens = tokens},
                                    .token_cost = cost_by(counter),
                                    .compressor = std::make_shared<ExtractiveCompressor>()})
                        .value();
    for (int i = 0; i < 400; ++i) {
      const auto change = memory.add(statement(i));
      ASSERT_TRUE(change) << change.error().message;
      ASSERT_EQ(change->uncovered, 0U);
      ASSERT_LE(memory.tokens(), tokens);
    }
    EXPECT_EQ(memory.uncovered_size(), 0U);
    EXPECT_FALSE(memory.compression_error()) << memory.compression_error()->message;
    ASSERT_TRUE(memory.summary());
    EXPECT_LE(counter.count(memory.summary()->message), tokens / 4);
    EXPECT_EQ(memory.summary()->count + memory.size() - 1, 400U);
    EXPECT_GE(memory.size(), 3U) << "the summary, the request and the answer";
  }
}

// Most tokens of short messages are those of the frame around a text. They do not make the room of a summary
// smaller: 75 tokens are about 300 bytes.
TEST(Compression, GivesASummaryTheBytesOfItsTokens) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  for (const std::string_view words : {"a", "ok", "Fine, thank you!", "Then we go there by train."}) {
    SCOPED_TRACE(words);
    std::vector<std::size_t> asked;
    auto compressor = std::make_shared<Scripted>([&](const CompressionRequest& request) {
      asked.push_back(request.most_bytes);
      return ExtractiveCompressor().compress(request);
    });
    Memory memory = Memory::create({.budget = {.messages = {}, .tokens = 300},
                                    .token_cost = cost_by(counter),
                                    .compressor = compressor})
                        .value();
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(memory.add(Message::user_message(Text(words))));
      ASSERT_TRUE(memory.add(Message::assistant_message(Text(words))));
      ASSERT_LE(memory.tokens(), 300U);
    }
    EXPECT_EQ(memory.compression_error(), std::nullopt) << memory.compression_error()->message;
    EXPECT_EQ(memory.uncovered_size(), 0U);
    ASSERT_FALSE(asked.empty());
    EXPECT_GE(asked.front(), 140U);
  }
}

TEST(Compression, KeepsASummaryWithinItsShare) {
  std::vector<std::size_t> asked;
  auto wordy = std::make_shared<Scripted>([&](const CompressionRequest& request) {
    asked.push_back(request.most_bytes);
    return CompressionAnswer{Text(std::string(request.most_bytes, 'w')), request.messages.size()};
  });
  Memory memory = Memory::create({.budget = {.messages = {}, .tokens = 400},
                                  // a token per byte, which is unusual
                                  .token_cost = [](const Message& m) { return m.get_text_content()->size(); },
                                  .compressor = wordy,
                                  .compression = {.summary_share = 0.5}})
                      .value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(memory.add(Message::assistant_message(Text(std::string(50, 'x')))));
  }
  ASSERT_TRUE(memory.summary());
  EXPECT_LE(memory.summary()->message.content()->size(), 200U);
  EXPECT_EQ(memory.uncovered_size(), 0U);
  EXPECT_LE(asked.front(), 200U);
}

// Of the newest messages, too, what the budget has no room for goes into the summary.
TEST(Compression, CoversWhatTheBudgetDropsOfTheNewest) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer), {.keep_recent = 10},
                              {.messages = {}, .bytes = 1000});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(memory.add(Message::assistant_message(Text(std::string(300, 'x')))));
  }
  EXPECT_LE(memory.bytes(), 1000U);
  EXPECT_EQ(memory.uncovered_size(), 0U);
  EXPECT_EQ(memory.summary()->count + memory.size() - 1, 50U);
}

// A summary that does not fit a smaller budget is removed; the messages it covered are reported.
TEST(Compression, LetsALargeSummaryGiveWay) {
  auto compressor = std::make_shared<Scripted>([](const CompressionRequest& request) {
    return CompressionAnswer{Text(std::string(2000, 'w')), request.messages.size()};
  });
  Memory large = memory_with(compressor);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(large.add(Message::assistant_message(Text(std::string(100, 'x')))));
  }
  ASSERT_TRUE(large.compress());
  EXPECT_EQ(large.summary()->count, 57U);
  Memory small = Memory::create({.budget = {.messages = {}, .bytes = 2200}}).value();
  const auto change = small.load_state_dict(*large.state_dict());
  ASSERT_TRUE(change);
  EXPECT_FALSE(small.summary());
  EXPECT_EQ(small.size(), 3U);
  EXPECT_EQ(change->uncovered, 57U);
  EXPECT_EQ(small.uncovered().size(), 57U);
}

// For a model that says it was shown too much: a smaller summary beside the newest messages, and none when
// there is no room for one. The newest request always stays.
TEST(Compression, ShrinksToAShare) {
  Memory memory = memory_with(std::make_shared<ExtractiveCompressor>());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(memory.add(statement(i)));
  ASSERT_TRUE(memory.add(Message::user_message("the question")));
  for (int tries = 0; memory.size() > 1; ++tries) {
    const std::size_t bytes = memory.bytes();
    ASSERT_TRUE(memory.shrink(0.5));
    EXPECT_LE(memory.bytes(), bytes / 2);
    EXPECT_EQ(memory.window().back().content()->view(), "the question");
    if (tries < 2) {
      ASSERT_TRUE(memory.summary()) << "try " << tries;
      EXPECT_LE(memory.summary()->message.content()->size(), bytes / 8);
      EXPECT_EQ(memory.uncovered_size(), 0U);
    }
  }
  EXPECT_EQ(memory.uncovered_size(), 60U);
  ASSERT_TRUE(memory.compression_error());
  EXPECT_EQ(memory.shrink(0.5).error().code, Code::LimitExceeded);
}

TEST(Compression, EvictsTheSummaryBeforeTheNewestExchange) {
  Memory memory = memory_with(std::make_shared<Scripted>([](const CompressionRequest& request) {
    return CompressionAnswer{Text(std::string(2000, 'w')), request.messages.size()};
  }));
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(memory.add(statement(i)));
  ASSERT_TRUE(memory.compress());
  ASSERT_EQ(memory.size(), 4U);
  const auto change = memory.evict(0.5);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->evicted.size(), 1U);
  EXPECT_EQ(change->uncovered, 57U);
  EXPECT_FALSE(memory.summary());
  EXPECT_EQ(memory.size(), 3U);
}

TEST(Compression, SurvivesFunctionsThatThrow) {
  class Windowless : public Scripted {
   public:
    using Scripted::Scripted;
    std::size_t window_bytes() const override { throw std::runtime_error("no window"); }
  };
  Memory memory = memory_with(std::make_shared<Windowless>(short_answer), {}, {.messages = 20});
  fill(memory, 100);
  EXPECT_LE(memory.size(), 20U);
  EXPECT_EQ(memory.compression_error()->code, Code::Unavailable);

  int calls = 0;
  Memory counted = Memory::create({.token_cost = [&](const Message&) -> std::size_t {
                     if (++calls == 2) throw std::runtime_error("cannot count");
                     return 1;
                   }}).value();
  const std::vector<Message> two = {Message::user_message("a"), Message::user_message("b")};
  EXPECT_EQ(counted.add(two).error().code, Code::Unavailable);
  EXPECT_EQ(counted.size(), 0U);
  EXPECT_EQ(counted.log_size(), 0U);
  EXPECT_EQ(counted.add(two)->count, 2U);
}

// What must not be asked for is not asked for at all, however an exchange is made.
TEST(Compression, CutsLargeExchangesForTheCompressor) {
  std::size_t largest = 0;
  auto compressor = std::make_shared<Scripted>(
      [&](const CompressionRequest& request) -> Result<CompressionAnswer> {
        Memory scale = Memory::create({.budget = Budget::unlimited()}).value();
        EXPECT_TRUE(scale.add(request.messages));
        largest = std::max(largest, scale.bytes());
        return short_answer(request);
      },
      4000);
  Memory memory = memory_with(compressor, {.keep_recent = 0}, Budget::unlimited());
  MessageBuilder calls(Role::Assistant);
  for (const Text& id : {Text("1"), Text("2"), Text("3")}) {
    calls.block(ToolUseBlock{id, "f", Text("{\"a\":\"" + std::string(50'000, 'x') + "\"}")});
  }
  ASSERT_TRUE(memory.add(calls.build().value()));
  // An image inside a result, and a text that JSON spells six times as long.
  ASSERT_TRUE(memory.add(Message::tool_message("y", "f", "1", Text(std::string(40'000, 'A')))));
  ASSERT_TRUE(memory.add(Message::tool_message(Text(std::string(9'000, '\x01')), "f", "2")));
  ASSERT_TRUE(memory.add(Message::tool_message(Text(std::string(9'000, '"')), "f", "3")));
  ASSERT_TRUE(memory.add(Message::assistant_message("done")));
  ASSERT_TRUE(memory.compress());
  EXPECT_EQ(compressor->asked, 1);
  EXPECT_LE(largest, 4000U);
  EXPECT_GT(memory.covered().front().blocks().front().as<ToolUseBlock>()->arguments.size(), 50'000U);
}

TEST(Compression, MayHaveNoDeadline) {
  Memory memory =
      memory_with(std::make_shared<Scripted>(short_answer), {.deadline = std::chrono::milliseconds::max()});
  fill(memory, 10);
  EXPECT_TRUE(memory.compress());
}

TEST(Compression, MustMakeProgress) {
  auto wordy = std::make_shared<Scripted>([](const CompressionRequest& request) {
    return CompressionAnswer{Text(std::string(4000, 'x')), request.messages.size()};
  });
  Memory memory = memory_with(wordy, {.keep_recent = 0});
  ASSERT_TRUE(memory.add(Message::assistant_message("hello")));
  ASSERT_TRUE(memory.add(Message::assistant_message("again")));
  EXPECT_EQ(memory.compress().error().code, Code::Invalid);
  EXPECT_EQ(memory.window().front().content()->view(), "hello");
}

TEST(Compression, NeedsSomethingToCompress) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer));
  EXPECT_EQ(memory.compress().error().code, Code::NotFound);
  fill(memory, 1);  // a system message, the request, and one of the newest
  EXPECT_EQ(memory.compress().error().code, Code::NotFound);
  Memory without;
  EXPECT_EQ(without.compress().error().code, Code::Unsupported);
}

// Even if nothing recent is kept, what is protected stays (MEMORY2, MEMORY3).
TEST(Compression, LeavesTheOpenExchangeAndPins) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer), {.keep_recent = 0});
  fill(memory, 5);
  const Text pinned = *memory.window()[2].id();
  ASSERT_TRUE(memory.pin(pinned));
  ASSERT_TRUE(memory.add(call("open")));
  ASSERT_TRUE(memory.compress());
  const std::vector<Message> window = memory.window();
  ASSERT_EQ(window.size(), 1U + 1U + 2U + 1U + 1U);
  EXPECT_EQ(window[2].id(), pinned);
  EXPECT_EQ(window[4].content()->view(), "in short");
  EXPECT_EQ(memory.pending().size(), 1U);
}

TEST(Compression, ComesByItselfInsteadOfDropping) {
  auto compressor = std::make_shared<Scripted>(short_answer);
  Memory memory = memory_with(compressor, {}, {.messages = 20});
  fill(memory, 100);
  EXPECT_LE(memory.size(), 20U);
  EXPECT_GT(compressor->asked, 1);
  ASSERT_TRUE(memory.summary());
  EXPECT_EQ(memory.summary()->count + memory.size() - 1, memory.log_size());  // nothing was dropped
  EXPECT_TRUE(validate_history(memory.window()).empty());
}

TEST(Compression, FallsBackToDroppingAndBacksOff) {
  auto compressor =
      std::make_shared<Scripted>([](const CompressionRequest&) { return fail(Code::Unavailable, "away"); });
  Memory memory = memory_with(compressor, {.above_messages = 10}, {.messages = 20});
  fill(memory, 100);
  EXPECT_LE(memory.size(), 20U);
  EXPECT_FALSE(memory.summary());
  ASSERT_TRUE(memory.compression_error());
  EXPECT_EQ(memory.compression_error()->message, "away");
  EXPECT_LT(compressor->asked, 150);
  EXPECT_GT(compressor->asked, 3);
}

// MEMORY4: a compression that does not help is undone with the rest.
TEST(Compression, LeavesNoTraceOfAMessageThatCannotBeHeld) {
  auto compressor = std::make_shared<Scripted>(short_answer);
  Memory memory = memory_with(compressor, {.keep_recent = 0}, {.messages = 6});
  const auto system = [](const Text& id) {
    return MessageBuilder(Role::System).id(id).content("s").build().value();
  };
  for (const Text& id : {Text("s1"), Text("s2"), Text("s3"), Text("s4")}) ASSERT_TRUE(memory.add(system(id)));
  ASSERT_TRUE(memory.add(Message::user_message("go")));
  ASSERT_TRUE(memory.add(Message::assistant_message(Text(std::string(100, 'x')))));
  const std::vector<Message> before = memory.window();
  const std::vector<Message> three = {system("s5"), system("s6"), system("s7")};
  EXPECT_EQ(memory.add(three).error().code, Code::LimitExceeded);
  EXPECT_EQ(compressor->asked, 0) << "no room for a summary";
  EXPECT_FALSE(memory.compression_error());
  EXPECT_EQ(memory.window(), before);
  EXPECT_EQ(memory.size(), 6U);
  EXPECT_FALSE(memory.summary());
  memory.clear();
  EXPECT_EQ(memory.add(three)->count, 3U);
}

TEST(Compression, ComesOnReadingIfAsked) {
  auto compressor = std::make_shared<Scripted>(short_answer);
  Memory memory =
      memory_with(compressor, {.compress_on_add = false, .compress_on_get = true, .above_messages = 10});
  fill(memory, 10);
  EXPECT_EQ(compressor->asked, 0);
  EXPECT_EQ(memory.get().size(), 9U);
  EXPECT_EQ(compressor->asked, 1);
}

TEST(Compression, RemovesASummaryLikeAMessage) {
  Memory memory = memory_with(std::make_shared<Scripted>(short_answer));
  fill(memory, 10);
  ASSERT_TRUE(memory.compress());
  const auto change = memory.remove(2);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->evicted.front().content()->view(), "in short");
  EXPECT_FALSE(memory.summary());
  EXPECT_EQ(memory.size(), 8U);
  EXPECT_EQ(memory.window().size(), 8U);
}

TEST(Compression, TakesASummaryByHand) {
  Memory memory;
  ASSERT_TRUE(memory.add(Message::user_message("hi")));
  ASSERT_TRUE(memory.update_compressed_summary("so far"));
  EXPECT_EQ(memory.window().front().content()->view(), "so far");
  EXPECT_EQ(memory.get({.prepend_summary = false}).size(), 1U);
  ASSERT_TRUE(memory.update_compressed_summary(""));
  EXPECT_EQ(memory.window().size(), 1U);
}

TEST(ExtractiveCompressor, TellsRequestsCallsAndErrors) {
  std::vector<Message> messages = {Message::user_message("Find the bug. It is somewhere."), call("1")};
  messages.push_back(MessageBuilder(Role::Tool)
                         .block(ToolResultBlock{"1", "search", Text("no such file"), true})
                         .build()
                         .value());
  messages.push_back(Message::assistant_message("I will look elsewhere! Then I will see."));
  ExtractiveCompressor compressor;
  const auto answer =
      compressor.compress({.messages = messages, .previous = {}, .most_bytes = 1000, .deadline = {}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->covered, 4U);
  EXPECT_EQ(answer->text.view(),
            "Summary of the earlier conversation:\n"
            "- user: Find the bug.\n"
            "- called search {\"q\":\"x\"}\n"
            "- error from search: no such file\n"
            "- assistant: I will look elsewhere!");
  const auto shorter =
      compressor.compress({.messages = messages, .previous = {}, .most_bytes = 120, .deadline = {}});
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->text.view(),
            "Summary of the earlier conversation:\n[2 lines left out]\n- user: Find the bug.\n"
            "- error from search: no such file");
  const auto next = compressor.compress(
      {.messages = {messages.data(), 1}, .previous = shorter->text, .most_bytes = 120, .deadline = {}});
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->text.view().contains("[3 lines left out]")) << next->text.view();
  EXPECT_FALSE(compressor.compress({.messages = messages, .previous = {}, .most_bytes = 10, .deadline = {}}));
}

// A thousand steps with the compressor that is built in: never broken, never over budget.
TEST(ExtractiveCompressor, CarriesALongRun) {
  Memory memory = memory_with(std::make_shared<ExtractiveCompressor>(), {.most_summary_bytes = 600},
                              {.messages = 30, .bytes = 20'000});
  fill(memory, 1000);
  EXPECT_LE(memory.size(), 30U);
  EXPECT_LE(memory.bytes(), 20'000U);
  EXPECT_FALSE(memory.compression_error());
  EXPECT_EQ(memory.summary()->count + memory.size() - 1, memory.log_size());
  EXPECT_TRUE(validate_history(memory.window()).empty());
}

}  // namespace
}  // namespace parley
