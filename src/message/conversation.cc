#include "parley/message/conversation.h"

#include <utility>

namespace parley {

void Conversation::set_system(std::optional<Message> system) {
  system_ = std::move(system);
  envelope_intact_ = false;
}

void Conversation::set_tools(std::vector<Tool> tools) {
  tools_ = std::move(tools);
  envelope_intact_ = false;
}

void Conversation::set_settings(Settings settings) {
  settings_ = std::move(settings);
  envelope_intact_ = false;
}

void Conversation::set_outcome(std::optional<Outcome> outcome) {
  outcome_ = std::move(outcome);
  envelope_intact_ = false;
}

}  // namespace parley
