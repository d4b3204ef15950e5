// The document around the messages: a request or an answer, read and written by the tables of an Envelope.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {

// Takes the system part, tools, settings and outcome out of a document. Fails as read() does.
Result<void> read_envelope(Dialect dialect, const Json& document, Conversation& conversation,
                           const json::Limits& limits = kNoLimits);

// The document with its members as the dialect's writer spells them.
Json as_usual(const Envelope& envelope, const Json& document);

// The place of the messages in a document of this shape: that of an answer, or of a request if the dialect
// has no answers.
const MessagesLocation& place_of(const Envelope& envelope, DocumentShape shape);

// The place that is there in an object around the messages.
const MessagesLocation& place_in(const Envelope& envelope, DocumentShape shape, const Json& around);

// The object around the messages in the dialect's natural form, with "[]" where the list or the message goes.
// `system` are messages that go where the system part has its place.
enum class Names : std::uint8_t { Fitted, AsTheyAre };  // of tools
Json natural_envelope(const Conversation& conversation, Dialect dialect, std::span<const Message> system = {},
                      Names names = Names::Fitted);

// The object that was around the messages, with "[]" where they were; or "" if they were a string and that is
// to be told.
Json wire_envelope(const Arena& document, bool tells_text);

// Where in an envelope the "[]" stands, as a JSON Pointer.
std::string pointer_to(const Envelope& envelope, const MessagesLocation& place);

// Notes what the system part says and cannot say in its place. What was only made up or spelled otherwise, a
// patch of the envelope may undo.
void note_system(const Conversation& conversation, Dialect target, std::vector<Note>& notes);

// If the place of the system part is a string: notes what it has no room for, instead of what was noted about
// the blocks of a message.
void note_string(Draft& draft, const Message& system);

// Notes what the conversation has around its messages and the target's document has no place for.
void note_envelope(const Conversation& conversation, Dialect target, bool is_list, std::vector<Note>& notes);

// Notes what the outcome says and the answer, as it is written, does not.
void note_outcome(const Conversation& conversation, Dialect target, const Json& around,
                  std::vector<Note>& notes);

// What the request says about media beside the messages, as an object of its members.
Json media_apart(const Envelope& envelope, std::span<const Message> messages);

// What a document says about media beside its messages is so for these messages, too.
bool media_are_the_same(const Envelope& envelope, const Arena& document, std::span<const Message> messages);

// Whether a place (a JSON Pointer) is another, or stands in it.
bool is_beneath(std::string_view place, std::string_view other);

// Whether what two spellings of a request differ in here says the same: the white space of JSON in a string,
// or a schema that has two names.
bool is_said_otherwise(const Envelope& envelope, std::string_view place, const Json& a, const Json& b);

// Where a request names its model: members with '/' between them. Nothing if the URL names it.
std::optional<std::string_view> model_path(Dialect dialect);

// One message in the dialect's natural spelling, if that is exactly one message.
std::optional<Json> natural_message(const Message& message, Dialect dialect, Form form = Form::AsRead);

}  // namespace parley::dialect
