// The events of a response: what a model says, as OpenAI's Responses stream it.
//
// Invariants (quoted by tests as EVENTS1..EVENTS6):
//   EVENTS1  The sequence: response.created, response.queued (of a turn in the background),
//            response.in_progress; for each item output_item.added, its parts, output_item.done; one
//            terminal event (terminal_event()).
//   EVENTS2  "sequence_number" counts from 0 without a gap.
//   EVENTS3  The events follow from the turn and its journal alone: every follower gets the same bytes,
//            whenever it comes and in however many steps it follows.
//   EVENTS4  The terminal event has the response as GET shows it. An item that was done in the stream is
//            the same in there, unless its text changed after its end.
//   EVENTS5  An item that was begun is done before the terminal event, unless it is not kept: a call with
//            half its arguments, of a turn that was cut.
//   EVENTS6  A turn without a journal (its model was not streamed) has the events that its answer gives.
//
// A text or a summary is done when something else begins, or the turn ends; a call also not before its own
// end. Until then it may be the last item, which can be "incomplete".
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/server/journal.h"
#include "parley/server/turn.h"
#include "server/openai/item_parts.h"

namespace parley::server {

class ResponsesEvents {
 public:
  // `json` is valid during the call.
  using OnEvent = std::function<void(std::string_view type, std::int64_t sequence, std::string_view json)>;

  // `include` as in to_response().
  ResponsesEvents(std::vector<std::string> include, OnEvent on_event);

  // In this order, each at its time: begin(), follow() any number of times, end().
  void begin(const TurnState& state);
  void follow(const Journal& journal);
  void end(const TurnState& state, const Journal& journal);

 private:
  // A block of the answer. It is written from its first content on.
  struct LiveBlock {
    BlockType type = BlockType::Text;
    bool is_refusal = false, is_custom = false;
    std::string id = {}, name = {};
    std::string text = {}, signature = {};
    bool is_written = false, has_ended = false, is_done = false;
    bool has_part = false;
    std::size_t item = 0, part = 0;
    std::string place = {};  // the same as members of an event
  };
  struct LiveItem {
    BlockType type = BlockType::Text;
    std::string id = {};
    std::vector<std::uint64_t> blocks = {};  // their numbers
    std::size_t parts = 0;
    bool is_done = false;
  };

  void take(const StreamEvent& event);
  void start_block(const stream::BlockStart& start);
  void add_delta(const stream::Delta& delta);
  void add_text(std::uint64_t number, LiveBlock& block, const stream::Delta& delta);
  void end_block(std::uint64_t number);
  void replay_answer(const Message& answer);

  void write_block(std::uint64_t number, LiveBlock& block);
  void begin_item(const LiveBlock& block);
  void begin_part(LiveBlock& block);
  void write_delta(const LiveBlock& block, std::string_view text);
  void write_other(const Block& block);  // an item without parts: raw, an image
  void finish_part(LiveBlock& block);
  void finish_item(std::size_t index, ItemStatus status);
  void finish_before_next();
  void finish_all(std::size_t kept, bool is_whole);

  Json item_json(const LiveItem& item, ItemStatus status) const;
  std::string item_id(std::string_view type) const;  // of the next item
  json::Writer event(std::string_view type);
  json::Writer part_event(std::string_view type, const LiveBlock& block);
  void put_place(json::Writer& w, const LiveBlock& block) const;
  void put(std::string_view type, json::Writer& event);
  void put_response(std::string_view type, const Json& response);
  void put_item(std::string_view type, std::size_t index, const Json& item);
  void send(std::string_view type, std::string_view json);

  std::vector<std::string> include_;
  OnEvent on_event_;
  TurnKey key_;
  std::string dialect_;
  bool shows_encrypted_ = false;
  Journal::Cursor cursor_;
  std::map<std::uint64_t, LiveBlock> blocks_;
  LiveBlock* last_ = nullptr;  // the block of the last delta
  std::uint64_t last_number_ = 0;
  std::vector<LiveItem> items_;
  std::int64_t sequence_ = 0;
  std::string json_;  // of the delta that is written
};

}  // namespace parley::server
