// Turns made by hand: what a model says, its journal, and the state of the turn.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/dialect/stream.h"
#include "parley/server/journal.h"
#include "parley/server/turn.h"

namespace parley::server {

// What a model says, event by event. Deltas have static texts.
struct Said {
  explicit Said(Dialect of = Dialect::Responses) : dialect(of), accumulator(of) {}

  void add(const StreamEvent& event) {
    if (const auto* delta = std::get_if<stream::Delta>(&event)) {
      texts.push_back(std::make_shared<std::string>(delta->text));
      stream::Delta kept = *delta;
      kept.text = *texts.back();
      return keep(kept);
    }
    keep(event);
  }
  // The end of all blocks, and of the answer.
  void finish(std::uint64_t blocks = 16) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      if (is_open(i)) add(stream::BlockEnd{i});
    }
    keep(stream::Done{Finish::Stop, Text("completed")});
    message = accumulator.take().message;
  }
  // The stream breaks here.
  void cut() { message = accumulator.take().message; }

  Dialect dialect;
  std::vector<StreamEvent> events = {};
  Journal journal = {};
  Message message = Message::assistant_message();

 private:
  void keep(const StreamEvent& event) {
    events.push_back(event);
    journal.add(event);
    accumulator.add(event);
  }
  bool is_open(std::uint64_t block) const {
    bool out = false;
    for (const StreamEvent& event : events) {
      if (const auto* start = std::get_if<stream::BlockStart>(&event)) out |= start->block == block;
      if (const auto* end = std::get_if<stream::BlockEnd>(&event); end != nullptr && end->block == block)
        return false;
    }
    return out;
  }

  Accumulator accumulator;
  std::vector<std::shared_ptr<std::string>> texts = {};
};

inline Said text_said(const std::vector<std::string_view>& deltas) {
  Said said;
  if (!deltas.empty()) said.add(stream::BlockStart{0, BlockType::Text, {}, {}});
  for (const std::string_view delta : deltas) said.add(stream::Delta{0, stream::DeltaKind::Text, delta});
  if (!deltas.empty()) said.add(stream::BlockEnd{0});
  said.message = MessageBuilder(Role::Assistant).blocks({}).build().value();
  std::string all;
  for (const std::string_view delta : deltas) all += delta;
  if (!deltas.empty()) said.message = MessageBuilder(Role::Assistant).text(Text(all)).build().value();
  return said;
}

// Thinking that is signed, a text, a refusal, a call, a custom call, and an item of a hosted tool.
inline Said everything_said(Dialect dialect = Dialect::Responses) {
  using stream::DeltaKind;
  Said said(dialect);
  const auto start = [&](std::uint64_t block, BlockType type) {
    said.add(stream::BlockStart{block, type, {}, {}});
  };
  start(0, BlockType::Thinking);
  said.add(stream::Delta{0, DeltaKind::Thinking, "Let me see."});
  said.add(stream::Delta{0, DeltaKind::Signature, "c2ln", true});
  said.add(stream::BlockEnd{0});
  start(1, BlockType::Text);
  said.add(stream::Delta{1, DeltaKind::Text, "Hel"});
  said.add(stream::Delta{1, DeltaKind::Text, "lo"});
  said.add(stream::BlockEnd{1});
  said.add(stream::BlockStart{2, BlockType::Text, {}, {}, true});
  said.add(stream::Delta{2, DeltaKind::Text, "No."});
  said.add(stream::BlockEnd{2});
  said.add(stream::BlockStart{3, BlockType::ToolUse, "call_1", "f"});
  said.add(stream::Delta{3, DeltaKind::Arguments, "{\"a\":"});
  said.add(stream::Delta{3, DeltaKind::Arguments, "1}"});
  said.add(stream::BlockEnd{3});
  said.add(stream::BlockStart{4, BlockType::ToolUse, "call_2", "g", false, true});
  said.add(stream::Delta{4, DeltaKind::Arguments, "any text"});
  said.add(stream::BlockEnd{4});
  start(5, BlockType::Raw);
  said.add(stream::Delta{
      5, DeltaKind::Json,
      R"({"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}})"});
  said.add(stream::BlockEnd{5});
  said.finish();
  return said;
}

// A turn that ended well with this answer.
inline TurnState completed(const Said& said) {
  TurnState state;
  state.key = {{"default", "resp_01J"}, "01J"};
  state.shape = "responses";
  state.request = Json::parse("{}").value();
  state.model = "gpt-4o";
  state.dialect = to_string(said.dialect);
  state.created_ms = 1'700'000'000'123;
  state.completed_ms = 1'700'000'001'456;
  state.status = TurnStatus::Completed;
  state.answer = said.message;
  state.outcome.finish = Finish::Stop;
  state.outcome.usage = {.input = 10, .cache_read = 2, .cache_write = {}, .output = 5, .reasoning = {}};
  return state;
}

}  // namespace parley::server
