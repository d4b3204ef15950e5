// The readers of all dialects: the first byte chooses one, the rest is the document. What is accepted comes
// back as it was, by every way back there is (D1, D2 of dialect.h); nothing else may do worse than fail.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json/judge.h"
#include "parley/base/utf8.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/validate.h"
#include "require.h"

namespace {

using namespace parley;

bool noted(const std::vector<Note>& notes, std::string_view code) {
  return std::any_of(notes.begin(), notes.end(), [&](const Note& note) { return note.code == code; });
}

std::string joined(const Gathering& gathering) {
  std::string out;
  for (const std::string_view piece : gathering.pieces) out += piece;
  return out;
}

// A document as a value; a byte order mark and lone surrogates are no part of it.
Json value_of(std::string_view document) {
  const Result<Json> json = Json::parse(document);
  require(json.has_value(), "what was written is JSON");
  return *json;
}

void look_at(const Conversation& conversation) {
  const auto messages = conversation.messages();
  for (const Finding& finding : validate(messages))
    require(is_utf8(finding.path), "the path of a finding is UTF-8");
  for (const Message& message : messages) {
    require(is_utf8(message.get_text_content().value_or(Text()).view()), "the text is UTF-8");
    for (const Block& block : message.blocks()) (void)block.type();
    (void)message.tool_calls();
    (void)message.base64_image();
    require(message.detach() == message, "a detached message says the same");
  }
}

void check_error(const Error& error, std::string_view document) {
  require(is_utf8(error.message) && is_utf8(error.path), "an error is text");
  require(!error.message.empty(), "an error has a message");
  const Result<Json> json = Json::parse(document);
  const bool is_syntax = error.code == Code::Malformed || error.code == Code::InvalidUtf8;
  if (is_syntax) require(!json.has_value(), "what is called no JSON is none");
  if (!json && json.error().code != Code::LoneSurrogate) {
    require(error.code == json.error().code, "what is no JSON is called so");
  }
}

void check_reading(const Reading& reading, std::string_view document, Dialect dialect) {
  const Conversation& conversation = reading.conversation;
  look_at(conversation);

  // D1: the same dialect gives the same bytes.
  const Result<Writing> same = write(conversation, dialect);
  require(same.has_value(), "what was read can be written");
  const bool marked = noted(reading.notes, "byte_order_mark");
  const bool mended = noted(reading.notes, "lone_surrogate");
  require(marked == document.starts_with("\xEF\xBB\xBF"), "a byte order mark is noted");
  if (!mended) require(same->text.view() == document.substr(marked ? 3 : 0), "the same bytes (D1)");
  if (mended)
    require(same->text.size() == document.size() - (marked ? 3 : 0), "surrogates are replaced in place");
  const Result<Gathering> gathered = gather(conversation, dialect);
  require(gathered.has_value() && joined(*gathered) == same->text.view(), "the pieces are the whole");
  const Json value = value_of(same->text);

  // D2: by way of parley, the same value.
  const bool doubled = noted(reading.notes, "duplicate_key");
  const Result<Writing> canonical = write(conversation, Dialect::Parley);
  require(canonical.has_value(), "parley carries everything");
  const Result<Reading> again = read(canonical->text.view(), Dialect::Parley);
  require(again.has_value(), "parley reads what it writes");
  const Result<Writing> back = write(again->conversation, dialect);
  if (back) {
    if (!doubled) require(Json::equal(value_of(back->text), value), "the same value by way of parley (D2)");
  } else {
    require(back.error().code == Code::BrokenHistory, "only a broken history cannot go back");
  }

  // The others: written or refused.
  for (const DialectInfo& other : dialects()) {
    const Result<Writing> written = write(conversation, other.dialect);
    if (written) {
      const Result<Reading> reread = read(written->text.view(), other.dialect);
      require(reread.has_value(),
              std::string(other.name) + " reads what it writes" +
                  (reread ? "" : ": " + reread.error().message + " at " + reread.error().path));
    } else {
      require(written.error().code == Code::BrokenHistory, "only a broken history is refused");
    }
    const Result<Writing> spelled_anew = write(conversation, other.dialect, {.form = Form::Canonical});
    if (spelled_anew) value_of(spelled_anew->text);
  }
}

// All values of a document.
void collect(const json::judge::Node& node, std::vector<const json::judge::Node*>& into) {
  into.push_back(&node);
  for (const auto& element : node.elements) collect(element, into);
  for (const auto& member : node.members) collect(member.value, into);
}

// The elements of an array, or the members of an object with their names.
std::vector<std::string> items(std::string_view document, const json::judge::Node& node) {
  std::vector<std::string> out;
  for (const auto& element : node.elements) {
    out.emplace_back(document.substr(element.begin, element.end - element.begin));
  }
  for (const auto& member : node.members) {
    out.emplace_back(document.substr(member.begin, member.value.end - member.begin));
  }
  return out;
}

// Changes one value of a JSON document so that it stays JSON: most changes of bytes end at the parser, and
// what comes behind the parser is to be tried, too.
std::string rearranged(std::string_view document, const json::judge::Node& root, std::mt19937& random) {
  static constexpr std::string_view kValues[] = {"null",     "true",  "false",  "0",         "1e400",
                                                 "\"\"",     "\"x\"", "[]",     "{}",        "\"\\ud800\"",
                                                 "\"user\"", "[{}]",  "[\"\"]", "{\"a\":1}", "\"text\""};
  static constexpr std::string_view kNames[] = {
      "\"role\"",     "\"content\"",      "\"type\"",   "\"id\"",          "\"name\"", "\"tool_calls\"",
      "\"text\"",     "\"input\"",        "\"output\"", "\"arguments\"",   "\"a\"",    "\"source\"",
      "\"metadata\"", "\"tool_call_id\"", "\"extra\"",  "\"base64_image\""};
  std::vector<const json::judge::Node*> all;
  collect(root, all);
  const auto any = [&](std::size_t n) { return random() % n; };
  const json::judge::Node& chosen = *all[any(all.size())];
  const json::judge::Node& other = *all[any(all.size())];
  std::vector<std::string> parts = items(document, chosen);
  std::string value;
  const bool is_object = chosen.type == '{';
  if ((is_object || chosen.type == '[') && any(3) != 0) {
    std::vector<std::string> others =
        other.type == chosen.type ? items(document, other) : std::vector<std::string>();
    const std::size_t at = any(parts.size() + 1);
    switch (any(5)) {
      case 0:
        if (at < parts.size()) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        if (at < parts.size()) std::swap(parts[at], parts[any(parts.size())]);
        break;
      case 2:
        if (!others.empty())
          parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), others[any(others.size())]);
        break;
      default: {
        std::string fresh(is_object ? kNames[any(std::size(kNames))] : "");
        fresh += is_object ? ":" : "";
        fresh += any(2) == 0 ? kValues[any(std::size(kValues))]
                             : document.substr(other.begin, other.end - other.begin);
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), fresh);
      }
    }
    value = is_object ? "{" : "[";
    for (const std::string& part : parts) value += (value.size() > 1 ? "," : "") + part;
    value += is_object ? "}" : "]";
  } else {
    value = any(2) == 0 ? kValues[any(std::size(kValues))]
                        : document.substr(other.begin, other.end - other.begin);
  }
  return std::string(document.substr(0, chosen.begin)) + value + std::string(document.substr(chosen.end));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size > 1 && random() % 2 == 0) {
    const std::string_view document(reinterpret_cast<const char*>(data) + 1, size - 1);
    const json::judge::Document right(document, 50);
    if (right.accepted) {
      const std::string changed = rearranged(document, right.root, random);
      if (changed.size() < max_size) {
        changed.copy(reinterpret_cast<char*>(data) + 1, changed.size());
        return changed.size() + 1;
      }
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Dialect dialect = dialects()[data[0] % dialects().size()].dialect;
  const std::string_view document(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<Reading> lenient = read(document, dialect);
  const Result<Reading> strict = read(document, dialect, {.strict = true});
  if (!lenient) {
    check_error(lenient.error(), document);
    require(!strict.has_value(), "strict accepts no more than lenient");
    return 0;
  }
  const bool odd = noted(lenient->notes, "lone_surrogate") || noted(lenient->notes, "duplicate_key");
  require(strict.has_value() == !odd, "strict refuses exactly what is odd");
  check_reading(*lenient, document, dialect);
  (void)detect(document);
  return 0;
}
