#include "parley/memory/openmanus_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace parley {
namespace {

Message numbered(int i) { return Message::user_message(Text(std::to_string(i))); }

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
  OpenManusMemory blog(3, OpenManusVersion::Blog);
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
    const Text id = Text("c" + std::to_string(step));
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

// A field in a message that is read, and in the original's to_dict() of it: there unless it is null.
struct Field {
  std::string_view read, written;
};
constexpr Field kAbsent{"", ""};

// Every role with every field absent, null, empty and given, between members that the original does not know
// and in another order: what to_dict() gives has the original's order, no nulls and nothing else.
TEST(OpenManusMemory, WritesWhatWasReadAsTheOriginalDoes) {
  const std::vector<Field> contents = {kAbsent,
                                       {R"("content":null)", ""},
                                       {R"("content":"")", R"("content":"")"},
                                       {R"("content":"h\u00e9")", R"("content":"h\u00e9")"}};
  const std::vector<Field> calls = {
      kAbsent,
      {R"("tool_calls":null)", ""},
      {R"("tool_calls":[])", R"("tool_calls":[])"},
      {R"("tool_calls":[{"index":0,"function":{"arguments":"{\"q\": 1}","name":"f","x":null},"id":"c1"}])",
       R"("tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}])"}};
  const auto strings = [](std::string_view key) {
    static std::vector<std::string> kept;
    kept.reserve(64);
    const auto field = [&](std::string_view value) -> std::string_view {
      return kept.emplace_back("\"" + std::string(key) + "\":" + std::string(value));
    };
    const std::string_view null = field("null"), empty = field("\"\""), given = field("\"ab\"");
    return std::vector<Field>{kAbsent, {null, ""}, {empty, empty}, {given, given}};
  };
  const std::vector<Field> names = strings("name");
  const std::vector<Field> ids = strings("tool_call_id");
  const std::vector<Field> images = strings("base64_image");
  std::size_t count = 0;
  for (const std::string_view role : {"user", "system", "assistant", "tool"}) {
    for (std::size_t i = 0; i < 1024; ++i) {
      const Field fields[] = {contents[i % 4], calls[i / 4 % 4], names[i / 16 % 4], ids[i / 64 % 4],
                              images[i / 256]};
      std::string read = R"({"refusal":null,"x":{"y":[1]})";
      std::string expected = R"({"role":")" + std::string(role) + "\"";
      for (std::size_t k = 0; k < 5; ++k) {
        const std::string_view backward = fields[4 - k].read;
        if (!backward.empty()) read.append(",").append(backward);
        if (!fields[k].written.empty()) expected.append(",").append(fields[k].written);
      }
      read.append(R"(,"role":")").append(role).append("\"}");
      expected += "}";
      const Result<Message> message = from_dict(read, Dialect::OpenManus);
      ASSERT_TRUE(message) << read << ": " << message.error().message;
      OpenManusMemory memory;
      memory.add_message(*message);
      const std::vector<Json> dicts = memory.to_dict_list();
      ASSERT_EQ(dicts.size(), 1U) << read;
      EXPECT_EQ(dicts.front().text().view(), expected) << read;
      EXPECT_EQ(memory.to_dict_list(Dialect::OpenManus, Form::AsRead).front().text().view(), read);
      ++count;
    }
  }
  EXPECT_EQ(count, 4096U);
}

}  // namespace
}  // namespace parley
