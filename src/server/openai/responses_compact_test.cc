#include "server/openai/responses_compact.h"

#include <gtest/gtest.h>

#include "parley/media/data_url.h"
#include "server/openai/responses_server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::ManualCall;

class ResponsesCompact : public ResponsesServer {
 protected:
  Got compact(const std::string& text, const std::vector<Drive>& drives) {
    std::size_t number = server_->model().calls();
    auto got = std::async(std::launch::async, [&] { return server_->post("/v1/responses/compact", text); });
    for (const Drive& drive : drives) drive(*server_->model().call(number++));
    return got.get();
  }
  static Drive summarize(std::string summary) {
    return [summary = std::move(summary)](ManualCall& call) {
      call.say(summary);
      call.finish();
    };
  }
  static std::string conversation(const std::string& more = {}) {
    return R"({"model":"test/manual","input":[{"role":"user","content":"The word is slate."},)"
           R"({"role":"assistant","content":"OK."},{"role":"user","content":"Compress."}])" +
           more + "}";
  }
};

TEST_F(ResponsesCompact, KeepsWhatTheUserSaidAndASummary) {
  const Got got = compact(conversation(), {summarize("Task: remember slate.")});
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/object"), "response.compaction");
  EXPECT_EQ(got.at("/output/0/content/0/text"), "The word is slate.");
  EXPECT_EQ(got.at("/output/1/content/0/text"), "Compress.");
  EXPECT_EQ(got.at("/output/2/type"), "compaction");
  EXPECT_EQ(got.at("/output/3"), "");
  EXPECT_EQ(got.at("/usage/output_tokens"), "5");
  EXPECT_TRUE(store_->list("default")->sessions.empty());
  // The model was shown all of it.
  EXPECT_NE(seen().at(0).find("assistant: OK."), std::string::npos);
}

TEST_F(ResponsesCompact, ItsOutputBeginsALaterRequestAlsoAfterARestart) {
  const Got got = compact(conversation(), {summarize("Task: remember slate.")});
  restart();
  std::string input = got.body.get("output")->text().str();
  input.pop_back();
  ask(R"({"model":"test/manual","input":)" + input + R"(,{"role":"user","content":"Which word?"}]})");
  const std::vector<std::string> lines = seen();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_NE(lines[2].find("Task: remember slate."), std::string::npos) << lines[2];
  EXPECT_EQ(lines[3], "user: Which word?");
}

TEST_F(ResponsesCompact, ContinuesFromAPreviousResponse) {
  const std::string id = ask(body("The word is cobalt.")).at("/id");
  const Got got =
      compact(R"({"model":"test/manual","previous_response_id":")" + id + "\"}", {summarize("s")});
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/output/0/content/0/text"), "The word is cobalt.");
  EXPECT_NE(seen().at(0).find("assistant: Hello"), std::string::npos);
}

// COMPACT1
TEST_F(ResponsesCompact, AsksSeveralTimesIfItIsMuch) {
  const std::string large(150'000, 'x');
  const Got got = compact(R"({"model":"test/manual","input":[{"role":"user","content":")" + large +
                              R"("},{"role":"user","content":")" + large + R"("}]})",
                          {summarize("first part"), summarize("both parts")});
  ASSERT_EQ(got.status, 200) << got.text.substr(0, 200);
  EXPECT_EQ(got.at("/usage/output_tokens"), "10");
  EXPECT_NE(seen().at(0).find("first part"), std::string::npos);
}

// COMPACT2
TEST_F(ResponsesCompact, FailsLikeTheModel) {
  const Got got =
      compact(conversation(), {[](ManualCall& call) { call.fail_with(FailureKind::Overloaded, false); }});
  EXPECT_EQ(got.status, 503) << got.text;
}

TEST_F(ResponsesCompact, TakesExcerptsIfTheModelSaysNothing) {
  const Got got = compact(conversation(), {[](ManualCall& call) { call.finish(); }});
  ASSERT_EQ(got.status, 200) << got.text;
  const std::string sealed = got.at("/output/2/encrypted_content");
  EXPECT_NE(base64_decode(sealed.substr(sealed.find(':') + 1)).value().find("slate"), std::string::npos);
}

// COMPACT3
TEST_F(ResponsesCompact, StopsTheModelIfTheClientLeaves) {
  auto client = server_->raw_post("/v1/responses/compact", conversation());
  const auto call = server_->model().call(0);
  client.reset();
  for (int i = 0; i < 1'000 && !call->is_stopped; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(call->is_stopped);
}

TEST_F(ResponsesCompact, NeedsAModelAndNothingElse) {
  EXPECT_EQ(server_->post("/v1/responses/compact", R"({"input":"x"})").at("/error/param"), "model");
  EXPECT_EQ(server_->post("/v1/responses/compact", R"({"model":"none"})").status, 404);
  const Got got = server_->post("/v1/responses/compact", R"({"model":"test/manual"})");
  ASSERT_EQ(got.status, 200) << got.text;
  EXPECT_EQ(got.at("/output/0/type"), "compaction");
  EXPECT_EQ(got.at("/usage/total_tokens"), "0");
  EXPECT_EQ(server_->model().calls(), 0U);
}

}  // namespace
}  // namespace parley::server
