#include "cli/chat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/attach.h"
#include "cli/chat_text.h"
#include "cli/chat_verbs.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/line_reader.h"
#include "cli/lines.h"
#include "cli/look.h"
#include "cli/template.h"
#include "cli/terminal.h"
#include "cli/tool_choice.h"
#include "parley/json/json.h"

namespace parley::cli {
namespace {

// ---- The lines of a chat

// One request: a line, and those that follow a backslash.
Line read_request(LineReader& lines, const std::string& prompt) {
  Line line = lines.read(prompt);
  while (line.end == Line::End::Whole && line.text.ends_with('\\')) {
    line.text.back() = '\n';
    const Line more = lines.read("... ");
    if (more.end == Line::End::Interrupted || more.end == Line::End::TooLong) return more;
    line.text += more.text;
    if (more.end == Line::End::Closed) break;
  }
  return line;
}

void greet(ChatSession& chat, const std::vector<AttachedImage>& attached, bool is_quiet) {
  if (is_quiet) return;
  chat.screen().set_spaced();
  const std::string about = header_text(chat.session(), chat.model().name.view(), chat.tool_count());
  StyledText header(has_colour(STDERR_FILENO));
  header.text("parley", kBoldStyle).text("  ").text(about, kDimStyle).newline();
  header.add(attached_images(STDERR_FILENO, attached)).newline();
  put(STDERR_FILENO, header);
}

// "exit" is what a shell takes; in a pipe it is a request like any other.
bool is_bare_exit(std::string_view line) { return line == "exit" || line == "quit"; }

ExitCode chat_by_lines(ChatInput& input, LineReader& lines) {
  ChatSession& chat = input.chat;
  ExitCode worst = ExitCode::Ok;
  bool was_interrupted = false;
  while (true) {
    const Line line = read_request(lines, lines.is_interactive() ? fmt::format("{} ", signs().prompt) : "");
    if (line.end == Line::End::Closed) return worst;
    if (line.end == Line::End::TooLong) {
      print_message("line too long: a request has at most 4 MiB");
      return worse(worst, ExitCode::Refused);
    }
    if (line.end == Line::End::Interrupted) {
      if (was_interrupted || !lines.is_interactive()) return ExitCode::Interrupted;
      was_interrupted = true;
      print_message("press Ctrl-C again, or Ctrl-D, to end the chat");
      continue;
    }
    was_interrupted = false;
    if (is_blank(line.text)) continue;
    lines.remember(line.text);
    if (line.text.starts_with('/')) {
      if (run_chat_verb(input, line.text) == NextLine::Ends) return worst;
      continue;
    }
    if (lines.is_interactive() && is_bare_exit(line.text)) return worst;
    const ExitCode exit = input.ask(line.text);
    if (!chat.screen().failure()) return worst;
    // The user has seen the error and may try again.
    if (lines.is_interactive()) continue;
    if (exit == ExitCode::Interrupted) return exit;
    worst = worse(worst, exit);
  }
}

// Where a session that existed before was left.
void show_last_exchange(ChatSession& chat) {
  for (const std::string& line : recap_lines(chat.window(), columns(STDERR_FILENO))) {
    chat.screen().status_line(line);
  }
}

// ---- One task

// The piped input, then the words.
CommandResult<std::string> with_input(const ChatOptions& options, const std::string& words) {
  const bool is_taken = std::ranges::find(options.attachments, "-") != options.attachments.end();
  const bool is_closed = (::fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;  // prepare_process()
  if (is_taken || is_closed || is_terminal(STDIN_FILENO)) return words;
  constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;
  const Result<json::Buffer> input = json::Buffer::from_file("-", kMostBytes);
  if (!input) return std::unexpected(report_error(input.error(), {"-"}));
  std::string text(input->view());
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty() || words.empty()) return text + words;
  return text + "\n\n" + words;
}

ExitCode ask_once(ChatOptions options, const std::string& words, const std::vector<std::string>& tools,
                  const char* continue_command) {
  options.continue_command = continue_command;
  CommandResult<std::string> text = with_input(options, words);
  if (text && !options.template_name.empty()) text = apply_template(options, *text);
  if (!text) return text.error();
  if (options.plan && is_blank(*text)) return usage_error("--plan needs a TASK", "run");
  if (options.continues_last && is_blank(*text) && options.attachments.empty()) {
    const auto chat = ChatSession::open(options, tools);
    return chat ? (*chat)->finish((*chat)->continue_answer()) : chat.error();
  }
  const CommandResult<Attachments> attachments = read_attachments(options.attachments);
  if (!attachments) return attachments.error();
  const CommandResult<Message> request = request_of(*text, *attachments);
  if (!request) return request.error();
  if (options.plan && !request->get_content_blocks({BlockType::Image}).empty()) {
    return usage_error("--plan takes no images: attach texts only", "run");
  }
  const auto chat = ChatSession::open(options, tools);
  if (!chat) return chat.error();
  return (*chat)->finish(options.plan ? (*chat)->ask_by_plan(*request) : (*chat)->ask(*request));
}

}  // namespace

ExitCode chat(const ChatOptions& options) {
  if (std::ranges::find(options.attachments, "-") != options.attachments.end()) {
    return usage_error("chat reads its lines from standard input: -a needs a file name, not '-'", "chat");
  }
  CommandResult<Attachments> attachments = read_attachments(options.attachments);
  if (!attachments) return attachments.error();
  ChatOptions own = options;
  own.continue_command = "/continue";
  const auto chat = ChatSession::open(own, all_tools());
  if (!chat) return chat.error();
  const Result<std::string> history = user_file(Folder::State, "history");
  const std::unique_ptr<LineReader> lines =
      open_line_reader(history.value_or(std::string()), chat_verb_words());
  if (lines->is_interactive()) greet(**chat, attachments->shown, options.quiet);
  if (lines->is_interactive() && !options.quiet) show_last_exchange(**chat);
  attachments->shown.clear();  // the bytes are no longer needed
  ChatInput input{**chat, *std::move(attachments), options.attachments};
  return (*chat)->finish(chat_by_lines(input, *lines));
}

ExitCode run_task(const ChatOptions& options, const std::string& words) {
  return ask_once(options, words, all_tools(), "'parley run -c'");
}

ExitCode answer_prompt(const ChatOptions& options, const std::string& words) {
  return ask_once(options, words, {}, "'parley -c -p \"\"'");
}

}  // namespace parley::cli
