#include "server/http/exchange.h"

#include <gtest/gtest.h>

#include "server/http/responder_testing.h"

namespace parley::server {
namespace {

Exchange exchange_of(std::string query) {
  Exchange out;
  out.request.query = std::move(query);
  out.request_id = "req_1";
  return out;
}

TEST(Exchange, DecodesTheFirstParameterOfAName) {
  const Exchange e = exchange_of("limit=5&after=a%2Fb+c&limit=7&empty=&bare&=x&%C3%A9=%c3%a9&bad=%FF");
  EXPECT_EQ(e.query("limit"), "5");
  EXPECT_EQ(e.query("after"), "a/b c");
  EXPECT_EQ(e.query("empty"), "");
  EXPECT_EQ(e.query("bare"), "");
  EXPECT_EQ(e.query("\xC3\xA9"), "\xC3\xA9");
  EXPECT_EQ(e.query("bad"), "\xEF\xBF\xBD");
  EXPECT_EQ(e.query("order"), std::nullopt);
}

TEST(Exchange, DecodesAllParametersOfAName) {
  const Exchange e = exchange_of("include[]=a&x=1&include%5B%5D=b&&");
  EXPECT_EQ(e.query_all("include[]"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(e.query_all("include").empty());
}

TEST(Exchange, AnswersWithItsHeadersAndTheRequestId) {
  Exchange e = exchange_of("");
  const auto kept = std::make_shared<KeptResponse>();
  e.responder = kept;
  e.add_header("x-parley-notes", "2");
  e.answer(201, Json::boolean(true));
  EXPECT_EQ(kept->status, 201);
  EXPECT_EQ(kept->body, "true");
  EXPECT_EQ(kept->header("content-type"), "application/json");
  EXPECT_EQ(kept->header("x-request-id"), "req_1");
  EXPECT_EQ(kept->header("x-parley-notes"), "2");
}

TEST(Exchange, StreamHeadersKeepProxiesFromBuffering) {
  Exchange e = exchange_of("");
  e.add_header("x-parley-notes", "2");
  KeptResponse kept;
  kept.start(200, e.stream_headers("text/event-stream"));
  EXPECT_EQ(kept.header("content-type"), "text/event-stream");
  EXPECT_EQ(kept.header("cache-control"), "no-cache, no-transform");
  EXPECT_EQ(kept.header("x-accel-buffering"), "no");
  EXPECT_EQ(kept.header("x-request-id"), "req_1");
  EXPECT_EQ(kept.header("x-parley-notes"), "2");
}

TEST(ApiError, HasTheFourMembersOfOpenAi) {
  EXPECT_EQ(to_json({.message = "No \"x\"", .param = "x"}).text(),
            R"({"error":{"message":"No \"x\"","type":"invalid_request_error","param":"x","code":null}})");
}

TEST(ApiError, SaysWhenToRetry) {
  for (const int status : {400, 404, 409, 429, 500, 503}) {
    Exchange e = exchange_of("");
    const auto kept = std::make_shared<KeptResponse>();
    e.responder = kept;
    answer(e, {.status = status});
    EXPECT_EQ(kept->header("Retry-After"), status == 409 || status == 429 || status == 503 ? "1" : "")
        << status;
  }
  Exchange e = exchange_of("");
  const auto kept = std::make_shared<KeptResponse>();
  e.responder = kept;
  e.add_header("Retry-After", "20");
  answer(e, {.status = 429});
  EXPECT_EQ(kept->header("Retry-After"), "20");
}

TEST(ApiError, NamesAMissingThing) {
  const ApiError missing = api_error(Error{Code::NotFound, "no session 'x'", ""}, "stored completion");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.message, "Stored completion not found.");
  EXPECT_EQ(missing.code, "stored_completion_not_found");
  const ApiError model = api_error(Error{Code::NotFound, "there is no model 'x'", "/model"}, "conversation");
  EXPECT_EQ(model.message, "There is no model 'x'.");
  EXPECT_EQ(model.code, "model_not_found");
  EXPECT_EQ(model.param, "model");
}

TEST(ApiError, SpellsAPlaceAsOpenAiDoes) {
  const ApiError error = api_error(Error{Code::WrongType, "expected a string", "/messages/0/content/2/text"});
  EXPECT_EQ(error.status, 400);
  EXPECT_EQ(error.param, "messages[0].content[2].text");
  EXPECT_EQ(error.code, "wrong_type");
  EXPECT_EQ(api_error(Error{Code::Malformed, "x", ""}).param, std::nullopt);
}

TEST(ApiError, HasAStatusForEachCode) {
  const auto status = [](Code code) { return api_error(Error{code, "x", ""}).status; };
  EXPECT_EQ(status(Code::Invalid), 400);
  EXPECT_EQ(status(Code::BrokenHistory), 400);
  EXPECT_EQ(status(Code::Conflict), 409);
  EXPECT_EQ(status(Code::Unavailable), 503);
  EXPECT_EQ(status(Code::Timeout), 503);
  EXPECT_EQ(status(Code::Damaged), 500);
  EXPECT_EQ(api_error(Error{Code::Conflict, "x", ""}).code, "conversation_locked");
  EXPECT_EQ(refusal_error(Error{Code::LimitExceeded, "x", ""}).code, "context_length_exceeded");
}

TEST(ApiError, NeverTakesTheStatusOfTheUpstreamsAuthentication) {
  const auto status = [](FailureKind kind) { return api_error(TurnFailure{.kind = kind}).status; };
  EXPECT_EQ(status(FailureKind::Auth), 502);
  EXPECT_EQ(status(FailureKind::Permission), 502);
  EXPECT_EQ(status(FailureKind::Billing), 502);
  EXPECT_EQ(status(FailureKind::RateLimit), 429);
  EXPECT_EQ(status(FailureKind::ContextTooLong), 400);
  EXPECT_EQ(status(FailureKind::InvalidRequest), 400);
  EXPECT_EQ(status(FailureKind::Overloaded), 503);
  EXPECT_EQ(status(FailureKind::Transport), 502);
  EXPECT_EQ(status(FailureKind::Server), 502);
  EXPECT_EQ(api_error(TurnFailure{.kind = FailureKind::Server, .code = "server_restarted"}).status, 500);
}

TEST(Identity, ChecksModelsAndConversationsByPatterns) {
  Identity all;
  EXPECT_TRUE(all.may_ask("gpt-5"));
  EXPECT_TRUE(all.may_open("conv_1"));
  EXPECT_TRUE(all.may_write());
  const Identity some{.role = Identity::Role::Read, .models = {"gpt-*", "o?"}, .conversations = {"team.*.x"}};
  EXPECT_TRUE(some.may_ask("gpt-5"));
  EXPECT_TRUE(some.may_ask("o3"));
  EXPECT_FALSE(some.may_ask("o30"));
  EXPECT_FALSE(some.may_ask(""));
  EXPECT_TRUE(some.may_open("team.a.x.x"));
  EXPECT_FALSE(some.may_open("team.a.y"));
  EXPECT_FALSE(some.may_write());
}

}  // namespace
}  // namespace parley::server
