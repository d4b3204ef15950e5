// Documents there and back: the first byte chooses a dialect, the rest is the document. In the same dialect
// it comes back as the same bytes, by way of `parley` as the same value (D1, D2 of dialect.h); values are
// compared by a reader of JSON that shares nothing with Parley's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/dialect/dialect.h"
#include "rearrange.h"
#include "require.h"

namespace {

using namespace parley;
using json::judge::Node;

bool noted(const std::vector<Note>& notes, std::string_view code) {
  return std::any_of(notes.begin(), notes.end(), [&](const Note& note) { return note.code == code; });
}

std::string joined(const Gathering& gathering) {
  std::string out;
  for (const std::string_view piece : gathering.pieces) out += piece;
  return out;
}

// The same members in the same order, the same numbers as spelled.
bool same(const Node& a, std::string_view a_text, const Node& b, std::string_view b_text) {
  if (a.type != b.type || a.text != b.text || a.elements.size() != b.elements.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  if (a.type == '0' && a_text.substr(a.begin, a.end - a.begin) != b_text.substr(b.begin, b.end - b.begin)) {
    return false;
  }
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    if (!same(a.elements[i], a_text, b.elements[i], b_text)) return false;
  }
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    if (a.members[i].name != b.members[i].name) return false;
    if (!same(a.members[i].value, a_text, b.members[i].value, b_text)) return false;
  }
  return true;
}

bool same_value(std::string_view a, std::string_view b) {
  const json::judge::Document left(a);
  const json::judge::Document right(b);
  require(left.accepted && right.accepted, "what is written is JSON");
  return same(left.root, a, right.root, b);
}

// D1, by every way of writing.
Text check_bytes(const Reading& reading, std::string_view document, Dialect dialect) {
  const Conversation& conversation = reading.conversation;
  const Result<Writing> own = write(conversation, dialect);
  require(own.has_value(), "what was read can be written");
  require(own->notes.empty(), "writing it back leaves nothing to note");
  const std::string_view unmarked = document.substr(document.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (noted(reading.notes, "lone_surrogate")) {
    require(own->text.size() == unmarked.size(), "surrogates are replaced in place");
  } else {
    require(own->text.view() == unmarked, "the same bytes (D1)");
  }
  const Result<Gathering> gathered = gather(conversation, dialect);
  require(gathered.has_value() && joined(*gathered) == own->text.view(), "the pieces are the whole");
  for (const Message& message : conversation.messages()) {
    if (!message.wire()->is_object()) continue;  // a text in place of messages is one only where it stood
    const Result<Json> dict = to_dict(message.detach(), dialect);
    require(dict.has_value() && *dict == *message.wire(), "a message alone has its wire");
  }
  return own->text;
}

// D2.
void check_value(const Reading& reading, std::string_view own, Dialect dialect) {
  const Result<Writing> there = write(reading.conversation, Dialect::Parley);
  require(there.has_value(), "parley carries everything");
  const Result<Reading> again = read(there->text.view(), Dialect::Parley);
  require(again.has_value(), "parley reads what it writes");
  require(again->conversation.size() == reading.conversation.size(), "message for message");
  const Result<Writing> back = write(again->conversation, dialect);
  require(back.has_value(), "what came from a dialect can go back");
  require(same_value(back->text, own), "the same value by way of parley (D2)");
  require(there->notes.empty() && back->notes.empty(), "nothing is lost by way of parley");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Dialect dialect = dialects()[data[0] % dialects().size()].dialect;
  const std::string_view document = rearrange::document_of(data, size);
  const Result<Reading> reading = read(document, dialect);
  if (!reading) return 0;
  const Text own = check_bytes(*reading, document, dialect);
  // Of two members of one name, the one that nobody reads is left out on the way.
  if (!noted(reading->notes, "duplicate_key")) check_value(*reading, own, dialect);
  return 0;
}
