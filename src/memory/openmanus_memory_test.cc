#include "parley/memory/openmanus_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace parley {
namespace {

Message numbered(int i) { return Message::user_message(Text::repaired(std::to_string(i))); }

std::string numbers(std::span<const Message> messages) {
  std::string out;
  for (const Message& message : messages) out += message.content()->view();
  return out;
}

// What the original keeps of the messages 0 to 4, added one by one.
TEST(OpenManusMemory, TrimsAsPythonSlices) {
  const struct {
    std::int64_t limit;
    const char* kept;
  } kTable[] = {{3, "234"}, {1, "4"},     {0, "01234"},   {-1, ""},
                {-2, ""},   {5, "01234"}, {100, "01234"}, {INT64_MIN, ""}};
  for (const auto& row : kTable) {
    OpenManusMemory memory(row.limit);
    for (int i = 0; i < 5; ++i) memory.add_message(numbered(i));
    EXPECT_EQ(numbers(memory.messages()), row.kept) << row.limit;
  }
}

TEST(OpenManusMemory, GivesTheRecentAsPythonSlices) {
  OpenManusMemory memory(3);
  for (int i = 0; i < 5; ++i) memory.add_message(numbered(i));
  const struct {
    std::int64_t n;
    const char* recent;
  } kTable[] = {{2, "34"}, {3, "234"}, {10, "234"}, {0, "234"},     {-1, "34"},
                {-2, "4"}, {-3, ""},   {-9, ""},    {INT64_MIN, ""}};
  for (const auto& row : kTable) EXPECT_EQ(numbers(memory.get_recent_messages(row.n)), row.recent) << row.n;
}

// The two profiles differ in add_messages() only.
TEST(OpenManusMemory, TrimsAfterAListAsItsProfileSays) {
  std::vector<Message> list;
  for (int i = 0; i < 5; ++i) list.push_back(numbered(i));
  OpenManusMemory main(3);
  main.add_messages(list);
  EXPECT_EQ(numbers(main.messages()), "234");
  OpenManusMemory blog(3, OpenManusProfile::Blog);
  blog.add_messages(list);
  EXPECT_EQ(numbers(blog.messages()), "01234");
  blog.add_message(numbered(5));
  EXPECT_EQ(numbers(blog.messages()), "345");
}

TEST(OpenManusMemory, TakesALongListAndTrimsItLater) {
  OpenManusMemory memory({numbered(0), numbered(1), numbered(2)}, 2);
  EXPECT_EQ(numbers(memory.messages()), "012");
  memory.add_message(numbered(3));
  EXPECT_EQ(numbers(memory.messages()), "23");
  memory.clear();
  EXPECT_TRUE(memory.messages().empty());
}

// What the other Memory is for: with a limit of 4, the window begins with a result whose call is gone.
TEST(OpenManusMemory, BreaksAToolLoopAsTheOriginalDoes) {
  OpenManusMemory memory(4);
  memory.add_message(Message::user_message("go"));
  for (int step = 0; step < 4; ++step) {
    const Text id = Text::repaired("c" + std::to_string(step));
    const ToolCall call{id, "function", {"f", "{}"}};
    memory.add_message(Message::from_tool_calls({&call, 1}));
    memory.add_message(Message::tool_message("done", "f", id));
    memory.add_message(Message::user_message("next"));
  }
  EXPECT_EQ(memory.messages().front().role(), Role::User);
  memory.add_message(Message::assistant_message("ok"));
  memory.add_message(Message::assistant_message("ok"));
  EXPECT_EQ(memory.messages().front().role(), Role::Tool);
}

TEST(OpenManusMemory, WritesDicts) {
  OpenManusMemory memory;
  memory.add_message(Message::user_message("hi"));
  const auto dicts = memory.to_dict_list();
  ASSERT_EQ(dicts.size(), 1U);
  EXPECT_EQ(dicts.front().text().view(), R"({"role":"user","content":"hi"})");
}

}  // namespace
}  // namespace parley
