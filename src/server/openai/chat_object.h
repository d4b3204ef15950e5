// The objects of OpenAI's Chat Completions: a completion, and the chunks of its stream.
//
// Invariants (quoted by tests as CHAT1..CHAT4):
//   CHAT1  A client that joins the chunks gets the message of the completion that is not streamed.
//   CHAT2  All members that the SDK's types require are there: "refusal", "logprobs" null, "annotations"
//          [], the details of the usage.
//   CHAT3  Several texts of an answer are one content, with a line break between them. Thinking is
//          "reasoning_content", as other servers have it.
//   CHAT4  A tool call begins when something of it is known, so that its id and name are sent once.
//
// The functions are pure; a ChunkWriter is used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "parley/dialect/stream.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/server/turn.h"

namespace parley::server {

// What an answer ended with: "stop", "length", "tool_calls" or "content_filter".
std::string_view finish_reason(const TurnState& state);
// Whether the answer is whole, or as whole as its limits let it be: otherwise it is not shown as an answer.
bool is_presentable(const TurnState& state);

// The id of the completion of a turn.
std::string completion_id(const TurnKey& key);
// {"id", "object": "chat.completion", ...}. `metadata` is an object or null: no such member then.
Json to_completion(const TurnState& state, const Json& metadata = {});

// Writes the chunks of one stream, one JSON text each.
class ChunkWriter {
 public:
  using Put = std::function<void(std::string_view json)>;
  // `has_usage`: the client asked for a last chunk with the usage.
  ChunkWriter(const TurnState& state, bool has_usage, Put put);

  void begin();
  void write(const StreamEvent& event);
  void end(const TurnState& state);

 private:
  struct OpenBlock {
    BlockType type = BlockType::Text;
    bool is_refusal = false, is_custom = false, is_begun = false;
    std::string id = {}, name = {};
    std::int64_t call = 0;  // index among the calls
  };

  json::Writer chunk() const;
  json::Writer choice() const;
  void finish(json::Writer& w, std::string_view reason = {});
  void put_delta(std::string_view member, std::string_view text);
  void put_call(OpenBlock& block, std::string_view arguments);
  void write_delta(const stream::Delta& delta);

  std::string id_, model_;
  std::int64_t created_s_;
  bool has_usage_;
  Put put_;
  std::string before_delta_, after_delta_;
  std::map<std::uint64_t, OpenBlock> blocks_ = {};
  std::int64_t calls_ = 0;
  std::optional<std::uint64_t> text_, refusal_, thinking_;  // the last blocks of each kind that were written
};

}  // namespace parley::server
