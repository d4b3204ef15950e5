// Commands and Python programs, run as a model would: the hazards of openmanus.md 16 and 22 (28, 30) among
// them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "parley/base/text.h"
#include "parley/json/writer.h"
#include "parley/tool/builtin.h"

namespace parley {
namespace {

namespace fs = std::filesystem;

ToolOutput run(const std::shared_ptr<RunnableTool>& tool, std::string_view key, std::string_view text,
               ToolContext context = {}) {
  ToolBox tools;
  EXPECT_TRUE(tools.add(tool).has_value());
  tools.set_policy({{{"*", Permission::Allow}}});
  json::Writer w;
  w.begin_object().key(key).string(text).end_object();
  return tools.run({Text("id"), tool->spec().name, w.take().text()}, context);
}

std::string bash(std::string_view command) {
  const ToolOutput out = run(bash_tool(), "command", command);
  return std::string(to_string(out.status)) + ": " + out.joined_text();
}

TEST(Bash, SaysOutputErrorsAndStatus) {
  EXPECT_EQ(bash("echo hi"), "ok: hi\n[exit status 0]");
  EXPECT_EQ(bash("true"), "ok: [exit status 0]");
  EXPECT_EQ(bash("echo out; echo err >&2; exit 7"), "failed: out\n[stderr]\nerr\n[exit status 7]");
  EXPECT_EQ(bash("printf 'no line end'"), "ok: no line end\n[exit status 0]");
  EXPECT_EQ(bash("kill -9 $$"), "failed: [killed by signal 9]");
  const ToolOutput out = run(bash_tool(), "command", "echo out; echo err >&2; exit 7");
  EXPECT_EQ(out.structured->text().view(), R"({"stdout":"out\n","stderr":"err\n","exit_status":7})");
}

// Weakness 28: a comment, a heredoc, exit, the sentinel itself, much output, bytes that are no UTF-8.
TEST(Bash, NeedsNoSentinel) {
  EXPECT_EQ(bash("echo a # a comment"), "ok: a\n[exit status 0]");
  EXPECT_EQ(bash("cat <<END\nb\nEND"), "ok: b\n[exit status 0]");
  EXPECT_EQ(bash("exit 0"), "ok: [exit status 0]");
  EXPECT_EQ(bash("echo '<<exit>>'; echo more"), "ok: <<exit>>\nmore\n[exit status 0]");
  EXPECT_EQ(bash(R"(printf 'x\377y')"), "ok: x\xEF\xBF\xBDy\n[exit status 0]");
  EXPECT_EQ(bash("cat; echo end"), "ok: end\n[exit status 0]");  // its input is empty
  const std::string much = bash("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last");
  EXPECT_LT(much.size(), 65'600U);
  EXPECT_NE(much.find(" bytes cut ...]"), std::string::npos);
  EXPECT_TRUE(much.ends_with("last\n[exit status 0]"));
}

TEST(Bash, KeepsNothingBetweenCallsAndHasNoSecrets) {
  EXPECT_EQ(bash("x=1; cd /"), "ok: [exit status 0]");
  ASSERT_EQ(setenv("PARLEY_TEST_KEY", "hidden", 1), 0);
  EXPECT_EQ(bash("echo [$x$PARLEY_TEST_KEY]"), "ok: []\n[exit status 0]");
  unsetenv("PARLEY_TEST_KEY");
  ProgramOptions options;
  options.folder = "/usr";
  options.environment.emplace_back("GIVEN=yes");
  const ToolOutput out = run(bash_tool(options), "command", "pwd; echo $GIVEN");
  EXPECT_EQ(out.joined_text(), "/usr\nyes\n[exit status 0]");
}

// TOOL5
TEST(Bash, IsKilledWithAllItStarted) {
  std::string name = (fs::temp_directory_path() / "parley_bash_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "begun";
  ToolContext context;
  std::stop_source source;
  context.stop = source.get_token();
  context.timeout = std::chrono::hours(1);
  std::thread stopper([&] {
    while (!fs::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    source.request_stop();
  });
  // The second shell holds the pipes, too.
  const ToolOutput out =
      run(bash_tool(), "command", "echo begun; bash -c 'echo > " + file.string() + "; sleep 100000' & wait",
          context);
  stopper.join();
  EXPECT_EQ(out.status, ToolStatus::Interrupted);
  EXPECT_EQ(out.joined_text(), "begun\n[killed: the call was stopped]");
  context.stop = {};
  context.timeout = std::chrono::milliseconds(1);
  EXPECT_EQ(run(bash_tool(), "command", "sleep 100000", context).joined_text(),
            "[killed: timeout after 1 ms]");
  fs::remove_all(name);
}

TEST(Bash, ChangesTheWorld) {
  EXPECT_TRUE(bash_tool()->has_side_effects(Json::parse(R"({"command":"ls"})").value()));
  EXPECT_TRUE(python_tool()->has_side_effects(Json::parse(R"({"code":"1"})").value()));
}

// Weakness 30: what was printed before an error is kept.
TEST(Python, KeepsWhatWasPrinted) {
  const auto python = [](std::string_view code) {
    const ToolOutput out = run(python_tool(), "code", code);
    return std::string(to_string(out.status)) + ": " + out.joined_text();
  };
  EXPECT_EQ(python("print(1 + 2)\nprint('\u00e9')"), "ok: 3\n\u00e9\n[exit status 0]");
  const std::string failed = python("print('before')\nraise ValueError('why')");
  EXPECT_TRUE(failed.starts_with("failed: before\n[stderr]\nTraceback")) << failed;
  EXPECT_TRUE(failed.ends_with("ValueError: why\n[exit status 1]")) << failed;
  EXPECT_EQ(python("import sys\nprint('x')\nsys.exit(3)"), "failed: x\n[exit status 3]");
  EXPECT_EQ(python("#" + std::string(300'000, 'x') + "\nprint('long')"), "ok: long\n[exit status 0]");
}

}  // namespace
}  // namespace parley
