// `parley sessions import`. Importing is idempotent: the ids of sessions and batches are derived from the
// content, so an interrupted import can be repeated.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "cli/diagnostics.h"
#include "cli/json_line.h"
#include "cli/lines.h"
#include "cli/llm_log.h"
#include "cli/look.h"
#include "cli/notes.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sessions.h"
#include "memory/stored_message.h"
#include "parley/memory/stored_memory.h"

namespace parley::cli {
namespace {

using store::SessionKey;

constexpr std::size_t kBatchRecords = 500;

// "imported-" and the first digits of the hash of the input.
std::string id_of(std::string_view content) { return "imported-" + sha256_hex(content).substr(0, 22); }

class Import {
 public:
  Import(const SessionsOptions& options, store::Store store, NoteLog& notes)
      : options_(options),
        file_(options.arguments[0]),
        store_(std::make_shared<store::Store>(std::move(store))),
        notes_(notes) {
    location_.file = file_;
  }

  CommandResult<void> run() {
    if (is_sqlite_file(file_)) return llm_log();
    return options_.lines || is_json_lines_name(file_) ? lines() : document();
  }

  std::string report() const { return report_; }

 private:
  CommandResult<void> document() {
    Result<json::Buffer> bytes = json::Buffer::from_file(file_.c_str(), reading_.limits.bytes);
    if (!bytes) return std::unexpected(report_error(bytes.error(), location_));
    const std::string session = options_.session.empty() ? id_of(bytes->view()) : options_.session;
    if (const std::optional<Json> state = agentscope_state(bytes->view()))
      return import_state(*state, session);
    CommandResult<Reading> reading = read(bytes->view());
    if (!reading) return std::unexpected(reading.error());
    return append(session, reading->conversation);
  }

  // Lines that are messages are one session; lines that are conversations are one each.
  CommandResult<void> lines() {
    Result<FileLines> reader = FileLines::open(file_, reading_.limits.bytes);
    if (!reader) return std::unexpected(report_error(reader.error(), location_));
    Progress progress(!options_.quiet, reader->size());
    Conversation together;
    std::string content;  // of one session
    for (;;) {
      progress.update(location_.line, reader->consumed());
      const Result<std::optional<FileLines::Line>> line = reader->next();
      if (line && !*line) break;
      location_.line = reader->number();
      if (!line) return std::unexpected(report_error(line.error(), location_));
      if (is_blank((*line)->text)) continue;
      CommandResult<Reading> reading = read((*line)->text);
      if (!reading) return std::unexpected(reading.error());
      if (reading->conversation.shape() == DocumentShape::Single) {
        together.append(reading->conversation.messages()[0].detach());
        content = sha256_hex(content.append((*line)->text));
        continue;
      }
      if (!options_.session.empty()) {
        print_message(
            "--session needs a file with one conversation, but each line of this one is a conversation");
        return std::unexpected(ExitCode::Usage);
      }
      if (auto done = append(id_of((*line)->text), reading->conversation); !done) return done;
    }
    progress.finish(location_.line, reader->consumed());
    if (together.size() == 0 && !report_.empty()) return {};
    return append(options_.session.empty() ? id_of(content) : options_.session, together);
  }

  // One session for each conversation of the log, of the same id.
  CommandResult<void> llm_log() {
    CommandResult<void> outcome;
    const Result<void> done =
        for_each_llm_conversation(file_, [&](const LlmConversation& conversation) -> Result<void> {
          outcome = notes_.add(conversation.notes, 0);
          if (outcome) outcome = append("llm-" + conversation.id, Conversation(conversation.messages));
          return outcome ? Result<void>() : fail(Code::Cancelled, "already reported");
        });
    if (!outcome || done) return outcome;
    return std::unexpected(report_error(done.error(), location_));
  }

  CommandResult<Reading> read(std::string_view document) {
    Result<Dialect> dialect = options_.from ? *options_.from : detect(document, reading_);
    Result<Reading> reading =
        dialect ? parley::read(document, *dialect, reading_) : std::unexpected(dialect.error());
    if (!reading) return std::unexpected(report_error(reading.error(), location_));
    if (auto noted = notes_.add(std::move(reading->notes), location_.line); !noted) {
      return std::unexpected(noted.error());
    }
    return *std::move(reading);
  }

  // The system part becomes the first message. The settings of a request are not stored.
  CommandResult<void> append(const std::string& session, const Conversation& conversation) {
    std::vector<Message> messages;
    messages.reserve(conversation.size() + 1);
    if (conversation.system()) messages.push_back(*conversation.system());
    messages.insert(messages.end(), conversation.messages().begin(), conversation.messages().end());
    if (messages.empty()) {
      return std::unexpected(report_error({Code::Invalid, "no messages to import", {}}, location_));
    }
    if (!conversation.tools().empty() && !options_.quiet) {
      print_message(fmt::format("note: the tools of the request are not stored ({})", to_string(location_)));
    }
    const SessionKey key{options_.store.tenant, session};
    bool is_new = false;
    for (std::size_t first = 0; first < messages.size(); first += kBatchRecords) {
      const std::size_t count = std::min(kBatchRecords, messages.size() - first);
      const auto added = append_batch(key, std::span(messages).subspan(first, count), first);
      if (!added) return std::unexpected(added.error());
      is_new = is_new || *added;
    }
    tell(session, messages.size(), is_new);
    return {};
  }

  // False if the batch was stored already.
  CommandResult<bool> append_batch(const SessionKey& key, std::span<const Message> messages,
                                   std::size_t first) {
    store::Batch batch(std::string(), {});
    std::string content = std::to_string(first);
    for (const Message& message : messages) {
      Result<store::Record> record = to_record(message);
      if (!record) return std::unexpected(report_error(record.error(), location_));
      content += record->body;
      batch.records.push_back(*std::move(record));
    }
    batch.id = id_of(content);
    const auto appended = store_->append(key, batch);
    if (!appended) return std::unexpected(report_store_error(appended.error()));
    return !appended->repeated;
  }

  // The state of a memory in a session file of AgentScope: {"agent": {"memory": {"content": [...]}}}, or one
  // level less.
  static std::optional<Json> agentscope_state(std::string_view document) {
    const Result<Json> whole = Json::parse(document);
    if (!whole || !whole->is_object()) return {};
    const auto is_state = [](const Json& value) {
      return value.is_object() && value.get("content") && value.get("content")->is_array() &&
             !value.get("role");
    };
    for (const Json::Member& module : whole->members()) {
      if (!module.value.is_object()) continue;
      if (module.key.view() == "memory" && is_state(module.value)) return module.value;
      if (const auto memory = module.value.get("memory"); memory && is_state(*memory)) return memory;
    }
    return {};
  }

  CommandResult<void> import_state(const Json& state, const std::string& session) {
    const SessionKey key{options_.store.tenant, session};
    Result<StoredMemory> memory = StoredMemory::open(store_, key, {.budget = Budget::unlimited()});
    if (!memory) return std::unexpected(report_store_error(memory.error()));
    if (memory->size() > 0) {
      tell(session, memory->memory().log_size(), false);
      return {};
    }
    const auto loaded = memory->edit([&](Memory& m) { return m.load_state_dict(state); });
    if (!loaded) return std::unexpected(report_error(loaded.error(), location_));
    tell(session, memory->memory().log_size(), true);
    return {};
  }

  void tell(const std::string& session, std::size_t messages, bool is_new) {
    if (options_.json) {
      report_ += json_line(
          {{"session", session}, {"messages", static_cast<std::int64_t>(messages)}, {"is_new", is_new}});
      return;
    }
    report_ += fmt::format("{}  {}{}\n", visible(session), counted(messages, "message"),
                           is_new ? "" : ", already stored");
  }

  const SessionsOptions& options_;
  const std::string& file_;
  std::shared_ptr<store::Store> store_;
  NoteLog& notes_;
  Location location_;
  ReadOptions reading_;
  std::string report_;
};

}  // namespace

ExitCode import_sessions(const SessionsOptions& options) {
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  CommandResult<NoteLog> notes = NoteLog::open(std::nullopt, options.quiet);
  if (!notes) return notes.error();
  Import import(options, *std::move(store), *notes);
  const CommandResult<void> outcome = import.run();
  const CommandResult<void> noted = notes->finish(outcome.has_value());
  ExitCode exit = outcome ? ExitCode::Ok : outcome.error();
  if (!noted) exit = worse(exit, noted.error());
  Result<Output> output = Output::open(options.output);
  if (!output) return report_error(output.error(), {options.output});
  Result<void> printed =
      output->report(import.report(), options.json ? ReportFormat::Json : ReportFormat::Lines);
  if (printed) printed = output->commit();
  return printed ? exit : worse(exit, output->end(printed.error()));
}

}  // namespace parley::cli
