// What OpenManus says of the outcome of a call: execute_tool() of app/agent/toolcall.py.
#include <array>

#include "agent/loop.h"
#include "dialect/python.h"

namespace parley::agent {
namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\x";
      out += kHex[c >> 4U];
      out += kHex[c & 15U];
  }
}

// A string as repr() has it: in single quotes, unless it holds those and no double ones. What Python takes
// for not printable beyond ASCII stays as it is.
void append_repr(std::string& out, std::string_view text) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') out += '\\';
    if (byte < 0x20 || byte == 0x7F) {
      append_escape(out, byte);
    } else {
      out += c;
    }
  }
  out += quote;
}

// The end of the JSON string that begins at `at`, behind its quote.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

// What Python takes for false.
bool is_falsy(const Json& json) {
  const std::string_view text = json.compact().text();
  for (const std::string_view falsy : {"null", "\"\"", "0", "0.0", "false", "{}", "[]"}) {
    if (text == falsy) return true;
  }
  return false;
}

// The value a tool gave back as str() has it; nothing if Python takes it for false.
std::optional<std::string> text_of(const ToolOutput& output) {
  std::string text = output.joined_text();
  if (!text.empty()) return text;
  if (!output.structured || is_falsy(*output.structured)) return std::nullopt;
  if (const auto string = output.structured->as_string()) return string->str();
  return python_repr(*output.structured);
}

std::string problem(std::string_view name, std::string_view what) {
  return "Error: \u26A0\uFE0F Tool '" + std::string(name) + "' encountered a problem: " + std::string(what);
}

std::string observed(std::string_view name, std::string_view what) {
  return "Observed output of cmd `" + std::string(name) + "` executed:\n" + std::string(what);
}

std::string words_of(std::string_view name, const ToolOutput& output) {
  const std::optional<std::string> text = text_of(output);
  switch (output.status) {
    case ToolStatus::Unnamed:
      return "Error: Invalid command format";
    case ToolStatus::Unknown:
      return "Error: Unknown tool '" + std::string(name) + "'";
    case ToolStatus::NotJson:
      return "Error: Error parsing arguments for " + std::string(name) + ": Invalid JSON format";
    case ToolStatus::Broken:
      return problem(name, text.value_or(""));
    case ToolStatus::Failed:
    case ToolStatus::Denied:
    case ToolStatus::Interrupted:
      if (text) return observed(name, "Error: " + *text);
      break;
    case ToolStatus::Ok:
      if (text) return observed(name, *text);
      // A result that is an image and no text is true, but has no text form.
      if (!output.content.empty() && output.content.back().type() != BlockType::Text) {
        return problem(name, "__str__ returned non-string (type NoneType)");
      }
      break;
  }
  return "Cmd `" + std::string(name) + "` completed with no output";
}

}  // namespace

std::string python_repr(const Json& json) {
  std::string spelled;
  dialect::append_python(spelled, json.text(), dialect::Gaps::Spaces);
  const std::string_view in = spelled;
  std::string out;
  for (std::size_t i = 0; i < in.size();) {
    if (in[i] == '"') {
      const std::size_t end = string_end(in, i);
      append_repr(out, *Json::trusted(Text::repaired(in.substr(i, end - i))).as_string());
      i = end;
      continue;
    }
    std::size_t taken = 1;
    std::string_view word = in.substr(i, 1);
    constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"true", "True"}, {"false", "False"}, {"null", "None"}});
    for (const auto& [ours, theirs] : kWords) {
      if (!in.substr(i).starts_with(ours)) continue;
      taken = ours.size();
      word = theirs;
    }
    out += word;
    i += taken;
  }
  return out;
}

Text openmanus_words(const ToolUseBlock& use, const ToolOutput& output) {
  return Text::repaired(words_of(use.name, output));
}

}  // namespace parley::agent
