// The types of the rows in which a dialect says its words, limits and signs (<format>/tables.h). Shared code
// walks the rows of all dialects, or those of one; it names no dialect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "parley/dialect/dialect.h"
#include "parley/dialect/failure.h"
#include "parley/json/json.h"
#include "parley/message/outcome.h"
#include "parley/message/settings.h"

namespace parley::dialect {

// The text at a JSON Pointer; "" if there is none.
inline Text text_at(const Json& value, std::string_view pointer) {
  return value.at(pointer).value_or(Json()).as_string().value_or(Text());
}

// ---- Answers (core/outcome.h)

// The first row of a word is what it means; the first row of a finish is how it is said. A word that ends in
// '*' stands for all that begin like it.
struct FinishWord {
  Finish finish;
  std::string_view word;
};

using Counter = std::optional<std::uint64_t> Usage::*;

// A canonical counter is the sum of these counters of the wire, as far as they are known; each is a JSON
// Pointer into the usage object. If none is known, the next row of the same counter is tried.
struct UsageSum {
  static constexpr std::size_t kAddends = 3;
  Counter counter;
  std::array<std::string_view, kAddends> of;
};

// How a member is written: the sum of some counters less some others. It is left out unless the first
// counter of `plus` is known. Members of one object stand together.
struct UsageMember {
  std::string_view object;  // "" is the usage object itself
  std::string_view name;
  std::array<Counter, 2> plus;
  std::array<Counter, 2> minus = {};
  bool needs_all = false;  // a total: left out if either addend is unknown
};

struct AnswerWords {
  std::span<const FinishWord> finishes = {};
  std::span<const UsageSum> sums = {};
  std::span<const UsageMember> members = {};
};

// ---- Settings (core/setting_limits.h)

// The numbers a provider takes, both included. Converse's are those of AWS's service model, OpenAI's those of
// its published specification, the others those of their references.
struct SettingRange {
  Setting setting;
  std::int64_t least, most;
};
inline constexpr std::int64_t kNoMost = INT64_MAX;

struct SettingLimits {
  std::span<const SettingRange> ranges = {};
  std::size_t most_stops = SIZE_MAX;                   // stop sequences
  bool refuses_blank_stops = false;                    // stop sequences of white space only
  bool needs_max_tokens = false;                       // a request without a limit of tokens is refused
  std::span<const std::string_view> model_words = {};  // in the names of the provider's models
};

inline constexpr SettingLimits kNoSettingLimits = {};

// ---- Detection (core/detect.cc)

enum class SignOf : std::uint8_t {
  Document,  // a document that is an object
  Message,
  Block,
  Rest,      // a message without any of the signs above, if its content is a list or it has details
  Fallback,  // a document without any of the signs above
};
enum class SignWhen : std::uint8_t { Always, InRequest, OutsideRequest };

// What points to a dialect. Signs of a lower rank are looked at first, whatever their dialect.
struct Sign {
  SignOf of;
  int rank;
  // A member, or a JSON Pointer; with '*' at the end any member that begins like it; "" needs none.
  std::string_view member = {};
  std::string_view value = {};  // a string, or the first byte of any object, list or string; "" is any value
  std::string_view without = {};  // a member that is absent
  SignWhen when = SignWhen::Always;
};

// ---- Raw blocks in other dialects (core/opaque_blocks.h)

enum class OpaqueKind : std::uint8_t {
  Unknown,
  Opaque,
  Compaction,
  SearchResult,
  Citations,
  ServerTool,
  Spoken,
  ToolReference,
  CacheMark
};

// A block is identified by its type, or by the member that holds it. '*' stands for any beginning.
struct OpaqueBlock {
  std::string_view name;
  OpaqueKind kind;
};

// A file that a provider has, named by its id.
struct ProviderFile {
  Json id;
  bool is_image = false;
  Text name, context;
};

// How a dialect names such a file. Each gives nothing if it does not.
struct FileBlocks {
  std::optional<ProviderFile> (*read)(const Json& block);
  std::optional<Json> (*write)(const ProviderFile& file, bool in_result);
};

// ---- Errors (core/failure.cc)

struct FailureRow {
  int from, to;             // the status; 0 to 999 is any
  std::string_view word;    // one of the provider's words is this; "": any
  std::string_view phrase;  // the message or one of the words has this in it, in lower case
  FailureKind kind;
};

// ---- Streams (core/stream_reader.cc, core/stream_encoder.cc)

class Decoder;
class Encoder;

enum class FramingKind : std::uint8_t { Sse, Lines, EventStream };

struct StreamFormat {
  FramingKind framing;
  std::unique_ptr<Decoder> (*decoder)(Dialect dialect, const json::Limits& limits);
  std::unique_ptr<Encoder> (*encoder)(Dialect dialect,
                                      Dialect source) = nullptr;  // null: streams are only read
  bool has_raw_media = false;       // media come as raw blocks, spelled as in an answer
  bool chunks_are_answers = false;  // a whole answer reads as a stream of one chunk
};

}  // namespace parley::dialect
