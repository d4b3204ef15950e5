// The matrix of docs/dialects.md is what the writers do: each row is a small conversation, written in every
// dialect, and each cell the worst of its notes. Set PARLEY_WRITE_DOCS to write the page anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"

namespace parley {
namespace {

constexpr std::string_view kBegin = "<!-- matrix: made by tests/docs/dialect_matrix_test.cc -->\n";
constexpr std::string_view kEnd = "<!-- end of matrix -->\n";

const Text kPng =
    Text("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");
const Text kWav = Text("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=");
const Text kNote = Text("SGkuCg==");
const Text kPdf = Text("JVBERi0xLjQKJSVFT0YK");

Message said(Role role, std::vector<Block> blocks) {
  return MessageBuilder(role).anonymous().blocks(std::move(blocks)).build().value();
}

// A user asks, the assistant calls, and this is the result.
std::vector<Message> exchange(ToolUseBlock use, ToolResultBlock result) {
  return {said(Role::User, {TextBlock{"Look."}}), said(Role::Assistant, {std::move(use)}),
          said(Role::Tool, {std::move(result)})};
}

struct Row {
  std::string name;
  std::vector<Message> messages;
};

std::vector<Row> rows() {
  const TextBlock text{"Look."};
  const ToolUseBlock use{"call_1", "look", "{\"at\":1}"};
  const ImageBlock image{Base64Source{"image/png", kPng}};
  const auto user = [&](Block block) {
    return std::vector<Message>{said(Role::User, {text, std::move(block)})};
  };
  const auto model = [&](Block block) {
    return std::vector<Message>{said(Role::User, {text}), said(Role::Assistant, {std::move(block), text})};
  };
  const auto named = [&](Text name) {
    return MessageBuilder(Role::User).anonymous().name(name).content("Hi.").build().value();
  };
  const Message system = said(Role::System, {TextBlock{"Be brief."}});
  const auto own = [](std::string_view json) {
    return RawBlock{Text("anthropic"), Json::parse(json).value()};
  };
  Block marked = TextBlock{"Look again."};
  marked.cache = CacheMark::Default;
  std::vector<Block> with_image = {TextBlock{"seen"}, image};
  return {
      {"text", {said(Role::User, {text})}},
      {"system, first", {system, said(Role::User, {text})}},
      {"system, later",
       {said(Role::User, {text}), said(Role::Assistant, {text}), system, said(Role::User, {text})}},
      {"several speakers", {named("ann"), named("bob")}},
      {"image, inline", user(image)},
      {"image, by URL", user(ImageBlock{URLSource{"https://example.org/a.png", "image/png"}})},
      {"image of the assistant", model(image)},
      {"audio, inline (wav)", user(AudioBlock{Base64Source{"audio/wav", kWav}})},
      {"video, by URL", user(VideoBlock{URLSource{"https://example.org/a.mp4", "video/mp4"}})},
      {"document, inline (pdf)", user(DocumentBlock{Base64Source{"application/pdf", kPdf}, "report.pdf"})},
      {"document, inline (text)", user(DocumentBlock{Base64Source{"text/plain", kNote}, "note.txt"})},
      {"thinking", model(ThinkingBlock{"Hm."})},
      {"thinking signed by anthropic", model(ThinkingBlock{"Hm.", "EqQB==", "anthropic"})},
      {"call and result", exchange(use, {"call_1", "look", Text("seen")})},
      {"arguments that are no JSON", exchange({"call_1", "look", "at 1"}, {"call_1", "look", Text("seen")})},
      {"id of 300 characters",
       exchange({Text::checked(std::string(300, 'x')).value(), "look", "{}"},
                {Text::checked(std::string(300, 'x')).value(), "look", Text("seen")})},
      {"name with a space", exchange({"call_1", "look up", "{}"}, {"call_1", "look up", Text("seen")})},
      {"result that is an error", exchange(use, {"call_1", "look", Text("dark"), true})},
      {"result with an image", exchange(use, {"call_1", "look", with_image})},
      {"call of a custom tool",
       exchange({"call_1", "look", "at 1", true}, {"call_1", "look", Text("seen"), {}, true})},
      {"refusal", model(TextBlock{"No.", true})},
      {"mark of a cache", user(marked)},
      {"redacted thinking of anthropic", model(own(R"({"type":"redacted_thinking","data":"Emw="})"))},
      {"summary of anthropic", model(own(R"({"type":"compaction","content":"We spoke."})"))},
      {"search result of anthropic", user(own(R"({"type":"search_result","title":"x"})"))},
      {"tool that anthropic ran", model(own(R"({"type":"server_tool_use","name":"web_search"})"))},
      {"unknown block of anthropic", user(own(R"({"type":"odd"})"))},
  };
}

std::string matrix() {
  std::ostringstream out;
  out << "| |";
  for (const DialectInfo& info : dialects()) out << " " << info.name << " |";
  out << "\n|---|";
  for (std::size_t i = 0; i < dialects().size(); ++i) out << "---|";
  out << "\n";
  std::map<std::string, std::string> codes;
  for (const Row& row : rows()) {
    out << "| " << row.name << " |";
    for (const DialectInfo& info : dialects()) {
      const auto writing = write(Conversation(row.messages), info.dialect);
      if (!writing) {
        out << " refused |";
        continue;
      }
      std::string_view worst = "yes";
      Severity severity = Severity::Info;
      for (const Note& note : writing->notes) {
        if (note.code == "identity_dropped" || note.code == "minted") continue;
        if (worst == "yes" || note.severity > severity) severity = note.severity;
        worst = to_string(severity);
        std::string& where = codes[std::string(note.code)];
        if (where.find(row.name) == std::string::npos) where += (where.empty() ? "" : ", ") + row.name;
      }
      out << " " << worst << " |";
    }
    out << "\n";
  }
  out << "\n| Note | In the rows |\n|---|---|\n";
  for (const auto& [code, where] : codes) out << "| `" << code << "` | " << where << " |\n";
  return out.str();
}

TEST(DialectMatrix, IsWhatTheDocumentationShows) {
  const std::string path = std::string(PARLEY_SOURCE_DIR) + "/docs/dialects.md";
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  const std::string page = content.str();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("PARLEY_WRITE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, from) << matrix() << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), matrix());
}

}  // namespace
}  // namespace parley
