#include "server/openai/chat.h"

#include <gtest/gtest.h>

#include <future>

#include "parley/base/clock.h"
#include "server/http/server_testing.h"
#include "server/openai/chat_request.h"
#include "server/openai/chat_stored.h"
#include "server/openai/models.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::TestServer;

constexpr std::string_view kPath = "/v1/chat/completions";

std::vector<Route> routes() {
  std::vector<Route> out = chat_routes();
  for (Route& route : model_routes()) out.push_back(std::move(route));
  return out;
}

class Chat : public ::testing::Test {
 protected:
  // A request to the model that a test drives; `more` are further members: R"(,"stream":true)".
  static std::string body(const std::string& more = {}, const std::string& model = "test/manual") {
    return R"({"model":")" + model + R"(","messages":[{"role":"user","content":"hi"}])" + more + "}";
  }
  // The response to a request, while `drive` plays the model.
  Got ask(const std::string& text, const std::function<void(testing::ManualCall&)>& drive) {
    const std::size_t number = server_.model().calls();
    auto got = std::async(std::launch::async, [&] { return server_.post(kPath, text); });
    drive(*server_.model().call(number));
    return got.get();
  }
  Got ask(const std::string& text) {
    return ask(text, [](testing::ManualCall& call) {
      call.say("Hel");
      call.say("lo");
      call.finish();
    });
  }
  // The content that a client puts together from chunks.
  static std::string content(const std::vector<Json>& chunks, std::string_view member = "content") {
    std::string out;
    for (const Json& chunk : chunks) {
      const auto delta = chunk.at("/choices/0/delta/" + std::string(member));
      if (delta) out += delta->as_string().value_or(Text()).str();
    }
    return out;
  }
  std::size_t sessions() { return store_->list("default").value().sessions.size(); }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  TestServer server_{{.store = store_, .routes = routes()}};
};

// CHAT2
TEST_F(Chat, AnswersWithACompletion) {
  const Got got = ask(body());
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_TRUE(got.at("/id").starts_with("chatcmpl-0"));
  EXPECT_EQ(got.at("/object"), "chat.completion");
  EXPECT_EQ(got.at("/model"), "test/manual");
  EXPECT_GT(got.body.at("/created")->as_int64(), 1'700'000'000);
  EXPECT_EQ(got.at("/choices"),
            R"([{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null,)"
            R"("annotations":[]},"logprobs":null,"finish_reason":"stop"}])");
  EXPECT_EQ(got.at("/usage"),
            R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,)"
            R"("prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0,"audio_tokens":0},)"
            R"("completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,)"
            R"("accepted_prediction_tokens":0,"rejected_prediction_tokens":0}})");
  EXPECT_EQ(got.header("x-parley-notes"), "0");
  EXPECT_EQ(got.header("content-type"), "application/json");
  EXPECT_EQ(sessions(), 0);
}

// CHAT1
TEST_F(Chat, StreamsChunks) {
  const Got got = ask(body(R"(,"stream":true)"));
  ASSERT_EQ(got.status, 200);
  EXPECT_EQ(got.header("content-type"), "text/event-stream");
  const std::vector<Json> chunks = got.events();
  ASSERT_EQ(chunks.size(), 4) << got.text;
  EXPECT_EQ(
      chunks[0].at("/choices/0")->text(),
      R"({"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null})");
  EXPECT_EQ(chunks[1].at("/choices/0/delta")->text(), R"({"content":"Hel"})");
  EXPECT_EQ(chunks[3].at("/choices/0/delta")->text(), "{}");
  EXPECT_EQ(chunks[3].at("/choices/0/finish_reason")->as_string(), "stop");
  EXPECT_EQ(content(chunks), "Hello");
  for (const Json& chunk : chunks) {
    EXPECT_EQ(chunk.at("/id"), chunks[0].at("/id"));
    EXPECT_EQ(chunk.at("/object")->as_string(), "chat.completion.chunk");
    EXPECT_FALSE(chunk.get("usage"));
  }
  EXPECT_TRUE(got.text.ends_with("\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(sessions(), 0);
}

TEST_F(Chat, StreamsTheUsageIfItIsAsked) {
  const Got got = ask(body(R"(,"stream":true,"stream_options":{"include_usage":true})"));
  const std::vector<Json> chunks = got.events();
  ASSERT_EQ(chunks.size(), 5);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(chunks[static_cast<std::size_t>(i)].get("usage")->text(), "null");
  EXPECT_EQ(chunks[4].get("choices")->text(), "[]");
  EXPECT_EQ(chunks[4].at("/usage/total_tokens")->as_int64(), 15);
}

// CHAT4
TEST_F(Chat, CallsTools) {
  const std::string tools =
      R"(,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],)"
      R"("tool_choice":"required","parallel_tool_calls":false)";
  const auto drive = [](testing::ManualCall& call) {
    call.say("wait");
    call.call_tool("c1", "f", R"({"a":1})");
    call.finish(Finish::ToolCalls);
  };
  const Got whole = ask(body(tools), drive);
  EXPECT_EQ(whole.at("/choices/0/finish_reason"), "tool_calls");
  EXPECT_EQ(whole.at("/choices/0/message/content"), "wait");
  EXPECT_EQ(whole.at("/choices/0/message/tool_calls"),
            R"([{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}])");
  const auto& asked = server_.model().call(0)->request.conversation;
  ASSERT_EQ(asked.tools().size(), 1);
  EXPECT_EQ(asked.tools()[0].name, "f");
  EXPECT_EQ(asked.settings().get(Setting::ToolChoice)->as_string(), "required");
  EXPECT_EQ(asked.settings().get(Setting::ParallelToolCalls)->as_bool(), false);

  const std::vector<Json> chunks = ask(body(tools + R"(,"stream":true)"), drive).events();
  ASSERT_EQ(chunks.size(), 4);
  EXPECT_EQ(
      chunks[2].at("/choices/0/delta")->text(),
      R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]})");
  EXPECT_EQ(chunks[3].at("/choices/0/finish_reason")->as_string(), "tool_calls");
}

TEST_F(Chat, CarriesSettings) {
  ask(body(
      R"(,"temperature":0.5,"top_p":0.9,"max_completion_tokens":7,"stop":"x","seed":3,"user":"u",)"
      R"("frequency_penalty":0.1,"presence_penalty":0.2,"reasoning_effort":"low",)"
      R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}})"));
  const Settings settings = server_.model().call(0)->request.conversation.settings();
  EXPECT_EQ(settings.get(Setting::Temperature)->text(), "0.5");
  EXPECT_EQ(settings.get(Setting::TopP)->text(), "0.9");
  EXPECT_EQ(settings.get(Setting::MaxTokens)->text(), "7");
  EXPECT_EQ(settings.get(Setting::Stop)->text(), R"(["x"])");
  EXPECT_EQ(settings.get(Setting::Seed)->text(), "3");
  EXPECT_EQ(settings.get(Setting::User)->as_string(), "u");
  EXPECT_EQ(settings.get(Setting::ReasoningEffort)->as_string(), "low");
  EXPECT_EQ(settings.get(Setting::ReplySchema)->text(), R"({"name":"n","schema":{"type":"object"}})");
  ask(body(R"(,"response_format":{"type":"json_object"})"));
  EXPECT_EQ(server_.model()
                .call(1)
                ->request.conversation.settings()
                .get(Setting::ReplySchema)
                ->at("/schema")
                ->text(),
            R"({"type":"object"})");
}

TEST_F(Chat, CountsMembersThatAreNotCarried) {
  EXPECT_EQ(ask(body(R"(,"logit_bias":{"1":2},"logprobs":true,"verbosity":"low","audio":null,"n":1)"))
                .header("x-parley-notes"),
            "3");
}

TEST_F(Chat, RefusesBadRequests) {
  const auto error = [&](const std::string& text) {
    const Got got = server_.post(kPath, text);
    return std::to_string(got.status) + " " + got.at("/error/param") + " " + got.at("/error/code");
  };
  EXPECT_EQ(error("{"), "400 null malformed");
  EXPECT_EQ(error("[]"), "400 null wrong_type");
  EXPECT_EQ(error(""), "400 model missing_required_parameter");
  EXPECT_EQ(error(R"({"model":"rehearsal"})"), "400 messages missing_required_parameter");
  EXPECT_EQ(error(R"({"model":"rehearsal","messages":[]})"), "400 messages empty_array");
  EXPECT_EQ(error(R"({"model":"rehearsal","messages":[{"role":"robot","content":"x"}]})"),
            "400 messages[0].role unknown_role");
  EXPECT_EQ(error(body(R"(,"n":2)")), "400 n unsupported_value");
  EXPECT_EQ(error(body(R"(,"metadata":{"a":1})")), "400 metadata.a invalid");
  EXPECT_EQ(error(body("", "nothing")), "404 model model_not_found");
  EXPECT_EQ(error(std::string(200, '[') + std::string(200, ']')), "400 null limit_exceeded");
  EXPECT_EQ(error(R"({"model":"test/manual","messages":[{"role":"tool","tool_call_id":"c","content":"x"}]})"),
            "400 null broken_history");
  EXPECT_EQ(server_.model().calls(), 0);
}

// CHAT_TURN1
TEST_F(Chat, GivesTheStatusOfAFailure) {
  for (const std::string more : {"", R"(,"stream":true)"}) {
    const auto failed = [&](FailureKind kind) {
      const Got got = ask(body(more), [&](testing::ManualCall& call) { call.fail_with(kind, false); });
      return std::to_string(got.status) + " " + got.at("/error/code");
    };
    EXPECT_EQ(failed(FailureKind::RateLimit), "429 rate_limit_exceeded");
    EXPECT_EQ(failed(FailureKind::ContextTooLong), "400 context_length_exceeded");
    EXPECT_EQ(failed(FailureKind::Auth), "502 upstream_auth");
    EXPECT_EQ(failed(FailureKind::Overloaded), "503 overloaded");
  }
}

// CHAT_TURN2
TEST_F(Chat, CutsAStreamThatIsNotWhole) {
  const auto client = server_.raw_post(kPath, body(R"(,"stream":true)"));
  const auto call = server_.model().call(0);
  call->say("half");
  client->hear("half");
  call->fail_with(FailureKind::Transport, true);
  const std::string rest = client->hear();
  EXPECT_FALSE(rest.contains("[DONE]"));
  EXPECT_FALSE(rest.contains("finish_reason\":\"stop"));
  EXPECT_FALSE(rest.ends_with("0\r\n\r\n"));
  // A whole answer that is not streamed is not half an answer either.
  const Got whole = ask(body(), [](testing::ManualCall& other) {
    other.say("half");
    other.fail_with(FailureKind::Transport, true);
  });
  EXPECT_EQ(whole.status, 502) << whole.text;
}

TEST_F(Chat, AnswersWithoutWords) {
  const auto drive = [](testing::ManualCall& call) { call.finish(); };
  const Got whole = ask(body(), drive);
  EXPECT_EQ(whole.at("/choices/0/message/content"), "") << whole.text;
  EXPECT_EQ(whole.at("/choices/0/finish_reason"), "stop");
  const Got streamed = ask(body(R"(,"stream":true)"), drive);
  EXPECT_EQ(streamed.events().size(), 2) << streamed.text;
  EXPECT_TRUE(streamed.text.ends_with("data: [DONE]\n\n"));
}

TEST_F(Chat, EndsByItsLimits) {
  const Got length = ask(body(), [](testing::ManualCall& call) {
    call.say("so far");
    call.finish(Finish::Length);
  });
  EXPECT_EQ(length.at("/choices/0/finish_reason"), "length") << length.text;
  EXPECT_EQ(length.at("/choices/0/message/content"), "so far");
  const Got filtered = ask(body(R"(,"stream":true)"), [](testing::ManualCall& call) {
    call.say("so far");
    call.finish(Finish::Filtered);
  });
  EXPECT_EQ(filtered.events().back().at("/choices/0/finish_reason")->as_string(), "content_filter")
      << filtered.text;
}

// CHAT_TURN3
TEST_F(Chat, CancelsTheModelWhenTheClientOfAStatelessRequestLeaves) {
  for (const char* more : {"", R"(,"stream":true)"}) {
    const std::size_t number = server_.model().calls();
    auto client = server_.raw_post(kPath, body(more));
    const auto call = server_.model().call(number);
    call->say("never heard");
    client.reset();
    while (!call->is_stopped) std::this_thread::yield();
  }
}

TEST_F(Chat, ObeysTheRulesOfTheRequest) {
  const Got wrong = server_.post(kPath, body(), {{"x-parley-disconnect", "maybe"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.at("/error/param"), "x-parley-disconnect");
  EXPECT_EQ(server_.post(kPath, body(), {{"x-parley-on-busy", "maybe"}}).at("/error/code"), "invalid_header");
}

TEST_F(Chat, SendsACommentWhileTheModelIsSilent) {
  TestServer server({.ping = std::chrono::milliseconds(1), .routes = routes()});
  const auto client = server.raw_post(kPath, body(R"(,"stream":true)"));
  client->hear("\"role\":\"assistant\"");
  client->hear(": ping\n\n");
  const auto call = server.model().call(0);
  call->say("at last");
  call->finish();
  client->hear("at last");
  client->hear("data: [DONE]");
}

TEST_F(Chat, ReadsLargeBodies) {
  const std::string text(1'000'000, 'x');
  const Got got = ask(R"({"model":"test/manual","messages":[{"role":"user","content":")" + text + "\"}]}");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(server_.model().call(0)->request.conversation.messages()[0].content()->size(), text.size());
}

TEST_F(Chat, AsksTheOfflineModel) {
  const Got got = server_.post(kPath, body("", "rehearsal"));
  EXPECT_EQ(got.at("/choices/0/message/content"), "Rehearsal heard: hi") << got.text;
  const Got streamed = server_.post(
      kPath,
      R"({"model":"rehearsal","stream":true,"messages":[{"role":"user","content":"think about rain"}]})");
  EXPECT_FALSE(content(streamed.events(), "reasoning_content").empty()) << streamed.text;
  const Got whole = server_.post(
      kPath, R"({"model":"rehearsal","messages":[{"role":"user","content":"think about rain"}]})");
  EXPECT_EQ(content(streamed.events()), whole.at("/choices/0/message/content"));
  EXPECT_EQ(content(streamed.events(), "reasoning_content"),
            whole.at("/choices/0/message/reasoning_content"));
}

class StoredChat : public Chat {
 protected:
  std::string create(const std::string& more = {}) {
    const Got got = ask(body(R"(,"store":true)" + more));
    EXPECT_EQ(got.status, 200) << got.text;
    return got.at("/id");
  }
  static std::string path(const std::string& id) { return std::string(kPath) + "/" + id; }
  std::vector<std::string> listed(const std::string& query) {
    std::vector<std::string> out;
    const Got got = server_.get(std::string(kPath) + "?" + query);
    EXPECT_EQ(got.status, 200) << got.text;
    for (const Json& one : got.body.get("data")->elements()) out.push_back(one.get("id")->as_string()->str());
    return out;
  }
};

TEST_F(StoredChat, CanBeRead) {
  const Got created = ask(body(R"(,"store":true,"metadata":{"a":"1"})"));
  EXPECT_EQ(server_.get(path(created.at("/id"))).text, created.text);
  EXPECT_EQ(created.at("/metadata"), R"({"a":"1"})");
  EXPECT_EQ(store_->list("default").value().sessions.at(0).session, created.at("/id"));
  const Got streamed = ask(body(R"(,"store":true,"stream":true)"));
  const Got read = server_.get(path(streamed.events()[0].get("id")->as_string()->str()));
  EXPECT_EQ(read.at("/choices/0/message/content"), content(streamed.events()));
}

TEST_F(StoredChat, ShowsWhatWasAsked) {
  const Got got =
      ask(R"({"model":"test/manual","store":true,"messages":[{"role":"system","content":"be kind"},)"
          R"({"role":"user","name":"ann","content":[{"type":"text","text":"a"},)"
          R"({"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"text","text":"b"}]}]})");
  const Got messages = server_.get(path(got.at("/id")) + "/messages");
  EXPECT_EQ(messages.at("/data/0/id"), got.at("/id") + "-0") << messages.text;
  EXPECT_EQ(messages.at("/data/0/role"), "system");
  EXPECT_EQ(messages.at("/data/0/content"), "be kind");
  EXPECT_EQ(messages.at("/data/0/content_parts"), "null");
  EXPECT_EQ(messages.at("/data/0/refusal"), "null");
  EXPECT_EQ(messages.at("/data/1/name"), "ann");
  EXPECT_EQ(messages.at("/data/1/content"), "a\nb");
  EXPECT_EQ(messages.at("/data/1/content_parts/1/image_url/url"), "https://x/y.png");
  EXPECT_EQ(messages.at("/has_more"), "false");
  const Got last = server_.get(path(got.at("/id")) + "/messages?order=desc&limit=1");
  EXPECT_EQ(last.at("/data/0/id"), got.at("/id") + "-1");
  EXPECT_EQ(last.at("/has_more"), "true");
  EXPECT_EQ(server_.get(path(got.at("/id")) + "/messages?after=" + got.at("/id") + "-0").at("/data/0/name"),
            "ann");
}

TEST_F(StoredChat, IsUpdatedAndDeleted) {
  const std::string id = create(R"(,"metadata":{"a":"1"})");
  EXPECT_EQ(server_.post(path(id), R"({"metadata":{"b":"2"}})").at("/metadata"), R"({"b":"2"})");
  EXPECT_EQ(server_.get(path(id)).at("/metadata"), R"({"b":"2"})");
  EXPECT_EQ(server_.post(path(id), R"({"metadata":{"b":2}})").status, 400);
  EXPECT_EQ(server_.remove(path(id)).text,
            R"({"id":")" + id + R"(","object":"chat.completion.deleted","deleted":true})");
  EXPECT_EQ(sessions(), 0);
  for (const Got& got : {server_.get(path(id)), server_.remove(path(id)), server_.get(path(id) + "/messages"),
                         server_.post(path(id), R"({"metadata":{}})"), server_.get(path("chatcmpl-nothing")),
                         server_.get(path("nonsense"))}) {
    EXPECT_EQ(got.status, 404);
    EXPECT_EQ(got.at("/error/code"), "chat_completion_not_found");
  }
}

TEST_F(StoredChat, IsListed) {
  ScopedClock clock(1'800'000'000'000);  // ids of one millisecond have no order
  const std::string a = create(R"(,"metadata":{"team":"red"})");
  clock.advance(1);
  const std::string b = create(R"(,"metadata":{"team":"blue"})");
  clock.advance(1);
  const std::string c = server_.post(kPath, body(R"(,"store":true)", "rehearsal")).at("/id");
  ask(body());  // not stored
  using Ids = std::vector<std::string>;
  EXPECT_EQ(listed(""), (Ids{a, b, c}));
  EXPECT_EQ(listed("order=desc"), (Ids{c, b, a}));
  EXPECT_EQ(listed("metadata[team]=blue"), Ids{b});
  EXPECT_EQ(listed("model=rehearsal"), Ids{c});
  EXPECT_EQ(listed("limit=2"), (Ids{a, b}));
  EXPECT_EQ(listed("limit=2&after=" + b), Ids{c});
  EXPECT_EQ(server_.get(std::string(kPath) + "?limit=2").at("/has_more"), "true");
  EXPECT_EQ(server_.get(std::string(kPath) + "?limit=3").at("/has_more"), "false");
}

TEST_F(StoredChat, IsOfItsTenant) {
  const std::string id = create();
  const auto other = create_key(*store_, {.name = "other", .tenant = "other"}).value();
  const TestServer::Headers headers = {{"x-api-key", std::string(other.secret.reveal())}};
  TestServer server({.store = store_, .routes = routes()});
  EXPECT_EQ(server.get(path(id), headers).status, 404);
  EXPECT_EQ(server.get(kPath, headers).at("/data"), "[]");
}

TEST_F(StoredChat, IsNotAskedTwiceByARetry) {
  const std::string text = body(R"(,"store":true)");
  const Got first = ask(text);
  const Got again = server_.post(kPath, text, {{"x-stainless-retry-count", "1"}});
  EXPECT_EQ(again.at("/id"), first.at("/id"));
  EXPECT_EQ(server_.model().calls(), 1);
  EXPECT_NE(ask(text).at("/id"), first.at("/id"));  // not marked: asked again on purpose
}

TEST_F(StoredChat, IsNotTheAnswerOfAnotherRequestWithTheSameIdempotencyKey) {
  const TestServer::Headers headers = {{"Idempotency-Key", "k"}};
  const std::string text = body(R"(,"store":true)", "rehearsal");
  const Got first = server_.post(kPath, text, headers);
  EXPECT_EQ(server_.post(kPath, text, headers).at("/id"), first.at("/id"));
  const Got other = server_.post(
      kPath, R"({"model":"rehearsal","store":true,"messages":[{"role":"user","content":"bye"}]})", headers);
  EXPECT_NE(other.at("/id"), first.at("/id"));
  EXPECT_EQ(other.at("/choices/0/message/content"), "Rehearsal heard: bye") << other.text;
}

// STORED_CHAT2
TEST_F(StoredChat, LosesItsMetadataIfThatIsAsked) {
  const std::string id = create(R"(,"metadata":{"a":"1"})");
  const Got missing = server_.post(path(id), "{}");
  EXPECT_EQ(missing.status, 400) << missing.text;
  EXPECT_EQ(missing.at("/error/param"), "metadata");
  EXPECT_EQ(server_.get(path(id)).at("/metadata"), R"({"a":"1"})");
  EXPECT_EQ(server_.post(path(id), R"({"metadata":{}})").at("/metadata"), "{}");
  EXPECT_EQ(server_.get(path(id)).at("/metadata"), "{}");
  EXPECT_TRUE(listed("metadata[a]=1").empty());
}

// STORED_CHAT1
TEST_F(StoredChat, IsListedInPagesThatLeadOn) {
  ScopedClock clock(1'800'000'000'000);  // ids of one millisecond have no order
  std::vector<std::string> ids;
  for (const char* team : {"blue", "blue", "blue", "blue", "red", "blue", "red"}) {
    const std::string more = R"(,"store":true,"metadata":{"team":")" + std::string(team) + "\"}";
    ids.push_back(server_.post(kPath, body(more, "rehearsal")).at("/id"));
    clock.advance(1);
  }
  ConversationBook book;
  const auto page = [&](const std::string& after) {
    Exchange exchange;
    exchange.request.query = "metadata[team]=red&after=" + after;
    const ChatListLimits limits{.examined = 2, .without_match = 3};
    const Reply reply = StoredChatCall(book, server_.engine(), exchange, limits).list();
    EXPECT_TRUE(reply);
    return Got{.body = reply.value_or(Json())};
  };
  const Got first = page("");
  EXPECT_EQ(first.at("/data"), "[]");
  EXPECT_EQ(first.at("/has_more"), "true");
  EXPECT_EQ(first.at("/last_id"), ids[2]);
  const Got second = page(first.at("/last_id"));
  EXPECT_EQ(second.at("/data/0/id"), ids[4]);
  EXPECT_EQ(second.at("/last_id"), ids[4]);
  const Got third = page(second.at("/data/0/id"));
  EXPECT_EQ(third.at("/data/0/id"), ids[6]);
  EXPECT_EQ(third.at("/has_more"), "false");
  EXPECT_EQ(third.at("/last_id"), ids[6]);
}

TEST_F(Chat, HasALimitOfMessagesAndOfTheirSizes) {
  const auto error = [&](const std::string& messages) {
    const Got got = server_.post(kPath, R"({"model":"rehearsal","messages":[)" + messages + "]}");
    return std::to_string(got.status) + " " + got.at("/error/param");
  };
  const std::string message = R"({"role":"user","content":"x"})";
  EXPECT_EQ(
      error(message + R"(,{"role":"user","content":")" + std::string(kMostChatMessageBytes, 'x') + "\"}"),
      "400 messages[1]");
  std::string many = message;
  for (std::size_t i = 0; i < kMostChatMessages; ++i) many += "," + message;
  EXPECT_EQ(error(many), "400 messages");
}

TEST_F(Chat, ListsModels) {
  EXPECT_EQ(server_.get("/v1/models").text,
            R"({"object":"list","data":[{"id":"rehearsal","object":"model","created":0,"owned_by":"parley"},)"
            R"({"id":"test/manual","object":"model","created":1700000000,"owned_by":"test"}]})");
  EXPECT_EQ(server_.get("/v1/models/rehearsal").at("/id"), "rehearsal");
  EXPECT_EQ(server_.get("/v1/models/test%2Fmanual").at("/owned_by"), "test");
  EXPECT_EQ(server_.get("/v1/models/test/manual").at("/owned_by"), "test");
  const Got missing = server_.get("/v1/models/a/b");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.at("/error/code"), "model_not_found");
}

TEST_F(Chat, AModelThatTheKeyMayNotAskLooksLikeNone) {
  const auto narrow = create_key(*store_, {.name = "n", .models = {"reh*"}}).value();
  const TestServer::Headers headers = {{"x-api-key", std::string(narrow.secret.reveal())}};
  TestServer server({.store = store_, .routes = routes()});
  EXPECT_EQ(server.get("/v1/models", headers).body.get("data")->elements().size(), 1);
  EXPECT_EQ(server.get("/v1/models/test/manual", headers).status, 404);
  const Got forbidden = server.post(kPath, body(), headers);
  const Got missing = server.post(kPath, body("", "test/nothing"), headers);
  EXPECT_EQ(forbidden.status, 404);
  EXPECT_EQ(forbidden.at("/error/code"), missing.at("/error/code"));
  EXPECT_EQ(server.post(kPath, body("", "rehearsal"), headers).status, 200);
}

}  // namespace
}  // namespace parley::server
