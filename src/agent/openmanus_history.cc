// A conversation in OpenManus' list, to the letter.
#include <utility>

#include "agent/history.h"

namespace parley::agent {
namespace {

class OpenManusHistory : public History {
 public:
  explicit OpenManusHistory(OpenManusMemory memory) : memory_(std::move(memory)) {}

  Result<void> begin(const AgentOptions& /*options*/, std::function<void()> /*lost*/) override { return {}; }
  void end() override {}

  Result<std::vector<Message>> add(std::span<const Message> messages) override {
    for (const Message& message : messages) memory_.add_message(message);
    return std::vector<Message>{};
  }

  std::vector<Message> window() const override {
    return {memory_.messages().begin(), memory_.messages().end()};
  }

  // OpenManus extends the list itself, so that it may be one longer than its limit until the next add.
  void remind(const std::vector<Text>& words) override {
    std::vector<Message> messages = window();
    for (const Text& each : words) messages.push_back(Message::user_message(each));
    memory_ = OpenManusMemory(std::move(messages), memory_.max_messages());
  }

  std::vector<ToolUseBlock> pending() const override { return {}; }
  Result<std::vector<Message>> shorten(double /*share*/) override {
    return fail(Code::Unsupported, "OpenManus never does");
  }
  Result<bool> knows_call(std::string_view /*id*/) override { return false; }

 private:
  OpenManusMemory memory_;
};

}  // namespace

std::unique_ptr<History> history_in(OpenManusMemory memory) {
  return std::make_unique<OpenManusHistory>(std::move(memory));
}

}  // namespace parley::agent
