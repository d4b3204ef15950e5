// What the original does was observed with agentscope 1.0.21; tests/judges/memory.sh compares both at random.
#include "parley/memory/agentscope_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "parley/base/clock.h"
#include "parley/dialect/dialect.h"

namespace parley {
namespace {

Message said(const char* id, const char* text = "hi") {
  return MessageBuilder(Role::User).id(Text(id)).name("ann").content(Text(text)).build().value();
}

std::string ids(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) out.append(message.id()->view()).append(" ");
  return out;
}

std::string state(const AgentScopeMemory& memory) { return memory.state_dict().value().text().str(); }

Json json(std::string_view text) { return Json::parse(text).value(); }

constexpr std::string_view kMessage =
    R"({"id":"m1","name":"ann","role":"user","content":"hi","metadata":{},"timestamp":"2025-06-01 09:30:00.125"})";

// The messages a, b (marked x), c (marked x and y) and d (marked y).
AgentScopeMemory four() {
  AgentScopeMemory memory;
  EXPECT_TRUE(memory.add(said("a")));
  EXPECT_TRUE(memory.add(said("b"), "x"));
  EXPECT_TRUE(memory.add(said("c"), {"x", "y"}));
  EXPECT_TRUE(memory.add(said("d"), "y"));
  return memory;
}

// AGENTSCOPE1, AGENTSCOPE2
TEST(AgentScopeMemory, SkipsIdsThatItHadBeforeTheCall) {
  AgentScopeMemory memory;
  const Message two[] = {said("a"), said("a")};
  ASSERT_TRUE(memory.add(two));
  EXPECT_EQ(memory.size(), 2U);
  const Message more[] = {said("b"), said("a"), said("c")};
  ASSERT_TRUE(memory.add(more, {}, false));
  EXPECT_EQ(ids(memory.get_memory()), "a a b c ");
  ASSERT_TRUE(memory.add(said("a"), "x"));
  EXPECT_TRUE(memory.get_memory("x").empty()) << "the marks of a skipped message are not added";
  ASSERT_TRUE(memory.add(said("a"), "x", true));
  EXPECT_EQ(ids(memory.get_memory()), "a a b c a ");
  EXPECT_EQ(memory.delete_by_id("a"), 3U);
}

TEST(AgentScopeMemory, GivesAMessageWithoutIdAndTimeBoth) {
  const Message message = from_dict(R"({"role":"user","content":"hi"})").value();
  ASSERT_FALSE(message.id());
  AgentScopeMemory memory;
  ASSERT_TRUE(memory.add(message));
  ASSERT_TRUE(memory.add(message));
  const auto kept = memory.get_memory();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_NE(kept[0].id(), kept[1].id());
  EXPECT_EQ(kept[0].id()->size(), 22U);
  EXPECT_EQ(kept[0].timestamp()->size(), 23U);
  EXPECT_EQ(kept[0].content(), Text("hi"));
  EXPECT_EQ(state(memory), state(memory)) << "they stay the same";
}

TEST(AgentScopeMemory, SelectsByMarks) {
  const AgentScopeMemory memory = four();
  EXPECT_EQ(ids(memory.get_memory()), "a b c d ");
  EXPECT_EQ(ids(memory.get_memory("x")), "b c ");
  EXPECT_EQ(ids(memory.get_memory({.exclude_mark = "x"})), "a d ");
  EXPECT_EQ(ids(memory.get_memory({.mark = "y", .exclude_mark = "x"})), "d ");
  EXPECT_EQ(ids(memory.get_memory("")), "") << "an empty mark is a mark";
}

// AGENTSCOPE3
TEST(AgentScopeMemory, PutsTheSummaryFirst) {
  AgentScopeMemory memory = four();
  memory.update_compressed_summary("before");
  const auto all = memory.get_memory();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(memory.size(), 4U);
  EXPECT_EQ(all[0].role(), Role::User);
  EXPECT_EQ(all[0].name(), Text("user"));
  EXPECT_EQ(all[0].content(), Text("before"));
  EXPECT_EQ(all[0].content_shape(), ContentShape::String);
  EXPECT_NE(all[0].id(), memory.get_memory().front().id());
  EXPECT_EQ(memory.get_memory("x").size(), 3U);
  EXPECT_EQ(memory.get_memory("nothing").size(), 1U);
  EXPECT_EQ(ids(memory.get_memory({.prepend_summary = false})), "a b c d ");
  memory.update_compressed_summary("");
  EXPECT_EQ(memory.get_memory().size(), 4U);
}

TEST(AgentScopeMemory, DeletesByIdAndByMark) {
  AgentScopeMemory memory = four();
  EXPECT_EQ(memory.delete_by_id({"d", "a", "z"}), 2U);
  EXPECT_EQ(memory.delete_by_mark("z"), 0U);
  EXPECT_EQ(memory.delete_by_mark({"y", "x"}), 2U);
  EXPECT_EQ(memory.size(), 0U);
}

// AGENTSCOPE4
TEST(AgentScopeMemory, CountsChangedMarksAsTheOriginalDoes) {
  using Ids = std::optional<std::span<const Text>>;
  const Text bc[] = {"b", "c"};
  const struct {
    OptionalText new_mark, old_mark;
    Ids ids;
    std::size_t count;
    const char* marks;  // of a, b, c and d
  } kTable[] = {
      {{}, {}, {}, 0, "|x|x,y|y"},
      {{}, "x", {}, 2, "||y|y"},
      {{}, "y", Ids(bc), 1, "|x|x|y"},
      {"z", {}, {}, 4, "z|x,z|x,y,z|y,z"},
      {"y", {}, {}, 2, "y|x,y|x,y|y"},
      {"y", "x", {}, 1, "|y|y|y"},  // c loses x and is not counted: it has y
      {"x", "x", {}, 2, "|x|y,x|y"},
      {"z", "x", Ids(std::span(bc, 1)), 1, "|z|x,y|y"},
      {"z", "x", Ids(std::span(bc, 0)), 0, "|x|x,y|y"},
  };
  for (const auto& row : kTable) {
    AgentScopeMemory memory = four();
    EXPECT_EQ(memory.update_messages_mark(row.new_mark, row.old_mark, row.ids), row.count) << row.marks;
    std::string marks;
    for (const Json& pair : memory.state_dict()->get("content")->elements()) {
      if (!marks.empty() || pair.at("/0/id")->as_string() != Text("a")) marks += '|';
      std::string list;
      for (const Json& mark : pair.at("/1")->elements()) {
        list.append(list.empty() ? "" : ",").append(mark.as_string()->view());
      }
      marks += list;
    }
    EXPECT_EQ(marks, row.marks);
  }
}

// AGENTSCOPE5
TEST(AgentScopeMemory, KeepsTheSummaryWhenItIsCleared) {
  AgentScopeMemory memory = four();
  memory.update_compressed_summary("before");
  memory.clear();
  EXPECT_EQ(memory.size(), 0U);
  EXPECT_EQ(memory.compressed_summary(), Text("before"));
  EXPECT_EQ(state(memory), R"({"_compressed_summary":"before","content":[]})");
}

// AGENTSCOPE6
TEST(AgentScopeMemory, WritesTheStateOfTheOriginal) {
  const std::string text =
      R"({"_compressed_summary":"s","content":[[)" + std::string(kMessage) + R"(,["hint"]]]})";
  AgentScopeMemory memory;
  ASSERT_TRUE(memory.load_state_dict(json(text)));
  EXPECT_EQ(state(memory), text);
  EXPECT_EQ(ids(memory.get_memory({.mark = "hint", .prepend_summary = false})), "m1 ");
  // Of 1.0.10: no marks, no summary. Members that the original does not keep are gone, null metadata are {}.
  ASSERT_TRUE(memory.load_state_dict(json(
      R"({"content": [{"type": "Msg", "invocation_id": "v", "timestamp": "2025-06-01 09:30:00.125", "metadata": null,
          "content": "hi", "role": "user", "name": "ann", "id": "m1"}]})")));
  EXPECT_EQ(state(memory), R"({"_compressed_summary":"","content":[[)" + std::string(kMessage) + ",[]]]}");
}

TEST(AgentScopeMemory, KeepsTheContentAsItWasRead) {
  const std::string content =
      R"([{"text":"a","type":"text","mood":[1.0,1e400]},{"type":"custom","x":null},{"type":"tool_use","id":"c","name":"f","input":{}}])";
  AgentScopeMemory memory;
  ASSERT_TRUE(memory.add(
      from_dict(R"({"id":"i","name":"n","role":"assistant","content":)" + content + R"(,"timestamp":"t"})",
                Dialect::AgentScope)
          .value()));
  EXPECT_EQ(memory.state_dict()->at("/content/0/0/content")->text().view(), content);
}

TEST(AgentScopeMemory, LoadsNothingIfItMay) {
  AgentScopeMemory memory = four();
  EXPECT_EQ(memory.load_state_dict(json("{}")).error().code, Code::Missing);
  EXPECT_EQ(memory.size(), 4U);
  ASSERT_TRUE(memory.load_state_dict(json(R"({"_compressed_summary":"s"})"), false));
  EXPECT_EQ(state(memory), R"({"_compressed_summary":"s","content":[]})");
}

// AGENTSCOPE7
TEST(AgentScopeMemory, RefusesABadStateAsAWhole) {
  const std::string good = "[" + std::string(kMessage) + ",[]]";
  const struct {
    std::string state;
    Code code;
    const char* path;
  } kTable[] = {
      {"[]", Code::WrongType, ""},
      {R"({"content":1})", Code::WrongType, "/content"},
      {R"({"content":[],"_compressed_summary":1})", Code::WrongType, "/_compressed_summary"},
      {R"({"content":[)" + good + ",[1]]}", Code::WrongType, "/content/1"},
      {R"({"content":[)" + good + ",\"x\"]}", Code::WrongType, "/content/1"},
      {R"({"content":[[)" + std::string(kMessage) + ",\"x\"]]}", Code::WrongType, "/content/0/1"},
      {R"({"content":[[)" + std::string(kMessage) + ",[\"x\",1]]]}", Code::WrongType, "/content/0/1/1"},
      {R"({"content":[[{"name":"a","role":"user"},[]]]})", Code::Missing, "/content/0/0"},
      {R"({"content":[{"name":"a","role":"tool","content":""}]})", Code::UnknownRole, "/content/0/role"},
      {R"({"content":[{"name":"a","role":"user","content":null}]})", Code::WrongType, "/content/0/content"},
  };
  for (const auto& row : kTable) {
    AgentScopeMemory memory = four();
    memory.update_compressed_summary("before");
    const std::string before = state(memory);
    const auto loaded = memory.load_state_dict(json(row.state));
    ASSERT_FALSE(loaded) << row.state;
    EXPECT_EQ(loaded.error().code, row.code) << row.state;
    EXPECT_EQ(loaded.error().path, row.path) << row.state;
    EXPECT_EQ(state(memory), before);
  }
}

}  // namespace
}  // namespace parley
