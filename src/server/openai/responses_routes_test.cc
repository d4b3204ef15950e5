#include "server/openai/responses_routes.h"

#include <gtest/gtest.h>

#include "server/http/responder_testing.h"
#include "server/openai/conversation_book.h"
#include "server/openai/responses_server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::ManualCall;

class ResponsesRoutes : public ResponsesServer {
 protected:
  std::string stored_id(const std::string& input = "hi", const std::string& more = {}) {
    return ask(body(input, more)).at("/id");
  }
  // Up to the first event, so that the turn runs.
  static std::string heard_id(net::RawClient& client) {
    const std::string head = client.hear("response.in_progress");
    const std::size_t at = head.find("\"id\":\"") + 6;
    return head.substr(at, head.find('"', at) - at);
  }
  Got wait_final(const std::string& id) {
    for (int i = 0; i < 1'000; ++i) {
      Got got = server_->get("/v1/responses/" + id);
      const std::string status = got.at("/status");
      if (status != "queued" && status != "in_progress") return got;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
  }
};

TEST_F(ResponsesRoutes, AnswerWhole) {
  const Got got = ask(body("hi", R"(,"metadata":{"a":"b"})"));
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/status"), "completed");
  EXPECT_EQ(got.at("/output/0/content/0/text"), "Hello");
  EXPECT_EQ(got.at("/metadata/a"), "b");
  EXPECT_EQ("resp_" + got.header("x-parley-turn"), got.at("/id"));
  EXPECT_FALSE(got.header("x-request-id").empty());
  EXPECT_EQ(server_->get("/v1/responses/" + got.at("/id")).text, got.text);
}

// RESPONSES_TURN2
TEST_F(ResponsesRoutes, AnswerWithAStream) {
  const Got got = ask(body("hi", R"(,"stream":true)"));
  ASSERT_EQ(got.status, 200);
  EXPECT_EQ(got.header("content-type"), "text/event-stream");
  EXPECT_TRUE(got.text.ends_with("\n\ndata: [DONE]\n\n"));
  const std::vector<Json> events = got.events();
  ASSERT_EQ(events.size(), 10U) << got.text;
  EXPECT_EQ(events[0].get("type"), Json::string("response.created"));
  const std::string id = events[0].at("/response/id")->as_string()->str();
  EXPECT_EQ(events.back().at("/response")->text(), server_->get("/v1/responses/" + id).text);
}

// RESPONSES_TURN5
TEST_F(ResponsesRoutes, ReplayTheSameBytesAfterARestart) {
  const Got streamed = ask(body("hi", R"(,"stream":true)"));
  const std::string id = streamed.events().at(0).at("/response/id")->as_string()->str();
  restart();
  const std::string path = "/v1/responses/" + id + "?stream=true";
  EXPECT_EQ(server_->get(path).text, streamed.text);
  const std::string rest = server_->get(path + "&starting_after=4").text;
  EXPECT_TRUE(rest.starts_with("event: response.output_text.delta\nid: 5\n")) << rest;
  EXPECT_TRUE(streamed.text.ends_with(rest));
  EXPECT_EQ(server_->get(path, {{"Last-Event-ID", "4"}}).text, rest);
  EXPECT_EQ(server_->get(path + "&starting_after=x").status, 400);
  EXPECT_EQ(server_->get("/v1/responses/" + id + "?stream=false&starting_after=0").at("/id"), id);
}

TEST_F(ResponsesRoutes, ReplayAResponseThatWasNotStreamed) {
  const std::string id = stored_id();
  const Got first = server_->get("/v1/responses/" + id + "?stream=true");
  EXPECT_GE(first.events().size(), 9U) << first.text;
  restart();
  EXPECT_EQ(server_->get("/v1/responses/" + id + "?stream=true").text, first.text);
}

TEST_F(ResponsesRoutes, FollowAResponseThatRuns) {
  auto first = std::async(std::launch::async,
                          [&] { return server_->post("/v1/responses", body("hi", R"(,"stream":true)")); });
  const auto call = server_->model().call(0);
  call->say("Hel");
  net::RawClient other(server_->port());
  const std::string session = store_->list("default")->sessions.at(0).session;
  other.say("GET /v1/responses/" + session + "?stream=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(other.hear("\"delta\":\"Hel\"").find("response.created"), std::string::npos);
  call->say("lo");
  call->finish();
  EXPECT_NE(other.hear("[DONE]").find("response.completed"), std::string::npos);
  EXPECT_EQ(first.get().events().size(), 10U);
}

TEST_F(ResponsesRoutes, ContinueAPreviousResponse) {
  const std::string first = stored_id("one");
  const Got second = ask(body("two", R"(,"previous_response_id":")" + first + "\""));
  ASSERT_EQ(second.status, 200) << second.text;
  EXPECT_EQ(second.at("/previous_response_id"), first);
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: one", "assistant: Hello", "user: two"}));
  // From the first again: a branch that does not see the second.
  const Got branch = ask(body("three", R"(,"previous_response_id":")" + first + "\""));
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: one", "assistant: Hello", "user: three"}));
  restart();
  ask(body("four", R"(,"previous_response_id":")" + branch.at("/id") + "\""));
  EXPECT_EQ(seen().size(), 5U);
  EXPECT_EQ(seen().at(2), "user: three");
  const Got missing = server_->post("/v1/responses", body("x", R"(,"previous_response_id":"resp_none")"));
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(missing.at("/error/code"), "previous_response_not_found");
  EXPECT_EQ(missing.at("/error/param"), "previous_response_id");
}

TEST_F(ResponsesRoutes, TakePartInAConversation) {
  const std::string conversation =
      server_->post("/v1/conversations", R"({"items":[{"type":"message","role":"user","content":"before"}]})")
          .at("/id");
  const std::string more = R"(,"conversation":")" + conversation + "\"";
  const Got got = ask(body("one", more));
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/conversation/id"), conversation);
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: before", "user: one"}));
  ask(body("two", more));
  EXPECT_EQ(seen().size(), 4U);
  EXPECT_EQ(server_->get("/v1/responses/" + got.at("/id")).text, got.text);
  const Got items = server_->get("/v1/conversations/" + conversation + "/items?order=asc");
  EXPECT_EQ(items.at("/data/2/id"), got.at("/output/0/id"));
  EXPECT_EQ(server_->post("/v1/responses", body("x", R"(,"conversation":"conv_none")")).status, 404);
}

TEST_F(ResponsesRoutes, ResolveItemReferences) {
  const Got first = ask(body("one"));
  const std::string items =
      R"({"model":"test/manual","input":[{"role":"user","content":"one"},{"type":"item_reference","id":")" +
      first.at("/output/0/id") + R"("},{"role":"user","content":"two"}]})";
  ask(items);
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: one", "assistant: Hello", "user: two"}));
}

// RESPONSES_TURN4
TEST_F(ResponsesRoutes, RunInTheBackground) {
  const Got got = server_->post("/v1/responses", body("hi", R"(,"background":true)"));
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/status"), "queued");
  const std::string id = got.at("/id");
  EXPECT_EQ(server_->get("/v1/responses/" + id).at("/status"), "in_progress");
  say_hello(*server_->model().call(0));
  EXPECT_EQ(wait_final(id).at("/output/0/content/0/text"), "Hello");
}

TEST_F(ResponsesRoutes, CancelAnyResponse) {
  const auto client = server_->raw_post("/v1/responses", body("hi", R"(,"stream":true)"));
  const std::string id = heard_id(*client);
  const auto call = server_->model().call(0);
  call->say("Hel");
  const Got got = server_->post("/v1/responses/" + id + "/cancel", "");
  EXPECT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/status"), "cancelled");
  EXPECT_EQ(got.at("/output/0/content/0/text"), "Hel");
  EXPECT_EQ(got.at("/output/0/status"), "incomplete");
  EXPECT_TRUE(call->is_stopped);
  EXPECT_NE(client->hear("[DONE]").find("event: response.incomplete"), std::string::npos);
  EXPECT_EQ(server_->post("/v1/responses/" + id + "/cancel", "").text, got.text);  // once is enough
  EXPECT_EQ(server_->post("/v1/responses/resp_none/cancel", "").status, 404);
}

TEST_F(ResponsesRoutes, DeleteAResponse) {
  const std::string id = stored_id();
  const Got got = server_->remove("/v1/responses/" + id);
  EXPECT_EQ(got.text, R"({"id":")" + id + R"(","object":"response","deleted":true})");
  EXPECT_EQ(server_->get("/v1/responses/" + id).status, 404);
  EXPECT_EQ(server_->remove("/v1/responses/" + id).status, 404);
}

TEST_F(ResponsesRoutes, DeleteAResponseThatRuns) {
  const std::string id = server_->post("/v1/responses", body("hi", R"(,"background":true)")).at("/id");
  const auto call = server_->model().call(0);
  EXPECT_EQ(server_->remove("/v1/responses/" + id).status, 200);
  EXPECT_TRUE(call->is_stopped);
  EXPECT_EQ(server_->get("/v1/responses/" + id).status, 404);
}

TEST_F(ResponsesRoutes, ListTheInput) {
  const std::string text =
      R"({"model":"test/manual","input":[{"role":"user","content":"one"},{"type":"message","id":"msg_mine","role":"assistant","content":"two"},)"
      R"({"role":"user","content":[{"type":"input_text","text":"three"},{"type":"input_image","image_url":"https://x/y.png"}]}]})";
  const std::string path = "/v1/responses/" + ask(text).at("/id") + "/input_items";
  const Got all = server_->get(path + "?order=asc");
  ASSERT_EQ(all.status, 200) << all.text;
  EXPECT_EQ(all.at("/object"), "list");
  EXPECT_EQ(all.at("/has_more"), "false");
  EXPECT_EQ(all.at("/data/0/content/0/text"), "one");
  EXPECT_EQ(all.at("/data/1/id"), "msg_mine");
  EXPECT_EQ(all.at("/data/2/content/1/detail"), "auto");
  EXPECT_EQ(all.at("/first_id"), all.at("/data/0/id"));
  EXPECT_EQ(all.at("/last_id"), all.at("/data/2/id"));
  EXPECT_EQ(server_->get(path).at("/data/0/content/0/text"), "three");  // newest first
  const Got page = server_->get(path + "?order=asc&limit=1&after=msg_mine");
  EXPECT_EQ(page.at("/data/0/id"), all.at("/data/2/id"));
  EXPECT_EQ(page.at("/has_more"), "false");
  EXPECT_EQ(server_->get(path + "?limit=1").at("/has_more"), "true");
  EXPECT_EQ(server_->get(path + "?limit=0").at("/has_more"), "true");
  EXPECT_EQ(server_->get(path + "?limit=200").status, 400);
  EXPECT_EQ(server_->get(path + "?after=other").status, 400);
  EXPECT_EQ(server_->get("/v1/responses/resp_none/input_items").status, 404);
}

TEST_F(ResponsesRoutes, AnswerAlikeForForeignAndMissingResponses) {
  store_->append({"other", "resp_A"}, store::Batch("A", {store::Record{.body = "{}"}})).value();
  const Got foreign = server_->get("/v1/responses/resp_A"), missing = server_->get("/v1/responses/resp_B");
  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(foreign.at("/error/code"), "response_not_found");
  EXPECT_EQ(missing.status, 404);
  for (const std::string_view id : {"x", "resp_", "resp_a%2Fb", "chatcmpl-1"}) {
    EXPECT_EQ(server_->get("/v1/responses/" + std::string(id)).status, 404) << id;
  }
}

// RESPONSES_TURN1
TEST_F(ResponsesRoutes, HaveTheStatusOfTheirFailure) {
  const Got failed = ask(body(), [](ManualCall& call) { call.fail_with(FailureKind::RateLimit, false); });
  EXPECT_EQ(failed.status, 429) << failed.text;
  EXPECT_FALSE(failed.header("Retry-After").empty());
  const Got unknown = server_->post("/v1/responses", R"({"model":"none","input":"x"})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.at("/error/code"), "model_not_found");
  EXPECT_EQ(server_->post("/v1/responses", "{").status, 400);
  EXPECT_EQ(server_->post("/v1/responses", "{}").at("/error/param"), "model");
  EXPECT_EQ(server_->post("/v1/responses", R"({"model":"none","input":"x","stream":true})").status, 404);
}

TEST_F(ResponsesRoutes, StreamAFailureAsAnEvent) {
  const Got got = ask(body("hi", R"(,"stream":true)"), [](ManualCall& call) {
    call.say("Hel");
    call.fail_with(FailureKind::Server, true);
  });
  const std::vector<Json> events = got.events();
  EXPECT_EQ(events.back().get("type"), Json::string("response.failed"));
  EXPECT_EQ(events.back().at("/response/output/0/content/0/text"), Json::string("Hel"));
  EXPECT_EQ(events.back().at("/response/error/code"), Json::string("server_error"));
}

TEST_F(ResponsesRoutes, AnswerAHistoryThatIsBrokenWith400) {
  const Got got = server_->post(
      "/v1/responses",
      R"({"model":"test/manual","input":[{"type":"function_call_output","call_id":"none","output":"x"}]})");
  EXPECT_EQ(got.status, 400) << got.text;
  EXPECT_EQ(server_->model().calls(), 0U);
}

// RESPONSES_TURN3
TEST_F(ResponsesRoutes, StopTheModelIfTheClientOfAnUnstoredResponseLeaves) {
  auto client = server_->raw_post("/v1/responses", body("hi", R"(,"stream":true,"store":false)"));
  const std::string id = heard_id(*client);
  const auto call = server_->model().call(0);
  call->say("Hel");
  client.reset();
  for (int i = 0; i < 1'000 && !call->is_stopped; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(call->is_stopped);
  EXPECT_EQ(server_->get("/v1/responses/" + id).status, 404);
  EXPECT_TRUE(store_->list("default")->sessions.empty());
}

TEST_F(ResponsesRoutes, KeepARunningResponseWhoseClientLeaves) {
  auto client = server_->raw_post("/v1/responses", body("hi", R"(,"stream":true)"));
  const std::string id = heard_id(*client);
  const auto call = server_->model().call(0);
  client.reset();
  call->say("Hel");
  EXPECT_FALSE(call->is_stopped);
  call->finish();
  EXPECT_EQ(wait_final(id).at("/output/0/content/0/text"), "Hel");
}

TEST_F(ResponsesRoutes, GiveAMarkedRetryTheFirstAnswer) {
  const Got first = ask(body());
  const Got again = server_->post("/v1/responses", body(), {{"x-stainless-retry-count", "1"}});
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(server_->model().calls(), 1U);
  EXPECT_NE(ask(body()).at("/id"), first.at("/id"));  // not marked: a new answer
}

TEST_F(ResponsesRoutes, CountTokens) {
  const Got empty = server_->post("/v1/responses/input_tokens", "{}");
  ASSERT_EQ(empty.status, 200) << empty.text;
  EXPECT_EQ(empty.at("/object"), "response.input_tokens");
  const auto count = [&](const std::string& text) {
    return server_->post("/v1/responses/input_tokens", text)
        .body.at("/input_tokens")
        ->as_int64()
        .value_or(-1);
  };
  const std::int64_t one = count(R"({"model":"gpt-4o","input":"Hello there"})");
  EXPECT_GT(one, count("{}"));
  EXPECT_GT(count(R"({"model":"gpt-4o","input":"Hello there","instructions":"Be brief."})"), one);
  const std::string id = stored_id("a longer story about the sea");
  EXPECT_GT(count(R"({"model":"gpt-4o","input":"Hello there","previous_response_id":")" + id + "\"}"), one);
  EXPECT_EQ(server_->post("/v1/responses/input_tokens", R"({"previous_response_id":"resp_none"})").status,
            400);
}

// The model "rehearsal" answers by itself.
std::string rehearsed(const std::string& members) { return R"({"model":"rehearsal")" + members + "}"; }

// INPUT3
TEST_F(ResponsesRoutes, DoNotReferToConversationsThatTheKeyMayNotOpen) {
  const std::string item = ask(body("secret")).at("/output/0/id");
  const auto narrow = create_key(*store_, {.name = "n", .conversations = {"team-*"}}).value();
  const testing::TestServer::Headers headers = {{"x-api-key", std::string(narrow.secret.reveal())}};
  restart();
  const std::string text = rehearsed(R"(,"store":false,"input":[{"id":")" + item + "\"}]");
  for (const char* path : {"/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"}) {
    const Got got = server_->post(path, text, headers);
    EXPECT_EQ(got.status, 404) << path << got.text;
    EXPECT_EQ(got.at("/error/code"), "item_not_found");
  }
}

// RESPONSES_REQUEST8
TEST_F(ResponsesRoutes, AreReadableInAForkByAKeyOfFewConversations) {
  ASSERT_TRUE(store_->append({"default", "team-1"}, store::Batch({metadata_record(Json())})));
  const auto narrow = create_key(*store_, {.name = "n", .conversations = {"team-*"}}).value();
  const testing::TestServer::Headers headers = {{"x-api-key", std::string(narrow.secret.reveal())}};
  restart();
  const auto answered = [&](const std::string& members) {
    const Got got = server_->post("/v1/responses", rehearsed(members), headers);
    EXPECT_EQ(got.status, 200) << got.text;
    return got;
  };
  const std::string first = answered(R"(,"input":"one","conversation":"team-1")").at("/id");
  answered(R"(,"input":"two","conversation":"team-1")");
  const Got fork = answered(R"(,"input":"three","previous_response_id":")" + first + "\"");
  EXPECT_NE(fork.at("/id").find("_team-1.f"), std::string::npos) << fork.text;
  EXPECT_EQ(server_->get("/v1/responses/" + fork.at("/id"), headers).text, fork.text);
  const Got deeper = answered(R"(,"input":"four","previous_response_id":")" + fork.at("/id") + "\"");
  EXPECT_EQ(server_->get("/v1/responses/" + deeper.at("/id"), headers).status, 200);
}

// The engine of a server that stops is gone when a late answer of its store comes.
TEST_F(ResponsesRoutes, DoNotUseTheEngineForAClientThatIsGone) {
  testing::TestServerOptions options{.store = store_, .routes = routes()};
  options.engine.store_threads = 1;
  testing::TestServer server(std::move(options));
  const std::string id = server.post("/v1/responses", rehearsed(R"(,"input":"hi")")).at("/id");
  const auto loop = net::EventLoop::start().value();
  const auto exchange = std::make_shared<Exchange>();
  exchange->responder = std::make_shared<KeptResponse>();
  exchange->loop = loop.get();
  exchange->parameters = {id};
  exchange->is_gone = true;
  Service service{server.engine()};
  for (const Route& route : responses_routes()) {
    if (route.method == "DELETE") route.handle(service, exchange);
  }
  // One thread works for the store, in order: after the second round a removal would have been done.
  for (int i = 0; i < 2; ++i) {
    std::promise<void> done;
    server.engine().run(*loop, [] {}, [&] { done.set_value(); });
    done.get_future().wait();
  }
  EXPECT_EQ(server.get("/v1/responses/" + id).status, 200);
}

TEST_F(ResponsesRoutes, NeedAnUpgradeForTheWebSocket) {
  const Got got = server_->get("/v1/responses");
  EXPECT_EQ(got.status, 426);
  EXPECT_EQ(got.header("upgrade"), "websocket");
}

}  // namespace
}  // namespace parley::server
