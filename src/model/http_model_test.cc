#include "parley/model/http_model.h"

#include <gtest/gtest.h>

#include <thread>

#include "model/server_testing.h"

namespace parley::model {
namespace {

using net::answer;
using net::LoopbackServer;
using net::SeenRequest;

// ---- What is asked

struct Asked {
  std::string_view provider, target, header, body;
};

TEST(HttpModel, AsksEachProviderInItsWay) {
  const Asked rows[] = {
      {"openai", "/chat/completions", "Authorization: Bearer swordfish",
       R"("stream_options":{"include_usage":true})"},
      {"responses", "/responses", "Authorization: Bearer swordfish", R"("stream":true)"},
      {"azure", "/openai/deployments/a-model/chat/completions?api-version=2024-10-21", "api-key: swordfish",
       R"("stream":true)"},
      {"anthropic", "/v1/messages", "x-api-key: swordfish", R"("max_tokens":8192)"},
      {"anthropic", "/v1/messages", "anthropic-version: 2023-06-01", R"("stream":true)"},
      {"gemini", "/v1beta/models/a-model:streamGenerateContent?alt=sse", "x-goog-api-key: swordfish",
       R"("contents")"},
      {"ollama", "/api/chat", "Content-Type: application/json", R"("stream":true)"},
      {"deepseek", "/chat/completions", "Authorization: Bearer swordfish", R"("model":"a-model")"},
      {"moonshot", "/chat/completions", "Authorization: Bearer swordfish", R"("model":"a-model")"},
      {"dashscope", "/chat/completions", "Authorization: Bearer swordfish", R"("model":"a-model")"},
      {"compatible", "/chat/completions", "Content-Type: application/json", R"("model":"a-model")"},
  };
  for (const Asked& row : rows) {
    TestProvider provider({answer("404 Not Found", "", "{}")});
    (void)opened(provider.config(row.provider))->complete(hello());
    ASSERT_EQ(provider.server.seen().size(), 1U) << row.provider;
    const SeenRequest seen = provider.server.seen().front();
    EXPECT_EQ(seen.target(), row.target);
    EXPECT_TRUE(seen.head.contains(row.header)) << row.provider << "\n" << seen.head;
    EXPECT_TRUE(seen.body.contains(row.body)) << row.provider << "\n" << seen.body;
    EXPECT_TRUE(Json::parse(seen.body)) << seen.body;
  }
}

TEST(HttpModel, KnowsWhereOtherRequestsOfItsProviderGo) {
  ModelConfig config;
  config.base_url = "https://x.example/v1";
  config.key = Secret("swordfish");
  const auto url = [&](const std::string& provider) {
    config.model = provider + "/m";
    const auto request = opened(config)->request_to("/embeddings");
    return request ? request->url.href() : std::string(to_string(request.error().code));
  };
  EXPECT_EQ(url("openai"), "https://x.example/v1/embeddings");
  EXPECT_EQ(url("responses"), "https://x.example/v1/embeddings");
  EXPECT_EQ(url("azure"), "https://x.example/v1/openai/deployments/m/embeddings?api-version=2024-10-21");
  EXPECT_EQ(url("anthropic"), "unsupported");
  EXPECT_EQ(url("gemini"), "unsupported");
  config.model = "openai/m";
  const net::Request request = opened(config)->request_to("/embeddings").value();
  ASSERT_EQ(request.secret_headers.size(), 1);
  EXPECT_EQ(request.secret_headers[0].value, Secret("swordfish"));
}

TEST(HttpModel, SendsATokenAsWhatItIs) {
  TestProvider provider({answer("404 Not Found", "", "{}")});
  ModelConfig config = provider.config("anthropic");
  config.key_variable = "ANTHROPIC_AUTH_TOKEN";
  (void)opened(config)->complete(hello());
  const std::string head = provider.server.seen().front().head;
  EXPECT_TRUE(head.contains("Authorization: Bearer swordfish")) << head;
  EXPECT_FALSE(head.contains("x-api-key")) << head;
}

TEST(HttpModel, TellsTheServerWhoseSpanACallIs) {
  TestProvider provider({hi_stream()});
  const auto model = opened(provider.config());
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_TRUE(model->complete(hello(), {.traceparent = parent}));
  EXPECT_TRUE(model->complete(hello()));
  EXPECT_TRUE(provider.server.seen()[0].head.contains("traceparent: " + parent + "\r\n"));
  EXPECT_FALSE(provider.server.seen()[1].head.contains("traceparent"));
  EXPECT_EQ(outcome(model->complete(hello(), {.traceparent = "x\r\nHost: y"})),
            "invalid invalid_request after 1");
  EXPECT_EQ(provider.server.seen().size(), 2U);
}

TEST(HttpModel, FillsInWhatARequestDoesNotSay) {
  TestProvider provider({hi_stream()});
  ModelConfig config = provider.config();
  config.settings.set(Setting::Temperature, Json::parse("0.5").value());
  config.settings.set(Setting::MaxTokens, Json::number(100));
  ModelRequest request = hello();
  Settings own;
  own.set(Setting::Temperature, Json::parse("0").value());
  request.conversation.set_settings(own);
  ASSERT_TRUE(opened(config)->complete(request));
  const Json body = Json::parse(provider.server.seen().front().body).value();
  EXPECT_EQ(body.get("temperature"), Json::number(0));
  EXPECT_EQ(body.get("max_tokens"), Json::number(100));
  EXPECT_EQ(body.get("model"), Json::string("a-model"));
}

TEST(HttpModel, PassesASchemaToThoseWhoKeepIt) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"openai", "/response_format/json_schema/schema"},
      {"responses", "/text/format/schema"},
      {"anthropic", "/output_config/format/schema"},
      {"gemini", "/generationConfig/responseJsonSchema"},
      {"ollama", "/format"},
      {"deepseek", ""}};
  const Json schema = Json::parse(R"({"type":"object","properties":{"n":{"type":"integer"}}})").value();
  for (const auto& [name, place] : rows) {
    TestProvider provider({answer("404 Not Found", "", "{}")});
    ModelRequest request = hello();
    request.reply = ReplySchema{"number", schema};
    (void)opened(provider.config(name))->complete(request);
    const Json body = Json::parse(provider.server.seen().front().body).value();
    if (place.empty()) {
      EXPECT_FALSE(body.text().view().contains("integer")) << body.text().view();
    } else {
      EXPECT_EQ(body.at(place), schema) << name << " " << body.text().view();
    }
  }
}

TEST(HttpModel, SaysWhichKeyIsMissing) {
  ModelConfig config;
  config.model = "anthropic/claude";
  const auto none = open_model(config);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Missing);
  EXPECT_TRUE(none.error().message.contains("ANTHROPIC_API_KEY")) << none.error().message;
  config.model = "ollama/llama3:8b";
  EXPECT_TRUE(open_model(config));
  config.model = "compatible/any";
  EXPECT_EQ(open_model(config).error().code, Code::Missing);
}

TEST(HttpModel, RefusesABrokenHistory) {
  TestProvider provider({hi_stream()});
  ModelRequest request;
  // Read in another dialect, so that it is this one's writer that judges it.
  const auto reading = read(R"([{"role":"tool","content":"x","tool_call_id":"call_1"}])", Dialect::OpenManus);
  ASSERT_TRUE(reading);
  request.conversation = reading->conversation;
  const auto called = opened(provider.config())->complete(request);
  EXPECT_EQ(outcome(called), "invalid invalid_request after 0");
  EXPECT_TRUE(provider.server.seen().empty());
  EXPECT_EQ(provider.ledger->records().size(), 1U);  // MODEL5
}

// ---- Failures

TEST(HttpModel, DoesNotTryAWrongKeyAgain) {
  for (const bool stream : {true, false}) {
    TestProvider provider({json_answer(
        "401 Unauthorized",
        R"({"error":{"message":"Incorrect API key provided: swordfish-0123456789","code":"invalid_api_key"}})")});
    const auto called = opened(provider.config())->complete(hello(stream));
    EXPECT_EQ(outcome(called), "invalid auth after 1");
    EXPECT_TRUE(called.error().message.contains("OPENAI_API_KEY")) << called.error().message;
    // MODEL7
    EXPECT_FALSE(called.error().message.contains(kTestKey)) << called.error().message;
    EXPECT_FALSE(called.error().failure.message.view().contains(kTestKey));
  }
}

// MODEL7: where a text is cut, the key goes before the cut.
TEST(HttpModel, RepeatsNoPartOfTheKey) {
  for (std::size_t before = 480; before < 540; before += 3) {
    const std::string body =
        "{\"error\":{\"message\":\"" + std::string(before, 'x') + std::string(kTestKey) + "\"}}";
    TestProvider provider({json_answer("400 Bad Request", body)});
    const auto called = opened(provider.config())->complete(hello());
    ASSERT_FALSE(called);
    EXPECT_FALSE(called.error().message.contains("sword")) << called.error().message;
  }
}

TEST(HttpModel, WaitsAsLongAsTheProviderAsks) {
  TestProvider provider(
      {json_answer("429 Too Many Requests", R"({"error":{"message":"slow down"}})", "Retry-After: 7\r\n"),
       hi_stream()});
  EXPECT_EQ(outcome(opened(provider.config())->complete(hello())), "said 'Hi, how are you today?'");
  EXPECT_EQ(provider.timer->waits, std::vector<std::int64_t>{7000});
  const auto records = provider.ledger->records();
  ASSERT_EQ(records.size(), 1U);  // MODEL5
  EXPECT_EQ(records.front().attempts, 2U);
}

TEST(HttpModel, DoesNotWaitLongerThanItsPolicy) {
  TestProvider provider({json_answer("429 Too Many Requests", "{}", "Retry-After: 61\r\n")});
  const auto called = opened(provider.config())->complete(hello());
  EXPECT_EQ(outcome(called), "unavailable rate_limit after 1");
  EXPECT_TRUE(called.error().message.ends_with("; try again in 61 s")) << called.error().message;
  EXPECT_TRUE(provider.timer->waits.empty());
}

TEST(HttpModel, WaitsLongerEachTimeWithoutAnAnswerToThat) {
  TestProvider provider({json_answer("429 Too Many Requests", "{}")});
  ModelConfig config = provider.config();
  config.retry.attempts = 7;
  EXPECT_EQ(outcome(opened(config)->complete(hello())), "unavailable rate_limit after 7");
  EXPECT_EQ(provider.timer->waits, (std::vector<std::int64_t>{438, 875, 1750, 3500, 7000, 7000}));
}

TEST(HttpModel, GivesUpWhenItsTimeIsOver) {
  TestProvider provider({json_answer("500 Oops", "{}")});
  ModelConfig config = provider.config();
  config.retry.attempts = 100;
  config.timeouts.total = std::chrono::milliseconds(10'000);
  EXPECT_EQ(outcome(opened(config)->complete(hello())), "unavailable server after 5");
}

// MODEL2
TEST(HttpModel, TriesAServerThatFailsThreeTimes) {
  TestProvider provider({json_answer("500 Oops", R"({"error":{"message":"oops"}})")});
  const auto called = opened(provider.config())->complete(hello());
  EXPECT_EQ(outcome(called), "unavailable server after 3");
  EXPECT_TRUE(called.error().retryable());
  EXPECT_EQ(provider.server.seen().size(), 3U);
}

// MODEL2
TEST(HttpModel, DoesNotTryAgainWhatWillNotPass) {
  const std::tuple<std::string_view, std::string_view, std::string_view> rows[] = {
      {"400 Bad Request", R"({"error":{"message":"no such tool"}})", "invalid invalid_request after 1"},
      {"403 Forbidden", "{}", "invalid permission after 1"},
      {"402 Payment Required", "{}", "invalid billing after 1"},
      {"429 Too Many", R"({"error":{"code":"insufficient_quota"}})", "invalid billing after 1"},
      {"302 Found", "", "invalid invalid_request after 1"},
      // MODEL6
      {"400 Bad Request", R"({"error":{"code":"context_length_exceeded","message":"too long"}})",
       "limit_exceeded context_too_long after 1"},
      {"413 Too Large", "", "limit_exceeded context_too_long after 1"},
  };
  for (const auto& [status, body, expected] : rows) {
    TestProvider provider({json_answer(status, body)});
    EXPECT_EQ(outcome(opened(provider.config())->complete(hello())), expected);
  }
}

// A model that ends without a word, for a reason that is a failure, has not answered.
TEST(HttpModel, TakesAnEmptyRefusalForAFailure) {
  const std::pair<Finish, std::string_view> rows[] = {
      {Finish::Filtered, "invalid refused after 1"},
      {Finish::ContextFull, "limit_exceeded context_too_long after 1"},  // MODEL6
      {Finish::Stop, "said ''"},
  };
  for (const bool stream : {true, false}) {
    for (const auto& [finish, expected] : rows) {
      Outcome made = plain_outcome();
      made.finish = finish;
      const Message nothing = Message::assistant_message("");
      TestProvider provider({stream ? sse(streamed(Dialect::Anthropic, nothing, made))
                                    : json_answer("200 OK", written(Dialect::Anthropic, nothing, made))});
      unsigned events = 0;
      const auto called =
          opened(provider.config("anthropic"))->complete(hello(stream), {.on_event = [&](const StreamEvent&) {
                                                           ++events;
                                                         }});
      EXPECT_EQ(outcome(called), expected) << stream;
      EXPECT_EQ(provider.ledger->total().output, 7U);  // it is paid for all the same
      EXPECT_EQ(events == 0, finish != Finish::Stop);
    }
  }
}

TEST(HttpModel, ReportsThatTheServerIsNotReachable) {
  std::string url;
  {
    const LoopbackServer gone([](LoopbackServer::Connection&, const SeenRequest&) {});
    url = gone.url("");
  }
  TestProvider provider({hi_stream()});
  ModelConfig config = provider.config();
  config.base_url = url;
  const auto called = opened(config)->complete(hello());
  EXPECT_EQ(outcome(called), "unavailable transport after 3");
  EXPECT_TRUE(called.error().message.contains("cannot connect to 127.0.0.1")) << called.error().message;
}

// ---- Stops

// MODEL4
TEST(HttpModel, StopsAtEveryEvent) {
  std::size_t count = 0;
  {
    TestProvider provider({hi_stream()});
    ASSERT_TRUE(
        opened(provider.config())->complete(hello(), {.on_event = [&](const StreamEvent&) { ++count; }}));
  }
  ASSERT_GT(count, 5U);
  for (std::size_t last = 1; last < count; ++last) {
    TestProvider provider({hi_stream()});
    std::stop_source stop;
    std::size_t seen = 0;
    std::string text;
    unsigned terminals = 0;
    const auto on_event = [&](const StreamEvent& event) {
      if (++seen == last) stop.request_stop();
      if (const auto* delta = std::get_if<stream::Delta>(&event)) text += delta->text;
      terminals += std::holds_alternative<stream::Truncated>(event) ? 1 : 0;
    };
    const auto called =
        opened(provider.config())->complete(hello(), {.on_event = on_event, .stop = stop.get_token()});
    ASSERT_TRUE(called) << last;
    EXPECT_EQ(called->message.get_text_content().value_or(Text()), Text(text));
    EXPECT_TRUE(called->cut) << last;
    EXPECT_EQ(terminals, 1U) << last;
    EXPECT_EQ(seen, last + 1) << last;
  }
}

// MODEL4
TEST(HttpModel, StopsBeforeAndBetweenAttempts) {
  TestProvider provider({json_answer("500 Oops", "{}")});
  std::stop_source stop;
  provider.timer->stop_at_wait = &stop;
  const auto model = opened(provider.config());
  EXPECT_EQ(outcome(model->complete(hello(), {.stop = stop.get_token()})), "cancelled transport after 1");
  EXPECT_EQ(outcome(model->complete(hello(), {.stop = stop.get_token()})), "cancelled transport after 0");
  EXPECT_EQ(provider.ledger->records().size(), 2U);  // MODEL5
}

// MODEL4
TEST(HttpModel, StopsWhileItWaitsForTheServer) {
  const std::string_view begins[] = {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n",
                                     "HTTP/1.1 200 OK\r\n\r\ndata: {"};
  for (const std::string_view begin : begins) {
    for (const bool stream : {true, false}) {
      std::stop_source own;
      TestProvider provider([&](LoopbackServer::Connection& connection, const SeenRequest&) {
        connection.send(begin);
        own.request_stop();
        while (connection.pause()) {
        }
      });
      EXPECT_EQ(outcome(opened(provider.config())->complete(hello(stream), {.stop = own.get_token()})),
                "cancelled transport after 1");
    }
  }
}

// ---- Deadlines

TEST(HttpModel, EndsAtItsDeadline) {
  TestProvider provider([](LoopbackServer::Connection& connection, const SeenRequest&) {
    while (connection.pause()) {
    }
  });
  ModelConfig config = provider.config();
  config.timeouts.total = std::chrono::milliseconds(50);
  config.timer = system_timer();
  EXPECT_EQ(outcome(opened(config)->complete(hello())), "timeout transport after 1");
  config.timeouts = {.first_byte = std::chrono::milliseconds(20)};
  config.timer = provider.timer;
  EXPECT_EQ(outcome(opened(config)->complete(hello())), "timeout transport after 3");
}

TEST(HttpModel, EndsWhenTheServerFallsSilent) {
  for (const std::string& begin : {deltas({}), deltas({"Hel", "lo"})}) {
    TestProvider provider([&](LoopbackServer::Connection& connection, const SeenRequest&) {
      connection.send(begin);
      while (connection.pause()) {
      }
    });
    ModelConfig config = provider.config();
    config.timeouts.idle = std::chrono::milliseconds(20);
    const auto called = opened(config)->complete(hello());
    EXPECT_EQ(outcome(called), begin.contains("Hel") ? "said 'Hello', cut" : "timeout transport after 3");
  }
}

// ---- Where it goes

TEST(HttpModel, GoesThroughAProxy) {
  TestProvider provider({hi_stream()});
  ModelConfig config = provider.config();
  config.proxy = parse_url(config.base_url).value();
  config.base_url = "http://provider.invalid/v1";
  EXPECT_EQ(outcome(opened(config)->complete(hello())), "said 'Hi, how are you today?'");
  EXPECT_EQ(provider.server.seen().front().target(), "http://provider.invalid/v1/chat/completions");
}

// ---- What it cost

TEST(HttpModel, KeepsWhatACallCost) {
  Outcome costly = plain_outcome();
  costly.usage.input = 1'000'000;
  costly.usage.cache_read = 400'000;
  costly.usage.output = 100'000;
  TestProvider provider({sse(streamed(Dialect::OpenAI, Message::assistant_message("Hi"), costly))});
  ModelConfig config = provider.config();
  config.prices = PriceTable({{"a-", "", 2, 10, 1, {}}});
  ModelRequest request = hello();
  request.purpose = Purpose::Compression;
  const auto called = opened(config)->complete(request);
  ASSERT_TRUE(called);
  EXPECT_EQ(called->call.provider, Text("openai"));
  EXPECT_EQ(called->call.model, Text("a-model"));
  ASSERT_TRUE(called->call.cost);
  EXPECT_DOUBLE_EQ(*called->call.cost, 0.6 * 2 + 0.4 * 1 + 0.1 * 10);
  EXPECT_TRUE(called->call.first_token);
  EXPECT_EQ(provider.ledger->total(Purpose::Chat).calls, 0U);
  EXPECT_EQ(provider.ledger->total(Purpose::Compression).cache_read, 400'000U);
}

// MODEL5
TEST(HttpModel, KeepsEveryCallOfManyThreads) {
  TestProvider provider({hi_stream()});
  const auto model = opened(provider.config());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_TRUE(model->complete(hello())); });
  }
  threads.clear();
  EXPECT_EQ(provider.ledger->records().size(), 8U);
  EXPECT_EQ(provider.ledger->total().output, 56U);
}

TEST(HttpModel, KeepsItsLimitsOfRequests) {
  TestProvider provider({hi_stream()});
  ModelConfig config = provider.config();
  config.rate.requests_per_minute = 2;
  const auto model = opened(config);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(model->complete(hello()));
  EXPECT_EQ(provider.timer->waits, (std::vector<std::int64_t>{30'000, 30'000}));
}

TEST(HttpModel, KeepsItsLimitsOfTokens) {
  TestProvider provider({hi_stream()});  // which says 18 tokens
  ModelConfig config = provider.config();
  config.rate.tokens_per_minute = 18;
  const auto model = opened(config);
  ASSERT_TRUE(model->complete(hello()));
  ASSERT_TRUE(model->complete(hello()));
  ASSERT_EQ(provider.timer->waits.size(), 1U);
  // A minute's worth is used, so what the second one needs must first come in.
  EXPECT_GT(provider.timer->waits.front(), 20'000);
  config.timeouts.total = std::chrono::milliseconds(1000);
  const auto hasty = opened(config);
  ASSERT_TRUE(hasty->complete(hello()));
  EXPECT_EQ(outcome(hasty->complete(hello())), "unavailable rate_limit after 0");
}

}  // namespace
}  // namespace parley::model
