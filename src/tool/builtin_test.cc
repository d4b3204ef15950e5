// Asking a person, and searching conversations.
#include "parley/tool/builtin.h"

#include <gtest/gtest.h>

#include <thread>

namespace parley {
namespace {

std::string say(const std::shared_ptr<RunnableTool>& tool, std::string_view arguments,
                ToolContext context = {}) {
  ToolBox tools;
  EXPECT_TRUE(tools.add(tool).has_value());
  const ToolOutput out = tools.run({Text("id"), tool->spec().name, Text(arguments)}, context);
  return std::string(to_string(out.status)) + ": " + out.joined_text();
}

TEST(AskHuman, GivesTheAnswer) {
  std::string asked;
  const auto tool =
      ask_human_tool([&](const Text& question, const std::stop_token&) -> std::optional<std::string> {
        asked = question.str();
        return asked == "Gone?" ? std::nullopt : std::optional<std::string>("  blue \n");
      });
  EXPECT_EQ(say(tool, R"({"inquire":"Which?"})"), "ok: blue");
  EXPECT_EQ(asked, "Which?");
  EXPECT_EQ(say(tool, R"({"inquire":"Gone?"})"), "failed: no answer was given");
}

TEST(AskHuman, EndsWithAStopAndNotWithTheTimeOfOtherTools) {
  std::stop_source source;
  const auto tool =
      ask_human_tool([&](const Text&, const std::stop_token& stop) -> std::optional<std::string> {
        source.request_stop();
        while (!stop.stop_requested()) std::this_thread::yield();
        return std::nullopt;
      });
  ToolContext context;
  context.timeout = std::chrono::milliseconds(0);
  context.stop = source.get_token();
  EXPECT_EQ(say(tool, R"({"inquire":"Which?"})", context),
            "interrupted: the call was stopped before there was an answer");
}

TEST(Recall, FindsWhatItsTenantSaid) {
  const auto store = std::make_shared<store::Store>(store::open_store("memory:").value());
  const auto put = [&](const char* tenant, const char* session, const char* text) {
    store::Record record;
    record.dialect = "openai";
    record.body = "{}";
    record.role = "user";
    record.text = text;
    ASSERT_TRUE(store->append({tenant, session}, store::Batch({record})).has_value());
  };
  put("mine", "talk", "The error 1205 is a lock");
  put("theirs", "secret", "The error 1205 is ours");
  const auto tool = recall_tool(store, "mine");
  EXPECT_EQ(say(tool, R"({"words":"error 1205"})"), "ok: talk:0 user: The error 1205 is a lock");
  EXPECT_EQ(say(tool, R"({"words":"nothing of this"})"), "ok: No matches.");
  EXPECT_TRUE(say(tool, R"({"words":"..."})").starts_with("failed: "));
  EXPECT_TRUE(say(tool, R"({"words":"error","tenant":"theirs"})").starts_with("broken: "));
  EXPECT_FALSE(tool->has_side_effects(Json::parse("{}").value()));
}

}  // namespace
}  // namespace parley
