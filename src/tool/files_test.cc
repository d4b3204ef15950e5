// The editor on a real folder with traps around it: the texts of openmanus.md 16, weakness 29, and WORKSPACE1
// to WORKSPACE4.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "parley/json/writer.h"
#include "parley/tool/builtin.h"
#include "tool/workspace.h"

namespace parley {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "parley_files_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    top_ = fs::canonical(name);
    root_ = top_ / "root";
    fs::create_directories(root_ / "sub" / "deep" / "deeper");
    write(root_ / "a.txt", "one\ntwo\nthree\n");
    write(root_ / ".hidden", "x");
    write(root_ / "sub" / "b.txt", "b");
    write(root_ / "sub" / "deep" / "c.txt", "c");
    write(top_ / "secret.txt", "secret");
    fs::create_directories(top_ / "rootother");
    write(top_ / "rootother" / "x.txt", "x");
    tool_ = files_tool(root_.string()).value();
    EXPECT_TRUE(tools_.add(tool_).has_value());
    tools_.set_policy({{{"*", Permission::Allow}}});
  }
  ~Files() override { fs::remove_all(top_); }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // More arguments as the inside of an object.
  std::string run(std::string_view command, std::string_view path, std::string_view more = "") {
    json::Writer w;
    w.begin_object().key("command").string(command).key("path").string(path).end_object();
    std::string arguments = w.take_string();
    if (!more.empty()) arguments.insert(arguments.size() - 1, "," + std::string(more));
    const ToolOutput out = tools_.run({Text("id"), Text("files"), Text(arguments)});
    return (out.is_error() ? "Error: " : "") + out.joined_text();
  }

  fs::path top_, root_;
  std::shared_ptr<RunnableTool> tool_;
  ToolBox tools_;
};

TEST_F(Files, AreShownWithNumbers) {
  const std::string whole =
      "Here's the result of running `cat -n` on a.txt:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t\n";
  EXPECT_EQ(run("view", "a.txt"), whole);
  EXPECT_EQ(run("view", "./sub/../a.txt"),
            "Here's the result of running `cat -n` on ./sub/../a.txt:\n     1\tone\n     2\ttwo\n     "
            "3\tthree\n     4\t\n");
  const std::string absolute = (root_ / "a.txt").string();
  EXPECT_EQ(run("view", absolute, R"("view_range":[2,3])"),
            "Here's the result of running `cat -n` on " + absolute + ":\n     2\ttwo\n     3\tthree\n");
  EXPECT_EQ(run("view", "a.txt", R"("view_range":[3,-1])"),
            "Here's the result of running `cat -n` on a.txt:\n     3\tthree\n     4\t\n");
}

TEST_F(Files, ErrorsAreThoseOfOpenManus) {
  write(root_ / "twice.txt", "x y\nx\nx x\n");
  const struct {
    const char *command, *path, *more, *expected;
  } rows[] = {
      {"view", "none", "", "The path none does not exist. Please provide a valid path."},
      {"insert", "sub", "",
       "The path sub is a directory and only the `view` command can be used on directories"},
      {"view", "a.txt", R"("view_range":[1])", "Invalid `view_range`. It should be a list of two integers."},
      {"view", "a.txt", R"("view_range":[0,1])",
       "Invalid `view_range`: [0, 1]. Its first element `0` should be within the range of lines of the file: "
       "[1, 4]"},
      {"view", "a.txt", R"("view_range":[9,-1])",
       "Invalid `view_range`: [9, -1]. Its first element `9` should be within the range of lines of the "
       "file: "
       "[1, 4]"},
      {"view", "a.txt", R"("view_range":[1,9])",
       "Invalid `view_range`: [1, 9]. Its second element `9` should be smaller than the number of lines in "
       "the file: "
       "`4`"},
      {"view", "a.txt", R"("view_range":[3,2])",
       "Invalid `view_range`: [3, 2]. Its second element `2` should be larger or equal than its first `3`"},
      {"view", "sub", R"("view_range":[1,2])",
       "The `view_range` parameter is not allowed when `path` points to a directory."},
      {"create", "new.txt", "", "Parameter `file_text` is required for command: create"},
      {"create", "a.txt", R"("file_text":"x")",
       "File already exists at: a.txt. Cannot overwrite files using command `create`."},
      {"str_replace", "a.txt", "", "Parameter `old_str` is required for command: str_replace"},
      {"str_replace", "a.txt", R"("old_str":"four")",
       "No replacement was performed, old_str `four` did not appear verbatim in a.txt."},
      {"str_replace", "twice.txt", R"("old_str":"x")",
       "No replacement was performed. Multiple occurrences of old_str `x` in lines [1, 2, 3]. Please ensure "
       "it is "
       "unique"},
      {"insert", "a.txt", R"("new_str":"x")", "Parameter `insert_line` is required for command: insert"},
      {"insert", "a.txt", R"("insert_line":1)", "Parameter `new_str` is required for command: insert"},
      {"insert", "a.txt", R"("insert_line":99,"new_str":"x")",
       "Invalid `insert_line` parameter: 99. It should be within the range of lines of the file: [0, 4]"},
      {"undo_edit", "a.txt", "", "No edit history found for a.txt."},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(run(row.command, row.path, row.more), "Error: " + std::string(row.expected));
  }
  EXPECT_EQ(read(root_ / "a.txt"), "one\ntwo\nthree\n");
}

TEST_F(Files, FoldersAreListedTwoLevelsDeep) {
  EXPECT_EQ(run("view", "."),
            "Here's the files and directories up to 2 levels deep in ., excluding hidden items:\n"
            ".\n./a.txt\n./sub\n./sub/b.txt\n./sub/deep\n");
  fs::create_directories(root_ / "many");
  for (int i = 0; i < 1000; ++i) write(root_ / "many" / std::to_string(i), "");
  EXPECT_EQ(run("view", "many").find("more entries follow"), std::string::npos);
  write(root_ / "many" / "1000", "");
  EXPECT_NE(run("view", "many").find("more entries follow"), std::string::npos);  // WORKSPACE4
}

TEST_F(Files, AreEditedAndEditsAreUndone) {
  EXPECT_EQ(run("str_replace", "a.txt", R"("old_str":"two","new_str":"2\nzwei")"),
            "The file a.txt has been edited. Here's the result of running `cat -n` on a snippet of a.txt:\n"
            "     1\tone\n     2\t2\n     3\tzwei\n     4\tthree\n     5\t\n"
            "Review the changes and make sure they are as expected. Edit the file again if necessary.");
  EXPECT_EQ(read(root_ / "a.txt"), "one\n2\nzwei\nthree\n");
  EXPECT_TRUE(run("insert", "a.txt", R"("insert_line":0,"new_str":"zero")")
                  .starts_with(
                      "The file a.txt has been edited. Here's the result of running `cat -n` on a snippet of "
                      "the edited file:\n     1\tzero\n     2\tone\n"));
  EXPECT_EQ(read(root_ / "a.txt"), "zero\none\n2\nzwei\nthree\n");
  run("insert", "a.txt", R"("insert_line":6,"new_str":"end")");
  EXPECT_EQ(read(root_ / "a.txt"), "zero\none\n2\nzwei\nthree\n\nend");
  run("undo_edit", "a.txt");
  run("undo_edit", root_.string() + "/a.txt");
  EXPECT_EQ(
      run("undo_edit", "a.txt"),
      "Last edit to a.txt undone successfully. Here's the result of running `cat -n` on a.txt:\n     1\tone\n"
      "     2\ttwo\n     3\tthree\n     4\t\n");
  EXPECT_EQ(read(root_ / "a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(run("undo_edit", "a.txt"), "Error: No edit history found for a.txt.");
}

// Weakness 29.
TEST_F(Files, TabsStayAndUndoingACreateRemoves) {
  EXPECT_EQ(run("create", "new/deep/Makefile", R"("file_text":"all:\n\techo 1\n")"),
            "File created successfully at: new/deep/Makefile");
  run("str_replace", "new/deep/Makefile", R"("old_str":"\techo 1","new_str":"\techo 2")");
  EXPECT_EQ(read(root_ / "new/deep/Makefile"), "all:\n\techo 2\n");
  run("undo_edit", "new/deep/Makefile");
  EXPECT_EQ(run("undo_edit", "new/deep/Makefile"),
            "Last edit to new/deep/Makefile undone successfully. The file no longer exists.");
  EXPECT_FALSE(fs::exists(root_ / "new/deep/Makefile"));
  // A path is a path, and no command.
  EXPECT_EQ(run("create", "a; touch b", R"("file_text":"")"), "File created successfully at: a; touch b");
  EXPECT_FALSE(fs::exists(root_ / "b"));
}

// WORKSPACE1
TEST_F(Files, NothingLeadsOutOfTheWorkspace) {
  fs::create_symlink("../secret.txt", root_ / "out.txt");
  fs::create_symlink(top_ / "secret.txt", root_ / "absolute.txt");
  fs::create_symlink("..", root_ / "up");
  fs::create_symlink("/proc/self/root", root_ / "magic");
  fs::create_symlink("loop", root_ / "loop");
  for (const std::string& path :
       {std::string("../secret.txt"), std::string("sub/../../secret.txt"), (top_ / "secret.txt").string(),
        root_.string() + "other/x.txt", root_.string() + "/../secret.txt", std::string("/etc/passwd"),
        std::string("out.txt"), std::string("absolute.txt"), std::string("up/secret.txt"),
        "magic" + (top_ / "secret.txt").string(), std::string("loop"), std::string("..")}) {
    for (const auto& [command, more] :
         {std::pair("view", ""), std::pair("str_replace", R"("old_str":"secret","new_str":"known")"),
          std::pair("insert", R"("insert_line":0,"new_str":"known")"),
          std::pair("create", R"("file_text":"known")")}) {
      const std::string said = run(command, path, more);
      EXPECT_TRUE(said.starts_with("Error: ")) << command << " " << path << ": " << said;
    }
  }
  EXPECT_EQ(run("create", "up/new.txt", R"("file_text":"x")").substr(0, 7), "Error: ");
  EXPECT_EQ(run("create", "up/newer/new.txt", R"("file_text":"x")").substr(0, 7), "Error: ");
  EXPECT_EQ(read(top_ / "secret.txt"), "secret");
  EXPECT_FALSE(fs::exists(top_ / "new.txt"));
  EXPECT_FALSE(fs::exists(top_ / "newer"));
}

// WORKSPACE2, WORKSPACE3
TEST_F(Files, AreWrittenWholeAndLinksStay) {
  fs::permissions(root_ / "a.txt", fs::perms(0640));
  run("insert", "a.txt", R"("insert_line":0,"new_str":"x")");
  EXPECT_EQ(fs::status(root_ / "a.txt").permissions(), fs::perms(0640));
  fs::create_symlink("a.txt", root_ / "link.txt");
  EXPECT_TRUE(run("view", "link.txt").starts_with("Here's"));
  EXPECT_EQ(run("insert", "link.txt", R"("insert_line":0,"new_str":"x")"),
            "Error: The file link.txt cannot be written: it is a symbolic link: edit its target instead");
  EXPECT_TRUE(fs::is_symlink(root_ / "link.txt"));
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_EQ(run("create", "dangling", R"("file_text":"x")"),
            "Error: File already exists at: dangling. Cannot overwrite files using command `create`.");
  // Nothing is left beside the files.
  for (const auto& entry : fs::directory_iterator(root_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".parley")) << entry.path();
  }
}

TEST_F(Files, WhatIsNoTextIsSaid) {
  write(root_ / "binary", "a\xFF");
  EXPECT_EQ(run("view", "binary"), "Error: The file binary is not UTF-8 text.");
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(run("view", "fifo"), "Error: The file fifo cannot be read: not a regular file");
  write(root_ / "long.txt",
        std::string(20'000, 'x') + "\n" + std::string(9'000, 'y') + "\n" + std::string(9'000, 'z'));
  const std::string said = run("view", "long.txt");
  EXPECT_NE(said.find("[... cut ...]"), std::string::npos);
  EXPECT_NE(said.find("[... 2 more lines; view_range shows them ...]"), std::string::npos);
}

TEST_F(Files, OnlyAViewChangesNothing) {
  for (const char* command : {"view", "create", "str_replace", "insert", "undo_edit"}) {
    const Json arguments = Json::parse(std::string(R"({"command":")") + command + R"(","path":"x"})").value();
    EXPECT_EQ(tool_->has_side_effects(arguments), std::string_view(command) != "view") << command;
  }
  EXPECT_FALSE(files_tool("/no/such/folder").has_value());
}

TEST_F(Files, AnEmptyPathIsTheFolderItself) { EXPECT_EQ(run("view", ""), run("view", ".")); }

// Four lines on either side.
TEST_F(Files, AnEditIsShownWithItsNeighbours) {
  std::string text;
  for (int i = 1; i <= 20; ++i) text += "line " + std::to_string(i) + "\n";
  write(root_ / "twenty.txt", text);
  const std::string replaced =
      run("str_replace", "twenty.txt", R"("old_str":"line 10\n","new_str":"a\nb\n")");
  EXPECT_NE(replaced.find("on a snippet of twenty.txt:\n     6\tline 6\n"), std::string::npos) << replaced;
  EXPECT_NE(replaced.find("    10\ta\n    11\tb\n"), std::string::npos) << replaced;
  EXPECT_NE(replaced.find("    16\tline 15\nReview"), std::string::npos) << replaced;
  const std::string inserted = run("insert", "twenty.txt", R"("insert_line":5,"new_str":"new")");
  EXPECT_NE(inserted.find("of the edited file:\n     2\tline 2\n"), std::string::npos) << inserted;
  EXPECT_NE(inserted.find("     6\tnew\n"), std::string::npos) << inserted;
  EXPECT_NE(inserted.find("    10\tline 9\nReview"), std::string::npos) << inserted;
}

// 64 MiB of earlier texts are kept; then the oldest go.
TEST_F(Files, UndoIsBounded) {
  write(root_ / "large.txt", std::string(Workspace::kMaxFileBytes - 100, 'x') + "0");
  for (int i = 0; i < 5; ++i) {
    const std::string edit =
        R"("old_str":"x)" + std::to_string(i) + R"(","new_str":"x)" + std::to_string(i + 1) + "\"";
    EXPECT_TRUE(run("str_replace", "large.txt", edit).starts_with("The file")) << i;
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(run("undo_edit", "large.txt").starts_with("Last edit")) << i;
  EXPECT_EQ(run("undo_edit", "large.txt"), "Error: No edit history found for large.txt.");
}

// WORKSPACE4
TEST_F(Files, HaveALimit) {
  const auto workspace = Workspace::open(root_.string()).value();
  EXPECT_TRUE(workspace.create("big", std::string(Workspace::kMaxFileBytes, 'x')).has_value());
  EXPECT_EQ(workspace.read("big")->size(), Workspace::kMaxFileBytes);
  EXPECT_FALSE(workspace.create("bigger", std::string(Workspace::kMaxFileBytes + 1, 'x')).has_value());
  std::ofstream(root_ / "big", std::ios::app) << 'x';
  EXPECT_EQ(workspace.read("big").error().code, Code::LimitExceeded);
}

// What a preview promises is what run() does, and a preview does nothing.
TEST_F(Files, ArePreviewedWithoutAChange) {
  const auto preview = [&](const std::string& arguments) {
    return tools_.preview({Text("id"), Text("files"), Text(arguments)});
  };
  const auto now = [&](const fs::path& path) {
    return fs::exists(path) ? std::optional(read(path)) : std::nullopt;
  };
  struct {
    const char* path;
    const char* arguments;
    std::optional<std::string> after;
  } const rows[] = {
      {"a.txt", R"({"command":"str_replace","path":"a.txt","old_str":"two","new_str":"2"})",
       "one\n2\nthree\n"},
      {"a.txt", R"({"command":"insert","path":"a.txt","insert_line":1,"new_str":"new"})",
       "one\nnew\n2\nthree\n"},
      {"a.txt", R"({"command":"undo_edit","path":"a.txt"})", "one\n2\nthree\n"},
      {"sub/new.txt", R"({"command":"create","path":"sub/new.txt","file_text":"hello"})", "hello"},
      {"sub/new.txt", R"({"command":"undo_edit","path":"sub/new.txt"})", std::nullopt},
  };
  for (const auto& row : rows) {
    const auto before = now(root_ / row.path);
    const auto change = preview(row.arguments);
    ASSERT_TRUE(change.has_value()) << row.arguments;
    EXPECT_EQ(change->path, row.path);
    EXPECT_EQ(change->before, before);
    EXPECT_EQ(change->after, row.after);
    EXPECT_EQ(now(root_ / row.path), before) << "a preview changes nothing";
    EXPECT_FALSE(tools_.run({Text("id"), Text("files"), Text(row.arguments)}).is_error());
    EXPECT_EQ(now(root_ / row.path), row.after);
  }
  for (const char* arguments :
       {R"({"command":"view","path":"a.txt"})", R"({"command":"create","path":"a.txt","file_text":""})",
        R"({"command":"str_replace","path":"a.txt","old_str":"nothing","new_str":""})",
        R"({"command":"create","path":"../out.txt","file_text":""})", R"({"command":"create"})", "{"}) {
    EXPECT_FALSE(preview(arguments).has_value()) << arguments;
  }
  EXPECT_FALSE(tools_.preview({Text("id"), Text("none"), Text("{}")}).has_value());
}

}  // namespace
}  // namespace parley
