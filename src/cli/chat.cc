#include "cli/chat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/attach.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/line_reader.h"
#include "cli/look.h"
#include "cli/template.h"
#include "cli/terminal.h"
#include "cli/tool_choice.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::cli {
namespace {

// ---- The commands of a chat

enum class Next { Goes, Ends };

struct ChatCommand {
  const char* name;
  const char* arguments;
  const char* does;
  Next (*run)(ChatSession& chat, const std::string& argument);
};

Next show_help(ChatSession& chat, const std::string& argument);

// The first word, and the rest of the line without the spaces at either end.
std::pair<std::string, std::string> first_word(const std::string& line) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
  const std::size_t rest = std::min(line.find_first_not_of(kSpaces, end), line.size());
  const std::size_t last = line.find_last_not_of(kSpaces) + 1;
  return {line.substr(0, end), line.substr(rest, std::max(rest, last) - rest)};
}

Next change_model(ChatSession& chat, const std::string& name) {
  if (name.empty()) {
    print_message(fmt::format("model: {}", chat.model_name()));
  } else if (chat.use_model(name)) {
    print_message(fmt::format("switched to model {}", chat.model_name()));
  }
  return Next::Goes;
}

Next show_tools(ChatSession& chat, const std::string& /*argument*/) {
  const ToolBox& tools = chat.tools();
  if (tools.size() == 0) print_message("no tools available");
  for (const Tool& tool : tools.specs()) {
    const Permission looking = tools.policy().of(tool.name.view(), false);
    const Permission changing = tools.policy().of(tool.name.view(), true);
    print_message(fmt::format("{:<10} {}", tool.name.view(),
                              looking == changing ? std::string(to_string(looking))
                                                  : fmt::format("{} for reads, {} for changes",
                                                                to_string(looking), to_string(changing))));
  }
  return Next::Goes;
}

Next continue_answer(ChatSession& chat, const std::string& /*argument*/) {
  chat.continue_answer();
  return Next::Goes;
}

Next undo(ChatSession& chat, const std::string& /*argument*/) {
  if (const auto count = chat.undo())
    print_message(fmt::format("{} messages hidden from the model; still stored", *count));
  return Next::Goes;
}

Next fork(ChatSession& chat, const std::string& name) {
  if (const auto id = chat.fork(name)) print_message(fmt::format("switched to session {}", *id));
  return Next::Goes;
}

Next compact(ChatSession& chat, const std::string& /*argument*/) {
  if (const auto count = chat.compact())
    print_message(fmt::format("replaced {} messages by a summary", *count));
  return Next::Goes;
}

std::string window_of(const ChatSession& chat) {
  const auto thousands = [](std::size_t n) {
    return n < 1000 ? std::to_string(n) : fmt::format("{:.1f}k", static_cast<double>(n) / 1000);
  };
  const std::string used = thousands(chat.tokens_used());
  return chat.model().window ? fmt::format("{}/{}", used, thousands(*chat.model().window)) : used;
}

Next show_info(ChatSession& chat, const std::string& /*argument*/) {
  const UsageTotals usage = chat.usage();
  print_message(fmt::format("session {}, {} messages in the window, {} tokens", chat.session(),
                            chat.window().size(), window_of(chat)));
  print_message(
      fmt::format("model {}, {} calls: {} fresh, {} cached, {} output tokens{}", chat.model_name(),
                  usage.calls, usage.fresh, usage.cache_read, usage.output,
                  usage.calls > 0 && usage.unpriced == 0 ? fmt::format(", {:.4f} dollars", usage.cost) : ""));
  return Next::Goes;
}

// "/export [DIALECT] [FILE]": to standard output without a file.
Next export_chat(ChatSession& chat, const std::string& argument) {
  const auto [name, file] = first_word(argument);
  const Result<Dialect> dialect = dialect_named(name.empty() ? "parley" : name);
  if (!dialect) {
    print_message(dialect.error().message);
    return Next::Goes;
  }
  const Result<Writing> writing = write(Conversation(chat.window()), *dialect);
  if (!writing) {
    print_message(writing.error().message);
  } else if (file.empty() || file == "-") {
    chat.screen().lines(writing->text.str() + "\n");
  } else if (print_content(writing->text.str() + "\n", file) == ExitCode::Ok) {
    print_message(fmt::format("exported to {}", file));
  }
  return Next::Goes;
}

Next quit(ChatSession& /*chat*/, const std::string& /*argument*/) { return Next::Ends; }

constexpr ChatCommand kChatCommands[] = {
    {"/help", "", "this list", show_help},
    {"/model", "[PROVIDER/NAME]", "show or change the model", change_model},
    {"/tools", "", "available tools and their permissions", show_tools},
    {"/continue", "", "continue a cut answer, or answer an interrupted request", continue_answer},
    {"/undo", "", "hide the last request and its answer from the model", undo},
    {"/fork", "[NAME]", "continue in a new session that starts with this history", fork},
    {"/compact", "", "replace older messages by a summary", compact},
    {"/info", "", "show session, tokens and cost", show_info},
    {"/export", "[DIALECT] [FILE]", "write the conversation", export_chat},
    {"/quit", "", "end the chat (also Ctrl-D)", quit},
};

Next show_help(ChatSession& /*chat*/, const std::string& /*argument*/) {
  for (const ChatCommand& each : kChatCommands) {
    print_message(fmt::format("{:<9} {:<16} {}", each.name, each.arguments, each.does));
  }
  print_message("end a line with \\ to continue it; press Ctrl-C to stop an answer, twice to end the chat");
  return Next::Goes;
}

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const ChatCommand& each : kChatCommands) out.emplace_back(each.name);
  return out;
}

Next run_command(ChatSession& chat, const std::string& line) {
  const auto [name, argument] = first_word(line);
  const auto* command =
      std::ranges::find_if(kChatCommands, [&](const ChatCommand& each) { return each.name == name; });
  if (command == std::end(kChatCommands)) {
    print_message(fmt::format("unknown command {}; /help lists the commands", name));
  } else if (*command->arguments == '\0' && !argument.empty()) {
    print_message(fmt::format("{} takes no argument", name));
  } else {
    return command->run(chat, argument);
  }
  return Next::Goes;
}

// ---- The lines of a chat

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

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

void greet(ChatSession& chat, const std::vector<std::string>& attached, bool is_quiet) {
  if (is_quiet) return;
  chat.screen().set_spaced();
  const std::string about = header_text(chat.session(), chat.model().name.view(), chat.tool_count());
  StyledText header(has_colour(STDERR_FILENO));
  header.text("parley", kBoldStyle).text("  ").text(about, kDimStyle).newline();
  for (const std::string& line : attached) header.text("  ").text(line, kDimStyle).newline();
  header.newline();
  put(STDERR_FILENO, header);
}

ExitCode chat_by_lines(ChatSession& chat, LineReader& lines, Attachments attachments) {
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
      if (run_command(chat, line.text) == Next::Ends) return worst;
      continue;
    }
    const CommandResult<Message> request = request_of(line.text, attachments);
    if (!request) {
      worst = worse(worst, request.error());
      continue;
    }
    attachments = {};
    const ExitCode exit = chat.ask(*request);
    if (!chat.screen().failure()) return worst;
    // The user has seen the error and may try again.
    if (lines.is_interactive()) continue;
    if (exit == ExitCode::Interrupted) return exit;
    worst = worse(worst, exit);
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
  const CommandResult<Attachments> attachments = read_attachments(options.attachments);
  if (!attachments) return attachments.error();
  ChatOptions own = options;
  own.continue_command = "/continue";
  const auto chat = ChatSession::open(own, all_tools());
  if (!chat) return chat.error();
  const Result<std::string> history = user_file(Folder::State, "history");
  const std::unique_ptr<LineReader> lines =
      open_line_reader(history.value_or(std::string()), command_names());
  if (lines->is_interactive()) greet(**chat, attachments->lines, options.quiet);
  return (*chat)->finish(chat_by_lines(**chat, *lines, *attachments));
}

ExitCode run_task(const ChatOptions& options, const std::string& words) {
  return ask_once(options, words, all_tools(), "'parley run -c'");
}

ExitCode answer_prompt(const ChatOptions& options, const std::string& words) {
  return ask_once(options, words, {}, "'parley -c -p \"\"'");
}

}  // namespace parley::cli
