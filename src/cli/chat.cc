#include "cli/chat.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/attach.h"
#include "cli/environment.h"
#include "cli/line_reader.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "cli/tool_choice.h"
#include "parley/dialect/dialect.h"
#include "parley/json/buffer.h"

namespace parley::cli {
namespace {

// ---- The commands of a chat

enum class Next { Goes, Ends };

struct ChatCommand {
  const char* name;
  const char* arguments;
  const char* does;
  Next (*run)(Talk& talk, const std::string& argument);
};

Next show_help(Talk& talk, const std::string& argument);

// The first word, and what stands behind it without the spaces at either end.
std::pair<std::string, std::string> first_word(const std::string& line) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
  const std::size_t rest = std::min(line.find_first_not_of(kSpaces, end), line.size());
  const std::size_t last = line.find_last_not_of(kSpaces) + 1;
  return {line.substr(0, end), line.substr(rest, std::max(rest, last) - rest)};
}

Next change_model(Talk& talk, const std::string& name) {
  if (name.empty()) {
    say(fmt::format("the model is {}", talk.model_name()));
  } else if (talk.use_model(name)) {
    say(fmt::format("the model is {} from now on", talk.model_name()));
  }
  return Next::Goes;
}

Next show_tools(Talk& talk, const std::string& /*argument*/) {
  const ToolBox& tools = talk.tools();
  if (tools.size() == 0) say("there are no tools");
  for (const Tool& tool : tools.specs()) {
    const Permission looking = tools.policy().of(tool.name.view(), false);
    const Permission changing = tools.policy().of(tool.name.view(), true);
    say(fmt::format("{:<10} {}", tool.name.view(),
                    looking == changing
                        ? std::string(to_string(looking))
                        : fmt::format("{} to look, {} to change", to_string(looking), to_string(changing))));
  }
  return Next::Goes;
}

Next continue_answer(Talk& talk, const std::string& /*argument*/) {
  talk.continue_answer();
  return Next::Goes;
}

Next undo(Talk& talk, const std::string& /*argument*/) {
  if (const auto count = talk.undo())
    say(fmt::format("{} messages are out of sight; the session keeps them", *count));
  return Next::Goes;
}

Next fork(Talk& talk, const std::string& name) {
  if (const auto id = talk.fork(name)) say(fmt::format("this is session {} from now on", *id));
  return Next::Goes;
}

Next compact(Talk& talk, const std::string& /*argument*/) {
  if (const auto count = talk.compact()) say(fmt::format("{} messages became a summary", *count));
  return Next::Goes;
}

std::string window_of(const Talk& talk) {
  const auto thousands = [](std::size_t n) {
    return n < 1000 ? std::to_string(n) : fmt::format("{:.1f}k", static_cast<double>(n) / 1000);
  };
  const std::string used = thousands(talk.tokens_used());
  return talk.model().window ? fmt::format("{}/{}", used, thousands(*talk.model().window)) : used;
}

Next show_info(Talk& talk, const std::string& /*argument*/) {
  const UsageTotals usage = talk.usage();
  say(fmt::format("session {}, {} messages shown, {} tokens of the window", talk.session(),
                  talk.messages().size(), window_of(talk)));
  say(fmt::format("model {}, {} calls: {} fresh, {} cached, {} output tokens{}", talk.model_name(),
                  usage.calls, usage.fresh, usage.cache_read, usage.output,
                  usage.calls > 0 && usage.unpriced == 0 ? fmt::format(", {:.4f} dollars", usage.cost) : ""));
  return Next::Goes;
}

// "/export [DIALECT] [FILE]": to standard output without a file.
Next export_talk(Talk& talk, const std::string& argument) {
  const auto [name, file] = first_word(argument);
  const Result<Dialect> dialect = dialect_named(name.empty() ? "parley" : name);
  if (!dialect) {
    say(dialect.error().message);
    return Next::Goes;
  }
  const Result<Writing> writing = write(Conversation(talk.messages()), *dialect);
  if (!writing) {
    say(writing.error().message);
  } else if (file.empty() || file == "-") {
    talk.screen().lines(writing->text.str() + "\n");
  } else if (print_content(writing->text.str() + "\n", file) == Exit::Ok) {
    say(fmt::format("the conversation is in {}", file));
  }
  return Next::Goes;
}

Next quit(Talk& /*talk*/, const std::string& /*argument*/) { return Next::Ends; }

constexpr ChatCommand kChatCommands[] = {
    {"/help", "", "this list", show_help},
    {"/model", "[PROVIDER/NAME]", "say or change the model", change_model},
    {"/tools", "", "the tools that are offered, and what they may", show_tools},
    {"/continue", "", "continue an answer that was cut, or a request that has none", continue_answer},
    {"/undo", "", "hide the last request and its answer", undo},
    {"/fork", "[NAME]", "go on in a new session that shares this one", fork},
    {"/compact", "", "put a summary in place of what was said", compact},
    {"/info", "", "the session, the tokens and the costs", show_info},
    {"/export", "[DIALECT] [FILE]", "write the conversation", export_talk},
    {"/quit", "", "end the talk, as the end of the input does", quit},
};

Next show_help(Talk& /*talk*/, const std::string& /*argument*/) {
  for (const ChatCommand& each : kChatCommands) {
    say(fmt::format("{:<9} {:<16} {}", each.name, each.arguments, each.does));
  }
  say("a line that ends in \\ goes on; Ctrl-C stops an answer, twice the talk");
  return Next::Goes;
}

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const ChatCommand& each : kChatCommands) out.emplace_back(each.name);
  return out;
}

Next run_command(Talk& talk, const std::string& line) {
  const auto [name, argument] = first_word(line);
  const auto* command =
      std::ranges::find_if(kChatCommands, [&](const ChatCommand& each) { return each.name == name; });
  if (command == std::end(kChatCommands)) {
    say(fmt::format("there is no command {}; /help lists them", name));
  } else if (*command->arguments == '\0' && !argument.empty()) {
    say(fmt::format("{} takes nothing behind it", name));
  } else {
    return command->run(talk, argument);
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

Exit talk_by_lines(Talk& talk, LineReader& lines, Attachments attachments) {
  Exit worst = Exit::Ok;
  bool was_interrupted = false;
  while (true) {
    const Line line = read_request(lines, lines.is_person() ? window_of(talk) + "> " : "");
    if (line.end == Line::End::Closed) return worst;
    if (line.end == Line::End::TooLong) {
      say("a line is longer than a request may be (4 MiB)");
      return worse(worst, Exit::Refused);
    }
    if (line.end == Line::End::Interrupted) {
      if (was_interrupted || !lines.is_person()) return Exit::Interrupted;
      was_interrupted = true;
      say("Ctrl-C again ends the talk, and so does Ctrl-D");
      continue;
    }
    was_interrupted = false;
    if (is_blank(line.text)) continue;
    lines.remember(line.text);
    if (line.text.starts_with('/')) {
      if (run_command(talk, line.text) == Next::Ends) return worst;
      continue;
    }
    const Outcome<Message> request = request_of(line.text, attachments);
    if (!request) {
      worst = worse(worst, request.error());
      continue;
    }
    attachments = {};
    const Exit exit = talk.ask(*request);
    if (!talk.screen().failure()) return worst;
    // A person has seen what went wrong, and may try again.
    if (lines.is_person()) continue;
    if (exit == Exit::Interrupted) return exit;
    worst = worse(worst, exit);
  }
}

// ---- One task

// What is piped in, then the words.
Outcome<std::string> with_input(const TalkOptions& options, const std::string& words) {
  const bool is_taken = std::ranges::find(options.attachments, "-") != options.attachments.end();
  const bool is_closed = (::fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;  // prepare_process()
  if (is_taken || is_closed || is_terminal(STDIN_FILENO)) return words;
  constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;
  const Result<json::Buffer> input = json::Buffer::from_file("-", kMostBytes);
  if (!input) return std::unexpected(complain(input.error(), {"-"}));
  std::string text(input->view());
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty() || words.empty()) return text + words;
  return text + "\n\n" + words;
}

Exit ask_once(TalkOptions options, const std::string& words, const std::vector<std::string>& tools,
              const char* continue_command) {
  options.continue_command = continue_command;
  const Outcome<std::string> text = with_input(options, words);
  if (!text) return text.error();
  if (options.continues_last && is_blank(*text) && options.attachments.empty()) {
    const auto talk = Talk::open(options, tools);
    return talk ? (*talk)->finish((*talk)->continue_answer()) : talk.error();
  }
  const Outcome<Attachments> attachments = read_attachments(options.attachments);
  if (!attachments) return attachments.error();
  const Outcome<Message> request = request_of(*text, *attachments);
  if (!request) return request.error();
  const auto talk = Talk::open(options, tools);
  if (!talk) return talk.error();
  return (*talk)->finish((*talk)->ask(*request));
}

}  // namespace

Exit chat(const TalkOptions& options) {
  if (std::ranges::find(options.attachments, "-") != options.attachments.end()) {
    return usage("the lines of a talk come from standard input, so -a needs a file", "chat");
  }
  const Outcome<Attachments> attachments = read_attachments(options.attachments);
  if (!attachments) return attachments.error();
  // A bad image is told now, not when the first line is typed.
  if (const auto request = request_of("-", *attachments); !request) return request.error();
  TalkOptions own = options;
  own.continue_command = "/continue";
  const auto talk = Talk::open(own, all_tools());
  if (!talk) return talk.error();
  const Result<std::string> history = user_file(Folder::State, "history");
  const std::unique_ptr<LineReader> lines =
      open_line_reader(history.value_or(std::string()), command_names());
  if (lines->is_person() && !options.quiet) {
    say(fmt::format("session {}, model {}; /help lists the commands", (*talk)->session(),
                    (*talk)->model_name()));
  }
  return (*talk)->finish(talk_by_lines(**talk, *lines, *attachments));
}

Exit run_task(const TalkOptions& options, const std::string& words) {
  return ask_once(options, words, all_tools(), "'parley run -c'");
}

Exit answer_prompt(const TalkOptions& options, const std::string& words) {
  return ask_once(options, words, {}, "'parley -c -p \"\"'");
}

}  // namespace parley::cli
