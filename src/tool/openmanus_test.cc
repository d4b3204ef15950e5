// The texts of openmanus.md 12.3 and 14, byte for byte, and the tools of 16 by their own names.
#include <gtest/gtest.h>

#include <filesystem>

#include "parley/json/writer.h"
#include "parley/tool/builtin.h"
#include "tool/python_repr.h"

namespace parley {
namespace {

ToolOutput image(Text text) {
  ToolOutput out;
  if (!text.empty()) out.content.emplace_back(TextBlock{std::move(text)});
  out.content.emplace_back(ImageBlock{Base64Source{Text("image/png"), Text("AAAA")}});
  return out;
}

ToolOutput map(std::string_view json) {
  ToolOutput out;
  out.structured = Json::parse(json).value();
  return out;
}

TEST(OpenManusText, IsTheOriginalsToTheByte) {
  const struct {
    ToolOutput output;
    const char* expected;
  } rows[] = {
      {ToolOutput::of(ToolStatus::Unnamed, "x"), "Error: Invalid command format"},
      {ToolOutput::of(ToolStatus::Unknown, "x"), "Error: Unknown tool 'look'"},
      {ToolOutput::of(ToolStatus::NotJson, "x"),
       "Error: Error parsing arguments for look: Invalid JSON format"},
      {ToolOutput::failure("no such thing"), "Observed output of cmd `look` executed:\nError: no such thing"},
      {ToolOutput::of(ToolStatus::Denied, "no"), "Observed output of cmd `look` executed:\nError: no"},
      {ToolOutput::of(ToolStatus::Broken, "boom"),
       "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'look' encountered a problem: boom"},
      {ToolOutput::of(ToolStatus::Interrupted, "late"),
       "Observed output of cmd `look` executed:\nError: late"},
      {ToolOutput::failure(""), "Cmd `look` completed with no output"},
      {ToolOutput{}, "Cmd `look` completed with no output"},
      {ToolOutput::text(""), "Cmd `look` completed with no output"},
      {ToolOutput::text("two\nlines"), "Observed output of cmd `look` executed:\ntwo\nlines"},
      {image("seen"), "Observed output of cmd `look` executed:\nseen"},
      {image(""),
       "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'look' encountered a problem: __str__ returned non-string (type "
       "NoneType)"},
      {map(R"({"observation":"3\n","success":true})"),
       "Observed output of cmd `look` executed:\n{'observation': '3\\n', 'success': True}"},
      {map(R"("said")"), "Observed output of cmd `look` executed:\nsaid"},
      {map("1"), "Observed output of cmd `look` executed:\n1"},
      {map("[0]"), "Observed output of cmd `look` executed:\n[0]"},
      {map("true"), "Observed output of cmd `look` executed:\nTrue"},
  };
  for (const auto& row : rows) EXPECT_EQ(openmanus_text("look", row.output).view(), row.expected);
  for (const char* falsy : {"{ }", "[ ]", "0", "-0", "0.0", "0e7", "false", "null", "\"\""}) {
    EXPECT_EQ(openmanus_text("look", map(falsy)).view(), "Cmd `look` completed with no output") << falsy;
  }
}

// What Python 3.11 prints.
TEST(PythonRepr, IsPythons) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"a": [1, true, null, 7], "b": {}})", "{'a': [1, True, None, 7], 'b': {}}"},
      {R"("it's")", R"("it's")"},
      {R"("say \"it's\"")", R"('say "it\'s"')"},
      {R"("\\ \t\r\n\u0000\u007f\u00a0\u00ad")", R"('\\ \t\r\n\x00\x7f\xa0\xad')"},
      {R"("\u00e9\u4e2d\ud83d\ude00\u200b\u2028\ue000")", "'\u00e9\u4e2d\U0001F600\\u200b\\u2028\\ue000'"},
      {R"("\udb40\udc01")", R"('\U000e0001')"},
      {R"("")", "''"},
      {R"([])", "[]"},
      {R"({"true":false})", "{'true': False}"},
      {R"([1e2,0.10,-0])", "[100.0, 0.1, 0]"},
  };
  for (const auto& [json, expected] : rows)
    EXPECT_EQ(python_repr(Json::parse(json).value()), expected) << json;
  EXPECT_EQ(python_repr("a'b"), "\"a'b\"");
}

class OpenManusTools : public ::testing::Test {
 protected:
  OpenManusTools() {
    std::string name = (std::filesystem::temp_directory_path() / "parley_manus_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    OpenManusToolsOptions options;
    options.root = name;
    options.ask = [](const Text&, const std::stop_token&) { return " yes "; };
    const auto made = openmanus_tools(options);
    EXPECT_TRUE(made.has_value());
    for (const auto& tool : *made) EXPECT_TRUE(tools_.add(tool).has_value());
    tools_.set_policy({{{"*", Permission::Allow}}});
  }
  ~OpenManusTools() override { std::filesystem::remove_all(root_); }

  std::string run(Text name, std::string_view arguments, ToolContext context = {}) const {
    const ToolUseBlock use{Text("id"), name, Text(arguments)};
    return openmanus_text(name, openmanus_run(tools_, use, context)).str();
  }

  std::filesystem::path root_;
  ToolBox tools_;
};

TEST_F(OpenManusTools, HaveTheirNamesAndOutputs) {
  std::string names;
  for (const Tool& tool : tools_.specs()) names += tool.name.str() + " ";
  EXPECT_EQ(names, "python_execute bash str_replace_editor planning ask_human terminate ");

  EXPECT_EQ(run("bash", R"({"command":"echo hi"})"), "Observed output of cmd `bash` executed:\nhi");
  EXPECT_EQ(run("bash", R"({"command":"echo hi; echo no >&2"})"),
            "Observed output of cmd `bash` executed:\nError: no");
  EXPECT_EQ(run("bash", R"({"command":"true"})"), "Cmd `bash` completed with no output");
  ToolContext context;
  context.timeout = std::chrono::milliseconds(500);
  EXPECT_EQ(run("bash", R"({"command":"sleep 100000"})", context),
            "Observed output of cmd `bash` executed:\nError: timed out: bash has not returned in 0.5 seconds "
            "and must be "
            "restarted");
  EXPECT_EQ(run("python_execute", R"json({"code":"print(1+2)"})json"),
            "Observed output of cmd `python_execute` executed:\n{'observation': '3\\n', 'success': True}");
  EXPECT_EQ(run("python_execute", R"json({"code":"print(1)\nimport sys\nsys.exit(2)"})json"),
            "Observed output of cmd `python_execute` executed:\n{'observation': '1\\n', 'success': False}");
  RunnableTool* const python = tools_.find("python_execute");
  EXPECT_EQ(python->timeout(), std::chrono::seconds(5));
  context.timeout = std::chrono::milliseconds(1);
  const ToolOutput late = python->run(Json::parse(R"json({"code":"while True: pass"})json").value(), context);
  EXPECT_EQ(openmanus_text("python_execute", late).view(),
            "Observed output of cmd `python_execute` executed:\n{'observation': 'Execution timeout after 0 "
            "seconds', 'success': False}");
  EXPECT_EQ(run("str_replace_editor", R"({"command":"view","path":"none"})"),
            "Observed output of cmd `str_replace_editor` executed:\nError: The path none does not exist. "
            "Please provide "
            "a valid path.");
  EXPECT_EQ(run("ask_human", R"({"inquire":"?"})"), "Observed output of cmd `ask_human` executed:\nyes");
  EXPECT_EQ(run("terminate", R"({"status":"failure"})"),
            "Observed output of cmd `terminate` executed:\nThe interaction has been completed with status: "
            "failure");
  EXPECT_EQ(run("planning", R"({"command":"get"})"),
            "Observed output of cmd `planning` executed:\nError: No active plan. Please specify a plan_id or "
            "set an "
            "active plan.");
}

// What Python 3.11 makes of terminate(**json.loads(arguments)).
TEST_F(OpenManusTools, TakeArgumentsAsPythonDoes) {
  const std::string problem = "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'terminate' encountered a problem: ";
  const std::string done =
      "Observed output of cmd `terminate` executed:\nThe interaction has been completed with status: ";
  const std::pair<const char*, std::string> rows[] = {
      {"{}", problem + "Terminate.execute() missing 1 required positional argument: 'status'"},
      {"", problem + "Terminate.execute() missing 1 required positional argument: 'status'"},
      {R"({"status":"ok","x":1})", problem + "Terminate.execute() got an unexpected keyword argument 'x'"},
      {R"({"x":1})", problem + "Terminate.execute() got an unexpected keyword argument 'x'"},
      {R"({"status":"maybe"})", done + "maybe"},
      {R"({"status":1,"status":2})", done + "2"},
      {R"({"status":true})", done + "True"},
      {R"({"status":null})", done + "None"},
      {R"({"status":NaN})", done + "nan"},
      {R"({"status":-Infinity})", done + "-inf"},
      {R"({"status":"\ud83d\ude00"})", done + "\U0001F600"},
      {R"({"status":"\ud800"})", done + "\uFFFD"},
      {R"({"status":"\udc00\ud800\\ud800 NaN"})", done + "\uFFFD\uFFFD\\ud800 NaN"},
  };
  for (const auto& [arguments, words] : rows) EXPECT_EQ(run("terminate", arguments), words) << arguments;
  EXPECT_EQ(run("str_replace_editor", "{}"),
            "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'str_replace_editor' encountered a problem: "
            "StrReplaceEditor.execute() missing 2 required keyword-only arguments: 'command' and 'path'");
  EXPECT_EQ(run("python_execute", "{}"),
            "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'python_execute' encountered a problem: "
            "PythonExecute.execute() missing 1 required positional argument: 'code'");
}

}  // namespace
}  // namespace parley
