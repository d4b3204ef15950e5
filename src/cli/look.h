// The look of the command at a terminal: its signs, its numbers, and the lines of a chat.
//
//   parley  today · claude-sonnet-4-5 · 6 tools · /help
//     ✓ files  read log/2026-11-16.md                              4 ms
//     ✗ culvert_status  FRY-02: no answer within 10 s            10.0 s
//     19,395 of 32,000 tokens · $0.0096 · 4.1 s · 1 tool failed
//
// Where the locale is not UTF-8 the signs are ASCII. Functions that return text do not print. One thread at a
// time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/markdown_lines.h"
#include "parley/agent/event.h"

namespace parley::cli {

struct Signs {
  std::string_view prompt, done, failed, minus, rule, times;
  std::string_view separator;  // with the spaces around it
  std::span<const std::string_view> spinner;
};
// By LC_ALL, LC_CTYPE and LANG, the first that is set.
bool locale_is_utf8();
const Signs& signs();

// How Markdown looks on a terminal with this descriptor.
MarkdownLook markdown_look(int fd);

std::string with_commas(std::uint64_t number);  // 18,204
// "1 message", "2 messages"
std::string counted(std::size_t count, std::string_view what);
std::string short_duration(std::chrono::microseconds time);  // 4 ms, 10.0 s

// What a call is asked to do, in one line: the values of its arguments, "read log/x.md".
std::string summary_of_arguments(std::string_view arguments);

// A line of an aside: what is at its left, and at its right edge. A failure is red.
struct AsideLine {
  std::string left, right = {};
  bool is_failure = false;
};
AsideLine tool_line(const agent_event::ToolEnded& ended);
// The line in at most `columns`, the right part at the edge; 0: any number, and nothing is aligned or cut.
std::string laid_out(const AsideLine& line, std::size_t columns);

struct AnswerStatus {
  std::size_t tokens = 0;
  std::optional<std::size_t> window = {};
  std::optional<double> cost = {};    // dollars
  std::chrono::microseconds time{0};  // of the model
  std::size_t failed_tools = 0;
};
std::string status_text(const AnswerStatus& status);  // what is known of it

// The first line of a chat: "parley", and what follows it.
std::string header_text(std::string_view session, std::string_view model, std::size_t tools);

}  // namespace parley::cli
