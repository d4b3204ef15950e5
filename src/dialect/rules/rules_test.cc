// The promises of parley/dialect/rules.h (S1, S3); what each rule finds is in tests/corpus/rules.
#include "parley/dialect/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace parley {
namespace {

namespace fs = std::filesystem;

constexpr auto kLastDialect = Dialect::ShareGPT;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> lines_of_cases() {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(fs::path(PARLEY_SOURCE_DIR) / "tests/corpus/rules")) {
    for (std::string& line : lines_of(entry.path())) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::vector<Finding> check(std::string_view document, Dialect dialect) {
  return check_rules(Json::parse(document).value(), dialect);
}

// S3: every code of the manual is found by some case, at the level it says, and no other code is.
TEST(Rules, AreFoundByTheirCasesAndListedInTheManual) {
  std::set<std::string> manual, found;
  for (const std::string& line : lines_of(fs::path(PARLEY_SOURCE_DIR) / "include/parley/dialect/rules.h")) {
    const std::vector<std::string> words = words_of(line);
    const bool is_row =
        words.size() > 2 && words[0] == "//" && (words[1] == "error" || words[1] == "warning");
    if (!is_row) continue;
    EXPECT_TRUE(manual.insert(words[1] + " " + words[2]).second) << line;
  }
  std::set<std::string> codes;
  for (const std::string& line : lines_of_cases()) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0] != "finding") continue;
    codes.insert(words[1]);
    found.insert((line.ends_with(" warning") ? "warning " : "error ") + words[1]);
  }
  EXPECT_GT(manual.size(), 100U);
  EXPECT_EQ(manual.size(), codes.size());
  for (const std::string& row : manual) EXPECT_TRUE(found.contains(row)) << row << " is found by no case";
}

TEST(Rules, SayWhichMessageAndWhichBlock) {
  const auto findings = check(
      R"({"tools":[{"name":"a b"}],"messages":[{"role":"user","content":"hi"},
          {"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{}}]},
          {"role":"user","content":""}]})",
      Dialect::Anthropic);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0], (Finding{"a12_tool_name", FindingLevel::Error, 0, std::nullopt, "/tools/0/name",
                                  "the name of a tool has 1 to 128 letters, digits, '_' and '-'"}));
  EXPECT_EQ(findings[1], (Finding{"a1_missing_result", FindingLevel::Error, 1, 1, "/messages/1/content/1",
                                  "the user's message that follows has no result for this call"}));
  EXPECT_EQ(findings[2], (Finding{"a6_empty_text", FindingLevel::Error, 2, std::nullopt,
                                  "/messages/2/content", "a text must not be empty"}));
}

TEST(Rules, SayWhatAMemberMustBe) {
  const auto findings = check(R"([{"role":"user","content":7}, {"content":"hi"}])", Dialect::OpenAI);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].sentence, "'content' must be a string or a list");
  EXPECT_EQ(findings[1].sentence, "the member 'role' is missing");
}

TEST(Rules, PointIntoDocumentsWithSpacesEscapesAndOddNames) {
  const auto findings = check(
      "\n [ {\"ro\\u006ce\" : \"user\", \"content\" : 7, \"a/b\": {\"content\": 7}} ] ", Dialect::OpenAI);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "/0/content");
  const auto keys = check(
      R"({"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{"properties":{"a/~b":{}}}}]})",
      Dialect::Anthropic);
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].path, "/tools/0/input_schema/properties/a~1~0b");
}

// ---- Any document

// All values of a document.
std::vector<Json> values_of(const Json& document) {
  std::vector<Json> all = {document};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json each = all[i];
    for (const Json& element : each.elements()) all.push_back(element);
    for (const Json::Member& member : each.members()) all.push_back(member.value);
  }
  return all;
}

// The document with one value replaced: by another of its own, or by one that fits nowhere.
std::string mutated(const std::string& text, std::mt19937& random) {
  static constexpr std::string_view kOdd[] = {"null", "true", "7",      "\"\"",   "\" \"",
                                              "[]",   "{}",   "[null]", "[[{}]]", "\"user\""};
  const Json document = Json::parse(text).value();
  const std::vector<Json> all = values_of(document);
  const std::string_view old = all[random() % all.size()].text();
  const std::string_view other = all[random() % all.size()].text();
  const std::string_view odd = kOdd[random() % std::size(kOdd)];
  const auto at = static_cast<std::size_t>(old.data() - document.text().data());
  return document.text().str().replace(at, old.size(), random() % 2 == 0 ? odd : other);
}

void expect_places(const std::string& text) {
  const Json document = Json::parse(text).value();
  for (int i = 1; i <= static_cast<int>(kLastDialect); ++i) {
    const auto findings = check_rules(document, static_cast<Dialect>(i));
    EXPECT_TRUE(std::ranges::is_sorted(findings, {}, &Finding::message_index));
    for (const Finding& finding : findings) {
      EXPECT_TRUE(document.at(finding.path)) << finding.code << " at " << finding.path << " in " << text;
      EXPECT_FALSE(finding.sentence.empty()) << finding.code;
    }
  }
}

// S1: whatever is done to a good document, findings are where they say.
TEST(Rules, PointToPlacesThatExist) {
  std::vector<std::string> documents;
  for (const std::string& line : lines_of(fs::path(PARLEY_SOURCE_DIR) / "tests/corpus/rules/vectors.case")) {
    if (line.starts_with("rules ")) {
      documents.emplace_back();
    } else if (!documents.empty() && !line.starts_with('#') && !line.starts_with("finding ") &&
               line != "----") {
      documents.back() += line;
    }
  }
  ASSERT_GT(documents.size(), 10U);
  std::mt19937 random(1);
  for (const std::string& document : documents) {
    expect_places(document);
    for (int round = 0; round < 100 && !::testing::Test::HasFailure(); ++round) {
      std::string text = document;
      for (int change = 0; change < 4 && text.size() < 20'000; ++change) {
        text = mutated(text, random);
        expect_places(text);
      }
    }
  }
}

TEST(Rules, KeepTenThousandFindingsOfALevel) {
  std::string text = "[";
  for (int i = 0; i < 10'001; ++i) text += R"({"role":"robot","content":null,"images":["?"]},)";
  const auto findings = check(text + "7]", Dialect::Ollama);
  EXPECT_EQ(findings.size(), 20'000U);
  EXPECT_EQ(std::ranges::count(findings, FindingLevel::Error, &Finding::level), 10'000);
}

TEST(Rules, TakeDocumentsOfAnyDepth) {
  for (const std::string_view open :
       {"[", "{\"messages\":", "{\"content\":", "[{\"role\":\"user\",\"content\":"}) {
    std::string text, end;
    for (int i = 0; i < 200; ++i) {
      text += open;
      for (const char c : open) {
        if (c == '[' || c == '{') end += c == '[' ? ']' : '}';
      }
    }
    expect_places(text + "7" + std::string(end.rbegin(), end.rend()));
  }
}

}  // namespace
}  // namespace parley
