// A conversation in a session of a store.
#include <unordered_set>
#include <utility>

#include "agent/history.h"
#include "parley/base/ids.h"

namespace parley::agent {
namespace {

class StoredHistory : public History {
 public:
  explicit StoredHistory(StoredMemory memory)
      : memory_(std::move(memory)), facts_(memory::facts_of(memory_)) {}

  Result<void> begin(const AgentOptions& options, std::function<void()> lost) override {
    return memory_.hold(options.name.str(), options.lease, options.lease_mode, std::move(lost));
  }

  void end() override { memory_.release(); }

  Result<std::vector<Message>> add(std::span<const Message> messages) override {
    PARLEY_TRY(Change change, memory_.add(messages));
    // A server or caller reused a message id. Several messages at once are results made here, with unique
    // ids.
    if (change.skipped != 0 && messages.size() == 1) {
      PARLEY_TRY(const Message again, MessageBuilder::like(messages[0]).id(Text(new_short_id())).build());
      PARLEY_TRY(change, memory_.add(again));
    }
    for (const Message& message : messages) learn(message);
    return std::move(change.evicted);
  }

  std::vector<Message> window() const override {
    std::vector<Message> out = memory_.memory().window();
    out.insert(out.end(), reminders_.begin(), reminders_.end());
    return out;
  }

  void remind(const std::vector<Text>& words) override {
    reminders_.clear();
    for (const Text& each : words) reminders_.push_back(Message::user_message(each));
  }

  std::vector<ToolUseBlock> pending() const override {
    std::vector<Text> ids = memory_.memory().pending();
    if (ids.empty()) return {};
    const std::unordered_set<std::string_view> waiting(ids.begin(), ids.end());
    std::vector<ToolUseBlock> out;
    // They are the newest calls with these ids, in one message or, if a step has several items, in a few.
    const std::vector<Message> window = memory_.memory().window();
    for (auto message = window.rbegin(); message != window.rend() && out.size() < ids.size(); ++message) {
      std::vector<ToolUseBlock> calls = calls_of(*message);
      std::erase_if(calls, [&](const ToolUseBlock& use) { return !waiting.contains(use.id.view()); });
      out.insert(out.begin(), calls.begin(), calls.end());
    }
    return out;
  }

  Result<std::vector<Message>> shorten(double share) override {
    PARLEY_TRY(Change change, memory_.shrink(share));
    return std::move(change.evicted);
  }

  std::optional<TokenCounter> counter() const override {
    const std::optional<TokenCounter>& counter = memory_.memory().token_cost().counter();
    return counter && !counter->is_exact() ? counter : std::nullopt;
  }
  void calibrate(const Calibration& calibration) override { memory_.calibrate(calibration); }

  std::optional<memory::SessionFacts> facts() const override { return facts_; }

  Result<bool> knows_call(std::string_view id) override {
    if (!call_ids_) PARLEY_CHECK(learn_calls());
    return call_ids_->contains(std::string(id));
  }

 private:
  using Ids = std::unordered_set<std::string>;

  // The ids of all calls, also of those that left the window. Most answers have no calls, so they are
  // collected at the first one that has.
  Result<void> learn_calls() {
    Ids ids;
    if (memory_.memory().log_dropped() != 0) {
      PARLEY_CHECK(memory_.each([&](const Message& message) { learn_calls(message, ids); }));
    } else {
      for (const Message& message : memory_.memory().log()) learn_calls(message, ids);
    }
    call_ids_ = std::move(ids);
    return {};
  }

  static void learn_calls(const Message& message, Ids& ids) {
    for (const ToolUseBlock& use : calls_of(message)) ids.insert(use.id.str());
  }

  void learn(const Message& message) {
    if (call_ids_) learn_calls(message, *call_ids_);
    if (message.role() == Role::User) ++facts_.turns;
    if (message.role() != Role::Assistant) return;
    const std::optional<Json> metadata = message.metadata();
    if (auto facts = metadata ? memory::facts_in(*metadata) : std::nullopt) facts_ = *std::move(facts);
  }

  StoredMemory memory_;
  std::vector<Message> reminders_;
  std::optional<Ids> call_ids_;
  memory::SessionFacts facts_;
};

}  // namespace

std::unique_ptr<History> history_in(StoredMemory memory) {
  return std::make_unique<StoredHistory>(std::move(memory));
}

}  // namespace parley::agent
