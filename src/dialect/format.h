// One row per dialect: how its messages are read and written. Everything outside the files of a dialect
// works on these rows alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/core/reader.h"
#include "dialect/rows.h"
#include "json/out.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley::rules {
class Report;
}  // namespace parley::rules

namespace parley::dialect {

// The dialect that carries everything: other code names it where it means the canonical form.
inline constexpr Dialect kCanonical = Dialect::Parley;

// For what was read before, whatever the limits were.
inline constexpr json::Limits kNoLimits = {.bytes = 0xFFFFFFF0, .string = 0xFFFFFFF0, .depth = 0xFFFFFFF0};

// A sentence that was put together.
inline Text said(std::string_view sentence) { return Text(sentence); }

// What the conversation around a group asks of its writer.
enum WriteHint : std::uint8_t {
  kIsBroken = 1,       // for `parley`: the wire's dialect would refuse the history, or such an answer
  kMayBeJoined = 2,    // for `parley`: the wire's dialect would write it with the one before
  kIsLast = 4,         // nothing stands after it
  kNamesSpeakers = 8,  // several users speak, so that their names matter
  kIsFirst = 16,       // nothing was written before it
  kIsAnswer = 32,      // it is what a model answered, not what is sent back to it
  kSystemInside = 64,  // the model takes system messages between others
};

// Where a writer puts its bytes and its notes.
struct Draft {
  Dialect target;
  json::Out& out;
  std::vector<Note>& notes;
  std::size_t position = 0;     // of the first message being written, in the conversation
  std::size_t written = 0;      // wire messages so far in this call
  std::string_view extra = {};  // for `parley`: the patch that gives the wire back, if one is needed
  std::string_view extra_of = {};
  Form form = Form::AsRead;
  std::uint8_t hints = 0;  // of WriteHint

  bool is(WriteHint hint) const { return (hints & hint) != 0; }
  void note(std::string_view code, Severity severity, std::string_view action, Text detail,
            std::optional<std::size_t> block = {}) {
    notes.push_back({code, severity, position, block, to_string(target), action, std::move(detail)});
  }
  // Call before each wire message: puts the comma between two of them.
  json::Out& next() {
    if (written++ != 0) out.raw(',');
    return out;
  }
};

// How a dialect says settings: one member of a request, wherever it stands.
struct SettingRow {
  std::string_view path;  // members from the top, with '/' between them; rows of one parent stand together
  unsigned carries;       // bit i: Setting i
  // What the member says, as far as it has a meaning for others; and the member for what is set, if it can
  // say it.
  void (*from)(const Json& member, Settings& settings);
  std::optional<Json> (*to)(const Settings& settings);
  bool with_tools = false;  // it stands in one object with the tools, which writes it
};
constexpr unsigned bit(Setting setting) { return 1U << static_cast<unsigned>(setting); }

// A member of an object around the messages. One that is null reads as absent, whatever it is.
inline std::optional<Json> known(const Json& object, std::string_view name) {
  auto member = object.get(name);
  if (member && member->is_null()) return std::nullopt;
  return member;
}

// A setting that the dialect spells as Parley does.
bool has_type_of(Setting setting, const Json& value);
template <Setting kSetting>
constexpr SettingRow plain_setting(std::string_view path) {
  return {path, bit(kSetting),
          [](const Json& member, Settings& settings) {
            if (has_type_of(kSetting, member)) settings.set(kSetting, member.compact());
          },
          [](const Settings& settings) { return settings.get(kSetting); }};
}

// Which tools may be called, in Parley's words: a word, or {"names": [...], "must": boolean}.
struct ToolChoice {
  std::string word = {};  // "auto", "none" or "required"; "" if there are names
  bool has_names = false;
  std::vector<Json> names = {};
  bool must = false;  // one of them is called

  // The one tool that must be called.
  const Json* only() const { return must && names.size() == 1 ? &names.front() : nullptr; }
};
std::optional<ToolChoice> tool_choice(const Settings& settings);
void set_tool_choice(Settings& settings, std::span<const Json> names, bool must);

// What a reply must look like, in Parley's words. Sets nothing unless the schema is an object and the name a
// string; "" is no name.
void set_reply_schema(Settings& settings, const std::optional<Json>& name, const std::optional<Json>& schema);
// The parts of it; null if nothing is set.
Json reply_schema(const Settings& settings);
Text reply_name(const Settings& settings);
// The schema as a member by itself.
constexpr SettingRow reply_schema_setting(std::string_view path) {
  return {path, bit(Setting::ReplySchema),
          [](const Json& member, Settings& settings) { set_reply_schema(settings, std::nullopt, member); },
          [](const Settings& settings) -> std::optional<Json> {
            Json schema = reply_schema(settings);
            return schema.is_null() ? std::nullopt : std::optional(std::move(schema));
          }};
}

enum class SystemForm : std::uint8_t {
  Message,         // there is no place but a message
  String,          // its texts in one string
  Content,         // what a message has as its content
  StringOrBlocks,  // a string, or a list of blocks if there are several
  Blocks,          // a list of blocks
  Parts,           // an object with a list of blocks in "parts"
};

// What a dialect has around the messages (see envelope.h).
struct Envelope {
  std::span<const MessagesLocation> locations;
  std::span<const std::string_view> of_message = kRoleTells;  // members that tell a message from a document
  std::string_view role = "role";                             // the member of a message that says who speaks
  SystemForm system_form = SystemForm::Message;
  std::string_view system = {};          // the member
  std::string_view content = "content";  // the member of a message that holds its blocks
  // The tools, as members of the request, with names that fit; null if there is no place for them.
  void (*write_tools)(json::Writer& out, std::span<const Tool> tools, const Settings& settings) = nullptr;
  Result<std::vector<Tool>> (*read_tools)(const Json& request) = nullptr;
  bool messages_last = false;        // after the tools and the settings
  bool lists_allowed_tools = false;  // a choice may name several tools, or one that need not be called
  bool has_custom_tools = false;     // tools that take any text
  std::string (*fit_name)(std::string_view name) = nullptr;     // of a tool, as it is declared
  bool (*has_system_inside)(std::string_view model) = nullptr;  // it takes system messages between others
  bool needs_tools = false;                   // a history with calls is refused without them
  std::span<const SettingRow> settings = {};  // the model first
  // An answer: its members, "[]" where its message goes; and what they say. Null if the dialect has none.
  void (*write_answer)(json::Writer& out, const Outcome& outcome) = nullptr;
  Outcome (*read_answer)(const Json& answer, bool has_calls) = nullptr;
  std::string_view no_message = R"({"role":"assistant","content":null})";  // of an answer that has none
  // The media of the messages, if they stand in members of the request. Null if they stand in the messages.
  void (*write_media)(json::Writer& out, std::span<const Message> messages) = nullptr;
  std::string_view json_text = {};  // a member that is JSON in a string: its white space says nothing
  Json (*as_usual)(const Json& document) =
      nullptr;  // members that have several spellings, as they are written
  std::string_view other_schema =
      {};  // another name for the parameters of a tool, which is read, not written
  // Members of a request that name a part of the conversation which the provider has.
  std::span<const std::string_view> elsewhere = {};

  static constexpr std::string_view kRole[] = {"role"};
  static constexpr std::span<const std::string_view> kRoleTells = kRole;
};
extern const Envelope kPlainEnvelope;  // the messages and nothing else

struct ProviderTraits;  // what a provider takes (arrange.h)

inline constexpr std::string_view kMessagesPath[] = {"messages"};
inline constexpr MessagesLocation kMessagesLocation = {DocumentShape::Envelope, kMessagesPath};

// Rows and their read_message() look alike from format to format, on purpose: one file shows all that is
// particular about its format, and the list of members in read_message() is the format.
struct Format {
  DialectInfo info;
  // Reads the message at the cursor, which stands at '{'.
  Reader::ReadMessage read_message;
  // How many of the messages from the front are written together: 1 unless the dialect joins messages.
  std::size_t (*group)(std::span<const Message> rest);
  // Writes such a group as wire messages in the original's order and with its omissions.
  void (*write_group)(Draft& draft, std::span<const Message> group);
  const Envelope& envelope = kPlainEnvelope;
  bool joins = false;  // a group of messages becomes one message of the wire
  // Any history can be written, broken or not.
  bool carries_broken_history = false;
  bool refuses_empty = false;   // messages without any text are refused
  bool names_results = false;   // results say whom they answer, not the tool; the reader finds its name
  bool is_plain = false;        // has no refusals and no cache marks, and its writer knows of none
  std::uint8_t hints_used = 0;  // the hints its writer looks at
  bool has_documents = true;    // else one of text is written as a text
  const ProviderTraits* traits = nullptr;  // of a provider's dialect
  // Places in a message of the wire ('*': any index) whose value is read in another form, mostly as the text
  // of its JSON: nothing of it is lost.
  std::span<const std::string_view> as_text = {};
  // Called when a request was read: puts into the messages what stands in other members of it.
  void (*complete)(Reader& reader, const Json& request) = nullptr;
  // The dialect that this one imitates: its words, streams and opaque blocks hold where this row has none.
  const Format* like = nullptr;
  const Format* provider = nullptr;      // another dialect of the same provider, with its models and files
  const AnswerWords* words = nullptr;    // before those of `like`
  const StreamFormat* stream = nullptr;  // null if there are no streams
  std::span<const Sign> signs = {};
  std::span<const OpaqueBlock> opaque_blocks = {};
  std::span<const FailureRow> failures = {};  // before what statuses mean to all
  const FileBlocks* files = nullptr;
  bool has_document_context = false;  // a document may say what it is about, beside its content
  // Adds what the dialect's servers refuse; null if there are no rules.
  void (*check_rules)(rules::Report& report, const Json& document) = nullptr;
  // Whether a wire message without text carries a signature that the provider wants back.
  bool (*has_signature)(const Json& wire) = nullptr;
};

const Format& format_of(Dialect dialect);
std::span<const Format* const> formats();
// Null if no dialect has that name.
const Format* format_named(std::string_view name);
// The row that has the dialect's streams; null if there are none.
const StreamFormat* stream_of(Dialect dialect);

// A tool as most dialects have it: {"name", "description", "parameters"}. `path` is where it stands, and
// `schema` what the parameters are called there.
Result<Tool> read_tool(const Json& tool, const std::string& path, std::string_view schema = "parameters");
// The list under a member, each element read; nothing if the member is missing or null.
Result<std::vector<Tool>> read_tools_of(const std::optional<Json>& list, const std::string& path,
                                        Result<Tool> (*read)(const Json& tool, const std::string& path));

// The members of such a tool. A description that is empty and a schema that is null are left out.
void write_tool(json::Writer& out, const Tool& tool, std::string_view schema = "parameters");
// The same for servers that refuse a schema which does not say that it is one of an object.
Json object_schema(const Tool& tool);

inline std::size_t one_by_one(std::span<const Message>) { return 1; }

inline DialectTag tag(Dialect dialect) { return static_cast<DialectTag>(dialect); }

}  // namespace parley::dialect
