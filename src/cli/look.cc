#include "cli/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "parley/json/json.h"

namespace parley::cli {
namespace {

constexpr std::string_view kBrailleFrames[] = {"\u280b", "\u2819", "\u2839", "\u2838", "\u283c",
                                               "\u2834", "\u2826", "\u2827", "\u2807", "\u280f"};
constexpr std::string_view kAsciiFrames[] = {"|", "/", "-", "\\"};
constexpr Signs kUtf8Signs = {"\u203a", "\u2713", "\u2717",   "\u2212",
                              "\u2500", "\u00d7", " \u00b7 ", kBrailleFrames};
constexpr Signs kAsciiSigns = {">", "ok", "!!", "-", "-", "x", ", ", kAsciiFrames};

constexpr std::size_t kWidestLine = 72;  // of an aside: a number far from its name is hard to read

std::string first_line_of(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  return std::string(text.substr(0, end)).append(end + 1 < text.size() ? " ..." : "");
}

// Terminals that open a link by a click, and so need no address beside it.
bool opens_links() {
  const std::string program = from_environment("TERM_PROGRAM");
  const std::string term = from_environment("TERM");
  if (term.starts_with("tmux") || term.starts_with("screen")) return false;
  const auto is_set = [](const char* name) { return !from_environment(name).empty(); };
  return term == "xterm-kitty" || term == "xterm-ghostty" || term.starts_with("foot") ||
         term == "alacritty" || program == "iTerm.app" || program == "WezTerm" || program == "ghostty" ||
         program == "vscode" || is_set("KITTY_WINDOW_ID") || is_set("VTE_VERSION") || is_set("WT_SESSION") ||
         is_set("KONSOLE_VERSION");
}

}  // namespace

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = from_environment(name);
    if (locale.empty()) continue;
    std::ranges::transform(locale, locale.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

const Signs& signs() { return locale_is_utf8() ? kUtf8Signs : kAsciiSigns; }

MarkdownLook markdown_look(int fd) { return {has_colour(fd), locale_is_utf8(), opens_links(), columns(fd)}; }

std::string with_commas(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string short_duration(std::chrono::microseconds time) {
  const double ms = static_cast<double>(time.count()) / 1000;
  return ms < 999.5 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
}

std::string summary_of_arguments(std::string_view arguments) {
  const Result<Json> parsed = Json::parse(arguments);
  if (!parsed || !parsed->is_object()) return first_line_of(arguments);
  std::string out;
  for (const auto& member : parsed->members()) {
    const std::optional<Text> text = member.value.as_string();
    out += out.empty() ? "" : " ";
    out += text ? first_line_of(text->view()) : member.value.text().str();
  }
  return out;
}

AsideLine tool_line(const agent_event::ToolEnded& ended) {
  constexpr std::size_t kMostBeforeReason = 40;
  const bool is_failure = ended.output.is_error();
  std::string summary =
      summary_of_arguments(ended.output.edited_arguments.value_or(ended.use.arguments).view());
  if (is_failure) {
    const std::string reason = first_line_of(ended.output.joined_text());
    const bool is_said = ended.output.status == ToolStatus::Failed;
    summary = fmt::format("{}{}{}{}{}", fitted(summary, kMostBeforeReason), summary.empty() ? "" : ": ",
                          is_said ? "" : to_string(ended.output.status),
                          is_said || reason.empty() ? "" : ": ", reason);
  }
  return {fmt::format("  {} {}{}{}", is_failure ? signs().failed : signs().done, ended.use.name.view(),
                      summary.empty() ? "" : "  ", summary),
          ended.time.count() > 0 ? short_duration(ended.time) : "", is_failure};
}

std::string laid_out(const AsideLine& line, std::size_t columns) {
  const std::string left = visible(line.left);
  if (columns == 0) return line.right.empty() ? left : fmt::format("{}  {}", left, line.right);
  const std::size_t widest = std::min(columns - std::min<std::size_t>(columns, 1), kWidestLine);
  if (line.right.empty()) return fitted(left, widest);
  constexpr std::size_t kLeast = 16;  // of the left part: a narrow terminal has no right part
  const std::size_t right = display_width(line.right) + 2;
  if (widest < kLeast + right) return fitted(left, widest);
  const std::string cut = fitted(left, widest - right);
  const std::size_t used = display_width(cut) + right;
  return fmt::format("{}{}{}", cut, std::string(2 + widest - std::min(widest, used), ' '), line.right);
}

std::string status_text(const AnswerStatus& status) {
  const std::string_view separator = signs().separator;
  std::string out = "  " + with_commas(status.tokens);
  if (status.window) out += " of " + with_commas(*status.window);
  out += " tokens";
  if (status.cost) out += fmt::format("{}${:.4f}", separator, *status.cost);
  if (status.time.count() > 0) out += fmt::format("{}{}", separator, short_duration(status.time));
  if (status.failed_tools > 0) {
    out += fmt::format("{}{} failed", separator, counted(status.failed_tools, "tool"));
  }
  return out;
}

std::string header_text(std::string_view session, std::string_view model, std::size_t tools) {
  const std::string_view separator = signs().separator;
  return fmt::format("{}{}{}{}{}{}/help", session, separator, model, separator, counted(tools, "tool"),
                     separator);
}

}  // namespace parley::cli
