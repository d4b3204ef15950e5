#include "cli/chat_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/look.h"
#include "cli/table.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr std::size_t kRequestLines = 3;
constexpr std::size_t kAnswerLines = 8;

// The messages of a window, by what they are to a user.
constexpr std::pair<Role, std::string_view> kKinds[] = {{Role::System, "summaries"},
                                                        {Role::User, "requests"},
                                                        {Role::Assistant, "answers"},
                                                        {Role::Tool, "results"}};

std::string block_words(const Block& block) {
  if (const auto* text = block.as<TextBlock>()) return text->text.str();
  if (const auto* use = block.as<ToolUseBlock>())
    return fmt::format("[{} {}]", use->name.view(), use->arguments.view());
  if (const auto* result = block.as<ToolResultBlock>()) {
    const auto* text = std::get_if<Text>(&result->output);
    return fmt::format("[{} returned {}]", result->name.view(),
                       text != nullptr ? text->view() : "several blocks");
  }
  if (block.as<ImageBlock>() != nullptr) return "[image]";
  return "";
}

std::string words_of(const Message& message) {
  std::string out;
  for (const Block& block : message.blocks()) {
    const std::string words = block_words(block);
    if (!words.empty()) out += (out.empty() ? "" : " ") + words;
  }
  return out;
}

// The first lines of a text, each after `start` or as many spaces.
void add_first_lines(std::vector<std::string>& out, std::string_view text, const std::string& start,
                     std::size_t most, std::size_t columns) {
  const std::string indent(display_width(start), ' ');
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (++count <= most) {
      out.push_back((count == 1 ? start : indent) + short_line(line, columns - indent.size() - 1));
    }
  }
  if (count > most) out.push_back(fmt::format("{}[{}]", indent, counted(count - most, "more line")));
}

}  // namespace

std::span<const Message> last_exchange(std::span<const Message> messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role() == Role::User) return messages.subspan(i);
  }
  return {};
}

std::string short_line(std::string_view text, std::size_t most) {
  constexpr std::size_t kLongestLook = 4000;  // bytes, more than a line has
  const bool is_cut = text.size() > kLongestLook;
  std::string out;
  for (const char c : text.substr(0, is_cut ? utf8_floor(text, kLongestLook) : text.size())) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return fitted(is_cut ? out + " ..." : out, most);
}

std::vector<std::string> token_lines(const TokenUse& use, const TokenCounter& counter) {
  std::vector<std::string> lines;
  std::size_t total = 0;
  const auto add = [&](std::string_view name, std::size_t tokens, const std::string& of) {
    total += tokens;
    lines.push_back(fmt::format("  {:<14}{:>9}{}{}", name, with_commas(tokens), of.empty() ? "" : "  ", of));
  };
  if (!use.system.empty()) add("system prompt", counter.count_text(use.system), "");
  if (!use.tools.empty()) add("tools", counter.count_tools(use.tools), counted(use.tools.size(), "tool"));
  for (const auto& [role, name] : kKinds) {
    std::size_t tokens = 0;
    std::size_t count = 0;
    for (const Message& message : use.messages) {
      if (message.role() != role) continue;
      tokens += counter.count(message);
      ++count;
    }
    if (count > 0) add(name, tokens, counted(count, "message"));
  }
  const std::string share =
      use.window ? fmt::format(" of {} ({}%)", with_commas(*use.window), total * 100 / *use.window) : "";
  lines.insert(lines.begin(),
               fmt::format("{}{} tokens{}", counter.is_exact() ? "" : "about ", with_commas(total), share));
  if (use.budget) {
    lines.push_back(fmt::format("message budget: {} tokens; older messages leave the window above it",
                                with_commas(*use.budget)));
  }
  return lines;
}

std::vector<std::string> history_lines(std::span<const Message> messages, std::size_t count,
                                       std::size_t columns) {
  constexpr std::size_t kBefore = 20;  // the columns before the text
  std::vector<std::string> out;
  for (std::size_t i = messages.size() - std::min(count, messages.size()); i < messages.size(); ++i) {
    const std::size_t room = columns > 2 * kBefore ? columns - kBefore : kBefore;
    out.push_back(fmt::format("  {:>4}  {:<9}  {}", i + 1, to_string(messages[i].role()),
                              short_line(words_of(messages[i]), room)));
  }
  return out;
}

std::vector<std::string> recap_lines(std::span<const Message> messages, std::size_t columns) {
  const std::span<const Message> last = last_exchange(messages);
  std::vector<std::string> out;
  if (last.empty()) return out;
  const std::size_t width = std::max<std::size_t>(columns, 20);
  add_first_lines(out, words_of(last.front()), fmt::format("{} ", signs().prompt), kRequestLines, width);
  if (last.back().role() == Role::Assistant) {
    add_first_lines(out, words_of(last.back()), "  ", kAnswerLines, width);
  }
  return out;
}

}  // namespace parley::cli
