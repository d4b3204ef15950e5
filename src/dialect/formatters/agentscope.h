// AgentScope's formatters: one traversal (agentscope.cc) over one row per provider
// that says what differs (agentscope_rows.cc).
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/format.h"
#include "dialect/formatters/formatter.h"
#include "dialect/formatters/python.h"
#include "json/python.h"
#include "message/arena.h"
#include "parley/json/writer.h"

namespace parley::dialect::agentscope {

// Kinds of media, as a set.
enum Kind : std::uint8_t { kNone = 0, kImage = 1, kAudio = 2, kVideo = 4, kAllMedia = 7 };
std::uint8_t kind_of(BlockType type);
std::uint8_t kind_named(std::string_view type);  // kNone for what is no media

// The URL without the "file://" that AgentScope cuts off before it looks for a file.
std::string_view without_file_scheme(std::string_view url);
// What AgentScope takes for a place on the web: whatever has a scheme, "file" excepted.
bool is_web_url(std::string_view url);

// A text block: of a message, or one that the formatter makes.
struct Said {
  std::optional<Text> text;    // nothing if the block has none
  std::string_view wire = {};  // the block's JSON object, if it has one
};

// A media block: of a message, of a result, or of a result and promoted.
struct Media {
  BlockType type;
  SourceKind source;
  std::optional<Text> data;  // base64 or the URL
  std::optional<Text> media_type;
  std::string_view wire = {};
};

// One message of a provider while its blocks are gathered. The writers hold list elements.
struct Turn {
  std::string_view role;
  Text name;
  bool is_first = false;  // of the list that the formatter was given
  json::Writer parts = {};
  bool has_media = false;
  std::vector<Text> texts = {};
  std::vector<Text> thoughts = {};
  json::Writer calls = {};
  json::Writer images = {};  // where these stand apart from the content
  json::Writer after = {};   // what follows the message
};

// What several agents said between two uses of tools.
struct Run {
  struct Item {
    enum What : std::uint8_t { Lines, Tag, Media } what;
    std::string value;  // the text, or the part as JSON
  };
  std::vector<Item> items = {};
  json::Writer images = {};  // where media stand after the text
  json::Writer audios = {};
};

class Traversal;

struct Provider {
  Dialect target;
  std::uint8_t carries = kNone;   // the media that are written
  std::uint8_t promotes = kNone;  // the media in results that the formatter can promote
  std::string_view promoted_contents = {};
  bool promotes_at_once = false;  // else after the message that holds the result
  bool writes_name = false;       // of a message
  bool drops_own_audio = false;   // the assistant's
  bool images_apart = false;      // media are no parts of the content
  bool interleaves = false;       // media of a run stand where they stood
  bool output_may_be_absent = false;
  bool system_needs_types = false;  // a block without a type is an error in the system message, too
  std::string_view history_tag = "<history>\n";

  // Adds the part of a text block; null: texts are joined when the message is closed.
  Result<void> (*text)(Traversal& traversal, Turn& turn, const Said& said) = nullptr;
  void (*thinking)(Turn& turn, const Said& thought) = nullptr;  // null: it is dropped
  Result<void> (*media)(Traversal& traversal, json::Writer& to, const Media& media) = nullptr;
  Result<void> (*tool_use)(Traversal& traversal, Turn& turn, const BlockRecord& use);
  Result<void> (*tool_result)(Traversal& traversal, Turn& turn, const BlockRecord& result);
  // Writes what was gathered; false if there is nothing that the formatter would write.
  bool (*close)(json::Writer& out, Turn& turn);
  Result<void> (*system)(Traversal& traversal, json::Writer& out);
  void (*run)(json::Writer& out, const Run& run);
};

std::span<const Provider> providers();

// Each writes one media block as the provider's part (agentscope_media.cc).
using PutMedia = Result<void>(Traversal& traversal, json::Writer& to, const Media& media);
PutMedia openai_media, responses_media, anthropic_media, gemini_media, dashscope_media, ollama_media;

class Traversal {
 public:
  Traversal(const FormatterJob& job, const Provider& provider)
      : job_(job), provider_(provider), draft_{job.target, unused_, job.notes} {
    out_.begin_array();
  }

  Result<void> check_options() const;
  Result<void> chat() { return chat(0, job_.messages.size()); }
  Result<void> multi_agent();
  std::string take() {
    out_.end_array();
    return out_.take_string();
  }

  // ---- For the rows: the message and the block at hand.

  std::span<const BlockRecord> blocks() const { return arena().blocks(record()); }
  std::span<const BlockRecord> children(const BlockRecord& result) const { return arena().children(result); }
  Said said(const BlockRecord& block) const;
  Media media(const BlockRecord& block) const;
  std::optional<Text> string(Slice slice) const { return arena().optional_string(slice); }
  // A JSON value of the message as Python spells it. REQUIRES: slice.present().
  std::string python(Slice slice) const { return json::python_json(arena().bytes(slice)); }
  // The arguments of a call, as Python spells them.
  std::string input(const BlockRecord& use, json::Gaps gaps = json::Gaps::None) const;

  // The result as one text, as the original flattens it. Remembers its media for promotion.
  Result<std::string> result_text(const BlockRecord& result);
  // Where messages are written that stand before the one at hand.
  json::Writer& out() { return out_; }
  // Says which child of a result is at hand; nothing: none.
  void at_child(std::optional<std::size_t> child) { child_ = child; }

  // The URL of media, noted if the original would look for a file there.
  Result<Text> url(const Media& media);
  Result<void> require_base64(const Media& media) const;   // both members of such a source
  Result<std::string> data_url(const Media& media) const;  // of a base64 source
  std::unexpected<Error> needs_bytes() const;              // the original would fetch the URL
  std::unexpected<Error> raises(std::string_view exception, std::string_view why) const;
  Result<void> require(bool is_there, std::string_view member) const;
  void note(std::string_view code, Severity severity, std::string_view action, Text detail) {
    draft_.note(code, severity, action, std::move(detail), block_);
  }

 private:
  struct Located {
    std::string location;
    Media media;
  };
  // Media of a result that become a message of the user.
  struct Promotion {
    std::size_t block;
    std::string tool;
    std::vector<Located> media;
  };

  const Arena& arena() const { return Arena::of(job_.messages[draft_.position]); }
  const MessageRecord& record() const { return Arena::record_of(job_.messages[draft_.position]); }
  std::string place() const;
  // Goes to a message. Fails if the original would refuse it.
  Result<void> enter(std::size_t message);
  void at_block(const BlockRecord& block) { block_ = static_cast<std::size_t>(&block - blocks().data()); }
  bool uses_tools(std::size_t message) const;
  bool writes(std::uint8_t kind) const;
  void note_lost(bool is_chat);

  Result<void> chat(std::size_t first, std::size_t end);
  Result<void> message(bool is_first);
  Result<void> block(Turn& turn, const BlockRecord& block);
  Result<void> drop(const BlockRecord& block);
  Result<void> add_text(Turn& turn, const Said& said);
  Result<void> add_media(Turn& turn, const Media& media);
  Result<std::string> child_text(const BlockRecord& child);
  Result<void> remember(const BlockRecord& result);
  Result<void> promote();

  Result<void> system();
  Result<void> require_types() const;
  Result<void> agents(std::size_t first, std::size_t end, bool is_first);
  Result<void> gather(Run& run, std::string& lines);
  Result<void> gather_media(Run& run, std::string& lines, const BlockRecord& block);

  const FormatterJob& job_;
  const Provider& provider_;
  json::Out unused_;
  Draft draft_;  // its position is the message at hand
  std::size_t block_ = 0;
  std::optional<std::size_t> child_;
  std::vector<Located> located_;  // the media of the result at hand
  std::vector<Promotion> promotions_;
  json::Writer out_;
};

}  // namespace parley::dialect::agentscope
