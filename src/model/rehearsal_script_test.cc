#include "model/rehearsal_script.h"

#include <gtest/gtest.h>

namespace parley::rehearsal {
namespace {

TEST(RehearsalScript, ReadsTurns) {
  const auto script = parse_script(R"json({"turns": [
    {"when": "sum", "think": "Hm.", "text": "I add.", "finish": "length", "usage": {"input": 7, "output": 3},
     "calls": [{"name": "add", "arguments": {"a": 2, "b": 3.50}}, {"name": "x", "id": "c9", "arguments": "{not"}, {"name": "y"}]},
    {"fault": {"status": 429, "headers": {"Retry-After": "1"}, "body": {"error": {"code": "slow"}}, "times": 2}},
    {"text": "Half", "fault": {"cut_after": 12}}
  ]})json");
  ASSERT_TRUE(script) << script.error().message << " " << script.error().path;
  ASSERT_EQ(script->turns.size(), 3U);
  const Turn& first = script->turns[0];
  EXPECT_EQ(first.when, Text("sum"));
  EXPECT_EQ(first.answer->think, Text("Hm."));
  EXPECT_EQ(first.answer->finish, Finish::Length);
  EXPECT_EQ(first.answer->usage.input, 7U);
  ASSERT_EQ(first.answer->calls.size(), 3U);
  EXPECT_EQ(first.answer->calls[0].arguments, Text(R"({"a": 2, "b": 3.50})")) << "exactly as written";
  EXPECT_EQ(first.answer->calls[1].arguments, Text("{not"));
  EXPECT_EQ(first.answer->calls[1].id, Text("c9"));
  EXPECT_EQ(first.answer->calls[2].arguments, Text("{}"));
  const Turn& second = script->turns[1];
  EXPECT_FALSE(second.answer);
  EXPECT_EQ(second.fault->status, 429);
  EXPECT_EQ(second.fault->headers, (std::vector<net::Header>{{"Retry-After", "1"}}));
  EXPECT_EQ(second.fault->body, R"({"error":{"code":"slow"}})");
  EXPECT_EQ(second.fault->times, 2U);
  EXPECT_EQ(script->turns[2].fault->kind, Fault::Kind::Cut);
  EXPECT_EQ(script->turns[2].fault->after, 12U);
}

TEST(RehearsalScript, NamesThePlaceOfWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([])", ""},
      {R"({"turn": []})", "/turn"},
      {R"({"turns": {}})", "/turns"},
      {R"({"turns": [{"text": "a"}, {"txet": "b"}]})", "/turns/1/txet"},
      {R"({"turns": [{"text": 1}]})", "/turns/0/text"},
      {R"({"turns": [{}]})", "/turns/0"},
      {R"({"turns": [{"when": "x"}]})", "/turns/0"},
      {R"({"turns": [{"calls": [{"arguments": {}}]}]})", "/turns/0/calls/0"},
      {R"({"turns": [{"text": "a", "finish": "bored"}]})", "/turns/0/finish"},
      {R"({"turns": [{"text": "a", "usage": {"input": -1}}]})", "/turns/0/usage/input"},
      {R"({"turns": [{"fault": {"status": 99}}]})", "/turns/0/fault/status"},
      {R"({"turns": [{"fault": {"cut_after": 3}}]})", "/turns/0"},
      {R"({"turns": [{"fault": {"headers": ["a"]}}]})", "/turns/0/fault/headers"},
      {R"({"recorded": [{"request": {}}]})", "/recorded/0"},
  };
  for (const auto& [text, path] : cases) {
    const auto script = parse_script(text);
    ASSERT_FALSE(script) << text;
    EXPECT_EQ(script.error().code, Code::Invalid) << text;
    EXPECT_EQ(script.error().path, path) << text;
  }
  EXPECT_EQ(parse_script("{").error().code, Code::Malformed);
}

// The texts of the turns that come next, with "!" for a fault alone.
std::string next(const Script& script, const std::vector<Message>& messages) {
  std::string out;
  for (const Turn& turn : next_turns(script.turns, messages)) {
    out += turn.answer ? turn.answer->text.str() : "!";
  }
  return out;
}

// REHEARSAL3
TEST(RehearsalScript, FindsTheTurnByTheMessages) {
  const Script script = parse_script(R"json({"turns": [
    {"text": "1"}, {"fault": {"status": 500}}, {"text": "2"}, {"text": "3"},
    {"when": "weather", "text": "w1"}, {"text": "w2"},
    {"when": "time", "fault": {"status": 500}}, {"text": "t1"}
  ]})json")
                            .value();
  const Message user = Message::user_message("hello");
  const Message other = Message::user_message("what is the weather?");
  const Message time = Message::user_message("what time is it?");
  const Message said = Message::assistant_message("whatever it was");
  const Message result = Message::tool_message("5", "add", "c1");
  EXPECT_EQ(next(script, {user}), "1");
  EXPECT_EQ(next(script, {user, said, result}), "!2");
  EXPECT_EQ(next(script, {user, said, user}), "!2");
  EXPECT_EQ(next(script, {user, said, result, said, result}), "3");
  EXPECT_EQ(next(script, {user, said, user, said, user, said, user}), "") << "a `when` needs its text";
  EXPECT_EQ(next(script, {other}), "w1");
  EXPECT_EQ(next(script, {other, said, result}), "w2") << "and not w1 again";
  EXPECT_EQ(next(script, {other, said, result, said, user}), "");
  EXPECT_EQ(next(script, {user, said, other, said, result}), "w2");
  EXPECT_EQ(next(script, {other, said, other}), "w1");
  EXPECT_EQ(next(script, {other, user}), "w1") << "all that was said since the assistant counts";
  EXPECT_EQ(next(script, {time}), "!t1");
  EXPECT_EQ(next(script, {time, said, result}), "");
}

TEST(RehearsalScript, ComparesBodiesByWhatTheySay) {
  EXPECT_EQ(comparable(" {\"a\" : [1, 2]} "), "{\"a\":[1,2]}");
  EXPECT_EQ(comparable("no JSON "), "no JSON ");
}

TEST(RehearsalScript, ReadsWhatItWrites) {
  const std::vector<Recorded> recorded = {
      {"POST", "/v1/x", R"({"a":[1,"\"x\""]})", 200, {{"Content-Type", "text/event-stream"}}, "data: {}\n\n"},
      {"GET", "/v1/models", "", 429, {}, R"({"error": {}})"},
      {"POST", "/y", "\"a string\"", 200, {}, ""}};
  const auto script = parse_script(write_script(recorded));
  ASSERT_TRUE(script) << script.error().message;
  ASSERT_EQ(script->recorded.size(), recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    EXPECT_EQ(script->recorded[i].method, recorded[i].method);
    EXPECT_EQ(script->recorded[i].path, recorded[i].path);
    EXPECT_EQ(script->recorded[i].body, recorded[i].body);
    EXPECT_EQ(script->recorded[i].status, recorded[i].status);
    EXPECT_EQ(script->recorded[i].headers, recorded[i].headers);
    EXPECT_EQ(script->recorded[i].answer, recorded[i].answer) << "byte for byte";
  }
}

}  // namespace
}  // namespace parley::rehearsal
