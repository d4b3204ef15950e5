// The compressor that works offline: it picks, it does not write.
#include <algorithm>
#include <string>
#include <vector>

#include "base/shorten.h"
#include "parley/memory/compressor.h"

namespace parley {
namespace {

// What was said first says most. Ends at a sentence, a line, or `most` bytes.
std::string opening(std::string_view text, std::size_t most) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  std::size_t end = text.find('\n');
  for (const std::string_view stop : {". ", "! ", "? ", "\u3002", "\uFF01", "\uFF1F"}) {
    const std::size_t found = text.find(stop);
    if (found != std::string_view::npos) end = std::min(end, found + stop.size());
  }
  if (end != std::string_view::npos) text = text.substr(0, end);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return shortened_text(text, std::max(most, kLeastTextBytes));
}

std::string text_of(const ToolResultBlock& result) {
  if (const auto* text = std::get_if<Text>(&result.output)) return text->str();
  std::string out;
  if (const auto* parts = std::get_if<std::vector<Block>>(&result.output)) {
    for (const Block& part : *parts) {
      if (const auto* text = part.as<TextBlock>()) out += text->text.view();
    }
  }
  return out;
}

constexpr std::size_t kSaid = 240;   // bytes of one statement
constexpr std::size_t kError = 480;  // errors are told at more length

// An error is told word for word, as far as there is room.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return shortened_text(text, kError);
}

// The lines of one message: a line each for what was said, called and answered.
void add_lines(const Message& message, std::vector<std::string>& lines) {
  const std::string who(to_string(message.role()));
  for (const Block& block : message.blocks()) {
    if (const auto* text = block.as<TextBlock>()) {
      if (!text->text.empty()) lines.push_back("- " + who + ": " + opening(text->text, kSaid));
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      lines.push_back("- called " + use->name.str() + " " + opening(use->arguments, kSaid));
    } else if (const auto* result = block.as<ToolResultBlock>()) {
      const bool failed = result->is_error.value_or(false);
      lines.push_back(failed ? "- error from " + result->name.str() + ": " + one_line(text_of(*result))
                             : "- result of " + result->name.str() + ": " + opening(text_of(*result), kSaid));
    } else if (block.type() != BlockType::Thinking) {
      lines.push_back("- " + who + " gave " + std::string(to_string(block.type())));
    }
  }
}

}  // namespace

Result<CompressionAnswer> ExtractiveCompressor::compress(const CompressionRequest& request) {
  static constexpr std::string_view kHead = "Summary of the earlier conversation:";
  std::vector<std::string> lines;
  if (request.previous) {
    std::string_view before = *request.previous;
    if (before.starts_with(kHead)) before.remove_prefix(kHead.size());
    for (std::size_t at = 0; at < before.size();) {
      const std::size_t end = std::min(before.find('\n', at), before.size());
      if (end != at) lines.emplace_back(before.substr(at, end - at));
      at = end + 1;
    }
  }
  for (const Message& message : request.messages) add_lines(message, lines);
  // The newest lines that fit, and every request and error before them as long as there is room.
  std::vector<bool> is_kept(lines.size());
  std::size_t room = request.most_bytes - std::min(request.most_bytes, kHead.size());
  const auto keep = [&](std::size_t i) {
    if (is_kept[i] || lines[i].size() + 1 > room) return;
    is_kept[i] = true;
    room -= lines[i].size() + 1;
  };
  const auto matters = [&](const std::string& line) {
    return line.starts_with("- user") || line.starts_with("- error");
  };
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (matters(lines[i])) keep(i);
  }
  for (std::size_t i = lines.size(); i-- > 0;) keep(i);
  std::string out(kHead);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_kept[i]) out += "\n" + lines[i];
  }
  if (out.size() > request.most_bytes) return fail(Code::LimitExceeded, "there is no room for a summary");
  return CompressionAnswer{Text::repaired(out), request.messages.size()};
}

}  // namespace parley
