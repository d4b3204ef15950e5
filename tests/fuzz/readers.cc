// The readers of all dialects: the first byte chooses one, the rest is the document. It is read or refused
// for a reason, at a place that is there (D5 of dialect.h); all that was read can be asked for.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/validate.h"
#include "rearrange.h"
#include "require.h"

namespace {

using namespace parley;

bool noted(const std::vector<Note>& notes, std::string_view code) {
  return std::any_of(notes.begin(), notes.end(), [&](const Note& note) { return note.code == code; });
}

void check_refusal(const Error& error, const Result<Json>& json) {
  require(is_utf8(error.message) && is_utf8(error.path), "an error is text");
  require(!error.message.empty(), "an error has a message");
  const bool is_syntax = error.code == Code::Malformed || error.code == Code::InvalidUtf8;
  if (is_syntax) require(!json.has_value(), "what is called no JSON is none");
  // Of two members of one name a path leads to the last.
  const bool is_told = json && json::judge::Document(json->text()).repeated.empty();
  if (is_told) require(json->at(error.path).has_value(), "a refusal names a place that is there (D5)");
  if (!json && json.error().code != Code::LoneSurrogate) {
    require(error.code == json.error().code, "what is no JSON is called so");
  }
}

void look_at(const Reading& reading, const Result<Json>& json) {
  const std::span<const Message> messages = reading.conversation.messages();
  for (const Finding& finding : validate(messages)) {
    require(is_utf8(finding.path), "the path of a finding is UTF-8");
    if (json) require(json->at(finding.path).has_value(), finding.code + " is at a place that is there");
  }
  for (const Note& note : reading.notes) {
    require(!note.message_index || *note.message_index < messages.size(),
            "a note is about a message that is there");
    require(is_utf8(to_json(note).text()), "a note is text");
  }
  for (const Message& message : messages) {
    require(is_utf8(message.get_text_content().value_or(Text()).view()), "the text is UTF-8");
    for (const Block& block : message.blocks()) (void)block.type();
    (void)message.tool_calls();
    (void)message.base64_image();
    require(message.detach() == message, "a detached message says the same");
  }
}

// Under limits a document is read as without them, or it is over them.
void check_limits(std::string_view document, Dialect dialect, const Result<Reading>& free) {
  const json::Limits limits{.bytes = 400, .string = 60, .depth = 6};
  const Result<Reading> limited = read(document, dialect, {.limits = limits});
  if (limited) {
    require(free.has_value(), "limits accept no more");
    require(limited->notes == free->notes, "limits change no notes");
    require(std::ranges::equal(limited->conversation.messages(), free->conversation.messages()),
            "limits change no messages");
  } else if (free) {
    require(limited.error().code == Code::LimitExceeded, "limits refuse nothing but size");
  }
  if (document.size() > limits.bytes) require(!limited, "a document over the limit is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Dialect dialect = dialects()[data[0] % dialects().size()].dialect;
  const std::string_view document = rearrange::document_of(data, size);
  const Result<Json> json = Json::parse(document);
  const Result<Reading> lenient = read(document, dialect);
  const Result<Reading> strict = read(document, dialect, {.strict = true});
  check_limits(document, dialect, lenient);
  require(detect(document).has_value() || !lenient, "what can be read can be told");
  if (!lenient) {
    check_refusal(lenient.error(), json);
    require(!strict.has_value(), "strict accepts no more than lenient");
    return 0;
  }
  const bool has_mark = document.starts_with("\xEF\xBB\xBF");
  require(noted(lenient->notes, "byte_order_mark") == has_mark, "a byte order mark is noted");
  const bool odd = noted(lenient->notes, "lone_surrogate") || noted(lenient->notes, "duplicate_key");
  require(strict.has_value() == !odd, "strict refuses exactly what is odd");
  look_at(*lenient, json);
  return 0;
}
