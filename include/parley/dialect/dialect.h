// Dialects read and write wire formats. This is the only room that knows any.
//
// Invariants (quoted by tests as D1..D6):
//   D1  Writing what was read, in the same dialect, gives the same bytes (a byte order mark and lone
//       surrogates excepted, each with a note).
//   D2  D -> parley -> D gives the same JSON value: order of members, spelling of numbers, unknown members,
//       null and absent included.
//   D3  Writing in another dialect drops or changes nothing without a note.
//   D4  The same input gives the same output: minted values derive from position and content. A time that a
//       message does not have is that of reading it, where a dialect needs one.
//   D5  A refused document names the place (JSON Pointer) and changes nothing.
//   D6  A history that is broken (see message/validate.h) is not written in another dialect; `parley`
//       carries it as it is.
//
// Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"

namespace parley {

// Notes say what a conversion could not carry as it was: nothing is lost in silence. Plain values.
enum class Severity : std::uint8_t {
  Info,   // the same content in another form
  Minor,  // metadata is lost
  Major,  // content a model would have seen is lost or changed
};
std::string_view to_string(Severity severity);  // "info", "minor", "major"

// Cheap to make and to copy, because a conversion may have one for every message: names are views of static
// strings and most sentences are literals.
struct Note {
  std::string_view code;  // e.g. "thinking_dropped"
  Severity severity = Severity::Info;
  std::optional<std::size_t> message_index;  // 0-based index in the source conversation
  std::optional<std::size_t> block_index;    // 0-based index of the block in the message
  std::string_view dialect;                  // the dialect that could not carry it
  std::string_view action;                   // what was done: "dropped", "minted", "joined", ...
  Text detail;                               // a sentence
  std::optional<std::size_t> line = {};      // of a JSON Lines file, from 1
  std::string path = {};                     // JSON Pointer into the source, where reading noted something
  bool operator==(const Note&) const = default;
};

// {"code","severity","line"?,"message","block","dialect","action","detail"}
Json to_json(const Note& note);

// One line for people: "thinking_dropped (minor, message 3, block 0): ...".
std::string to_line(const Note& note);
std::ostream& operator<<(std::ostream& out, const Note& note);

enum class Dialect : std::uint8_t {
  Parley = 1,
  OpenManus,
  AgentScope,
  AgentScope2,
  OpenAI,  // Chat Completions
  Responses,
  Anthropic,
  Gemini,
  Ollama,
  Converse,
  DeepSeek,
  Moonshot,
  DashScope,
  OTel,
  ShareGPT,
};

std::string_view to_string(Dialect dialect);  // "parley", "openmanus", ... as `parley dialects` lists them
// Fails with NotFound, listing the names there are.
Result<Dialect> dialect_named(std::string_view name);

// What a dialect can carry, for tables shown to people.
struct DialectInfo {
  Dialect dialect;
  std::string_view name;
  std::string_view summary;
  std::string_view blocks;     // block types it carries natively
  std::string_view documents;  // the shapes it reads
};
std::span<const DialectInfo> dialects();

struct ReadOptions {
  json::Limits limits = {};
  bool strict = false;  // lone surrogates and duplicate keys are errors, not notes
};

struct Reading {
  Conversation conversation;
  std::vector<Note> notes;
};

// Reads one document: a list of messages, one message, or an object whose member "messages" is a list. A
// known member that is null reads as absent, whatever it is, and is kept in the bytes. Fails with Malformed,
// InvalidUtf8, LimitExceeded, WrongType, Missing, UnknownRole or WrongDialect, and under `strict` with
// LoneSurrogate or DuplicateKey. The first form takes the buffer over without a copy.
Result<Reading> read(json::Buffer document, Dialect dialect, const ReadOptions& options = {});
Result<Reading> read(std::string_view document, Dialect dialect, const ReadOptions& options = {});

// The dialect a document looks like; OpenManus if nothing points elsewhere. Reads the document in full.
// Fails as read() does if it is no JSON.
Result<Dialect> detect(std::string_view document, const ReadOptions& options = {});

enum class Form : std::uint8_t {
  AsRead,     // a message that was read in this dialect is written as its wire
  Canonical,  // every message is written in the original's order and with its omissions
};

struct WriteOptions {
  Form form = Form::AsRead;
  bool strict = false;  // a major note is an error (Lossy)
  bool keep = true;     // keep what was written with the messages, for the next time
};

struct Writing {
  Text text;  // the document, without a newline of ours after it
  std::vector<Note> notes;
};

// Writes the conversation as one document of the same shape. Fails with BrokenHistory (D6) or, under
// `strict`, with Lossy.
Result<Writing> write(const Conversation& conversation, Dialect dialect, const WriteOptions& options = {});

// The same document in pieces, for writev(2): pieces that exist already are not copied.
struct Gathering {
  std::vector<std::string_view> pieces;  // valid while this object and the conversation live
  std::vector<Text> kept;                // what the pieces stand on
  std::vector<Note> notes;
};
Result<Gathering> gather(const Conversation& conversation, Dialect dialect, const WriteOptions& options = {});

// One message as one JSON object. to_dict fails with Unsupported if the dialect needs several messages
// for it, or none.
Result<Json> to_dict(const Message& message, Dialect dialect = Dialect::OpenManus, Form form = Form::AsRead);
// One message as all the JSON objects it takes: OpenManus has a message for each result.
std::vector<Json> to_dicts(const Message& message, Dialect dialect = Dialect::OpenManus,
                           Form form = Form::AsRead);
Result<Message> from_dict(std::string_view json, Dialect dialect = Dialect::OpenManus,
                          const ReadOptions& options = {});
inline Result<Message> from_dict(const Json& json, Dialect dialect = Dialect::OpenManus,
                                 const ReadOptions& options = {}) {
  return from_dict(json.text().view(), dialect, options);
}

}  // namespace parley
