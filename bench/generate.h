// Seeded conversations in OpenManus' format, like those agents leave behind: mostly tool results, full of
// code, JSON and terminal output. The same seed gives the same bytes on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Call {
  std::string id, name, arguments;
};

// One message as plain texts. Empty members are left out of the document, but for content.
struct Turn {
  std::string role, content, name, tool_call_id, base64_image;
  std::vector<Call> calls;
};

enum class Spelling : std::uint8_t {
  Raw,      // UTF-8 as it is
  Escaped,  // \uXXXX for what is not ASCII, as Python's json writes by default
};

// 1,000 messages: 1 of the system, 96 of the user, 408 of the assistant (313 with one to three tool calls)
// and 495 tool results. `with_images` puts some 200 KB of base64 into 3 % of the messages.
std::vector<Turn> make_conversation(std::uint64_t seed, bool with_images);

// `count` messages of 135 bytes each: question, tool call, result, answer.
std::vector<Turn> make_tiny_conversation(std::size_t count);

// The turns as a compact JSON list, in OpenManus' order of members.
std::string to_document(const std::vector<Turn>& turns, Spelling spelling);

struct Document {
  std::string name;  // "text", "mixed", "\\u" or "tiny"
  std::vector<Turn> turns;
  std::string json;
};
std::vector<Document> make_documents();

// A table of sizes and shares, so that a reader can see what was measured.
std::string describe(const std::vector<Document>& documents);

}  // namespace bench
