#include "server/http/pass_through.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "net/fields.h"
#include "parley/model/http_model.h"
#include "server/http/server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::TestServer;

// Models of a provider at this address.
class ProviderModels : public ModelDirectory {
 public:
  explicit ProviderModels(std::string base_url) : base_url_(std::move(base_url)) {}

  Result<std::shared_ptr<Model>> find(std::string_view name) override {
    if (!name.starts_with("openai/") && !name.starts_with("anthropic/")) {
      return fail(Code::NotFound, "no such model", "/model");
    }
    ModelConfig config;
    config.model = name;
    config.base_url = base_url_;
    config.key = Secret("operator-key");
    return open_model(std::move(config));
  }
  std::vector<Entry> list() override {
    return {{"anthropic/claude", "anthropic", 0}, {"openai/first", "openai", 0}};
  }

 private:
  std::string base_url_;
};

class PassThrough : public ::testing::Test {
 protected:
  PassThrough() {
    provider_ = net::AsyncServer::listen({}, [this](net::ServerRequest request,
                                                    const std::shared_ptr<net::Responder>& responder) {
                  {
                    const std::lock_guard lock(mutex_);
                    seen_ = request;
                    responder_ = responder;
                  }
                  respond_(*responder);
                }).value();
    server_.emplace(
        testing::TestServerOptions{.routes = pass_through_routes({"/v1/files/{*}"}),
                                   .models = std::make_shared<ProviderModels>(provider_->url("/v1"))});
  }
  ~PassThrough() override {
    responder_.reset();
    server_.reset();
    provider_->stop();
  }
  net::ServerRequest seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  std::function<void(net::Responder&)> respond_ = [](net::Responder& responder) {
    responder.whole(200,
                    {{"Content-Type", "application/json"}, {"Set-Cookie", "a=b"}, {"x-key", "operator-key"}},
                    R"({"ok":true})");
  };
  std::mutex mutex_;
  net::ServerRequest seen_;
  std::shared_ptr<net::Responder> responder_;
  std::optional<net::AsyncServer> provider_;
  std::optional<TestServer> server_;
};

// PASS1, PASS2
TEST_F(PassThrough, SendsTheBodyWithTheKeyOfTheOperator) {
  const Got got = server_->post("/v1/embeddings?x=1", R"({ "input" : "a" , "model":"openai/emb-3"})",
                                {{"Authorization", "Bearer client-key"},
                                 {"Cookie", "a=b"},
                                 {"Content-Type", "application/json"},
                                 {"x-other", "y"}});
  EXPECT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.text, R"({"ok":true})");
  EXPECT_EQ(got.header("content-type"), "application/json");
  EXPECT_TRUE(got.header("x-request-id").starts_with("req_"));
  EXPECT_EQ(got.header("set-cookie"), "");
  EXPECT_EQ(got.header("x-key"), "");
  const net::ServerRequest sent = seen();
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(sent.path, "/v1/embeddings");
  EXPECT_EQ(sent.query, "x=1");
  EXPECT_EQ(sent.body, R"({ "input" : "a" , "model":"emb-3"})");
  EXPECT_EQ(sent.header("Authorization"), "Bearer operator-key");
  EXPECT_EQ(sent.header("Content-Type"), "application/json");
  EXPECT_EQ(sent.header("Cookie"), std::nullopt);
  EXPECT_EQ(sent.header("x-other"), std::nullopt);
}

TEST_F(PassThrough, SendsFormsAsBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  std::string large;
  for (int i = 0; i < 2000; ++i) large += bytes;
  const auto form = [&](const std::string& model) {
    return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n" + large +
           "\r\n--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + model + "\r\n--b--\r\n";
  };
  const Got got = server_->post("/v1/audio/transcriptions", form("openai/whisper"),
                                {{"Content-Type", "multipart/form-data; boundary=b"}});
  EXPECT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(seen().body, form("whisper"));
  EXPECT_EQ(seen().header("Content-Type"), "multipart/form-data; boundary=b");
}

TEST_F(PassThrough, GoesToTheFirstModelThatHasThePathIfNoneIsNamed) {
  EXPECT_EQ(server_->post("/v1/moderations", R"({"input":"x"})").status, 200);
  EXPECT_EQ(seen().body, R"({"input":"x"})");
  EXPECT_EQ(server_->get("/v1/files/f1/content?a=b").status, 200);
  EXPECT_EQ(seen().path, "/v1/files/f1/content");
  EXPECT_EQ(seen().method, "GET");
}

TEST_F(PassThrough, LeavesEverythingElseAlone) {
  EXPECT_EQ(server_->get("/v1/fine_tuning/jobs").status, 404);
  EXPECT_EQ(server_->post("/v1/uploads", "{}").status, 404);
  EXPECT_EQ(server_->get("/v1/embeddings").status, 405);
  EXPECT_EQ(server_->post("/v1/embeddings", R"({"model":"nothing"})").at("/error/code"), "model_not_found");
  const Got other = server_->post("/v1/embeddings", R"({"model":"anthropic/claude"})");
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(other.at("/error/code"), "unsupported_by_provider");
  EXPECT_EQ(seen().path, "");
}

// PASS6
TEST_F(PassThrough, LeavesThePathThatIsOpen) {
  for (const std::string path : {"/v1/files/../fine_tuning/jobs", "/v1/files/%2e%2E/fine_tuning/jobs",
                                 "/v1/files/./x", "/v1/files/a%2F..%2Fb", "/v1/files/a%5C..%5Cb"}) {
    const std::string head =
        server_->raw_post(path, "{}")->hear("\r\n");  // a client of ours would tidy it up
    EXPECT_TRUE(head.starts_with("HTTP/1.1 404 ")) << path << ": " << head;
  }
  EXPECT_EQ(seen().path, "");
}

// PASS7
TEST_F(PassThrough, RefusesABodyInWhichAnotherReaderCouldFindAnotherModel) {
  for (const std::string body :
       {R"({"model":"openai/a","model":"openai/b"})", R"({"model":"openai/a","x":"\ud800})"}) {
    const Got got = server_->post("/v1/images/generations", body);
    EXPECT_EQ(got.status, 400) << got.text;
  }
  EXPECT_EQ(seen().path, "");
}

// PASS3
TEST_F(PassThrough, StreamsTheResponse) {
  respond_ = [](net::Responder& responder) {
    responder.start(206, {{"Content-Type", "audio/mpeg"}});
    responder.send("first");
  };
  const auto client = server_->raw_post("/v1/audio/speech", R"({"model":"openai/tts"})");
  const std::string head = client->hear("first");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 206 "));
  EXPECT_TRUE(head.contains("audio/mpeg"));
  std::shared_ptr<net::Responder> responder;
  {
    const std::lock_guard lock(mutex_);
    responder = std::move(responder_);
  }
  responder->send("second");
  responder->end();
  EXPECT_TRUE(client->hear("0\r\n\r\n").contains("second"));
}

// PASS3
TEST_F(PassThrough, MakesTheProviderWaitForASlowClient) {
  std::atomic<bool> is_held = false;
  respond_ = [&](net::Responder& responder) {
    responder.start(200, {});
    for (int i = 0; i < 400; ++i) responder.send(std::string(100'000, 'x'));  // more than all buffers hold
    is_held = true;
    responder.end();
  };
  const auto client = server_->raw_post("/v1/audio/speech", R"({"model":"openai/tts"})");
  client->hear("\r\n\r\n");
  while (!is_held) std::this_thread::yield();
  // The loops have turned often enough to forward all of it.
  for (int i = 0; i < 200; ++i) EXPECT_EQ(server_->get("/nowhere").status, 404);
  {
    const std::lock_guard lock(mutex_);
    EXPECT_GT(responder_->backlog(), 5'000'000);
  }
  const std::string rest = client->hear("0\r\n\r\n");
  EXPECT_EQ(std::ranges::count(rest, 'x'), 40'000'000);
}

// PASS4
TEST_F(PassThrough, HidesTheAuthenticationOfTheOperator) {
  for (const int status : {401, 403}) {
    respond_ = [=](net::Responder& responder) { responder.whole(status, {}, "bad operator-key"); };
    const Got got = server_->post("/v1/embeddings", R"({"model":"openai/e"})");
    EXPECT_EQ(got.status, 502);
    EXPECT_EQ(got.at("/error/code"), "upstream_auth");
    EXPECT_FALSE(got.text.contains("operator-key"));
  }
  respond_ = [](net::Responder& responder) { responder.whole(429, {{"Retry-After", "7"}}, "{}"); };
  const Got limited = server_->post("/v1/embeddings", R"({"model":"openai/e"})");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.header("Retry-After"), "7");
}

// PASS5
TEST_F(PassThrough, CutsABrokenResponse) {
  respond_ = [](net::Responder& responder) {
    responder.start(200, {});
    responder.send("half");
    responder.cut();
  };
  const auto client = server_->raw_post("/v1/images/generations", R"({"model":"openai/i"})");
  EXPECT_FALSE(client->hear().ends_with("0\r\n\r\n"));
  provider_->stop();
  const Got got = server_->post("/v1/embeddings", R"({"model":"openai/e"})");
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.at("/error/code"), "upstream_unreachable");
}

// PASS5
TEST_F(PassThrough, EndsTheRequestWhenTheClientLeaves) {
  std::atomic<bool> is_gone = false;
  respond_ = [&](net::Responder& responder) {
    responder.on_gone([&] { is_gone = true; });
    responder.start(200, {});
    responder.send("first");
  };
  auto client = server_->raw_post("/v1/audio/speech", R"({"model":"openai/tts"})");
  client->hear("first");
  client.reset();
  while (!is_gone) std::this_thread::yield();
}

}  // namespace
}  // namespace parley::server
