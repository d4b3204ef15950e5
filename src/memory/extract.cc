// The compressor that works offline: it picks, it does not write.
#include <algorithm>
#include <charconv>
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

// Errors are verbatim, as far as there is room.
std::string one_line(std::string text, std::size_t most) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return shortened_text(text, most);
}

// The most bytes of one line in a summary of `most_bytes`; errors may be longer.
struct Lengths {
  explicit Lengths(std::size_t most_bytes)
      : said(std::clamp<std::size_t>(most_bytes / 4, kLeastTextBytes, 240)), error(2 * said) {}
  std::size_t said, error;
};

// The lines of one message: a line each for what was said, called and answered.
void add_lines(const Message& message, const Lengths& most, std::vector<std::string>& lines) {
  const std::string speaker(to_string(message.role()));
  for (const Block& block : message.blocks()) {
    if (const auto* text = block.as<TextBlock>()) {
      if (!text->text.empty()) lines.push_back("- " + speaker + ": " + opening(text->text, most.said));
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      lines.push_back("- called " + use->name.str() + " " + opening(use->arguments, most.said));
    } else if (const auto* result = block.as<ToolResultBlock>()) {
      const bool failed = result->is_error.value_or(false);
      lines.push_back(
          failed ? "- error from " + result->name.str() + ": " + one_line(text_of(*result), most.error)
                 : "- result of " + result->name.str() + ": " + opening(text_of(*result), most.said));
    } else if (block.type() != BlockType::Thinking) {
      lines.push_back("- " + speaker + " gave " + std::string(to_string(block.type())));
    }
  }
}

constexpr std::string_view kHead = "Summary of the earlier conversation:";
constexpr std::string_view kOmitted = " lines left out]";

std::string omission(std::size_t lines) { return "\n[" + std::to_string(lines) + std::string(kOmitted); }

// The lines of a summary, and how many it left out itself.
void take_previous(std::string_view text, std::vector<std::string>& lines, std::size_t& omitted) {
  if (text.starts_with(kHead)) text.remove_prefix(kHead.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[') && line.ends_with(kOmitted)) {
      std::from_chars(line.data() + 1, line.data() + line.size(), omitted);
    } else if (!line.empty()) {
      lines.emplace_back(line);
    }
  }
}

}  // namespace

Result<CompressionAnswer> ExtractiveCompressor::compress(const CompressionRequest& request) {
  std::vector<std::string> lines;
  std::size_t omitted = 0;
  if (request.previous) take_previous(*request.previous, lines, omitted);
  const Lengths most(request.most_bytes);
  for (const Message& message : request.messages) add_lines(message, most, lines);
  // The newest lines that fit, and every request and error before them as long as there is room.
  std::vector<bool> is_kept(lines.size());
  std::size_t all = kHead.size();
  for (const std::string& line : lines) all += line.size() + 1;
  const bool fits = omitted == 0 && all <= request.most_bytes;
  const std::size_t frame = kHead.size() + (fits ? 0 : omission(omitted + lines.size()).size());
  std::size_t room = request.most_bytes - std::min(request.most_bytes, frame);
  std::size_t kept = 0;
  const auto keep = [&](std::size_t i) {
    if (is_kept[i] || lines[i].size() + 1 > room) return;
    is_kept[i] = true;
    ++kept;
    room -= lines[i].size() + 1;
  };
  const auto matters = [&](const std::string& line) {
    return line.starts_with("- user") || line.starts_with("- error");
  };
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (matters(lines[i])) keep(i);
  }
  for (std::size_t i = lines.size(); i-- > 0;) keep(i);
  if (kept == 0 && !lines.empty()) {
    return fail(Code::LimitExceeded,
                "no room for a summary in " + std::to_string(request.most_bytes) + " bytes");
  }
  omitted += lines.size() - kept;
  std::string out(kHead);
  if (omitted != 0) out += omission(omitted);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_kept[i]) out += "\n" + lines[i];
  }
  if (out.size() > request.most_bytes) {
    return fail(Code::LimitExceeded,
                "no room for a summary in " + std::to_string(request.most_bytes) + " bytes");
  }
  return CompressionAnswer{Text(out), request.messages.size()};
}

}  // namespace parley
