#include "parley/dialect/repair.h"

#include <gtest/gtest.h>

#include <random>

#include "parley/dialect/dialect.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

Conversation read_openmanus(std::string_view json) {
  auto reading = read(json, Dialect::OpenManus);
  EXPECT_TRUE(reading) << reading.error().message;
  return std::move(reading->conversation);
}

std::string written(const Conversation& conversation) {
  const auto writing = write(conversation, Dialect::OpenManus);
  return writing ? writing->text.str() : "error: " + writing.error().message;
}

std::vector<std::string> codes(const Repairing& repairing) {
  std::vector<std::string> out;
  for (const Note& note : repairing.notes) out.emplace_back(note.code);
  return out;
}

bool has_history_error(const Conversation& conversation) {
  for (const Finding& finding : validate_history(conversation.messages())) {
    if (finding.level == FindingLevel::Error) return true;
  }
  return false;
}

std::string call(std::string_view id, std::string_view name = "f") {
  std::string out = R"({"id":")";
  return out.append(id)
      .append(R"(","type":"function","function":{"name":")")
      .append(name)
      .append(R"(","arguments":"{}"}})");
}
std::string ask(std::string_view calls) {
  return R"({"role":"assistant","content":"","tool_calls":[)" + std::string(calls) + "]}";
}
std::string answer(std::string_view id, std::string_view text) {
  return R"({"role":"tool","content":")" + std::string(text) + R"(","tool_call_id":")" + std::string(id) +
         R"("})";
}
constexpr std::string_view kUser = R"({"role":"user","content":"go on"})";

TEST(Repair, LeavesAWholeHistoryAsItIs) {
  const std::string json = "[" + ask(call("a")) + ", " + answer("a", "1") + "]";
  const Repairing repairing = repair(read_openmanus(json));
  EXPECT_TRUE(repairing.notes.empty());
  EXPECT_EQ(written(repairing.conversation), json);
}

// The history of RP-1 in the specification of repairs: an orphan, a displaced result, a missing one.
TEST(Repair, PutsTheSpecifiedExampleRight) {
  const std::string json = "[" + answer("call_0", "old") + "," + R"({"role":"user","content":"hi"})" + "," +
                           ask(call("call_1", "add") + "," + call("call_2", "mul")) + "," +
                           R"({"role":"user","content":"wait"})" + "," + answer("call_2", "6") + "," +
                           std::string(kUser) + "]";
  const Repairing repairing = repair(read_openmanus(json));
  EXPECT_EQ(codes(repairing), (std::vector<std::string>{"orphan_result", "missing_result", "result_moved"}));
  const std::string expected =
      R"([{"role":"user","content":"[Result of call call_0, whose request is not part of this conversation]\nold"},)"
      R"({"role":"user","content":"hi"},)" +
      ask(call("call_1", "add") + "," + call("call_2", "mul")) +
      R"(,{"role":"tool","content":"Error: [No result was recorded for this call]","name":"add","tool_call_id":"call_1"},)"
      R"({"role":"tool","content":"6","tool_call_id":"call_2"},{"role":"user","content":"wait"},)" +
      std::string(kUser) + "]";
  EXPECT_EQ(written(repairing.conversation), expected);
}

TEST(Repair, LeavesPendingCallsUnlessAskedToCompleteThem) {
  const Conversation pending = read_openmanus("[" + ask(call("a")) + "]");
  EXPECT_TRUE(repair(pending).notes.empty());
  const Repairing completed = repair(pending, {.history = false, .complete_pending = true});
  EXPECT_EQ(codes(completed), (std::vector<std::string>{"missing_result"}));
  EXPECT_TRUE(validate_history(completed.conversation.messages()).empty());
}

TEST(Repair, DoesNotTouchABrokenHistoryWhenOnlyPendingCallsAreToBeCompleted) {
  const Conversation broken = read_openmanus("[" + answer("x", "1") + "," + ask(call("a")) + "]");
  EXPECT_TRUE(repair(broken, {.history = false, .complete_pending = true}).notes.empty());
}

TEST(Repair, GivesReusedIdsAnewAndKeepsTheirResultsInOrder) {
  const std::string json = "[" + ask(call("a")) + "," + answer("a", "first") + "," + ask(call("a")) + "," +
                           answer("a", "second") + "]";
  const Repairing repairing = repair(read_openmanus(json));
  EXPECT_EQ(codes(repairing), (std::vector<std::string>{"id_rewritten"}));
  const auto messages = repairing.conversation.messages();
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[2].tool_calls().front().id, *messages[3].tool_call_id());
  EXPECT_NE(messages[2].tool_calls().front().id.view(), "a");
  EXPECT_EQ(messages[3].get_text_content()->view(), "second");
}

TEST(Repair, MergesDoubledResultsIntoTheLast) {
  const std::string json = "[" + ask(call("a")) + "," + answer("a", "early") + "," + answer("a", "late") +
                           "," + std::string(kUser) + "]";
  const Repairing repairing = repair(read_openmanus(json));
  EXPECT_EQ(codes(repairing), (std::vector<std::string>{"duplicate_result"}));
  ASSERT_EQ(repairing.conversation.size(), 3U);
  EXPECT_EQ(repairing.conversation.messages()[1].get_text_content()->view(), "late\nearly");
}

TEST(Repair, PutsAnOrphanBehindTheOpenStep) {
  const std::string json = "[" + ask(call("a")) + "," + answer("x", "lost") + "," + answer("a", "1") + "]";
  const Repairing repairing = repair(read_openmanus(json));
  EXPECT_FALSE(has_history_error(repairing.conversation));
  ASSERT_EQ(repairing.conversation.size(), 3U);
  EXPECT_EQ(repairing.conversation.messages()[1].role(), Role::Tool);
  EXPECT_EQ(repairing.conversation.messages()[2].role(), Role::User);
}

// R1, R2, R3 and R4 on random heaps of calls, results and texts.
TEST(Repair, MakesAnyHistoryWholeOnceAndForAll) {
  std::mt19937 random(20250615);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const std::string_view ids[] = {"a", "b", "c", "d", ""};
  for (int round = 0; round < 3000; ++round) {
    std::string json = "[";
    for (unsigned i = 0, n = 1 + below(9); i < n; ++i) {
      if (i != 0) json += ",";
      const unsigned kind = below(4);
      if (kind == 0) {
        json += kUser;
      } else if (kind == 1) {
        std::string calls = call(ids[below(5)]);
        for (unsigned k = below(3); k > 0; --k) calls += "," + call(ids[below(5)]);
        json += ask(calls);
      } else {
        json += answer(ids[below(5)], std::to_string(i));
      }
    }
    json += "]";
    const Conversation before = read_openmanus(json);
    const RepairOptions options{.history = true, .complete_pending = below(2) == 0};
    const Repairing once = repair(before, options);
    ASSERT_FALSE(has_history_error(once.conversation)) << "R1: " << json << "\n"
                                                       << written(once.conversation);
    const Repairing twice = repair(once.conversation, options);
    ASSERT_TRUE(twice.notes.empty()) << "R2: " << json << "\n" << written(once.conversation);
    ASSERT_EQ(written(repair(before, options).conversation), written(once.conversation)) << "R4";
    if (once.notes.empty()) {
      ASSERT_EQ(written(once.conversation), json) << "R3";
    }
  }
}

}  // namespace
}  // namespace parley
