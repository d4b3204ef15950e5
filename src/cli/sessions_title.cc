// `parley sessions title`: the title of a session, set by the user or by a model.
#include <fmt/format.h>

#include <algorithm>

#include "cli/config.h"
#include "cli/diagnostics.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/session_ids.h"
#include "cli/sessions.h"
#include "memory/session_facts.h"
#include "memory/stored_message.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"
#include "parley/message/message.h"
#include "parley/model/model.h"
#include "store/words.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostTitleBytes = 200;
constexpr std::size_t kMostTitledRecords = 20;  // at the beginning of a session, for the model
constexpr std::size_t kMostTitledBytes = std::size_t{8} * 1024;

// A title as a user or a model writes it: the first line with content, without spaces, quotes and Markdown
// around it.
std::string as_title(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"'`*#";
  const std::size_t begin = std::min(text.find_first_not_of(kAround), text.size());
  text = text.substr(begin, text.find('\n', begin) - begin);
  std::string out(text.substr(0, text.find_last_not_of(kAround) + 1));
  out.resize(utf8_floor(out, std::min(out.size(), kMostTitleBytes)));
  return out;
}

// The beginning of the conversation, one message a line.
Result<std::string> beginning_of(store::Store& store, const store::SessionKey& key) {
  PARLEY_TRY(const store::Page page, store.read(key, {.count = kMostTitledRecords}));
  PARLEY_TRY(const std::vector<Message> messages, to_messages(page.records));
  std::string out;
  for (const Message& message : messages) out += to_line(message) + "\n";
  out.resize(utf8_floor(out, std::min(out.size(), kMostTitledBytes)));
  return out;
}

CommandResult<std::string> title_by_model(store::Store& store, const store::SessionKey& key,
                                          const std::string& model_name) {
  const Result<Config> config = read_config();
  if (!config) return std::unexpected(report_config_error(config.error()));
  const Result<std::string> said = beginning_of(store, key);
  if (!said) return std::unexpected(report_store_error(said.error()));
  const CommandResult<OpenedModel> opened = open_chosen_model(model_name, *config, nullptr);
  if (!opened) return std::unexpected(opened.error());
  const Called<Text> answer =
      ask(*opened->model,
          Text("Write a title of at most eight words for the conversation below, in its language. "
               "Reply with the title only.\n\n" +
               *said));
  if (!answer) {
    print_message(answer.error().message);
    return std::unexpected(ExitCode::Environment);
  }
  return as_title(answer->view());
}

// The present title: what was set, or the first line of the first message.
Result<std::string> title_of(store::Store& store, const store::SessionKey& key,
                             const memory::SessionFacts& facts) {
  if (!facts.title.empty()) return facts.title;
  PARLEY_TRY(const store::Page page, store.read(key, {.count = kMostTitledRecords}));
  for (const store::StoredRecord& record : page.records) {
    if (std::string title = store::title_of(record.text); !title.empty()) return title;
  }
  return std::string();
}

ExitCode print_title(const SessionsOptions& options, const std::string& session, const std::string& title) {
  if (!options.json) return print(visible(title) + "\n", options.output);
  json::Writer w;
  w.begin_object().key("session").string(Text(session)).key("title").string(Text(title)).end_object();
  return print(w.take_string() + "\n", options.output, ReportFormat::Json);
}

}  // namespace

ExitCode title_session(const SessionsOptions& options) {
  const bool has_text = options.arguments.size() > 1;
  if (has_text && options.by_model) {
    return usage_error("--by-model cannot be combined with a title", "sessions");
  }
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  const bool changes = has_text || options.by_model;
  const auto id = session_id(*store, options.store.tenant, options.arguments[0],
                             changes ? PrefixOf::Generated : PrefixOf::Any);
  if (!id) return id.error();
  const store::SessionKey key{options.store.tenant, *id};
  const auto head = store->head(key);
  if (!head) return report_store_error(head.error());
  auto facts = memory::read_facts(*store, key, head->size);
  if (!facts) return report_store_error(facts.error());
  if (has_text) facts->title = as_title(repair_utf8(options.arguments[1]));
  if (options.by_model) {
    const CommandResult<std::string> title = title_by_model(*store, key, options.model);
    if (!title) return title.error();
    facts->title = *title;
  }
  if (changes) {
    store::Batch batch({memory::facts_record(*facts)});
    batch.expected_size = head->size;
    if (const auto kept = store->append(key, batch); !kept) return report_store_error(kept.error());
  }
  const Result<std::string> title = title_of(*store, key, *facts);
  return title ? print_title(options, *id, *title) : report_store_error(title.error());
}

}  // namespace parley::cli
