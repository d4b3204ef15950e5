// Changes of JSON documents that leave them JSON: most changes of bytes end at the parser, and what comes
// behind the parser is to be tried, too. For targets whose first byte chooses a dialect and whose rest is the
// document; to be included by one file of a target, which gets libFuzzer's two hooks with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json/judge_testing.h"

namespace rearrange {

using parley::json::judge::Document;
using parley::json::judge::Node;

constexpr std::size_t kDepth = 50;  // of what is rearranged, as the judge recurses

inline constexpr std::string_view kValues[] = {
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e400",
    "\"\"",
    "\" \"",
    "\"\\u0020\\n\"",
    "\"\\f\\u000B\"",
    "\"\\u00a0\"",
    "\"\\ud800\"",
    "\"x\"",
    "\"{}\"",
    "\"[1]\"",
    "\"data:image/png;base64,iVBORw0KGgo=\"",
    "\"https://a.test/b.gif\"",
    "[]",
    "{}",
    "[{}]",
    "[\"\"]",
    "[null]",
    "{\"a\":1}",
    "\"user\"",
    "\"assistant\"",
    "\"system\"",
    "\"developer\"",
    "\"tool\"",
    "\"function\"",
    "\"model\"",
    "\"human\"",
    "\"gpt\"",
    "\"observation\"",
    "\"text\"",
    "\"input_text\"",
    "\"output_text\"",
    "\"refusal\"",
    "\"thinking\"",
    "\"redacted_thinking\"",
    "\"reasoning\"",
    "\"image\"",
    "\"audio\"",
    "\"video\"",
    "\"document\"",
    "\"file\"",
    "\"raw\"",
    "\"tool_use\"",
    "\"tool_result\"",
    "\"tool_call\"",
    "\"tool_call_response\"",
    "\"function_call\"",
    "\"function_call_output\"",
    "\"custom\"",
    "\"message\"",
    "\"anthropic\"",
    "\"gemini\"",
    "\"image/png\"",
    "\"video/mp4\"",
    "\"application/pdf\"",
    "\"error\"",
};

inline constexpr std::string_view kNames[] = {
    "a",
    "role",
    "content",
    "type",
    "id",
    "name",
    "text",
    "input",
    "output",
    "arguments",
    "source",
    "metadata",
    "extra",
    "base64_image",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "function",
    "function_call",
    "reasoning_content",
    "thinking",
    "signature",
    "refusal",
    "images",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "instructions",
    "call_id",
    "encrypted_content",
    "summary",
    "status",
    "tool_use_id",
    "is_error",
    "cache_control",
    "contents",
    "parts",
    "thought",
    "thoughtSignature",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "response",
    "systemInstruction",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "image",
    "document",
    "format",
    "conversations",
    "from",
    "value",
    "choices",
    "candidates",
    "message",
    "stop_reason",
    "usage",
    "origin",
    "raw_input",
};

template <typename T>
const auto& one_of(const T& list, std::mt19937& random) {
  return std::data(list)[random() % std::size(list)];
}

// All values of a document.
inline void collect(const Node& node, std::vector<const Node*>& into) {
  into.push_back(&node);
  for (const Node& element : node.elements) collect(element, into);
  for (const auto& member : node.members) collect(member.value, into);
}
inline const Node& any_of(const Node& root, std::mt19937& random) {
  std::vector<const Node*> all;
  collect(root, all);
  return *one_of(all, random);
}

// The elements of an array, or the members of an object with their names.
inline std::vector<std::string> items(std::string_view document, const Node& node) {
  std::vector<std::string> out;
  for (const Node& element : node.elements) {
    out.emplace_back(document.substr(element.begin, element.end - element.begin));
  }
  for (const auto& member : node.members) {
    out.emplace_back(document.substr(member.begin, member.value.end - member.begin));
  }
  return out;
}

// Puts a value or a part of `from`, which may be the same document, into `into`, or takes a part out.
inline std::string rearranged(std::string_view into, const Node& into_root, std::string_view from,
                              const Node& from_root, std::mt19937& random) {
  const Node& chosen = any_of(into_root, random);
  const Node& other = any_of(from_root, random);
  const auto fresh_value = [&] {
    return std::string(random() % 2 == 0 ? one_of(kValues, random)
                                         : from.substr(other.begin, other.end - other.begin));
  };
  std::vector<std::string> parts = items(into, chosen);
  const bool is_object = chosen.type == '{';
  std::string value;
  if ((is_object || chosen.type == '[') && random() % 3 != 0) {
    const std::vector<std::string> others =
        other.type == chosen.type ? items(from, other) : std::vector<std::string>();
    const std::size_t at = random() % (parts.size() + 1);
    const auto place = parts.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 5) {
      case 0:
        if (at < parts.size()) parts.erase(place);
        break;
      case 1:
        if (at < parts.size()) std::swap(parts[at], parts[random() % parts.size()]);
        break;
      case 2:
        if (!others.empty()) parts.insert(place, one_of(others, random));
        break;
      default: {
        std::string fresh;
        if (is_object) fresh.append("\"").append(one_of(kNames, random)).append("\":");
        parts.insert(place, fresh + fresh_value());
      }
    }
    value = is_object ? "{" : "[";
    for (const std::string& part : parts) value += (value.size() > 1 ? "," : "") + part;
    value += is_object ? "}" : "]";
  } else {
    value = fresh_value();
  }
  return std::string(into.substr(0, chosen.begin)) + value + std::string(into.substr(chosen.end));
}

inline std::string_view document_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data) + 1, size - 1};
}

}  // namespace rearrange

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size > 1 && random() % 4 != 0) {
    std::string changed(rearrange::document_of(data, size));
    for (unsigned times = 1 + random() % 3; times > 0; --times) {
      const rearrange::Document document(changed, rearrange::kDepth);
      if (!document.accepted) break;
      changed = rearrange::rearranged(changed, document.root, changed, document.root, random);
    }
    if (changed.size() < max_size && changed != rearrange::document_of(data, size)) {
      changed.copy(reinterpret_cast<char*>(data) + 1, changed.size());
      return changed.size() + 1;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

// The document of the first with something of the second, whatever its dialect.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size,
                                                 std::uint8_t* out, std::size_t max_size, unsigned seed) {
  if (first_size < 2 || second_size < 2) return 0;
  std::mt19937 random(seed);
  const std::string_view into = rearrange::document_of(first, first_size);
  const std::string_view from = rearrange::document_of(second, second_size);
  const rearrange::Document into_read(into, rearrange::kDepth);
  const rearrange::Document from_read(from, rearrange::kDepth);
  if (!into_read.accepted || !from_read.accepted) return 0;
  const std::string changed = rearrange::rearranged(into, into_read.root, from, from_read.root, random);
  if (changed.size() >= max_size) return 0;
  out[0] = first[0];
  changed.copy(reinterpret_cast<char*>(out) + 1, changed.size());
  return changed.size() + 1;
}
