#include "cli/sessions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/conversation_text.h"
#include "cli/diagnostics.h"
#include "cli/json_line.h"
#include "cli/look.h"
#include "cli/notes.h"
#include "cli/output.h"
#include "cli/session_ids.h"
#include "cli/terminal.h"
#include "memory/stored_message.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

using store::SessionInfo;
using store::SessionKey;
using store::Store;
using store::StoredRecord;

// A step that fails in the store prints the error and ends the command.
template <typename T>
CommandResult<T> from_store(Result<T> result) {
  if (!result) return std::unexpected(report_store_error(result.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

SessionKey key_of(const SessionsOptions& options, const std::string& session) {
  return {options.store.tenant, session};
}

// The session that an argument means.
CommandResult<SessionKey> key_named(Store& store, const SessionsOptions& options, const std::string& typed,
                                    PrefixOf prefix) {
  const auto id = session_id(store, options.store.tenant, typed, prefix);
  if (!id) return std::unexpected(id.error());
  return SessionKey{options.store.tenant, *id};
}

CommandResult<std::vector<Message>> messages_in(Store& store, const SessionKey& key) {
  std::vector<StoredRecord> records;
  const auto read = store.each(key, 0, [&](const StoredRecord& record) -> Result<void> {
    records.push_back(record);
    return {};
  });
  if (!read) return std::unexpected(report_store_error(read.error()));
  return from_store(to_messages(records));
}

std::string output_of(const ToolResultBlock& result) {
  if (const auto* text = std::get_if<Text>(&result.output)) return text->str();
  std::string out;
  if (const auto* parts = std::get_if<std::vector<Block>>(&result.output)) {
    for (const Block& part : *parts) {
      const auto* text = part.as<TextBlock>();
      if (!out.empty()) out += ' ';
      out += text != nullptr ? text->text.str() : fmt::format("[{}]", to_string(part.type()));
    }
  }
  return out;
}

// A message for people: the speaker, the text, tool calls and their results.
void put_message(std::string& out, const Message& message) {
  const std::string speaker(message.name() ? message.name()->view() : to_string(message.role()));
  const auto put = [&](std::string_view what, std::string_view text) {
    out += fmt::format("{}{}: {}\n", visible(speaker), what, text);
  };
  for (const Block& block : message.blocks()) {
    if (const auto* text = block.as<TextBlock>()) {
      put("", text->text.view());
    } else if (const auto* thinking = block.as<ThinkingBlock>()) {
      put(" (thinking)", thinking->thinking.view());
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      put(" calls", fmt::format("{}({})", use->name.view(), use->arguments.view()));
    } else if (const auto* result = block.as<ToolResultBlock>()) {
      const std::string name(result->name.view());
      put(result->is_error.value_or(false) ? " (error)" : "",
          fmt::format("{}{}{}", name, name.empty() ? "" : " returned ", output_of(*result)));
    } else {
      put("", fmt::format("[{}]", to_string(block.type())));
    }
  }
}

}  // namespace

ExitCode show_session(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto key = key_named(*store, options, options.arguments[0], PrefixOf::Any);
  if (!key) return key.error();
  const auto messages = messages_in(*store, *key);
  if (!messages) return messages.error();
  if (options.output == "-" && !options.json && can_draw(STDOUT_FILENO)) return print_conversation(*messages);
  std::string out;
  if (options.json) {
    json::Writer w;
    w.begin_object().key("session").string(Text(key->session)).key("messages").begin_array();
    for (const Message& message : *messages) {
      for (const Json& dict : to_dicts(message, Dialect::Parley)) w.value(dict);
    }
    return print_content(w.end_array().end_object().take_string() + "\n", options.output);
  }
  for (const Message& message : *messages) put_message(out, message);
  return print_content(out, options.output);
}

ExitCode search_sessions(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  std::string words;
  for (const std::string& word : options.arguments) words += word + " ";
  const auto hits = from_store(store->search(options.store.tenant, words));
  if (!hits) return hits.error();
  std::string out;
  for (const store::Hit& hit : *hits) {
    if (!options.json) {
      out += fmt::format("{}  {}  {}: {}\n", visible(hit.session), hit.position, visible(hit.role),
                         visible(hit.text));
      continue;
    }
    json::Writer w;
    w.begin_object().key("session").string(Text(hit.session));
    w.key("position").number(static_cast<std::int64_t>(hit.position));
    w.key("role").string(Text(hit.role)).key("text").string(Text(hit.text)).end_object();
    out += w.take().text().str() + "\n";
  }
  return print(out, options.output, options.json ? ReportFormat::Json : ReportFormat::Lines);
}

ExitCode export_session(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto key = key_named(*store, options, options.arguments[0], PrefixOf::Any);
  if (!key) return key.error();
  auto messages = messages_in(*store, *key);
  if (!messages) return messages.error();
  CommandResult<NoteLog> notes = NoteLog::open(std::nullopt, options.quiet);
  if (!notes) return notes.error();
  std::string out;
  if (options.lines) {
    for (const Message& message : *messages) {
      for (const Json& dict : to_dicts(message, options.to)) out += dict.text().str() + "\n";
    }
  } else {
    Result<Writing> writing = write(Conversation(*std::move(messages)), options.to);
    if (!writing) return report_store_error(writing.error());
    if (auto noted = notes->add(std::move(writing->notes), 0); !noted) return noted.error();
    out = writing->text.str() + "\n";
  }
  const ExitCode exit = print_content(out, options.output);
  const CommandResult<void> noted = notes->finish(exit == ExitCode::Ok);
  return noted ? exit : worse(exit, noted.error());
}

ExitCode fork_session(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto from = key_named(*store, options, options.arguments[0], PrefixOf::Any);
  if (!from) return from.error();
  const std::string to =
      options.arguments.size() > 1 ? options.arguments[1] : new_ulid(static_cast<std::uint64_t>(now_ms()));
  const auto head = from_store(store->head(*from));
  if (!head) return head.error();
  const auto made = from_store(store->fork(*from, to, options.size.value_or(head->size)));
  if (!made) return made.error();
  return options.json ? print_json({{"session", to}}, options.output) : print(to + "\n", options.output);
}

ExitCode remove_sessions(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  ExitCode exit = ExitCode::Ok;
  std::string out;  // as JSON
  for (const std::string& session : options.arguments) {
    const auto key = key_named(*store, options, session, PrefixOf::Generated);
    const auto removed = key ? from_store(store->remove(*key)) : std::unexpected(key.error());
    if (!removed) exit = worse(exit, removed.error());
    if (removed) out += json_line({{"session", key->session}, {"is_removed", true}});
  }
  return options.json ? worse(exit, print(out, options.output, ReportFormat::Json)) : exit;
}

ExitCode copy_session(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  CommandResult<Store> target = open_store({options.arguments[1], options.store.tenant});
  if (!target) return target.error();
  const auto named = key_named(*store, options, options.arguments[0], PrefixOf::Any);
  if (!named) return named.error();
  const SessionKey& key = *named;
  // Batch by batch, under the same ids: an interrupted copy continues when it is repeated.
  store::Batch batch(std::string(), {});
  std::size_t copied = 0;
  const auto put = [&]() -> Result<void> {
    if (batch.records.empty()) return {};
    PARLEY_TRY([[maybe_unused]] const auto appended, target->append(key, batch));
    copied += batch.records.size();
    batch.records.clear();
    return {};
  };
  auto done = store->each(key, 0, [&](const StoredRecord& record) -> Result<void> {
    if (record.batch != batch.id) PARLEY_CHECK(put());
    batch.id = record.batch;
    batch.records.push_back(record);
    return {};
  });
  if (done) done = put();
  if (!done) return report_store_error(done.error());
  if (options.json) {
    return print_json({{"session", key.session}, {"records", static_cast<std::int64_t>(copied)}},
                      options.output);
  }
  if (!options.quiet) print_message(fmt::format("copied {}", counted(copied, "record")));
  return ExitCode::Ok;
}

ExitCode count_sessions(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  std::uint64_t sessions = 0;
  std::uint64_t records = 0;
  const auto counted =
      each_session(*store, options.store.tenant, [&](const SessionInfo& info) -> CommandResult<bool> {
        ++sessions;
        records += info.size;
        return true;
      });
  if (!counted) return counted.error();
  const store::Health health = store->health();
  if (!options.json) {
    return print(fmt::format("sessions    {}\nrecords     {}\nbackend     {} {}\ndurability  {}\n", sessions,
                             records, health.backend, health.version, to_string(health.durability)),
                 options.output);
  }
  json::Writer w;
  w.begin_object().key("sessions").number(static_cast<std::int64_t>(sessions));
  w.key("records").number(static_cast<std::int64_t>(records));
  w.key("backend").string(Text(health.backend)).key("version").string(Text(health.version));
  w.key("durability").string(Text(to_string(health.durability))).end_object();
  return print(w.take().text().str() + "\n", options.output, ReportFormat::Json);
}

ExitCode verify_sessions(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto faults = from_store(store->inspect());
  if (!faults) return faults.error();
  std::uint64_t records = 0;
  std::uint64_t damaged = 0;
  bool is_file_damaged = false;
  std::string out;
  for (const store::Fault& fault : *faults) {
    out += options.json ? json_line({{"fault", fault.what}, {"is_certain", fault.is_certain}})
                        : fmt::format("{}: {}\n", fault.is_certain ? "the file" : "possible loss",
                                      visible(fault.what));
    is_file_damaged = is_file_damaged || fault.is_certain;
  }
  const auto verified =
      each_session(*store, options.store.tenant, [&](const SessionInfo& info) -> CommandResult<bool> {
        for (store::Position at = 0; at < info.size;) {
          const auto page =
              from_store(store->read(key_of(options, info.session), {.first = at, .with_damaged = true}));
          if (!page) return std::unexpected(page.error());
          for (const StoredRecord& record : page->records) {
            if (!record.damage) continue;
            ++damaged;
            out += options.json ? json_line({{"session", info.session},
                                             {"position", static_cast<std::int64_t>(record.position)},
                                             {"damage", record.damage->message}})
                                : fmt::format("{}  {}  {}\n", visible(info.session), record.position,
                                              visible(record.damage->message));
          }
          records += page->records.size();
          if (page->records.empty()) break;
          at = page->records.back().position + 1;
        }
        return true;
      });
  if (verified && options.json) {
    out += json_line({{"records", static_cast<std::int64_t>(records)},
                      {"damaged", static_cast<std::int64_t>(damaged)},
                      {"file_is_damaged", is_file_damaged}});
  } else if (verified && !options.quiet) {
    print_message(fmt::format("{} records read, {} damaged{}", records, damaged,
                              is_file_damaged ? "; the file itself is damaged" : ""));
  }
  const ExitCode exit = print(out, options.output, options.json ? ReportFormat::Json : ReportFormat::Lines);
  if (!verified) return worse(exit, verified.error());
  return damaged == 0 && !is_file_damaged ? exit : worse(exit, ExitCode::Refused);
}

ExitCode back_up_sessions(const SessionsOptions& options) {
  CommandResult<Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto done = from_store(store->back_up(options.arguments[0]));
  if (!done) return done.error();
  return options.json ? print_json({{"file", options.arguments[0]}}, options.output) : ExitCode::Ok;
}

}  // namespace parley::cli
