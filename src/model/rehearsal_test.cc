#include "parley/model/rehearsal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "parley/dialect/dialect.h"
#include "parley/dialect/stream.h"
#include "parley/model/http_model.h"
#include "parley/net/http.h"

namespace parley {
namespace {

constexpr std::string_view kTools = R"json([
  {"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"a":{},"b":{}}}}},
  {"type":"function","function":{"name":"clock","parameters":{"type":"object","properties":{}}}},
  {"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{}}}}},
  {"type":"function","function":{"name":"recall","parameters":{"type":"object","properties":{"query":{}}}}}])json";

std::string user(std::string_view text) {
  return R"({"role":"user","content":)" + Json::string(text).text().str() + "}";
}

std::string body_of(const std::string& messages, std::string_view rest = "") {
  return R"({"model":"rehearsal","messages":[)" + messages + "]" + std::string(rest) + "}";
}

Rehearsal rehearsing(std::optional<std::string> script = {}) {
  Result<Rehearsal> out = Rehearsal::start({.script = std::move(script)});
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

net::Request post(const Rehearsal& rehearsal, std::string body) {
  net::Request request;
  request.method = "POST";
  request.url = parse_url(rehearsal.url() + "/chat/completions").value();
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  return request;
}

// What an answer says: "think|text|name arguments|finish".
std::string shown(const Message& message, Finish finish) {
  std::string think, text, calls;
  for (const Block& block : message.blocks()) {
    if (const auto* thinking = block.as<ThinkingBlock>()) think += thinking->thinking;
    if (const auto* words = block.as<TextBlock>()) text += words->text;
    if (const auto* use = block.as<ToolUseBlock>())
      calls += use->name.str() + " " + use->arguments.str() + ";";
  }
  return think + "|" + text + "|" + calls + "|" + std::string(to_string(finish));
}

std::string ask(const Rehearsal& rehearsal, const std::string& messages, std::string_view rest = "") {
  const auto response = net::send(post(rehearsal, body_of(messages, rest)));
  if (!response) return std::string(to_string(response.error().code));
  if (response->status != 200) return std::to_string(response->status) + " " + response->body;
  const auto reading = read(response->body, Dialect::DeepSeek);
  if (!reading) return reading.error().message;
  return shown(reading->conversation.messages()[0], reading->conversation.outcome()->finish);
}

std::string ask_stream(const Rehearsal& rehearsal, const std::string& messages, std::string_view rest = "") {
  const auto response =
      net::send(post(rehearsal, body_of(messages, std::string(rest) + R"(,"stream":true)")));
  if (!response) return std::string(to_string(response.error().code));
  StreamReader reader = StreamReader::of(Dialect::DeepSeek).value();
  Accumulator accumulator(Dialect::DeepSeek);
  const auto add = [&](const StreamEvent& event) { accumulator.add(event); };
  reader.feed(response->body, add);
  reader.finish(add);
  const Accumulated got = accumulator.take();
  if (got.failure) return "failed " + std::string(to_string(got.failure->error.code));
  return shown(got.message, got.outcome.finish) + (got.is_truncated ? " truncated" : "");
}

std::string tools() { return ",\"tools\":" + std::string(kTools); }

// REHEARSAL1
TEST(Rehearsal, SaysWhatItIs) {
  const Rehearsal rehearsal = rehearsing();
  net::Request request;
  request.url = parse_url(rehearsal.url() + "/models").value();
  const auto models = net::send(request);
  ASSERT_TRUE(models);
  EXPECT_EQ(
      models->body,
      R"({"object":"list","data":[{"id":"rehearsal","object":"model","created":0,"owned_by":"parley"}]})");
  EXPECT_EQ(ask(rehearsal, user("Who are you?")).substr(0, 56),
            "|I am rehearsal, the built-in offline model, and I under");
  EXPECT_EQ(ask(rehearsal, user("good morning")), "|Rehearsal heard: good morning||stop");
  const auto named = net::send(post(rehearsal, R"({"model":"gpt-5","messages":[]})"));
  ASSERT_TRUE(named);
  EXPECT_NE(named->body.find(R"("model":"rehearsal")"), std::string::npos) << named->body;
}

TEST(Rehearsal, CallsTheToolsItIsOffered) {
  const Rehearsal rehearsal = rehearsing();
  const std::pair<const char*, const char*> cases[] = {
      {"please add 2 and -3", R"(||add {"a":2,"b":-3};|tool_calls)"},
      {"What time is it?", "||clock {};|tool_calls"},
      {"run: ls -l \"x\"", R"(||bash {"command":"ls -l \"x\""};|tool_calls)"},
      {"recall the blue bicycle", R"(||recall {"query":"the blue bicycle"};|tool_calls)"},
      {"call bash {\"command\": \"true\"}", R"(||bash {"command": "true"};|tool_calls)"},
      {"call bash {oops", R"(||bash {oops;|tool_calls)"},
      {"think about rain",
       "Rehearsal thinks about rain, as far as it can.|Rehearsal has thought about rain and come "
       "to nothing.||stop"},
      {"add apples and pears", "|Rehearsal heard: add apples and pears||stop"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(ask(rehearsal, user(text), tools()), expected);
    EXPECT_EQ(ask_stream(rehearsal, user(text), tools()), expected);  // REHEARSAL4
  }
}

// What a PlanningFlow asks for.
TEST(Rehearsal, MakesAPlanAndDoesItsSteps) {
  const Rehearsal rehearsal = rehearsing();
  const std::string planner =
      R"json(,"tools":[{"type":"function","function":{"name":"create_plan","parameters":{}}}])json";
  EXPECT_EQ(
      ask(rehearsal, user("add 2 and 3, then tell me\nthe time"), planner),
      R"json(||create_plan {"title":"add 2 and 3, then tell me","steps":["add 2 and 3","tell me","the time"]};|tool_calls)json");
  const std::string plan = "Plan: what time is it\n1. [>] add 2 and 3\n2. [ ] what time is it\n\n";
  EXPECT_EQ(
      ask(rehearsal,
          user((plan + "Do step 1 and no other: add 2 and 3\nWhen it is done, report the result.")), tools()),
      R"(||add {"a":2,"b":3};|tool_calls)");
  EXPECT_EQ(ask(rehearsal, user((plan + "Summarize the results of this plan in a few sentences."))),
            "|Rehearsal finished the plan: what time is it||stop");
}

// REHEARSAL5
TEST(Rehearsal, CallsNoToolThatItIsNotOffered) {
  const Rehearsal rehearsal = rehearsing();
  EXPECT_EQ(ask(rehearsal, user("add 2 and 3")), "|Rehearsal heard: add 2 and 3||stop");
  EXPECT_EQ(ask(rehearsal, user("add 2 and 3"), tools() + R"(,"tool_choice":"none")"),
            "|Rehearsal heard: add 2 and 3||stop");
  const std::string bash =
      R"json(,"tools":[{"type":"function","function":{"name":"sh","parameters":{"properties":{"command":{}}}}}])json";
  EXPECT_EQ(ask(rehearsal, user("add 2 and 3"), bash),
            R"json(||sh {"command":"echo $((2 + 3))"};|tool_calls)json");
  EXPECT_EQ(ask(rehearsal, user("what time is it"), bash), R"(||sh {"command":"date -u"};|tool_calls)");
  EXPECT_EQ(ask(rehearsal, user("weather in Oslo"), bash), "|Rehearsal heard: weather in Oslo||stop");
}

TEST(Rehearsal, AsksForTheWeatherOfAPlace) {
  const Rehearsal rehearsal = rehearsing();
  const std::string weather =
      R"json(,"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"properties":{"location":{}}}}}])json";
  EXPECT_EQ(ask(rehearsal, user("What's the weather like in San Francisco?"), weather),
            R"(||get_weather {"location":"San Francisco"};|tool_calls)");
  EXPECT_EQ(ask(rehearsal, user("How is the weather?"), weather), "||get_weather {};|tool_calls");
}

TEST(Rehearsal, AnswersFromResults) {
  const Rehearsal rehearsal = rehearsing();
  const std::string messages =
      user("add 2 and 3") +
      R"json(,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}},
      {"id":"c2","type":"function","function":{"name":"clock","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"5"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"noon"}]})json";
  EXPECT_EQ(ask(rehearsal, messages, tools()),
            "|Rehearsal: add gave back: 5\nRehearsal: clock gave back: noon||stop");
}

// REHEARSAL2, REHEARSAL3
TEST(Rehearsal, GivesTheSameAnswersToTheSameRequests) {
  const std::string body = body_of(user("add 2 and 3"), tools() + R"(,"stream":true)");
  const Rehearsal first = rehearsing();
  const auto a = net::send(post(first, body));
  const auto b = net::send(post(first, body));
  const auto c = net::send(post(rehearsing(), body));
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->body, b->body);
  EXPECT_EQ(a->body, c->body);
  const auto other =
      net::send(post(first, body_of(user("add 2 and 3") + "," + user("add 2 and 3"), tools())));
  ASSERT_TRUE(other);
  const std::size_t id = a->body.find("call_");
  EXPECT_EQ(other->body.find(a->body.substr(id, 20)), std::string::npos) << "ids differ between requests";
}

TEST(Rehearsal, CountsWhatItCosts) {
  const Rehearsal rehearsal =
      rehearsing(R"({"turns":[{"text":"12345678"},{"text":"x","usage":{"input":7,"output":9}}]})");
  const auto whole = net::send(post(rehearsal, body_of(user("hi"))));
  ASSERT_TRUE(whole);
  EXPECT_NE(whole->body.find(R"("completion_tokens":2)"), std::string::npos) << whole->body;
  const std::string second = user("hi") + R"(,{"role":"assistant","content":"12345678"})";
  const auto said = net::send(post(rehearsal, body_of(second)));
  EXPECT_NE(said->body.find(R"("usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16})"),
            std::string::npos)
      << said->body;
  const auto silent = net::send(post(rehearsal, body_of(second, R"(,"stream":true)")));
  EXPECT_EQ(silent->body.find("usage"), std::string::npos) << "a stream has none unless it is asked for";
  const auto asked = net::send(
      post(rehearsal, body_of(second, R"(,"stream":true,"stream_options":{"include_usage":true})")));
  EXPECT_NE(asked->body.find(R"("prompt_tokens":7)"), std::string::npos) << asked->body;
}

TEST(Rehearsal, FollowsAScript) {
  const Rehearsal rehearsal = rehearsing(R"json({"turns":[
    {"think":"A sum.","text":"Adding.","calls":[{"name":"add","arguments":{"a":2,"b":3}}]},
    {"text":"It is 5."}]})json");
  const std::string first = "A sum.|Adding.|add {\"a\":2,\"b\":3};|tool_calls";
  EXPECT_EQ(ask(rehearsal, user("go")), first);
  EXPECT_EQ(ask_stream(rehearsal, user("go")), first);
  const std::string called =
      user("go") +
      R"json(,{"role":"assistant","content":"Adding.","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"5"})json";
  EXPECT_EQ(ask(rehearsal, called), "|It is 5.||stop");
  EXPECT_EQ(ask(rehearsal, called + R"(,{"role":"assistant","content":"It is 5."})"),
            "|Rehearsal: the script has no turn for this request.||stop");
}

TEST(Rehearsal, FailsAsTheScriptSays) {
  const Rehearsal rehearsal = rehearsing(R"json({"turns":[
    {"fault":{"status":429,"headers":{"Retry-After":"1","Content-Type":"text/plain"},"body":"slow","times":2}},
    {"fault":{"status":503}}, {"text":"At last."}]})json");
  const auto limited = net::send(post(rehearsal, body_of(user("go"))));
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->status, 429);
  EXPECT_EQ(limited->header("retry-after"), "1");
  EXPECT_EQ(limited->header("content-type"), "text/plain");
  EXPECT_EQ(limited->body, "slow");
  EXPECT_EQ(ask(rehearsal, user("go")), "429 slow");
  EXPECT_EQ(ask(rehearsal, user("go")).substr(0, 4), "503 ");
  EXPECT_EQ(ask(rehearsal, user("go")), "|At last.||stop");
}

TEST(Rehearsal, CutsAndSpoilsStreams) {
  const Rehearsal rehearsal = rehearsing(R"json({"turns":[
    {"text":"a","fault":{"cut_after":0}}, {"text":"b","fault":{"cut_after":200}},
    {"text":"c","fault":{"garbage_after":0}}, {"text":"A text of more than one piece.","fault":{"garbage_after":400}}]})json");
  const std::string said = R"(,{"role":"assistant","content":"x"})";
  std::string messages = user("go");
  EXPECT_EQ(ask_stream(rehearsal, messages), "unavailable");
  EXPECT_EQ(ask_stream(rehearsal, messages), "|a||stop") << "once";
  messages += said;
  std::string got;
  net::Request request = post(rehearsal, body_of(messages, R"(,"stream":true)"));
  request.on_body = [&](std::string_view piece) -> Result<void> {
    got += piece;
    return {};
  };
  EXPECT_FALSE(net::send(request));
  EXPECT_EQ(got.size(), 200U);
  messages += said;
  EXPECT_EQ(ask_stream(rehearsal, messages).substr(0, 6), "failed");
  messages += said;
  EXPECT_EQ(ask_stream(rehearsal, messages).substr(0, 6), "failed");
  EXPECT_EQ(ask(rehearsal, messages), "|A text of more than one piece.||stop");
}

TEST(Rehearsal, StallsUntilTheClientGoes) {
  const Rehearsal rehearsal = rehearsing(R"json({"turns":[
    {"text":"A text.","fault":{"stall_after":0}}, {"text":"Another.","fault":{"stall_after":100}}]})json");
  net::Request request = post(rehearsal, body_of(user("go"), R"(,"stream":true)"));
  request.first_byte_timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(net::send(request).error().code, Code::Timeout);
  EXPECT_EQ(ask_stream(rehearsal, user("go")), "|A text.||stop");
  request = post(rehearsal,
                 body_of(user("go") + R"(,{"role":"assistant","content":"A text."})", R"(,"stream":true)"));
  request.idle_timeout = std::chrono::milliseconds(50);
  std::string got;
  request.on_body = [&](std::string_view piece) -> Result<void> {
    got += piece;
    return {};
  };
  EXPECT_EQ(net::send(request).error().code, Code::Timeout);
  EXPECT_EQ(got.size(), 100U);
}

TEST(Rehearsal, RefusesWhatIsNoRequest) {
  const Rehearsal rehearsal = rehearsing();
  const auto status = [&](std::string_view method, std::string_view path, std::string body) {
    net::Request request = post(rehearsal, std::move(body));
    request.method = method;
    request.url.path = path;
    const auto response = net::send(request);
    return response ? response->status : 0;
  };
  EXPECT_EQ(status("POST", "/v1/chat/completions", "{"), 400);
  EXPECT_EQ(status("POST", "/v1/chat/completions", R"({"messages":[{"role":"clown","content":"x"}]})"), 400);
  EXPECT_EQ(status("GET", "/v1/chat/completions", ""), 405);
  EXPECT_EQ(status("POST", "/v1/embeddings", "{}"), 404);
  EXPECT_EQ(Rehearsal::start({.script = "{}x"}).error().code, Code::Malformed);
  EXPECT_EQ(Rehearsal::start({.script = ""}).error().code, Code::Malformed);
}

std::string file(const std::string& path) {
  std::ifstream in(std::string(PARLEY_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The example of docs/rehearsal.md, talked through.
TEST(Rehearsal, FollowsTheScriptOfItsDocument) {
  const std::string script = file("examples/rehearsal/sum.json");
  ASSERT_FALSE(script.empty());
  EXPECT_NE(file("docs/rehearsal.md").find("```json\n" + script + "```\n"), std::string::npos)
      << "the document shows another script";
  const Rehearsal rehearsal = rehearsing(script);
  std::string messages = user("What are 2 and 3?");
  EXPECT_EQ(ask_stream(rehearsal, messages),
            R"(Two numbers: the tool can do that.|I will add them.|add {"a": 2, "b": 3};|tool_calls)");
  messages +=
      R"json(,{"role":"assistant","content":"I will add them.","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"5"})json";
  EXPECT_EQ(ask(rehearsal, messages), "|The sum is 5.||stop");
  messages += R"(,{"role":"assistant","content":"The sum is 5."},)" + user("And the weather?");
  EXPECT_EQ(ask(rehearsal, messages).substr(0, 4), "429 ");
  EXPECT_EQ(ask_stream(rehearsal, messages), "unavailable");
  EXPECT_EQ(ask_stream(rehearsal, messages),
            "|It rains, and the stream breaks the first time this is said.||stop");
}

TEST(Rehearsal, ServesManyClientsAtOnce) {
  const Rehearsal rehearsal = rehearsing();
  constexpr int kClients = 4;
  std::vector<std::thread> threads;
  threads.reserve(kClients);
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, text = "text " + std::to_string(i)] {
      for (int n = 0; n < 5; ++n)
        EXPECT_EQ(ask_stream(rehearsal, user(text)), "|Rehearsal heard: " + text + "||stop");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The model without a server says what the server says: same messages, same outcome, same events.
TEST(RehearsalModel, AnswersLikeTheServer) {
  const std::string script =
      R"({"turns":[{"think":"Hm.","text":"I add.","calls":[{"name":"add","arguments":{"a":2}}]},
                                          {"text":"The sum is 5.","usage":{"input":40,"output":12}}]})";
  for (const std::optional<std::string>& with : {std::optional<std::string>(), std::optional(script)}) {
    const Rehearsal server = rehearsing(with);
    ModelConfig config;
    config.model = "compatible/rehearsal";
    config.base_url = server.url();
    const std::shared_ptr<Model> far = open_model(std::move(config)).value();
    const std::shared_ptr<Model> near = rehearsal_model(with).value();
    for (const char* prompt : {"hello there", "add 2 and 3", "think about rain", "who are you?", ""}) {
      ModelRequest request;
      request.conversation = Conversation({Message::user_message(prompt)});
      request.conversation.set_tools(
          {{"add", "Adds", Json::parse(R"({"type":"object","properties":{"a":{},"b":{}}})").value()}});
      std::string far_events, near_events;
      const auto see = [](std::string& out) {
        return [&out](const StreamEvent& event) {
          out += std::to_string(event.index());
          if (const auto* delta = std::get_if<stream::Delta>(&event)) out += delta->text;
        };
      };
      const auto expected = far->complete(request, {.on_event = see(far_events)});
      const auto answer = near->complete(request, {.on_event = see(near_events)});
      ASSERT_TRUE(expected) << expected.error();
      ASSERT_TRUE(answer) << answer.error();
      EXPECT_EQ(answer->message, expected->message) << prompt;
      EXPECT_EQ(answer->outcome.finish, expected->outcome.finish) << prompt;
      EXPECT_EQ(answer->outcome.usage, expected->outcome.usage) << prompt;
      EXPECT_EQ(near_events, far_events) << prompt;
    }
  }
}

TEST(RehearsalModel, RefusesABadScript) { EXPECT_EQ(rehearsal_model("{").error().code, Code::Malformed); }

TEST(RehearsalModel, StopsBeforeItBegins) {
  std::stop_source stop;
  stop.request_stop();
  ModelRequest request;
  request.conversation = Conversation({Message::user_message("hi")});
  EXPECT_EQ(rehearsal_model().value()->complete(request, {.stop = stop.get_token()}).error().code,
            Code::Cancelled);
}

}  // namespace
}  // namespace parley
