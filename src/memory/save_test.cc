#include <gtest/gtest.h>

#include "parley/memory/memory.h"

namespace parley {
namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

Memory filled() {
  Memory memory = Memory::create({.budget = {.messages = 8, .low_water = 1},
                                  .compressor = std::make_shared<ExtractiveCompressor>(),
                                  .compression = {.compress_on_add = false, .most_summary_bytes = 200}})
                      .value();
  const Text mark = "hint";
  EXPECT_TRUE(memory.add(Message::system_message("rules")));
  EXPECT_TRUE(memory.add(Message::user_message("go"), {&mark, 1}));
  for (int i = 0; i < 6; ++i) {
    const Text id = Text("c" + std::to_string(i));
    const ToolCall call{id, "function", {"f", "{\"a\": 1}"}};
    EXPECT_TRUE(memory.add(Message::from_tool_calls({&call, 1})));
    EXPECT_TRUE(memory.add(Message::tool_message(Text(std::string(300, 'x')), "f", id)));
  }
  EXPECT_TRUE(memory.pin(*memory.window()[2].id()));
  EXPECT_TRUE(memory.add(Message::assistant_message(Text(std::string(900, 'y')))));
  EXPECT_TRUE(memory.add(Message::user_message("and now?")));
  EXPECT_TRUE(memory.add(Message::assistant_message("a")));
  EXPECT_TRUE(memory.compress());
  return memory;
}

// The messages as the canonical form has them.
std::string said(std::span<const Message> messages) {
  std::string out;
  for (const Message& message : messages) out += to_dict(message, Dialect::Parley)->text().str() + "\n";
  return out;
}

TEST(State, ComesBackWhole) {
  Memory memory = filled();
  memory.update_messages_mark("late", {}, {});
  const auto state = memory.state_dict();
  ASSERT_TRUE(state);
  Memory loaded = filled();
  ASSERT_TRUE(loaded.load_state_dict(*state));
  EXPECT_EQ(said(loaded.window()), said(memory.window()));
  EXPECT_EQ(said(loaded.log()), said(memory.log()));
  EXPECT_EQ(said(loaded.covered()), said(memory.covered()));
  EXPECT_FALSE(loaded.covered().empty());
  EXPECT_EQ(said(loaded.get({.mark = "hint"})), said(memory.get({.mark = "hint"})));
  EXPECT_EQ(loaded.get({.mark = "late"}).size(), memory.get({.mark = "late"}).size());
  EXPECT_EQ(loaded.size(), memory.size());
  EXPECT_EQ(loaded.state_dict()->text(), state->text());
}

TEST(State, KeepsCallsWaiting) {
  Memory memory;
  const ToolCall call{"c1", "function", {"f", "{}"}};
  ASSERT_TRUE(memory.add(Message::from_tool_calls({&call, 1})));
  Memory loaded;
  ASSERT_TRUE(loaded.load_state_dict(*memory.state_dict()));
  EXPECT_EQ(loaded.pending().size(), 1U);
  EXPECT_TRUE(loaded.add(Message::tool_message("ok", "f", "c1")));
}

// AgentScope 1.0.21 and 1.0.10.
TEST(State, ReadsAgentScopes) {
  Memory memory;
  ASSERT_TRUE(memory.load_state_dict(json(
      R"({"_compressed_summary": "before", "content": [[{"id": "m1", "name": "ann", "role": "user", "content": "hi",
          "metadata": {}, "timestamp": "2025-06-01 09:30:00.125"}, ["hint"]]]})")));
  EXPECT_EQ(memory.window().size(), 2U);
  EXPECT_EQ(memory.window().front().content()->view(), "before");
  EXPECT_EQ(memory.get({.mark = "hint", .prepend_summary = false}).size(), 1U);
  ASSERT_TRUE(
      memory.load_state_dict(json(R"({"content": [{"name": "ann", "role": "user", "content": "hi"}]})")));
  EXPECT_EQ(memory.window().size(), 1U);
  EXPECT_FALSE(memory.summary());
  ASSERT_TRUE(memory.load_state_dict(json(R"({"content": []})")));  // an empty state is empty
  EXPECT_EQ(memory.size(), 0U);
}

// A load that fails changes nothing.
TEST(State, RefusesWhatItDoesNotKnow) {
  const std::string user = R"({"role":"user","content":"a"})";
  const std::string open =
      R"({"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","arguments":"{}"}]})";
  const std::string result =
      R"({"role":"tool","content":[{"type":"tool_result","id":"1","name":"f","output":"x"}]})";
  const struct {
    std::string state;
    Code code;
    const char* path;
  } kTable[] = {
      {"[]", Code::WrongType, ""},
      {"{}", Code::Missing, ""},
      {R"({"content":{}})", Code::WrongType, "/content"},
      {R"({"content":[[1,2,3]]})", Code::WrongType, "/content/0"},
      {R"({"content":[[{"name":"a","role":"user","content":"x"},"m"]]})", Code::WrongType, "/content/0/1"},
      {R"({"content":[{"role":"user"}]})", Code::Missing, "/content/0"},
      {R"({"content":[],"_compressed_summary":7})", Code::WrongType, "/_compressed_summary"},
      {R"({"parley_memory":3,"messages":[]})", Code::Unsupported, "/parley_memory"},
      {R"({"parley_memory":0,"messages":[]})", Code::Unsupported, "/parley_memory"},
      {R"({"parley_memory":2,"messages":[],"size":-1})", Code::Invalid, "/size"},
      {R"({"parley_memory":2,"messages":[],"size":4294967295})", Code::Invalid, "/size"},
      {R"({"parley_memory":2,"messages":[)" + user + R"(],"size":9,"held":[[0,2]]})", Code::Invalid, "/held"},
      {R"({"parley_memory":2,"messages":[)" + user + R"(],"size":1,"held":[[1,2]]})", Code::Invalid,
       "/held/0/1"},
      {R"({"parley_memory":2,"messages":[)" + user + R"(],"size":9,"held":[[5,6]],"window":[[4,6]]})",
       Code::Invalid, "/window"},
      {R"({"parley_memory":2,"messages":[)" + user + R"(],"size":9,"held":[[5,6]],"uncovered":[[5,6]]})",
       Code::Invalid, "/uncovered"},
      {R"({"parley_memory":2,"messages":[)" + open + "," + result + R"(],"size":3,"held":[[0,1],[2,3]]})",
       Code::BrokenHistory, "/held"},
      {R"({"parley_memory":2,"messages":[)" + open + R"(],"size":3,"held":[[0,1]]})", Code::BrokenHistory,
       "/held"},
      {R"({"parley_memory":2,"messages":[)" + user + R"(],"window":[],"uncovered":[]})", Code::Invalid,
       "/uncovered"},
      {R"({"parley_memory":2,"messages":[)" + user +
           R"(],"size":9,"held":[[5,6]],"window":[],"uncovered":[[5,7]]})",
       Code::Invalid, "/held"},
      {R"({"parley_memory":"1","messages":[]})", Code::Unsupported, "/parley_memory"},
      {R"({"parley_memory":1})", Code::Missing, ""},
      {R"({"parley_memory":1,"messages":{}})", Code::WrongType, "/messages"},
      {R"({"parley_memory":1,"messages":[{"role":"x"}]})", Code::UnknownRole, "/messages/0/role"},
      {R"({"parley_memory":1,"messages":[)" + result + "]}", Code::BrokenHistory, "/messages/0"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"added_ms":[]})", Code::Invalid, "/added_ms"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"window":[[0,2]]})", Code::Invalid, "/window/0/1"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"window":[[0]]})", Code::WrongType, "/window/0"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"window":[[0,1],[0,1]]})", Code::Invalid,
       "/window/1"},
      {R"({"parley_memory":1,"messages":[)" + open + "," + result + R"(],"window":[[1,2]]})", Code::Invalid,
       "/window/0"},
      {R"({"parley_memory":1,"messages":[)" + open + "," + result + R"(],"window":[[0,1]]})", Code::Invalid,
       "/window/0"},
      {R"({"parley_memory":1,"messages":[)" + open + R"(],"window":[]})", Code::BrokenHistory, "/window"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"pins":[1]})", Code::Invalid, "/pins/0"},
      {R"({"parley_memory":1,"messages":[)" + user + R"(],"pins":[-1]})", Code::Invalid, "/pins/0"},
      {R"({"parley_memory":1,"messages":[)" + open + "," + result + R"(],"pins":[1]})", Code::Invalid,
       "/pins/0"},
      {R"({"parley_memory":1,"messages":[],"marks":{"m":[0]}})", Code::Invalid, "/marks/m/0"},
      {R"({"parley_memory":1,"messages":[],"marks":[]})", Code::WrongType, "/marks"},
      {R"({"parley_memory":1,"messages":[],"marks":{"":[]}})", Code::Invalid, "/marks/"},
      {R"({"parley_memory":1,"messages":[],"marks":{"a/b":1}})", Code::WrongType, "/marks/a~1b"},
      {R"({"content":[[{"name":"a","role":"user","content":"x"},[""]]]})", Code::Invalid, "/content/0/1"},
      {R"({"parley_memory":1,"messages":[],"summary":{"message":)" + open + R"(,"covered":[]}})",
       Code::Invalid, "/summary/message"},
      {R"({"parley_memory":1,"messages":[],"summary":{}})", Code::Missing, "/summary"},
      {R"({"parley_memory":1,"messages":[)" + user +
           R"(],"summary":{"message":{"role":"user","content":"s"},"covered":[0]}})",
       Code::Invalid, "/summary/covered"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.state);
    Memory memory;
    ASSERT_TRUE(memory.add(Message::user_message("still here")));
    const auto loaded = memory.load_state_dict(json(row.state));
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, row.code) << loaded.error().message;
    EXPECT_EQ(loaded.error().path, row.path);
    EXPECT_EQ(memory.window().front().content()->view(), "still here");
  }
}

// Version 1 held all messages and named the exchanges that a summary covers.
TEST(State, ReadsTheVersionBefore) {
  Memory memory;
  const std::string user = R"({"role":"user","content":"a"})";
  ASSERT_TRUE(memory.load_state_dict(json(R"({"parley_memory":1,"messages":[)" + user + "," + user + "," +
                                          user + "," + user +
                                          R"(],"added_ms":[1,2,3,4],"window":[[3,4]],"pins":[],"marks":{},
          "summary":{"message":{"role":"user","content":"s"},"covered":[0,2]}})")));
  EXPECT_EQ(memory.log_size(), 4U);
  EXPECT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory.covered().size(), 2U);
  EXPECT_EQ(memory.uncovered().size(), 1U);
  EXPECT_EQ(memory.log_dropped(), 0U);
}

// What the log no longer holds is counted after a load as it was before.
TEST(State, CountsWhatTheLogDropped) {
  const MemoryOptions options{.budget = {.messages = 10},
                              .compressor = std::make_shared<ExtractiveCompressor>(),
                              .log_limit = {.messages = 20}};
  Memory memory = Memory::create(options).value();
  const Text mark = "m";
  ASSERT_TRUE(memory.add(Message::system_message("rules")));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(memory.add(Message::assistant_message("x"), mark));
  ASSERT_TRUE(memory.remove(memory.size() - 1));
  Memory loaded = Memory::create(options).value();
  ASSERT_TRUE(loaded.load_state_dict(*memory.state_dict()));
  EXPECT_EQ(loaded.state_dict()->text(), memory.state_dict()->text());
  EXPECT_EQ(loaded.log_size(), 501U);
  EXPECT_EQ(loaded.log_dropped(), memory.log_dropped());
  EXPECT_EQ(loaded.summary()->count, memory.summary()->count);
  EXPECT_EQ(loaded.uncovered_size(), 0U);
  for (Memory* each : {&memory, &loaded}) {
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(each->add(Message::assistant_message("y")));
    EXPECT_EQ(each->log_size(), 1001U);
    EXPECT_EQ(each->summary()->count + each->size() - 1, 1000U);
  }
}

TEST(State, MeetsTheBudgetOfTheMemoryItIsLoadedInto) {
  Memory large;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(large.add(Message::assistant_message("x")));
  Memory small = Memory::create({.budget = {.messages = 10}}).value();
  ASSERT_TRUE(small.load_state_dict(*large.state_dict()));
  EXPECT_LE(small.size(), 10U);
  EXPECT_EQ(small.log_size(), 50U);
}

}  // namespace
}  // namespace parley
