#include "cli/diff.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace parley::cli {
namespace {

using Kind = DiffLine::Kind;

std::string joined(const std::vector<DiffLine>& lines, Kind without) {
  std::string out;
  for (const DiffLine& line : lines) {
    if (line.kind != without) out += line.text;
  }
  return out;
}

// DIFF1, and the numbers.
std::size_t checked_edits(const std::string& before, const std::string& after) {
  const std::vector<DiffLine> lines = difference(before, after);
  EXPECT_EQ(joined(lines, Kind::Added), before);
  EXPECT_EQ(joined(lines, Kind::Removed), after);
  std::size_t old_number = 1;
  std::size_t new_number = 1;
  for (const DiffLine& line : lines) {
    EXPECT_EQ(line.number, line.kind == Kind::Removed ? old_number : new_number);
    if (line.kind != Kind::Added) ++old_number;
    if (line.kind != Kind::Removed) ++new_number;
  }
  return count_of(lines, Kind::Added) + count_of(lines, Kind::Removed);
}

std::string random_text(std::mt19937& random, std::size_t most, unsigned letters) {
  std::string out;
  for (std::size_t left = random() % (most + 1); left > 0; --left) {
    out += static_cast<char>('a' + random() % letters);
    if (left > 1 || random() % 2 == 0) out += '\n';
  }
  return out;
}

// A text with some lines removed, added and replaced.
std::string edited(std::mt19937& random, const std::string& text) {
  std::string out;
  for (const DiffLine& line : difference("", text)) {
    const auto what = random() % 20;
    if (what == 0) continue;
    if (what == 1) out += "new " + std::to_string(random() % 5) + "\n";
    out += what == 2 ? "other\n" : std::string(line.text);
  }
  return out;
}

// The removed and added lines of Debian's diff.
std::size_t edits_by_diff(const std::filesystem::path& folder, const std::string& before,
                          const std::string& after) {
  std::ofstream(folder / "a", std::ios::binary) << before;
  std::ofstream(folder / "b", std::ios::binary) << after;
  const std::string command =
      "diff --minimal --text " + (folder / "a").string() + " " + (folder / "b").string();
  std::FILE* pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::size_t out = 0;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) out += line[0] == '<' || line[0] == '>' ? 1 : 0;
  ::pclose(pipe);
  return out;
}

TEST(Diff, OfSmallTexts) {
  EXPECT_TRUE(difference("", "").empty());
  EXPECT_EQ(checked_edits("a\n", "a\n"), 0U);
  EXPECT_EQ(checked_edits("", "a"), 1U);
  EXPECT_EQ(checked_edits("a\nb\n", ""), 2U);
  EXPECT_EQ(checked_edits("a", "a\n"), 2U) << "the line feed at the end counts";
  EXPECT_EQ(checked_edits("a\nb\nc\n", "a\nx\nc\n"), 2U);
  EXPECT_EQ(checked_edits("\n\n", "\n"), 1U);
  const std::vector<DiffLine> replaced = difference("a\nb\n", "c\nd\n");
  EXPECT_EQ(replaced[0].kind, Kind::Removed);
  EXPECT_EQ(replaced[1].kind, Kind::Removed);
  EXPECT_EQ(replaced[2].kind, Kind::Added);
}

// DIFF1, DIFF2
TEST(Diff, OfRandomTextsIsAsShortAsThatOfDebiansDiff) {
  std::string name = (std::filesystem::temp_directory_path() / "parley_diff_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  std::mt19937 random(7);
  for (unsigned i = 0; i < 300; ++i) {
    const bool are_unrelated = i % 2 == 0;
    const std::string before = random_text(random, 1 + i / 2, 1 + i % 9);
    const std::string after =
        are_unrelated ? random_text(random, 1 + i / 2, 1 + i % 9) : edited(random, before);
    EXPECT_EQ(checked_edits(before, after), edits_by_diff(name, before, after)) << before << "----\n"
                                                                                << after;
  }
  std::filesystem::remove_all(name);
}

// DIFF1, DIFF3: two texts of 200,000 lines without a common one would need 40 billion steps.
TEST(Diff, OfLongTextsIsBounded) {
  std::string before;
  std::string after;
  for (int i = 0; i < 200'000; ++i) {
    before += std::to_string(i) + "\n";
    after += std::to_string(-1 - i) + "\n";
  }
  EXPECT_EQ(checked_edits(before, after), 400'000U);
  EXPECT_EQ(checked_edits(before, "first\n" + before + "last\n"), 2U);
}

TEST(Diff, IsShownWithContext) {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("5\n"), 1, "five");
  after.replace(after.find("15\n"), 2, "fifteen");
  const std::vector<DiffLine> lines = with_context(difference(before, after), 2);
  std::vector<std::size_t> numbers;
  for (const DiffLine& line : lines) numbers.push_back(line.number);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{3, 4, 5, 5, 6, 7, 13, 14, 15, 15, 16, 17}));
  EXPECT_TRUE(with_context(difference(before, before), 3).empty());
}

}  // namespace
}  // namespace parley::cli
