// What the commands of a chat do to its session.
#include <fmt/format.h>

#include <utility>

#include "cli/chat_session.h"
#include "cli/chat_text.h"
#include "cli/diagnostics.h"
#include "parley/base/ids.h"

namespace parley::cli {

std::size_t ChatSession::tokens_used() const {
  const std::vector<CallRecord> calls = ledger_->records();
  // Calls before this agent had another window.
  if (calls.size() > calls_before_ && calls.back().usage.input) {
    return static_cast<std::size_t>(*calls.back().usage.input + calls.back().usage.output.value_or(0));
  }
  return TokenCounter::for_model(model().name.view()).count(window());
}

std::vector<Message> ChatSession::window() const {
  return agent_ ? agent_->window() : std::vector<Message>();
}

CommandResult<Change> ChatSession::edit(const StoredMemory::Edit& edit,
                                        std::shared_ptr<Compressor> compressor) {
  agent_.reset();
  CommandResult<StoredMemory> memory = open_memory(std::move(compressor));
  if (!memory) return std::unexpected(memory.error());
  Result<Change> change = memory->edit(edit);
  if (const auto opened = open_agent(); !opened) return std::unexpected(opened.error());
  if (!change) return std::unexpected(report_store_error(change.error()));
  return *std::move(change);
}

CommandResult<std::size_t> ChatSession::hide(std::span<const Message> messages) {
  std::vector<Text> ids;
  for (const Message& each : messages) {
    if (const auto id = each.id()) ids.push_back(*id);
  }
  const CommandResult<Change> change = edit([&](Memory& memory) { return memory.remove(ids); });
  if (!change) return std::unexpected(change.error());
  return change->count;
}

CommandResult<std::size_t> ChatSession::undo() {
  const std::vector<Message> shown = window();
  const std::span<const Message> last = last_exchange(shown);
  if (!last.empty()) return hide(last);
  print_message("nothing to undo");
  return std::unexpected(ExitCode::Refused);
}

ExitCode ChatSession::retry() {
  const std::vector<Message> shown = window();
  const std::span<const Message> last = last_exchange(shown);
  if (last.empty()) {
    print_message("nothing to retry: the session has no request");
    return ExitCode::Refused;
  }
  if (last.size() > 1) {
    if (const auto hidden = hide(last.subspan(1)); !hidden) return hidden.error();
  }
  return ask(std::nullopt);
}

CommandResult<std::size_t> ChatSession::compact() {
  std::shared_ptr<Compressor> compressor;
  if (!opened_.rehearsal) compressor = std::make_shared<LlmCompressor>(model_);  // rehearsal cannot summarise
  const CommandResult<Change> change =
      edit([](Memory& memory) { return memory.compress(); }, std::move(compressor));
  if (!change) return std::unexpected(change.error());
  return change->evicted.size();
}

CommandResult<std::string> ChatSession::fork(const std::string& name) {
  std::string to = name.empty() ? new_ulid(static_cast<std::uint64_t>(now_ms())) : name;
  const auto head = store_->head(key_);
  if (!head) return std::unexpected(report_store_error(head.error()));
  const auto made = store_->fork(key_, to, head->size);
  if (!made) return std::unexpected(report_store_error(made.error()));
  agent_.reset();
  key_.session = to;
  if (const auto opened = open_agent(); !opened) return std::unexpected(opened.error());
  return to;
}

CommandResult<std::string> ChatSession::start_new(const std::string& name) {
  std::string to = name.empty() ? new_ulid(static_cast<std::uint64_t>(now_ms())) : name;
  const auto head = store_->head({key_.tenant, to});
  if (head || head.error().code != Code::NotFound) {
    if (!head) return std::unexpected(report_store_error(head.error()));
    print_message(fmt::format("session '{0}' exists already: 'parley chat {0}' opens it", to));
    return std::unexpected(ExitCode::Refused);
  }
  forget_failed_session();
  has_failed_ = false;
  agent_.reset();
  key_.session = to;
  if (const auto opened = open_agent(); !opened) return std::unexpected(opened.error());
  return to;
}

std::string ChatSession::system_prompt() const { return options_.system.value_or(config_.system.value); }

CommandResult<void> ChatSession::set_system_prompt(std::string text) {
  options_.system = std::move(text);
  return open_agent();
}

}  // namespace parley::cli
