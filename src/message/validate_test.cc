#include "parley/message/validate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/media/data_url.h"

namespace parley {
namespace {

Conversation must_read(std::string_view document, Dialect dialect) {
  auto reading = read(document, dialect);
  EXPECT_TRUE(reading) << reading.error().message << " at " << reading.error().path << "\n" << document;
  return reading ? std::move(reading).value().conversation : Conversation();
}

// "code pointer" of each finding, with "?" before the code of a warning.
std::vector<std::string> lines(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.sentence.empty());
    out.push_back((finding.level == FindingLevel::Warning ? "?" : "") + finding.code + " " + finding.path);
  }
  return out;
}

std::vector<std::string> found(std::string_view document, Dialect dialect,
                               const ValidationLimits& limits = {}) {
  const Conversation conversation = must_read(document, dialect);
  const std::vector<Finding> findings = validate(conversation.messages(), limits);
  const Json json = Json::parse(document).value();
  for (const Finding& finding : findings) {
    EXPECT_TRUE(json.at(finding.path)) << finding.path << " is not in " << document;
    EXPECT_LT(finding.message_index, conversation.size());
  }
  return lines(findings);
}

using Lines = std::vector<std::string>;

// ---- Calls and results

std::string call(std::string_view id) {
  return R"({"id":")" + std::string(id) + R"(","type":"function","function":{"name":"f","arguments":"{}"}})";
}
std::string ask(std::string_view calls) {
  return R"({"role":"assistant","tool_calls":[)" + std::string(calls) + "]}";
}
std::string answer(std::string_view id) {
  return R"({"role":"tool","content":"ok","name":"f","tool_call_id":")" + std::string(id) + R"("})";
}
const std::string kUser = R"({"role":"user","content":"go on"})";
const std::string kAssistant = R"({"role":"assistant","content":"done"})";

std::string list(const std::vector<std::string>& messages) {
  std::string out = "[";
  for (const std::string& message : messages) out += (out.size() == 1 ? "" : ", ") + message;
  return out + "]";
}

struct HistoryCase {
  std::string_view what;
  std::vector<std::string> messages;
  Lines expected;
};

TEST(ValidateHistory, FindsWhatDoesNotMatch) {
  const std::vector<HistoryCase> cases = {
      {"nothing", {}, {}},
      {"no calls", {kUser, kAssistant}, {}},
      {"one call", {kUser, ask(call("a")), answer("a"), kAssistant}, {}},
      {"parallel calls", {ask(call("a") + "," + call("b")), answer("a"), answer("b"), kUser}, {}},
      {"results out of order", {ask(call("a") + "," + call("b")), answer("b"), answer("a"), kUser}, {}},
      {"two steps", {ask(call("a")), answer("a"), ask(call("b")), answer("b")}, {}},
      {"an empty list of calls", {ask(""), kUser}, {}},

      {"orphan", {kUser, answer("a"), kUser}, {"orphan_result /1"}},
      {"orphan among good ones", {ask(call("a")), answer("a"), answer("b")}, {"orphan_result /2"}},
      {"missing", {ask(call("a")), kUser}, {"missing_result /0/tool_calls/0"}},
      {"one of two missing",
       {ask(call("a") + "," + call("b")), answer("a"), kUser},
       {"missing_result /0/tool_calls/1"}},
      {"misplaced", {ask(call("a")), kUser, answer("a")}, {"misplaced_result /2"}},
      {"before its call", {answer("a"), ask(call("a")), kUser}, {"misplaced_result /0"}},
      {"duplicate result", {ask(call("a")), answer("a"), answer("a")}, {"duplicate_result /2"}},
      {"pending", {kUser, ask(call("a"))}, {"?pending_call /1/tool_calls/0"}},
      {"partly pending", {ask(call("a") + "," + call("b")), answer("b")}, {"?pending_call /0/tool_calls/0"}},
      {"not pending any more", {ask(call("a")), kAssistant}, {"missing_result /0/tool_calls/0"}},
      {"id used again, each answered",
       {ask(call("a")), answer("a"), ask(call("a")), answer("a")},
       {"?duplicate_call /2/tool_calls/0"}},
      {"id used again, the first never answered",
       {ask(call("a")), kUser, ask(call("a")), answer("a")},
       {"missing_result /0/tool_calls/0", "?duplicate_call /2/tool_calls/0"}},
      {"id used again, the second pending",
       {ask(call("a")), answer("a"), ask(call("a"))},
       {"?duplicate_call /2/tool_calls/0", "?pending_call /2/tool_calls/0"}},
      {"one id twice in one step, both answered",
       {ask(call("a") + "," + call("a")), answer("a"), answer("a"), kUser},
       {"?duplicate_call /0/tool_calls/1"}},
      {"one id twice in one step, one answered",
       {ask(call("a") + "," + call("a")), answer("a"), kUser},
       {"?duplicate_call /0/tool_calls/1", "missing_result /0/tool_calls/1"}},
      {"one id twice in one step, three answers",
       {ask(call("a") + "," + call("a")), answer("a"), answer("a"), answer("a")},
       {"?duplicate_call /0/tool_calls/1", "duplicate_result /3"}},
      {"empty id of a call", {ask(call("")), kUser}, {"missing_field /0/tool_calls/0"}},
      {"a result without an id",
       {ask(call("a")), R"({"role":"tool","content":"x"})", answer("a")},
       {"missing_field /1"}},
      {"a result with an empty id", {ask(call("a")), answer("a"), answer("")}, {"missing_field /2"}},
      {"ids that differ in case",
       {ask(call("a")), answer("A"), kUser},
       {"missing_result /0/tool_calls/0", "orphan_result /1"}},
      {"escaped spellings of one id", {ask(call("\\u0061\\/b")), answer("a/b"), kUser}, {}},
      {"escaped spellings of a used id",
       {ask(call("ab")), answer("\\u0061b"), ask(call("a\\u0062")), answer("ab")},
       {"?duplicate_call /2/tool_calls/0"}},
      {"a long id", {ask(call(std::string(300, 'x'))), answer(std::string(300, 'x')), kUser}, {}},
      {"a user that asks for tools",
       {R"({"role":"user","tool_calls":[)" + call("a") + "]}", answer("a")},
       {"tool_use_role /0/tool_calls/0"}},
      {"a system message that asks for tools",
       {R"({"role":"system","tool_calls":[)" + call("a") + "]}", answer("a")},
       {"tool_use_role /0/tool_calls/0"}},
  };
  for (const HistoryCase& each : cases) {
    EXPECT_EQ(found(list(each.messages), Dialect::OpenManus), each.expected) << each.what;
  }
}

std::string msg(std::string_view role, std::string_view blocks) {
  return R"({"name":"n","role":")" + std::string(role) + R"(","content":[)" + std::string(blocks) + "]}";
}
std::string use(std::string_view id) {
  return R"({"type":"tool_use","id":")" + std::string(id) + R"(","name":"f","input":{}})";
}
std::string result(std::string_view id) {
  return R"({"type":"tool_result","id":")" + std::string(id) + R"(","name":"f","output":"o"})";
}
const std::string kText = R"({"type":"text","text":"x"})";

// Results are blocks wherever the wire put them.
TEST(ValidateHistory, FindsResultsInAnyMessage) {
  const std::vector<HistoryCase> cases = {
      {"in system messages",
       {msg("assistant", use("a") + "," + use("b")), msg("system", result("a")), msg("system", result("b"))},
       {}},
      {"in one message",
       {msg("assistant", use("a") + "," + use("b")), msg("system", result("b") + "," + result("a"))},
       {}},
      {"in the message of the calls",
       {msg("assistant", kText + "," + use("a") + "," + result("a") + "," + kText), msg("user", kText)},
       {}},
      {"several steps in one message",
       {msg("assistant", use("a") + "," + result("a") + "," + kText + "," + use("b") + "," + result("b"))},
       {}},
      {"after a user's text",
       {msg("assistant", use("a")), msg("user", kText + "," + result("a"))},
       {"misplaced_result /1/content/1"}},
      {"partly in the message, partly after it",
       {msg("assistant", use("a") + "," + use("b") + "," + result("b")), msg("system", result("a"))},
       {}},
      {"before its call in one message",
       {msg("assistant", result("a") + "," + use("a"))},
       {"misplaced_result /0/content/0"}},
      {"twice in one message",
       {msg("assistant", use("a") + "," + result("a") + "," + result("a"))},
       {"duplicate_result /0/content/2"}},
      {"a null id",
       {msg("assistant", R"({"type":"tool_use","id":null,"name":"f","input":{}})")},
       {"missing_field /0/content/0"}},
      {"no id",
       {msg("assistant", R"({"type":"tool_use","name":"f","input":{}})")},
       {"missing_field /0/content/0"}},
      {"a result with a null id",
       {msg("system", R"({"type":"tool_result","id":null,"name":"f","output":"x"})")},
       {"missing_field /0/content/0"}},
  };
  for (const HistoryCase& each : cases) {
    EXPECT_EQ(found(list(each.messages), Dialect::AgentScope), each.expected) << each.what;
  }
}

TEST(ValidateHistory, LooksAtNothingElse) {
  const Conversation conversation = must_read(
      list({msg("user", R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}})"),
            msg("user", use("a"))}),
      Dialect::AgentScope);
  EXPECT_EQ(lines(validate_history(conversation.messages())), Lines{"?pending_call /1/content/0"});
  EXPECT_EQ(validate(conversation.messages()).size(), 3U);
}

TEST(ValidateHistory, IsLinearInTheNumberOfCalls) {
  std::vector<std::string> messages;
  for (int i = 0; i < 20'000; ++i) {
    messages.push_back(ask(call(std::to_string(i))));
    messages.push_back(answer(std::to_string(i)));
  }
  EXPECT_TRUE(found(list(messages), Dialect::OpenManus).empty());
  // The same id for all of them.
  std::string calls = call("a");
  for (int i = 0; i < 20'000; ++i) calls += "," + call("a");
  const Conversation same = must_read(list({ask(calls)}), Dialect::OpenManus);
  EXPECT_EQ(validate_history(same.messages()).size(), 40'001U);
}

// ---- Blocks

struct BlockCase {
  std::string_view what;
  std::string block;
  Lines expected;
};

void expect_found(const std::vector<BlockCase>& cases, Dialect dialect, std::string_view role = "assistant") {
  for (const BlockCase& each : cases) {
    EXPECT_EQ(found("[" + msg(role, each.block) + "]", dialect), each.expected) << each.what << "\n"
                                                                                << each.block;
  }
}

std::string media(std::string_view source) {
  return R"({"type":"image","source":)" + std::string(source) + "}";
}

TEST(Validate, FindsMissingFields) {
  expect_found(
      {
          {"text", R"({"type":"text","text":""})", {}},
          {"text without text", R"({"type":"text"})", {"missing_field /0/content/0"}},
          {"thinking", R"({"type":"thinking","thinking":""})", {}},
          {"thinking without thinking", R"({"type":"thinking"})", {"missing_field /0/content/0"}},
          {"tool use without a name",
           R"({"type":"tool_use","id":"a","input":{}},)" + result("a"),
           {"missing_field /0/content/0"}},
          {"tool use with an empty name",
           R"({"type":"tool_use","id":"a","name":"","input":{}},)" + result("a"),
           {"?empty_name /0/content/0"}},
          {"tool use without input",
           R"({"type":"tool_use","id":"a","name":"f"},)" + result("a"),
           {"missing_field /0/content/0"}},
          {"tool use with raw input only",
           R"({"type":"tool_use","id":"a","name":"f","raw_input":"{}"},)" + result("a"),
           {}},
          {"a block without a type", R"({"text":"x"})", {"missing_field /0/content/0"}},
          {"an unknown type", R"({"type":"new"})", {}},
          {"image without a source", R"({"type":"image"})", {"missing_field /0/content/0"}},
          {"a source of an unknown type", media(R"({"type":"file","id":"7"})"), {}},
          {"source without data",
           media(R"({"type":"base64","media_type":"image/png"})"),
           {"missing_field /0/content/0"}},
          {"source without a media type that shows none",
           media(R"({"type":"base64","data":"AAAA"})"),
           {"missing_field /0/content/0"}},
          {"source without a media type that shows one",
           media(R"({"type":"base64","data":"iVBORw0KGgo="})"),
           {"?missing_field /0/content/0"}},
          {"source without a url", media(R"({"type":"url"})"), {"missing_field /0/content/0"}},
          {"inside a result",
           use("a") +
               R"(,{"type":"tool_result","id":"a","name":"f","output":[{"type":"text","text":"x"},{"type":"text"}]})",
           {"missing_field /0/content/1/output/1"}},
      },
      Dialect::AgentScope);
}

TEST(Validate, FindsInvalidBase64) {
  const auto base64 = [](std::string_view data) {
    return media(R"({"type":"base64","media_type":"image/png","data":")" + std::string(data) + R"("})");
  };
  expect_found(
      {
          {"good", base64("iVBORw0KGgo="), {}},
          {"empty", base64(""), {}},
          {"escaped slashes", base64("\\/\\/\\/\\/"), {}},
          {"a bad character", base64("iVBOR!0KGgo="), {"invalid_base64 /0/content/0"}},
          {"a bad length", base64("iVBORw0KGg"), {"invalid_base64 /0/content/0"}},
          {"spare bits", base64("iVBORw0KGgp="), {"invalid_base64 /0/content/0"}},
          {"whitespace", base64("iVBO Rw0KGgo="), {"invalid_base64 /0/content/0"}},
          {"a data URL where base64 belongs",
           base64("data:image/png;base64,iVBORw0KGgo="),
           {"invalid_base64 /0/content/0"}},
          {"inside a result",
           use("a") + R"(,{"type":"tool_result","id":"a","name":"f","output":[)" + base64("?") + "]}",
           {"invalid_base64 /0/content/1/output/0"}},
      },
      Dialect::AgentScope);
  EXPECT_EQ(found(R"({"role":"user","base64_image":"AAA"})", Dialect::OpenManus),
            Lines{"invalid_base64 /base64_image"});
  EXPECT_EQ(found(R"({"role":"user","base64_image":"AAAA"})", Dialect::OpenManus), Lines{});
  EXPECT_EQ(found(R"({"role":"user","base64_image":"data:image/png;base64,AAAA"})", Dialect::OpenManus),
            Lines{});
  EXPECT_EQ(found(R"({"role":"user","base64_image":"data:image/png;base64,AA"})", Dialect::OpenManus),
            Lines{"invalid_base64 /base64_image"});
}

TEST(Validate, FindsInvalidUrls) {
  const auto url = [](std::string_view text) {
    return media(R"({"type":"url","url":")" + std::string(text) + R"("})");
  };
  expect_found(
      {
          {"web", url("https://example.org/a%20b.png?x=1#y"), {}},
          {"a path", url("/tmp/picture.png"), {}},
          {"a relative path", url("picture.png"), {}},
          {"file", url("file:///tmp/picture.png"), {}},
          {"international",
           url("https://example.org/b\xC3\xBC"
               "cher"),
           {}},
          {"empty", url(""), {"invalid_url /0/content/0"}},
          {"a space", url("https://example.org/a b"), {"invalid_url /0/content/0"}},
          {"a line feed", url("https://example.org/\\n"), {"invalid_url /0/content/0"}},
          {"NUL", url("https://example.org/\\u0000"), {"invalid_url /0/content/0"}},
          {"a data URL", url("data:image/png;base64,iVBORw0KGgo="), {}},
          {"a data URL that is not base64", url("data:text/plain,hello"), {}},
          {"a data URL without a comma", url("data:image/png;base64"), {"invalid_url /0/content/0"}},
          {"a data URL with bad base64", url("data:image/png;base64,?"), {"invalid_base64 /0/content/0"}},
      },
      Dialect::AgentScope);
}

TEST(Validate, FindsArgumentsThatAreNotJson) {
  const auto arguments = [](std::string_view text) {
    return found(
        list(
            {R"({"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":")" +
                 std::string(text) + R"("}}]})",
             answer("a")}),
        Dialect::OpenManus);
  };
  EXPECT_EQ(arguments(R"({\"a\": 1})"), Lines{});
  EXPECT_EQ(arguments("[1]"), Lines{});
  EXPECT_EQ(arguments(""), Lines{});
  EXPECT_EQ(arguments("{"), Lines{"?arguments_not_json /0/tool_calls/0"});
  EXPECT_EQ(arguments("city=Oslo"), Lines{"?arguments_not_json /0/tool_calls/0"});
  EXPECT_EQ(arguments(R"({\"a\":01})"), Lines{"?arguments_not_json /0/tool_calls/0"});
}

// ---- Sizes: one below, at and above each limit

TEST(Validate, HoldsTextsToTheirLimit) {
  ValidationLimits limits;
  limits.text_bytes = 10;
  const auto texts = [&](const std::string& text) {
    const std::string quoted = "\"" + text + "\"";
    Lines all = found(R"([{"role":"user","content":)" + quoted + "}]", Dialect::OpenManus, limits);
    for (const std::string& block :
         {R"({"type":"thinking","thinking":)" + quoted + "}", R"({"type":"text","text":)" + quoted + "}"}) {
      const Lines more = found("[" + msg("assistant", block) + "]", Dialect::AgentScope, limits);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const std::string& output : {quoted, R"([{"type":"text","text":)" + quoted + "}]"}) {
      const Lines more =
          found("[" +
                    msg("assistant",
                        use("a") + R"(,{"type":"tool_result","id":"a","name":"f","output":)" + output + "}") +
                    "]",
                Dialect::AgentScope, limits);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  };
  const Lines over = {"too_large /0/content", "too_large /0/content/0", "too_large /0/content/0",
                      "too_large /0/content/1", "too_large /0/content/1/output/0"};
  EXPECT_EQ(texts(std::string(9, 'x')), Lines{});
  EXPECT_EQ(texts(std::string(10, 'x')), Lines{});
  EXPECT_EQ(texts(std::string(11, 'x')), over);
  // What counts is the text, not how it is spelled.
  const auto spelled = [](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += "\\u0041";
    return out;
  };
  EXPECT_EQ(texts(spelled(10)), Lines{});
  EXPECT_EQ(texts(spelled(11)), over);
}

TEST(Validate, HoldsInlineFilesToTheirLimit) {
  ValidationLimits limits;
  limits.media_bytes = 30;
  for (const std::size_t bytes : {29U, 30U, 31U}) {
    const std::string data = base64_encode(std::string(bytes, 'x'));
    const Lines expected = bytes > 30 ? Lines{"too_large /0/content/0"} : Lines{};
    EXPECT_EQ(found("[" +
                        msg("user",
                            media(R"({"type":"base64","media_type":"image/png","data":")" + data + R"("})")) +
                        "]",
                    Dialect::AgentScope, limits),
              expected);
    EXPECT_EQ(
        found(
            "[" + msg("user", media(R"({"type":"url","url":"data:image/png;base64,)" + data + R"("})")) + "]",
            Dialect::AgentScope, limits),
        expected);
  }
}

TEST(Validate, HoldsListsToTheirLimit) {
  ValidationLimits limits;
  limits.blocks = 3;
  limits.messages = 4;
  const auto many = [](std::size_t count, std::string_view separator, const std::string& each) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) (out += i == 0 ? "" : separator) += each;
    return out;
  };
  for (const std::size_t count : {2U, 3U, 4U}) {
    EXPECT_EQ(found("[" + msg("user", many(count, ",", kText)) + "]", Dialect::AgentScope, limits),
              count > 3 ? Lines{"too_large /0"} : Lines{});
    EXPECT_EQ(
        found("[" +
                  msg("assistant", use("a") + R"(,{"type":"tool_result","id":"a","name":"f","output":[)" +
                                       many(count, ",", kText) + "]}") +
                  "]",
              Dialect::AgentScope, limits),
        count > 3 ? Lines{"too_large /0/content/1"} : Lines{});
  }
  for (const std::size_t count : {3U, 4U, 5U}) {
    EXPECT_EQ(found("[" + many(count, ",", kUser) + "]", Dialect::OpenManus, limits),
              count > 4 ? Lines{"too_large /4"} : Lines{});
  }
}

// ---- Places

TEST(Validate, NamesPlacesInEveryShapeOfDocument) {
  EXPECT_EQ(found(R"({"role":"tool","content":"x"})", Dialect::OpenManus), Lines{"missing_field "});
  EXPECT_EQ(found(R"({"messages":[)" + kUser + R"(,{"role":"tool","content":"x"}]})", Dialect::OpenManus),
            Lines{"missing_field /messages/1"});
  EXPECT_EQ(
      found(R"({"a":[{"messages":1}],"messages":[)" + msg("user", use("a")) + "]}", Dialect::AgentScope),
      (Lines{"tool_use_role /messages/0/content/0", "?pending_call /messages/0/content/0"}));
}

TEST(Validate, NamesPlacesOfBuiltMessagesByMessageAndBlock) {
  const std::vector<Message> messages = {
      Message::user_message("x"),
      MessageBuilder(Role::Assistant).text("x").block(ToolUseBlock{"a", "f", "{}"}).build().value(),
      Message::user_message("y", Text("AAA"))};
  EXPECT_EQ(lines(validate(messages)), (Lines{"missing_result /1/content/1", "invalid_base64 /2/content/1"}));
}

// Each pointer leads into the document its message came from, whatever the list is made of.
TEST(Validate, NamesPlacesInTheDocumentOfEachMessage) {
  const Conversation first = must_read(list({kUser, ask(call("a"))}), Dialect::OpenManus);
  const Conversation second = must_read(
      R"({"messages":[)" + msg("user", kText) + "," + msg("system", result("b")) + "]}", Dialect::AgentScope);
  const std::vector<Message> mixed = {second.messages()[1], first.messages()[1], Message::user_message(""),
                                      first.messages()[0]};
  const std::vector<Finding> findings = validate(mixed);
  EXPECT_EQ(lines(findings),
            (Lines{"orphan_result /messages/1/content/0", "missing_result /1/tool_calls/0"}));
  EXPECT_EQ(findings[0].message_index, 0U);
  EXPECT_EQ(findings[0].block_index, 0U);
  EXPECT_EQ(findings[1].message_index, 1U);
}

TEST(Validate, GivesFindingsInTheOrderOfTheMessages) {
  const std::string bad = media(R"({"type":"base64","media_type":"image/png","data":"!"})");
  EXPECT_EQ(
      found(list({msg("user", kText + "," + bad), msg("assistant", use("a") + "," + bad),
                  msg("user", use("b")), msg("system", result("c"))}),
            Dialect::AgentScope),
      (Lines{"invalid_base64 /0/content/1", "missing_result /1/content/0", "invalid_base64 /1/content/1",
             "tool_use_role /2/content/0", "?pending_call /2/content/0", "orphan_result /3/content/0"}));
}

TEST(Validate, AcceptsALongHistoryWithoutFindings) {
  EXPECT_TRUE(validate({}).empty());
  EXPECT_TRUE(found(list({R"({"role":"system","content":""})", kUser, ask(call("a")), answer("a"), kAssistant,
                          R"({"role":"assistant"})"}),
                    Dialect::OpenManus)
                  .empty());
}

}  // namespace
}  // namespace parley
