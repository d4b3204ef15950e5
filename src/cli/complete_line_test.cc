#include "cli/complete_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace parley::cli {
namespace {

namespace fs = std::filesystem;

const LineWord kWords[] = {{"/attach", true}, {"/export", true}, {"/exit", false}, {"/help", false}};

TEST(CompleteLine, KnowsTheNamesOfCommands) {
  EXPECT_EQ(completed_line("", kWords), "");
  EXPECT_EQ(completed_line("/h", kWords), "/help ");
  EXPECT_EQ(completed_line("/e", kWords), "/ex");
  EXPECT_EQ(completed_line("/exi", kWords), "/exit ");
  EXPECT_EQ(completed_line("/none", kWords), "/none");
  EXPECT_EQ(completed_line("hello /h", kWords), "hello /h");
}

TEST(CompleteLine, KnowsTheNamesOfFiles) {
  std::string name = (fs::temp_directory_path() / "parley_complete_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  fs::create_directories(name + "/folder");
  for (const char* file : {"notes.txt", "notes-2.txt", "two words.txt", ".hidden", "bad\x1b]name",
                           "folder/x.md", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\xa4"}) {
    std::ofstream(name + "/" + file) << "x";
  }
  const auto completed = [&](const std::string& line) {
    const std::string out = completed_line("/attach " + name + "/" + line, kWords);
    return out.substr(std::string("/attach " + name + "/").size());
  };
  EXPECT_EQ(completed("no"), "notes");
  EXPECT_EQ(completed("notes."), "notes.txt");
  EXPECT_EQ(completed("two w"), "two words.txt");
  EXPECT_EQ(completed("fo"), "folder/");
  EXPECT_EQ(completed("folder/"), "folder/x.md");
  EXPECT_EQ(completed("bad"), "bad") << "a name must not act on the terminal";
  EXPECT_EQ(completed(".h"), ".hidden");
  EXPECT_EQ(completed("gr"), "gr\xc3\xbc") << "whole characters";
  EXPECT_EQ(completed("none/x"), "none/x");
  EXPECT_EQ(completed_line("/export openai " + name + "/notes.", kWords),
            "/export openai " + name + "/notes.txt");
  EXPECT_EQ(completed_line("/help " + name + "/no", kWords), "/help " + name + "/no");
  fs::remove_all(name);
}

}  // namespace
}  // namespace parley::cli
