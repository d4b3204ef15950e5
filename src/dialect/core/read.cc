// Reading documents: the JSON verdict and the shape verdict become one error with a place.
#include <algorithm>

#include "dialect/core/envelope.h"
#include "dialect/core/reader.h"
#include "dialect/format.h"
#include "json/pointer.h"
#include "parley/dialect/dialect.h"

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
  const std::vector<std::string> pointers = json::pointers_at(arena.text(), offsets);
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

}  // namespace

namespace {

// Without places every object is a message.
Result<Reading> read_with(json::Buffer document, Dialect dialect, const ReadOptions& options,
                          std::span<const dialect::MessagesLocation> places) {
  Reader reader(document, options);
  const dialect::Format& format = format_of(dialect);
  if (!reader.document(format.read_message, places, format.envelope.of_message)) {
    const json::Fault& fault = reader.cursor.fault();
    if (const auto syntax = syntax_fault(document, options)) return to_error(*syntax, document.view());
    return to_error(fault, document.view());
  }
  if (format.complete != nullptr && reader.shape() == DocumentShape::Envelope) {
    format.complete(reader, Json::trusted(Text::trusted(nullptr, reader.cursor.bytes(reader.whole()))));
  }
  reader.part_ids();
  if (format.names_results) reader.name_results();
  const bool has_mark = document.view().starts_with("\xEF\xBB\xBF");
  const std::shared_ptr<const Arena> arena = reader.seal(std::move(document), dialect::tag(dialect));
  Reading reading;
  Conversation& conversation = reading.conversation;
  const auto count = static_cast<std::uint32_t>(arena->messages().size());
  conversation.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) conversation.append(Arena::message(arena, i));
  conversation.set_shape(arena->shape());
  // A request is read without its messages, which every look for a member would pass over again.
  if (arena->shape() == DocumentShape::Envelope) {
    PARLEY_CHECK(
        dialect::read_envelope(dialect, dialect::wire_envelope(*arena, false), conversation, options.limits));
  } else if (arena->shape() == DocumentShape::Response) {
    PARLEY_CHECK(
        dialect::read_envelope(dialect, arena->value(arena->document()), conversation, options.limits));
  }
  conversation.set_document(arena);
  if (has_mark || !reader.cursor.oddities().empty()) {
    reading.notes = reading_notes(*arena, reader.cursor.oddities(), has_mark, dialect);
  }
  return reading;
}

// A document over the limit is refused before it is copied.
Result<void> check_size(std::string_view document, const ReadOptions& options) {
  if (document.size() <= options.limits.bytes) return {};
  return fail(Code::LimitExceeded,
              "the document is larger than the limit of " + std::to_string(options.limits.bytes) + " bytes");
}

}  // namespace

Result<Reading> read(json::Buffer document, Dialect dialect, const ReadOptions& options) {
  return read_with(std::move(document), dialect, options, format_of(dialect).envelope.locations);
}

Result<Reading> read(std::string_view document, Dialect dialect, const ReadOptions& options) {
  PARLEY_CHECK(check_size(document, options));
  return read(json::Buffer::copy_of(document), dialect, options);
}

Result<Message> from_dict(std::string_view json, Dialect dialect, const ReadOptions& options) {
  PARLEY_CHECK(check_size(json, options));
  const auto not_one = [] { return fail(Code::WrongType, "one message is expected, not a list of them"); };
  const auto reading = read_with(json::Buffer::copy_of(json), dialect, options, {});
  if (!reading) {
    const auto document = reading.error().code == Code::Missing ? read(json, dialect, options) : reading;
    if (document && document->conversation.shape() != DocumentShape::Single) return not_one();
    return std::unexpected(reading.error());
  }
  if (reading->conversation.shape() != DocumentShape::Single) return not_one();
  return reading->conversation.messages().front();
}

}  // namespace parley
