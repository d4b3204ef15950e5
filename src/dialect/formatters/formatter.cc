#include "dialect/formatters/formatter.h"

#include <algorithm>
#include <array>

#include "dialect/format.h"
#include "message/arena.h"

namespace parley {
namespace {

struct FormatterRow {
  Formatter formatter;
  std::string_view name;
  Dialect dialect;   // of the original's messages
  bool takes_wires;  // the original works on messages as they were read, members it does not know included
  Result<std::string> (*format)(const dialect::FormatterJob& job);
  std::span<const Dialect> (*targets)();
};

constexpr std::array<FormatterRow, 3> kFormatters = {{
    {Formatter::AgentScopeChat, "agentscope-chat", Dialect::AgentScope, true, dialect::format_agentscope_chat,
     dialect::agentscope_targets},
    {Formatter::AgentScopeMultiAgent, "agentscope-multiagent", Dialect::AgentScope, true,
     dialect::format_agentscope_multi_agent, dialect::agentscope_targets},
    {Formatter::OpenManus, "openmanus", Dialect::OpenManus, false, dialect::format_openmanus,
     dialect::openmanus_targets},
}};

const FormatterRow& row_of(Formatter formatter) { return kFormatters[static_cast<std::size_t>(formatter)]; }

bool has_wire_of(const Message& message, Dialect dialect) {
  return Arena::of(message).dialect() == dialect::tag(dialect) && Arena::record_of(message).wire.present();
}

// The conversation as the original's own messages, each with a wire (P1).
Result<Reading> spoken(const Conversation& conversation, const FormatterRow& row) {
  const auto is_own = [&](const Message& message) { return has_wire_of(message, row.dialect); };
  if (row.takes_wires && !conversation.system() && std::ranges::all_of(conversation.messages(), is_own)) {
    return Reading{conversation, {}};
  }
  const Form form = row.takes_wires ? Form::AsRead : Form::Canonical;
  PARLEY_TRY(Writing written, write(conversation, row.dialect, {.form = form, .keep = false}));
  // What was read within its limits is not refused for having become longer.
  constexpr std::size_t kAny = 0xFFFFFFF0;
  PARLEY_TRY(Reading again, read(written.text.view(), row.dialect, {.limits = {kAny, kAny, kAny}}));
  return Reading{std::move(again.conversation), std::move(written.notes)};
}

// The messages of the conversation with its system part, if `count` messages were made of them.
std::vector<Message> sources_of(const Conversation& conversation, std::size_t count) {
  std::vector<Message> sources(conversation.messages().begin(), conversation.messages().end());
  if (conversation.system()) sources.insert(sources.begin(), *conversation.system());
  if (sources.size() != count) sources.clear();
  return sources;
}

// Says which message of the conversation each note is about.
void place(std::vector<Note>& notes, const Conversation& conversation, bool has_sources) {
  const std::size_t before = conversation.system() ? 1 : 0;
  for (Note& note : notes) {
    if (!note.message_index) continue;
    if (!has_sources || *note.message_index < before) {
      note.message_index.reset();
    } else {
      *note.message_index -= before;
    }
  }
}

}  // namespace

std::string_view to_string(Formatter formatter) { return row_of(formatter).name; }

Result<Formatter> formatter_named(std::string_view name) {
  std::string names;
  for (const FormatterRow& row : kFormatters) {
    if (row.name == name) return row.formatter;
    names.append(names.empty() ? "" : ", ").append(row.name);
  }
  return fail(Code::NotFound, "there is no policy '" + std::string(name) + "'; there are: " + names);
}

std::span<const Dialect> targets(Formatter formatter) { return row_of(formatter).targets(); }

Result<Writing> format(const Conversation& conversation, Dialect target, Formatter formatter,
                       const FormatterOptions& options) {
  const FormatterRow& row = row_of(formatter);
  std::string names;
  bool has_target = false;
  for (const Dialect each : row.targets()) {
    has_target = has_target || each == target;
    names.append(names.empty() ? "" : ", ").append(to_string(each));
  }
  if (!has_target) {
    return fail(Code::Unsupported, "the policy '" + std::string(row.name) + "' has no formatter for '" +
                                       std::string(to_string(target)) + "'; it has them for: " + names);
  }
  PARLEY_TRY(Reading own, spoken(conversation, row));
  std::vector<Note> notes;
  const auto messages = own.conversation.messages();
  const std::vector<Message> sources = sources_of(conversation, messages.size());
  const bool has_sources = sources.size() == messages.size();
  PARLEY_TRY(std::string list,
             row.format({target, options, messages, own.conversation.shape(),
                         has_sources ? std::span<const Message>(sources) : messages, notes}));
  place(notes, conversation, has_sources);
  PARLEY_TRY(Text text, Text::checked(std::move(list)));
  notes.insert(notes.begin(), std::make_move_iterator(own.notes.begin()),
               std::make_move_iterator(own.notes.end()));
  return Writing{std::move(text), std::move(notes)};
}

}  // namespace parley
