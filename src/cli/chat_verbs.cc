// The table of the commands, and one function for each.
#include "cli/chat_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/chat_text.h"
#include "cli/diagnostics.h"
#include "cli/editor.h"
#include "cli/look.h"
#include "cli/secrets.h"
#include "cli/suggestion.h"
#include "cli/terminal.h"
#include "parley/dialect/dialect.h"
#include "parley/token/counter.h"

namespace parley::cli {
namespace {

using VerbFunction = void (*)(ChatInput& input, const std::string& argument);

enum class VerbGroup : std::uint8_t { Answer, Session, Context, Model, Leave };
constexpr const char* kGroupNames[] = {"Answer", "Session", "Context", "Model and tools", "Leave"};

struct Verb {
  VerbGroup group;
  const char* name;
  const char* arguments;
  const char* does;  // null: not in the list
  VerbFunction run;  // null: ends the chat
  bool takes_file = false;
};

// A line for the user. A pipe gets the form of other messages.
void say(std::string_view line) {
  if (!is_terminal(STDERR_FILENO)) return print_message(line);
  const std::string text = visible(without_secrets(line)) + "\n";
  show(STDERR_FILENO, {text});
}

// The first word, and the rest of the line without the spaces at either end.
std::pair<std::string, std::string> first_word(const std::string& line) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
  const std::size_t rest = std::min(line.find_first_not_of(kSpaces, end), line.size());
  const std::size_t last = line.find_last_not_of(kSpaces) + 1;
  return {line.substr(0, end), line.substr(rest, std::max(rest, last) - rest)};
}

// ---- Answer

void retry_answer(ChatInput& input, const std::string& /*argument*/) { input.chat.retry(); }

void continue_answer(ChatInput& input, const std::string& /*argument*/) { input.chat.continue_answer(); }

// The images of the replaced request are sent again.
void ask_in_place(ChatInput& input, const std::string& text, const Message& replaced) {
  Attachments attachments = input.attachments;
  std::ranges::move(replaced.get_content_blocks({BlockType::Image}), std::back_inserter(attachments.images));
  const CommandResult<Message> request = request_of(text, attachments);
  if (!request || !input.chat.undo()) return;
  input.clear_attachments();
  input.chat.ask(*request);
}

// Without a draft, the edited request takes the place of the last one.
void edit_request(ChatInput& input, const std::string& draft) {
  if (!UserPrompt::is_available()) return print_message("/edit needs a terminal");
  const std::vector<Message> shown = input.chat.window();
  const std::span<const Message> last = last_exchange(shown);
  const bool is_new = !draft.empty() || last.empty();
  const std::string before = is_new ? draft : last.front().get_text_content().value_or(Text()).str();
  const Result<std::optional<std::string>> text = edit_text(before + "\n");
  if (!text) return print_message(text.error().message);
  if (!*text) return say("cancelled: nothing was saved");
  if (is_new) {
    input.ask(**text);
  } else {
    ask_in_place(input, **text, last.front());
  }
}

void undo_request(ChatInput& input, const std::string& /*argument*/) {
  if (const auto count = input.chat.undo())
    say(fmt::format("{} hidden from the model; still stored", counted(*count, "message")));
}

void save_answer(ChatInput& input, const std::string& argument) {
  if (argument.empty()) return print_message("/save needs a file name");
  const std::vector<Message> shown = input.chat.window();
  const auto is_answer = [](const Message& each) {
    return each.role() == Role::Assistant && !each.get_text_content().value_or(Text()).empty();
  };
  const auto answer = std::ranges::find_if(shown.rbegin(), shown.rend(), is_answer);
  if (answer == shown.rend()) return print_message("nothing to save: there is no answer");
  const std::string text = answer->get_text_content()->str() + "\n";
  if (print_content(text, with_home(argument)) == ExitCode::Ok) say(fmt::format("saved to {}", argument));
}

// ---- Session

void start_session(ChatInput& input, const std::string& name) {
  if (const auto id = input.chat.start_new(name)) say(fmt::format("new session {}", *id));
}

void fork_session(ChatInput& input, const std::string& name) {
  if (const auto id = input.chat.fork(name)) say(fmt::format("switched to session {}", *id));
}

void show_history(ChatInput& input, const std::string& argument) {
  std::size_t count = 20;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), count);
  const bool is_number = error == std::errc() && end == argument.data() + argument.size() && count > 0;
  if (!argument.empty() && !is_number) return print_message("/history takes a number of messages");
  const std::vector<std::string> lines = history_lines(input.chat.window(), count, columns(STDERR_FILENO));
  if (lines.empty()) say("no messages yet");
  for (const std::string& line : lines) say(line);
}

// "[DIALECT] [FILE]": to standard output without a file. A single word with a dot or a slash is a file.
void export_session(ChatInput& input, const std::string& argument) {
  auto [name, file] = first_word(argument);
  if (file.empty() && name.find_first_of("./") != std::string::npos) file = std::exchange(name, "parley");
  const Result<Dialect> dialect = dialect_named(name.empty() ? "parley" : name);
  if (!dialect) return print_message(dialect.error().message);
  const Result<Writing> writing = write(Conversation(input.chat.window()), *dialect);
  if (!writing) {
    print_message(writing.error().message);
  } else if (file.empty() || file == "-") {
    input.chat.screen().lines(writing->text.str() + "\n");
  } else if (print_content(writing->text.str() + "\n", with_home(file)) == ExitCode::Ok) {
    say(fmt::format("exported to {}", file));
  }
}

void show_info(ChatInput& input, const std::string& /*argument*/) {
  const ChatSession& chat = input.chat;
  const UsageTotals usage = chat.usage();
  say(fmt::format("session {}, {} in the window, {} tokens", chat.session(),
                  counted(chat.window().size(), "message"), window_of(chat)));
  say(fmt::format("model {}, {} calls: {} fresh, {} cached, {} output tokens{}", chat.model_name(),
                  usage.calls, usage.fresh, usage.cache_read, usage.output,
                  usage.calls > 0 && usage.unpriced == 0 ? fmt::format(", {:.4f} dollars", usage.cost) : ""));
}

// ---- Context

void attach_file(ChatInput& input, const std::string& argument) {
  if (argument == "-") return print_message("/attach needs a file name, not '-'");
  if (!argument.empty()) {
    const std::string file = with_home(argument);
    CommandResult<Attachments> read = read_attachments({&file, 1});
    if (!read) return;
    input.attachments.texts += read->texts;
    std::ranges::move(read->images, std::back_inserter(input.attachments.images));
    input.attached.push_back(argument);
    if (is_terminal(STDERR_FILENO)) put(STDERR_FILENO, attached_images(STDERR_FILENO, read->shown));
  }
  say(input.attached.empty()
          ? "nothing attached"
          : fmt::format("attached to the next request: {}", fmt::join(input.attached, ", ")));
}

void system_prompt(ChatInput& input, const std::string& argument) {
  if (argument.empty()) {
    const std::string now = input.chat.system_prompt();
    return say(now.empty() ? "no system prompt; /system TEXT sets one" : "system: " + now);
  }
  const bool is_empty = argument == "''" || argument == "\"\"";
  if (input.chat.set_system_prompt(is_empty ? "" : argument))
    say(is_empty ? "system prompt removed" : "system prompt set");
}

void show_tokens(ChatInput& input, const std::string& /*argument*/) {
  ChatSession& chat = input.chat;
  const TokenCounter counter = TokenCounter::for_model(chat.model().name.view());
  const TokenUse use{.system = chat.system_prompt(),
                     .tools = chat.tools().specs(),
                     .messages = chat.window(),
                     .window = chat.model().window,
                     .budget = chat.message_budget()};
  for (const std::string& line : token_lines(use, counter)) say(line);
}

void compact_window(ChatInput& input, const std::string& /*argument*/) {
  if (const auto count = input.chat.compact())
    say(fmt::format("replaced {} by a summary", counted(*count, "message")));
}

// ---- Model and tools

void change_model(ChatInput& input, const std::string& name) {
  if (name.empty()) {
    say(fmt::format("model: {}", input.chat.model_name()));
  } else if (input.chat.use_model(name)) {
    say(fmt::format("switched to model {}", input.chat.model_name()));
  }
}

void show_tools(ChatInput& input, const std::string& /*argument*/) {
  const ToolBox& tools = input.chat.tools();
  if (tools.size() == 0) say("no tools available");
  for (const Tool& tool : tools.specs()) {
    const Permission looking = tools.policy().of(tool.name.view(), false);
    const Permission changing = tools.policy().of(tool.name.view(), true);
    say(fmt::format("{:<10} {}", tool.name.view(),
                    looking == changing ? std::string(to_string(looking))
                                        : fmt::format("{} for reads, {} for changes", to_string(looking),
                                                      to_string(changing))));
  }
}

void show_help(ChatInput& input, const std::string& argument);

constexpr Verb kVerbs[] = {
    {VerbGroup::Answer, "/retry", "", "answer the last request again", retry_answer},
    {VerbGroup::Answer, "/continue", "", "finish a cut or interrupted answer", continue_answer},
    {VerbGroup::Answer, "/edit", "[DRAFT]", "edit the last request, or a draft, in your editor",
     edit_request},
    {VerbGroup::Answer, "/undo", "", "hide the last request and its answer", undo_request},
    {VerbGroup::Answer, "/save", "FILE", "write the last answer to a file", save_answer, true},
    {VerbGroup::Session, "/new", "[NAME]", "start an empty session", start_session},
    {VerbGroup::Session, "/fork", "[NAME]", "continue in a copy of this session", fork_session},
    {VerbGroup::Session, "/history", "[N]", "list the last messages", show_history},
    {VerbGroup::Session, "/export", "[DIALECT] [FILE]", "write the conversation", export_session, true},
    {VerbGroup::Session, "/info", "", "show session, tokens and cost", show_info},
    {VerbGroup::Context, "/attach", "[FILE]", "attach a file to the next request, or list them", attach_file,
     true},
    {VerbGroup::Context, "/system", "[TEXT]", "show or set the system prompt ('' for none)", system_prompt},
    {VerbGroup::Context, "/tokens", "", "show token use by part", show_tokens},
    {VerbGroup::Context, "/compact", "", "replace older messages by a summary", compact_window},
    {VerbGroup::Model, "/model", "[PROVIDER/NAME]", "show or change the model", change_model},
    {VerbGroup::Model, "/tools", "", "available tools and their permissions", show_tools},
    {VerbGroup::Leave, "/help", "", "this list", show_help},
    {VerbGroup::Leave, "/exit", "", "end the chat (also /quit, exit, Ctrl-D)", nullptr},
    {VerbGroup::Leave, "/quit", "", nullptr, nullptr},
};

void show_help(ChatInput& /*input*/, const std::string& /*argument*/) {
  std::optional<VerbGroup> group;
  for (const Verb& verb : kVerbs) {
    if (verb.does == nullptr) continue;
    if (group != verb.group) say(kGroupNames[static_cast<std::size_t>(verb.group)]);
    group = verb.group;
    say(fmt::format("  {:<9} {:<16} {}", verb.name, verb.arguments, verb.does));
  }
  say("Alt-Enter, or \\ at the end of a line, adds a line; Ctrl-C stops an answer");
}

}  // namespace

ExitCode ChatInput::ask(const std::string& text) {
  const CommandResult<Message> request = request_of(text, attachments);
  if (!request) return request.error();
  clear_attachments();
  return chat.ask(*request);
}

void ChatInput::clear_attachments() {
  attachments = {};
  attached.clear();
}

NextLine run_chat_verb(ChatInput& input, const std::string& line) {
  const auto [name, argument] = first_word(line);
  const auto* verb = std::ranges::find_if(kVerbs, [&](const Verb& each) { return each.name == name; });
  if (verb == std::end(kVerbs)) {
    std::vector<std::string> names;
    for (const Verb& each : kVerbs) names.emplace_back(each.name);
    const auto meant = suggestion_for(name, names);
    print_message(fmt::format("unknown command {}{} /help lists the commands", name,
                              meant ? fmt::format(": did you mean {}?", *meant) : ";"));
  } else if (*verb->arguments == '\0' && !argument.empty()) {
    print_message(fmt::format("{} takes no argument", name));
  } else if (verb->run == nullptr) {
    return NextLine::Ends;
  } else {
    verb->run(input, argument);
  }
  return NextLine::Comes;
}

std::vector<LineWord> chat_verb_words() {
  std::vector<LineWord> out;
  for (const Verb& verb : kVerbs) out.push_back({verb.name, verb.takes_file});
  return out;
}

std::string window_of(const ChatSession& chat) {
  const auto thousands = [](std::size_t n) {
    return n < 1000 ? std::to_string(n) : fmt::format("{:.1f}k", static_cast<double>(n) / 1000);
  };
  const std::string used = thousands(chat.tokens_used());
  return chat.model().window ? fmt::format("{}/{}", used, thousands(*chat.model().window)) : used;
}

}  // namespace parley::cli
