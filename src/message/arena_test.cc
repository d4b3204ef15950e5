#include "message/arena.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/allocations_testing.h"
#include "parley/dialect/dialect.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

Conversation must_read(std::string_view document, Dialect dialect) {
  auto reading = read(document, dialect);
  EXPECT_TRUE(reading) << reading.error().message;
  return std::move(reading).value().conversation;
}

// Runs `work(thread number)` on several threads that start together.
template <typename Work>
void race(int threads, Work&& work) {
  std::atomic<int> waiting = threads;
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      --waiting;
      while (waiting != 0) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : running) thread.join();
}

std::string exchange(int i) {
  const std::string id = "call_" + std::to_string(i);
  return R"({"name":"bot","role":"assistant","id":"m","timestamp":"2025-06-01 09:30:00.125","content":[{"type":"text","text":"l\u00f6\nok"},{"type":"tool_use","id":")" +
         id +
         R"(","name":"f","input":{"a": [1, 2]}}]},{"name":"system","role":"system","content":[{"type":"tool_result","id":")" +
         id + R"(","name":"f","output":[{"type":"text","text":"ok"}]}]})";
}

std::string document(int exchanges) {
  std::string out = "[";
  for (int i = 0; i < exchanges; ++i) out += (i == 0 ? "" : ",") + exchange(i);
  return out + "]";
}

// The memory that a conversation holds beside its document: 200 bytes a message of up to two blocks.
TEST(Arena, HoldsAtMost200BytesAMessageOfTwoBlocks) {
  static constexpr std::size_t kMessages = 1000;
  const auto beside = [](const std::string& bytes, Dialect dialect) {
    const Conversation conversation = must_read(bytes, dialect);
    EXPECT_EQ(conversation.size(), kMessages);
    return conversation.document()->memory() + kMessages * sizeof(Message) - bytes.size();
  };
  std::string two = "[";
  std::string result = "[";
  for (std::size_t i = 0; i < kMessages; ++i) {
    two +=
        std::string(i == 0 ? "" : ",") +
        R"({"role":"assistant","content":"x","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]})";
    result += std::string(i == 0 ? "" : ",") + R"({"role":"tool","content":"x","tool_call_id":"c"})";
  }
  EXPECT_LE(beside(two + "]", Dialect::OpenManus), kMessages * 200);
  EXPECT_LE(beside(result + "]", Dialect::OpenManus), kMessages * 150);
  EXPECT_LE(beside(document(kMessages / 2), Dialect::AgentScope), kMessages * 200);
}

Fragment fragment(DialectTag dialect, std::uint32_t position, std::uint32_t count, std::string_view text) {
  Fragment made;
  made.dialect = dialect;
  made.position = position;
  made.count = count;
  made.text = text;
  return made;
}

TEST(Arena, KeepsFragmentsByDialectAndPosition) {
  const Conversation conversation = must_read(document(2), Dialect::AgentScope);
  const Arena& arena = *conversation.document();
  EXPECT_EQ(arena.fragment(0, 1, 0, 0), nullptr);
  arena.keep_fragment(0, fragment(1, 0, 1, "one"));
  arena.keep_fragment(0, fragment(2, 0, 1, "two"));
  arena.keep_fragment(0, fragment(1, 5, 3, "three"));
  arena.keep_fragment(1, fragment(1, 0, 1, "four"));
  ASSERT_NE(arena.fragment(0, 1, 0, 0), nullptr);
  EXPECT_EQ(arena.fragment(0, 1, 0, 0)->text, "one");
  EXPECT_EQ(arena.fragment(0, 2, 0, 0)->text, "two");
  EXPECT_EQ(arena.fragment(0, 1, 0, 5)->text, "three");
  EXPECT_EQ(arena.fragment(0, 1, 0, 5)->count, 3U);
  EXPECT_EQ(arena.fragment(1, 1, 0, 0)->text, "four");
  EXPECT_EQ(arena.fragment(1, 2, 0, 0), nullptr);
  EXPECT_EQ(arena.fragment(0, 1, 0, 6), nullptr);
}

TEST(Arena, DoesNotCollectFragmentsForEver) {
  const Conversation conversation = must_read(document(1), Dialect::AgentScope);
  const Arena& arena = *conversation.document();
  std::size_t kept = 0;
  for (std::uint32_t position = 0; position < 1000; ++position) {
    arena.keep_fragment(0, fragment(1, position, 1, "x"));
  }
  for (std::uint32_t position = 0; position < 1000; ++position)
    kept += arena.fragment(0, 1, 0, position) != nullptr;
  EXPECT_GE(kept, 1U);
  EXPECT_LE(kept, 16U);
}

TEST(Arena, KeepsOneCountAMessage) {
  const Conversation conversation = must_read(document(2), Dialect::AgentScope);
  const Arena& arena = *conversation.document();
  EXPECT_EQ(arena.kept_count(1, 7), std::nullopt);
  arena.keep_count(1, 7, 0);
  EXPECT_EQ(arena.kept_count(1, 7), 0U);  // nothing is a count too
  EXPECT_EQ(arena.kept_count(0, 7), std::nullopt);
  arena.keep_count(0, 7, 0xFFFFFFFF);
  arena.keep_count(3, 0xFFFFFFFF, 12);
  EXPECT_EQ(arena.kept_count(0, 7), 0xFFFFFFFF);
  EXPECT_EQ(arena.kept_count(3, 0xFFFFFFFF), 12U);
  arena.keep_count(0, 8, 5);  // another counter takes the slot over
  EXPECT_EQ(arena.kept_count(0, 8), 5U);
  EXPECT_EQ(arena.kept_count(0, 7), std::nullopt);
}

TEST(Arena, KeepsTheCountOfASingleMessageWithoutAnAllocation) {
  const Message message = Message::user_message("hi");
  const Arena& arena = Arena::of(message);
  EXPECT_EQ(arena.kept_count(0, 7), std::nullopt);
  EXPECT_EQ(test::allocations_of([&] { arena.keep_count(0, 7, 3); }), 0U);
  EXPECT_EQ(arena.kept_count(0, 7), 3U);
}

// Immutable; safe to read and copy from any thread.
TEST(MessageThreads, ReadAndCopyTheSameMessage) {
  const Conversation conversation = must_read(document(20), Dialect::AgentScope);
  const std::vector<Block> expected = conversation.messages()[0].blocks();
  const Message built = Message::user_message("shared by all");
  std::atomic<int> wrong = 0;
  race(8, [&](int) {
    std::vector<Message> mine;
    for (int round = 0; round < 50; ++round) {
      for (const Message& message : conversation.messages()) {
        mine.push_back(message);
        mine.push_back(built);
        wrong += message.role() == Role::User;
        wrong += !message.wire().has_value();
      }
      wrong += conversation.messages()[0].blocks() != expected;
      wrong += mine[0].get_text_content().value().view() != "l\xC3\xB6\nok";
      wrong += built.content().value().view() != "shared by all";
      wrong += !(mine[0] == conversation.messages()[0]);
    }
    wrong += !validate(conversation.messages()).empty();
    const Message apart = mine[0].detach();
    mine.clear();
    wrong += apart.blocks() != expected;
  });
  EXPECT_EQ(wrong, 0);
}

// The kept counts are raced: each is absent or right.
TEST(MessageThreads, KeepCounts) {
  for (int round = 0; round < 20; ++round) {
    const Conversation conversation = must_read(document(10), Dialect::AgentScope);
    const Arena& arena = *conversation.document();
    std::atomic<int> wrong = 0;
    race(8, [&](int thread) {
      const auto tag = static_cast<std::uint32_t>(thread % 2 + 1);
      for (std::uint32_t i = 0; i < 20; ++i) {
        if (const auto kept = arena.kept_count(i, tag)) wrong += *kept != tag * 100 + i;
        arena.keep_count(i, tag, tag * 100 + i);
        if (const auto kept = arena.kept_count(i, tag)) wrong += *kept != tag * 100 + i;
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

// The kept fragments are raced: all threads write the same messages, some for the first time.
TEST(MessageThreads, WriteTheSameConversationInOtherDialects) {
  for (int round = 0; round < 10; ++round) {
    const std::string json = document(10);
    const Conversation conversation = must_read(json, Dialect::AgentScope);
    std::vector<std::string> expected;
    constexpr Dialect kTargets[] = {Dialect::OpenManus, Dialect::Parley, Dialect::AgentScope2,
                                    Dialect::AgentScope};
    for (const Dialect target : kTargets) {
      expected.push_back(write(must_read(json, Dialect::AgentScope), target).value().text.str());
    }
    std::atomic<int> wrong = 0;
    race(8, [&](int thread) {
      for (std::size_t k = 0; k < 8; ++k) {
        const std::size_t i = (static_cast<std::size_t>(thread) + k) % 4;
        const auto writing = write(conversation, kTargets[i]);
        wrong += !writing || writing->text.view() != expected[i];
        const auto gathering = gather(conversation, kTargets[i]);
        std::string together;
        for (const std::string_view piece : gathering.value().pieces) together += piece;
        wrong += together != expected[i];
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

// The last holder of a document may be on any thread.
TEST(MessageThreads, LetADocumentGoFromAnyThread) {
  for (int round = 0; round < 20; ++round) {
    std::vector<Message> messages;
    {
      const Conversation conversation = must_read(document(4), Dialect::AgentScope);
      messages.assign(conversation.messages().begin(), conversation.messages().end());
    }
    race(8, [&](int thread) {
      Conversation mine({messages[static_cast<std::size_t>(thread)]});
      (void)write(mine, Dialect::Parley);
      messages[static_cast<std::size_t>(thread)] = Message::user_message("gone");
    });
  }
}

}  // namespace
}  // namespace parley
