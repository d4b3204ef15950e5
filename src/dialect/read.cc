// Reading documents: the JSON verdict and the shape verdict become one error with a place.
#include <algorithm>

#include "dialect/format.h"
#include "dialect/reader.h"
#include "parley/dialect/dialect.h"
#include "parley/json/pointer.h"
#include "parley/json/writer.h"

namespace parley {
namespace {

using dialect::format_of;
using dialect::Reader;

std::unexpected<Error> to_error(const json::Fault& fault, std::string_view document) {
  // What is said about the shape has its pointer; what is no JSON also has its byte.
  const bool is_syntax = fault.code == Code::Malformed || fault.code == Code::InvalidUtf8;
  std::string message = fault.message;
  if (is_syntax) message.append(" at byte ").append(std::to_string(fault.at));
  return fail(fault.code, std::move(message), json::pointer_at(document, fault.at));
}

// A document that is no JSON is said to be so, even if its shape was found wrong before that.
std::optional<json::Fault> syntax_fault(json::Buffer& document, const ReadOptions& options) {
  json::Cursor cursor(document, {options.limits, options.strict});
  Slice ignored;
  if (!cursor.ok() || !cursor.skip(ignored) || !cursor.finish()) return cursor.fault();
  return std::nullopt;
}

// The message a place belongs to: the last one that starts before it.
std::optional<std::size_t> message_at(std::span<const MessageRecord> messages, std::uint32_t offset) {
  const auto after =
      std::upper_bound(messages.begin(), messages.end(), offset,
                       [](std::uint32_t at, const MessageRecord& m) { return at < m.wire.offset; });
  if (after == messages.begin() || (after - 1)->wire.end() <= offset) return std::nullopt;
  return static_cast<std::size_t>(after - messages.begin()) - 1;
}

std::vector<Note> reading_notes(const Arena& arena, std::span<const json::Oddity> oddities, bool has_mark,
                                Dialect dialect) {
  std::vector<Note> notes;
  const std::string_view name = to_string(dialect);
  if (has_mark) {
    notes.push_back({"byte_order_mark", Severity::Info, std::nullopt, std::nullopt, name, "dropped",
                     "the byte order mark at the start is left out"});
  }
  std::vector<json::Oddity> sorted(oddities.begin(), oddities.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  std::vector<std::size_t> offsets;
  offsets.reserve(sorted.size());
  for (const json::Oddity& oddity : sorted) offsets.push_back(oddity.at);
  const std::vector<std::string> pointers = json::pointers_at(arena.buffer().view(), offsets);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool surrogate = sorted[i].code == Code::LoneSurrogate;
    Note note{surrogate ? "lone_surrogate" : "duplicate_key",
              surrogate ? Severity::Minor : Severity::Info,
              message_at(arena.messages(), sorted[i].at),
              std::nullopt,
              name,
              surrogate ? "replaced" : "kept",
              dialect::said((surrogate ? "half of a surrogate pair became U+FFFD at "
                                       : "the member name stands twice, the last one counts, at ") +
                            pointers[i])};
    note.path = pointers[i];
    notes.push_back(std::move(note));
  }
  return notes;
}

Result<Message> system_message(const Json& content) {
  json::Writer w;
  w.begin_object().key("role").string("system").key("content").value(content).end_object();
  auto message = from_dict(w.take(), Dialect::Parley);
  if (!message) {
    // The place in the document, not in what was made of it.
    constexpr std::string_view kContent = "/content";
    std::string& path = message.error().path;
    if (path.starts_with(kContent)) path.replace(0, kContent.size(), "/system");
  }
  return message;
}

Result<Tool> read_tool(const Json& tool, const std::string& path) {
  if (!tool.is_object()) return fail(Code::WrongType, "a tool must be an object", path);
  const auto name = tool.get("name");
  const auto description = tool.get("description");
  if (!name) return fail(Code::Missing, "the member 'name' is missing", path);
  if (!name->is_string()) return fail(Code::WrongType, "'name' must be a string", path + "/name");
  if (description && !description->is_string()) {
    return fail(Code::WrongType, "'description' must be a string", path + "/description");
  }
  return Tool{*name->as_string(), description ? *description->as_string() : Text(),
              tool.get("parameters").value_or(Json())};
}

// The system part and the tools of a `parley` envelope.
Result<void> read_envelope(const Json& envelope, Conversation& conversation) {
  if (const auto system = envelope.get("system"); system && !system->is_null()) {
    PARLEY_TRY(Message message, system_message(*system));
    conversation.set_system(std::move(message));
  }
  const auto listed = envelope.get("tools");
  if (!listed) return {};
  if (!listed->is_array()) return fail(Code::WrongType, "'tools' must be a list", "/tools");
  std::vector<Tool> tools;
  for (const Json& each : listed->elements()) {
    PARLEY_TRY(Tool tool, read_tool(each, "/tools/" + std::to_string(tools.size())));
    tools.push_back(std::move(tool));
  }
  conversation.set_tools(std::move(tools));
  return {};
}

}  // namespace

Result<Reading> read(json::Buffer document, Dialect dialect, const ReadOptions& options) {
  Reader reader(document, options);
  if (!reader.document(format_of(dialect).read_message)) {
    const json::Fault& fault = reader.cursor.fault();
    if (const auto syntax = syntax_fault(document, options)) return to_error(*syntax, document.view());
    return to_error(fault, document.view());
  }
  const bool has_mark = document.view().starts_with("\xEF\xBB\xBF");
  const std::shared_ptr<const Arena> arena = reader.seal(std::move(document), dialect::tag(dialect));
  Reading reading;
  Conversation& conversation = reading.conversation;
  const auto count = static_cast<std::uint32_t>(arena->messages().size());
  conversation.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) conversation.append(Arena::message(arena, i));
  conversation.set_shape(arena->shape());
  if (dialect == Dialect::Parley && arena->shape() == DocumentShape::Envelope) {
    PARLEY_CHECK(read_envelope(arena->value(arena->document()), conversation));
  }
  conversation.set_document(arena);
  if (has_mark || !reader.cursor.oddities().empty()) {
    reading.notes = reading_notes(*arena, reader.cursor.oddities(), has_mark, dialect);
  }
  return reading;
}

Result<Reading> read(std::string_view document, Dialect dialect, const ReadOptions& options) {
  if (document.size() > options.limits.bytes) {  // before it is copied
    return fail(Code::LimitExceeded, "the document is larger than the limit of " +
                                         std::to_string(options.limits.bytes) + " bytes");
  }
  return read(json::Buffer::copy_of(document), dialect, options);
}

Result<Message> from_dict(std::string_view json, Dialect dialect, const ReadOptions& options) {
  PARLEY_TRY(const Reading reading, read(json, dialect, options));
  if (reading.conversation.shape() != DocumentShape::Single) {
    return fail(Code::WrongType, "one message is expected, not a list of them");
  }
  return reading.conversation.messages().front();
}

Result<Dialect> detect(std::string_view document, const ReadOptions& options) {
  // Any document that can be read has a dialect, so lone surrogates are let pass here.
  json::Buffer buffer = json::Buffer::copy_of(document);
  json::Cursor cursor(buffer, {options.limits, false});
  Slice value;
  if (!cursor.ok() || !cursor.skip(value) || !cursor.finish()) return to_error(cursor.fault(), buffer.view());
  const Json all = Json::trusted(Text::trusted(nullptr, cursor.bytes(value)));
  if (all.get("parley")) return Dialect::Parley;
  const Json list = all.is_array() ? all : all.get("messages").value_or(Json());
  std::vector<Json> messages = list.elements();
  if (messages.empty() && all.is_object()) messages.push_back(all);
  // Points for each dialect, by members only it has. A few messages tell.
  constexpr std::size_t kEnough = 50;
  if (messages.size() > kEnough) messages.resize(kEnough);
  for (const Json& message : messages) {
    if (message.get("wire_role") || message.get("extra")) return Dialect::Parley;
    // The other dialects with any of these members need a name.
    const bool has_name = message.get("name").has_value();
    if (message.get("created_at") && !message.get("timestamp")) return Dialect::AgentScope2;
    if (message.get("tool_calls") || message.get("tool_call_id") || message.get("base64_image")) {
      return Dialect::OpenManus;
    }
    for (const Json& block : message.get("content").value_or(Json()).elements()) {
      const std::string type = block.get("type").value_or(Json()).as_string().value_or(Text()).str();
      if (type == "tool_call" || type == "data" || type == "hint" || block.get("created_at")) {
        return Dialect::AgentScope2;
      }
      if (type == "raw" || type == "document" || block.get("arguments") || block.get("is_error")) {
        return Dialect::Parley;
      }
    }
    const bool has_blocks = message.get("content").value_or(Json()).is_array();
    if (message.get("timestamp") || message.get("metadata") || has_blocks) {
      return has_name ? Dialect::AgentScope : Dialect::Parley;
    }
  }
  return Dialect::OpenManus;
}

}  // namespace parley
