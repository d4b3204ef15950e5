// The promises of the dialects (D1 to D5 in parley/dialect/dialect.h) on random documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/allocations_testing.h"
#include "generate.h"
#include "parley/base/clock.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/repair.h"
#include "parley/dialect/rules.h"
#include "parley/json/writer.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

using test::Generator;

constexpr Dialect kDialects[] = {
    Dialect::OpenManus, Dialect::AgentScope, Dialect::AgentScope2, Dialect::OpenAI,   Dialect::Responses,
    Dialect::Anthropic, Dialect::Gemini,     Dialect::Ollama,      Dialect::Converse, Dialect::DeepSeek,
    Dialect::Moonshot,  Dialect::DashScope,  Dialect::OTel,        Dialect::ShareGPT, Dialect::Parley};
// Under a sanitizer everything takes ten times as long, so a tenth must do.
const bool kIsSanitized = !test::kCountsAllocations;
const std::uint64_t kDocuments = kIsSanitized ? 1'000 : 10'000;
const std::uint64_t kFewerDocuments = kDocuments / 50;  // for what is tried in several directions

// Stops at the first few failures: the documents after that say nothing new.
bool enough() { return ::testing::Test::HasFailure(); }

class Dialects : public ::testing::TestWithParam<Dialect> {
 protected:
  ScopedClock clock_{0};  // messages without a time get that of reading

  // Reads what must be readable.
  static Reading must_read(std::string_view document, Dialect dialect) {
    auto reading = read(document, dialect);
    if (!reading) {
      ADD_FAILURE() << reading.error().message << " at " << reading.error().path << "\n" << document;
      return {};
    }
    return std::move(reading).value();
  }

  // Calls check(request, document, options) for random requests of the dialect and every target.
  template <typename Check>
  static void repair_for_every_target(Dialect from, const Check& check) {
    for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
      SCOPED_TRACE(seed);
      Generator generator(seed);
      const std::string document =
          generator.document(from, {.whole_history = seed % 2 == 0, .quirks = seed % 3 == 0});
      const Reading reading = must_read(document, from);
      const DocumentShape shape = reading.conversation.shape();
      if (shape == DocumentShape::Single || shape == DocumentShape::Response) continue;  // no requests
      for (const Dialect to : kDialects) {
        SCOPED_TRACE(to_string(to));
        check(reading.conversation, document, RepairOptions{.complete_pending = true, .target = to});
      }
    }
  }
};

std::string name_of(const ::testing::TestParamInfo<Dialect>& info) {
  return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(Random, Dialects, ::testing::ValuesIn(kDialects), name_of);

std::string gathered(const Gathering& gathering) {
  std::string out;
  for (const std::string_view piece : gathering.pieces) out += piece;
  return out;
}

// Some targets refuse messages that say nothing.
template <typename T>
bool is_refused_as_empty(const Result<T>& writing) {
  return !writing && writing.error().code == Code::BrokenHistory &&
         writing.error().message.starts_with("empty_message");
}

bool is_whole(const Conversation& conversation) { return validate_history(conversation.messages()).empty(); }

// D1: writing what was read, in the same dialect, gives the same bytes.
TEST_P(Dialects, GiveBackTheBytesTheyRead) {
  for (std::uint64_t seed = 0; seed < kDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document = generator.document(
        GetParam(), {.duplicates = seed % 2 == 0, .extras = seed % 3 == 0, .quirks = seed % 5 == 0});
    const Reading reading = must_read(document, GetParam());
    const auto writing = write(reading.conversation, GetParam());
    ASSERT_TRUE(writing) << writing.error().message;
    EXPECT_EQ(writing->text.view(), document);
    EXPECT_TRUE(writing->notes.empty());
    EXPECT_EQ(gathered(gather(reading.conversation, GetParam()).value()), document);
    if (seed % 10 != 0) continue;
    // Each message has its part of the document as its wire, and is written the same from a copy of its own.
    for (const Message& message : reading.conversation.messages()) {
      const Message apart = message.detach();
      EXPECT_EQ(apart, message);
      const bool is_object = message.wire()->is_object();  // a string stands for a message in its place only
      EXPECT_TRUE(!is_object || to_dict(apart, GetParam()).value() == *message.wire());
      EXPECT_EQ(to_dict(apart, Dialect::Parley).value(), to_dict(message, Dialect::Parley).value());
    }
  }
}

// Every place that a finding names is there.
TEST_P(Dialects, FindThingsWhereTheySay) {
  for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document = generator.document(GetParam());
    const Reading reading = must_read(document, GetParam());
    const Json json = Json::parse(document).value();
    for (const Finding& finding : validate(reading.conversation.messages())) {
      EXPECT_TRUE(json.at(finding.path)) << finding.code << " at " << finding.path << "\n" << document;
    }
  }
}

// What a whole history is, generator and validator agree upon.
TEST_P(Dialects, KnowAWholeHistory) {
  for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document = generator.document(GetParam(), {.whole_history = true});
    EXPECT_TRUE(is_whole(must_read(document, GetParam()).conversation)) << document;
  }
}

// D2: D -> parley -> D gives the same JSON value, and nothing to note.
TEST_P(Dialects, ComeBackFromParleyWithTheSameValue) {
  const Dialect dialect = GetParam();
  for (std::uint64_t seed = 0; seed < kDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document = generator.document(
        dialect, {.whole_history = seed % 2 == 0, .extras = seed % 3 == 0, .quirks = seed % 5 == 0});
    const Reading reading = must_read(document, dialect);
    const auto there = write(reading.conversation, Dialect::Parley);
    ASSERT_TRUE(there) << there.error().message;
    EXPECT_TRUE(there->notes.empty()) << to_line(there->notes.front()) << "\n" << document;
    const Reading parley = must_read(there->text, Dialect::Parley);
    ASSERT_EQ(parley.conversation.size(), reading.conversation.size());
    const auto back = write(parley.conversation, dialect);
    ASSERT_TRUE(back) << back.error().message << "\n" << document;
    EXPECT_TRUE(Json::equal(Json::parse(back->text).value(), Json::parse(document).value()))
        << back->text.view() << "\nis not\n"
        << document;
    EXPECT_TRUE(back->notes.empty()) << to_line(back->notes.front()) << "\n"
                                     << document << "\n"
                                     << there->text.view();
  }
}

// ---- D3: a second opinion about what was lost

// Collects what a document says, by its strings; and the names of unknown members.
class Facts {
 public:
  void collect(const Json& json, std::string_view key = "") {
    if (const auto text = json.as_string()) {
      string(key, text->str());
    } else if (json.is_array()) {
      for (const Json& each : json.elements()) collect(each, key);
    } else if (json.is_object()) {
      const bool shows_its_type = source_shows_its_type(json);
      // The call has the name of the tool; its result may do without.
      const auto is = [&](std::string_view member, std::string_view value) {
        const auto own = json.get(member).value_or(Json()).as_string();
        return own && own->view() == value;
      };
      const bool names_a_tool = is("type", "tool_result") || is("role", "tool") || json.get("response");
      // Anthropic has the bytes of a document that are text as a text.
      const auto bytes = is("type", "text") ? json.get("data").value_or(Json()).as_string() : std::nullopt;
      if (bytes) found.insert(base64_encode(*bytes));
      for (const Json::Member& member : json.members()) {
        if (member.key.view().starts_with("u_")) found.insert(member.key.str());
        if (is_cache_mark(member.key.view())) {
          found.insert("cache");
          const auto ttl = member.value.get("ttl").value_or(Json()).as_string();
          if (ttl) found.insert(ttl->str());
          continue;
        }
        if (bytes && (member.key.view() == "data" || member.key.view() == "media_type")) continue;
        const bool is_form = member.key.view() == "type" || member.key.view() == "role" ||
                             member.key.view() == "wire_role" || member.key.view() == "dialect" ||
                             member.key.view() == "state" || member.key.view() == "format" ||
                             member.key.view() == "status" || member.key.view() == "tool_name" ||
                             member.key.view() == "from" || member.key.view() == "modality" ||
                             (names_a_tool && member.key.view() == "name");
        if (is_form || (shows_its_type && member.key.view() == "media_type")) continue;
        collect(member.value, member.key);
      }
    }
  }

  std::set<std::string> found;

 private:
  // By any of its names; each has "cache" in it.
  static bool is_cache_mark(std::string_view key) {
    return key == "cache" || key == "cache_control" || key == "prompt_cache_breakpoint" ||
           key == "cachePoint";
  }

  static bool source_shows_its_type(const Json& json) {
    const auto data = json.get("data");
    const auto type = json.get("media_type");
    return data && type && data->is_string() && type->as_string() &&
           sniff_base64_media_type(*data->as_string()) == type->as_string()->view();
  }

  // What a value of ShareGPT says: thinking, calls or text with media in it, several results.
  bool value(const std::string& text) {
    for (const std::string mark :
         {"<think>", "</think>", "<image>", "<video>", "<audio>", "\n</tool_response>\n<tool_response>\n"}) {
      const std::size_t at = text.find(mark);
      if (at == std::string::npos) continue;
      string("value", text.substr(0, at));
      string("value", text.substr(at + mark.size()));
      return true;
    }
    const auto json = Json::parse(text);
    const bool is_call = json && (json->get("name") || json->at("/0/name"));
    if (is_call) collect(*json);
    return is_call;
  }

  void string(std::string_view key, const std::string& text) {
    constexpr std::string_view kMark = ";base64,";
    if (key == "name" && text == "system") return;  // what a message of results is usually called
    if (key == "value" && value(text)) return;
    // Arguments may go from text to object and back; a data URL may be taken apart.
    const bool is_arguments = key == "arguments" || key == "input" || key == "raw_input" || key == "tools";
    if (const auto json = is_arguments ? Json::parse(text) : fail(Code::Invalid, "");
        json && !json->is_string()) {
      collect(*json);
      return;
    }
    if (key == "media_type" || key == "mimeType" || key == "mime_type") {  // a format says as much
      found.insert(text.substr(text.find('/') + 1));
      return;
    }
    const std::size_t mark = text.starts_with("data:") ? text.find(kMark) : std::string::npos;
    found.insert(mark == std::string::npos ? text : text.substr(mark + kMark.size()));
  }
};

// All strings of a document, inside strings that are JSON too, and all names of members.
void all_strings(const Json& json, std::vector<std::string>& out) {
  if (const auto text = json.as_string()) {
    out.push_back(text->str());
    const std::size_t thought = text->view().find("</think>");
    const std::string_view rest = text->view().substr(thought == std::string_view::npos ? 0 : thought + 8);
    if (const auto inner = Json::parse(rest)) all_strings(*inner, out);
  }
  for (const Json& each : json.elements()) all_strings(each, out);
  for (const Json::Member& member : json.members()) {
    out.push_back(member.key.str());
    all_strings(member.value, out);
  }
}

// A note that tells of a loss or a change; that something was made up explains nothing.
bool tells_of_loss(const Note& note) { return note.action != "minted"; }

TEST_P(Dialects, LoseNothingInSilence) {
  const Dialect from = GetParam();
  for (const Dialect to : kDialects) {
    if (to == from) continue;
    SCOPED_TRACE(to_string(to));
    for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
      SCOPED_TRACE(seed);
      Generator generator(seed);
      const std::string document = generator.document(from, {.whole_history = true, .quirks = seed % 5 == 0});
      const Reading reading = must_read(document, from);
      // Why an answer ended is said in other words elsewhere, and Anthropic says it in the message.
      if (reading.conversation.shape() == DocumentShape::Response && from == Dialect::Anthropic) continue;
      const auto writing = write(reading.conversation, to);
      if (is_refused_as_empty(writing)) continue;
      ASSERT_TRUE(writing) << writing.error().message << "\n" << document;
      must_read(writing->text, to);
      std::vector<std::string> said;
      all_strings(Json::parse(writing->text).value(), said);
      const auto is_said = [&](const std::string& fact) {
        return std::any_of(said.begin(), said.end(),
                           [&](const std::string& each) { return each.find(fact) != std::string::npos; });
      };
      const auto expect_said = [&](const Json& part, std::optional<std::size_t> message) {
        const auto is_noted = [&](const Note& note) {
          return note.message_index == message && tells_of_loss(note);
        };
        if (std::any_of(writing->notes.begin(), writing->notes.end(), is_noted)) return;
        Facts facts;
        facts.collect(part);
        for (const std::string& fact : facts.found) {
          EXPECT_TRUE(is_said(fact)) << "lost: " << fact << "\nfrom " << document << "\nto "
                                     << writing->text.view();
        }
      };
      for (std::size_t i = 0; i < reading.conversation.size(); ++i)
        expect_said(*reading.conversation.messages()[i].wire(), i);
      if (reading.conversation.shape() == DocumentShape::Envelope) {
        json::Writer frame;
        frame.begin_object();
        for (const Json::Member& member : Json::parse(document).value().members()) {
          const bool is_list = member.key.view() == "messages" || member.key.view() == "conversations" ||
                               member.key.view() == "gen_ai.input.messages" ||
                               member.key.view() == "contents" || member.key.view() == "input";
          // Media of a list stand in messages elsewhere, and so do the notes about them.
          const std::string type(member.key.view().substr(0, member.key.size() - 1));
          const bool is_noted = std::any_of(writing->notes.begin(), writing->notes.end(),
                                            [&](const Note& note) { return note.code == type + "_dropped"; });
          if (!is_list && !is_noted) frame.key(member.key).value(member.value);
        }
        frame.end_object();
        expect_said(frame.take(), std::nullopt);
      }
      // Notes are about messages that there are, and strict writing refuses exactly the major ones.
      bool is_lossy = false;
      for (const Note& note : writing->notes) {
        EXPECT_TRUE(!note.message_index || *note.message_index < reading.conversation.size());
        EXPECT_EQ(note.dialect, to_string(to));
        is_lossy = is_lossy || note.severity == Severity::Major;
      }
      const auto strict = write(reading.conversation, to, {.strict = true});
      EXPECT_EQ(strict.has_value(), !is_lossy);
      EXPECT_TRUE(strict || strict.error().code == Code::Lossy);
    }
  }
}

// A message of OpenTelemetry whose role and name follow from what it holds.
bool holds_only_results(const Json& json) {
  const std::vector<Json> parts = json.get("parts").value_or(Json()).elements();
  return !parts.empty() && std::ranges::all_of(parts, [](const Json& part) {
    return part.get("type").value_or(Json()).as_string() == Text("tool_call_response");
  });
}

// What a document says, whatever the form: members by name; without what is there by default or says nothing
// (null, empty content, raw arguments that are the arguments, the role on another wire, what is remembered of
// it, the name of a tool whose call tells it); a string of content as a list of one text.
Json essence(const Json& json) {
  json::Writer w;
  if (json.is_object()) {
    std::vector<Json::Member> members = json.members();
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    const Json input = json.get("input").value_or(Json()).compact();
    w.begin_object();
    for (const Json::Member& member : members) {
      const std::string_view key = member.key;
      const Json value = member.value.compact();
      const std::string_view text = value.text();
      const auto is = [&](std::string_view name, std::string_view spelled) {
        const auto own = value.as_string();
        return key == name && own && own->view() == spelled;
      };
      const bool is_default = is("name", "") || is("role", "user") || is("type", "function") ||
                              is("type", "message") || is("detail", "auto") || is("reasoning_content", "") ||
                              (key == "parley.is_error" && text == "false");
      // What one wire has and another derives, and what `parley` remembers of wires.
      const bool is_derived = key == "wire_role" || key == "index" || key == "tool_name" || key == "extra";
      const bool says_nothing = value.is_null() || is_default || is_derived ||
                                (key == "metadata" && text == "{}") || (key == "parley" && text == "1") ||
                                ((key == "content" || key == "parts") && text == "[]") || is("value", "") ||
                                (key == "name" && json.get("tool_call_id")) ||
                                ((key == "name" || key == "role") && holds_only_results(json)) ||
                                (is("content", "") && (json.get("tool_calls") || json.get("thinking"))) ||
                                (key == "raw_input" && value.as_string() == input.text());
      if (says_nothing) continue;
      w.key(key);
      if (key == "input" && value.is_string() && json.get("model")) {  // what a user says
        w.begin_array()
            .value(essence(json::Writer().begin_object().key("content").value(value).end_object().take()))
            .end_array();
      } else if (key == "parameters" && text == "{}") {  // of a tool: any object
        w.raw(R"({"type":"object"})");
      } else if (is("type", "input_text") || is("type", "output_text")) {
        w.string("text");
      } else if ((key == "content" || key == "system") && value.is_string()) {
        w.begin_array()
            .begin_object()
            .key("text")
            .value(value)
            .key("type")
            .string("text")
            .end_object()
            .end_array();
      } else {
        w.value(essence(value));
      }
    }
    return w.end_object().take();
  }
  if (json.is_array()) {
    w.begin_array();
    for (const Json& each : json.elements()) {
      const bool is_empty_text = each.get("type").value_or(Json()).as_string() == Text("text") &&
                                 each.get("content").value_or(Json()).as_string() == Text("");
      if (!is_empty_text) w.value(essence(each));
    }
    return w.end_array().take();
  }
  // The bytes count, whether they stand in a data URL or not.
  const auto text = json.as_string();
  const std::size_t mark =
      text && text->view().starts_with("data:") ? text->view().find(";base64,") : std::string_view::npos;
  if (mark != std::string_view::npos) return Json::string(text->view().substr(mark + 8));
  return json;
}

// D3: where neither way has anything to note, the value is the same. What only one of two dialects needs is
// minted on the way there and back, so documents are given all of it.
TEST_P(Dialects, ComeBackFromAnotherDialectUnlessNoted) {
  const Dialect from = GetParam();
  int unnoted = 0;
  for (const Dialect to : kDialects) {
    if (to == from) continue;
    SCOPED_TRACE(to_string(to));
    for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
      SCOPED_TRACE(seed);
      Generator generator(seed);
      const std::string document = generator.document(from, {.whole_history = true});
      const Reading reading = must_read(document, from);
      if (reading.conversation.shape() == DocumentShape::Response)
        continue;  // much of it is the provider's own
      const auto there = write(reading.conversation, to);
      if (is_refused_as_empty(there)) continue;
      ASSERT_TRUE(there);
      const auto back = write(must_read(there->text, to).conversation, from);
      if (is_refused_as_empty(back)) continue;
      ASSERT_TRUE(back) << back.error().message;
      if (!there->notes.empty() || !back->notes.empty()) continue;
      ++unnoted;
      EXPECT_TRUE(
          Json::equal(essence(Json::parse(back->text).value()), essence(Json::parse(document).value())))
          << essence(Json::parse(back->text).value()).text().view() << "\nis not\n"
          << essence(Json::parse(document).value()).text().view() << "\nby way of " << there->text.view();
    }
  }
  EXPECT_GT(unnoted, 5);
}

// What is repaired for a provider, its rules have nothing against, whatever it was; and repairing it again
// changes nothing (R2).
TEST_P(Dialects, PassTheRulesOfEveryProvider) {
  repair_for_every_target(
      GetParam(), [](const Conversation& request, const std::string& document, const RepairOptions& options) {
        const Dialect to = *options.target;
        const Repairing once = repair(request, options);
        const Repairing twice = repair(once.conversation, options);
        EXPECT_TRUE(twice.notes.empty()) << to_line(twice.notes.front()) << "\n" << document;
        EXPECT_TRUE(std::ranges::equal(once.conversation.messages(), twice.conversation.messages()));
        const auto writing = write(once.conversation, to);
        ASSERT_TRUE(writing) << writing.error().message << "\n" << document;
        for (const Finding& finding : check_rules(Json::parse(writing->text).value(), to)) {
          // Repair keeps blocks of unknown types and file locations: it deletes nothing that may mean
          // something.
          if (finding.code == "agentscope_block" || finding.code == "agentscope_url") continue;
          EXPECT_NE(finding.level, FindingLevel::Error)
              << finding.code << ": " << finding.sentence << " at " << finding.path << "\n"
              << writing->text.view() << "\nfrom\n"
              << document;
        }
      });
}

// R5: what was repaired for a target, written and read again, needs no repair.
TEST_P(Dialects, StayRepairedWhenTheyAreWritten) {
  repair_for_every_target(
      GetParam(), [](const Conversation& request, const std::string& document, const RepairOptions& options) {
        const Dialect to = *options.target;
        const auto writing = write(repair(request, options).conversation, to);
        ASSERT_TRUE(writing) << writing.error().message << "\n" << document;
        const Repairing again = repair(must_read(writing->text, to).conversation, options);
        EXPECT_TRUE(again.notes.empty()) << to_line(again.notes.front()) << "\n"
                                         << writing->text.view() << "\nfrom\n"
                                         << document;
      });
}

// D4: the same input gives the same output, whatever was written before, and the second time too.
TEST_P(Dialects, WriteTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < kFewerDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document = generator.document(
        GetParam(), {.whole_history = true, .extras = seed % 3 == 0, .quirks = seed % 5 == 0});
    const Reading first = must_read(document, GetParam());
    const Reading second = must_read(document, GetParam());
    std::vector<Dialect> order(std::begin(kDialects), std::end(kDialects));
    generator.random.shuffle(order);
    for (const Dialect to : order) {
      SCOPED_TRACE(to_string(to));
      const auto kept = write(first.conversation, to);
      const auto again = write(first.conversation, to);
      const auto not_kept = write(second.conversation, to, {.keep = false});
      const auto pieces = gather(first.conversation, to);
      if (is_refused_as_empty(kept)) {
        EXPECT_TRUE(is_refused_as_empty(again) && is_refused_as_empty(not_kept) &&
                    is_refused_as_empty(pieces));
        continue;
      }
      ASSERT_TRUE(kept && again && not_kept && pieces) << document;
      EXPECT_EQ(kept->text, again->text);
      EXPECT_EQ(kept->notes, again->notes);
      EXPECT_EQ(kept->text, not_kept->text);
      EXPECT_EQ(kept->notes, not_kept->notes);
      EXPECT_EQ(gathered(*pieces), kept->text.view());
      EXPECT_EQ(pieces->notes, kept->notes);
      const auto canonical = write(first.conversation, to, {.form = Form::Canonical});
      ASSERT_TRUE(canonical);
      must_read(canonical->text, to);
      EXPECT_EQ(gathered(gather(first.conversation, to, {.form = Form::Canonical}).value()),
                canonical->text.view());
    }
  }
}

// The pieces are the document, whatever a conversation is made of: documents of several dialects, messages
// built here, messages left out, put twice, or in another order.
TEST(Mixtures, AreGatheredAsTheyAreWritten) {
  for (std::uint64_t seed = 0; seed < 3 * kFewerDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    test::Random& random = generator.random;
    std::vector<Message> pool = {Message::user_message("hi"), Message::assistant_message(),
                                 Message::user_message("look", Text("iVBORw0KGgo=")),
                                 Message::from_tool_calls({})};
    Conversation conversation;
    for (const Dialect dialect : kDialects) {
      const auto reading = read(generator.document(dialect, {.whole_history = true}), dialect);
      ASSERT_TRUE(reading);
      for (const Message& message : reading->conversation.messages()) pool.push_back(message);
      if (random.chance(25)) conversation = reading->conversation;
    }
    switch (random.below(4)) {
      case 0:  // more messages behind what was read
        for (std::size_t i = random.below(4); i > 0; --i) conversation.append(random.one_of(pool));
        break;
      case 1: {  // some messages left out
        std::vector<Message> kept;
        for (const Message& message : conversation.messages()) {
          if (random.chance(60)) kept.push_back(message);
        }
        conversation.set_messages(std::move(kept));
        break;
      }
      case 2: {  // messages of all kinds
        std::vector<Message> mixed;
        for (std::size_t i = random.below(8); i > 0; --i) mixed.push_back(random.one_of(pool));
        conversation.set_messages(std::move(mixed));
        break;
      }
      default:
        conversation = repair(conversation).conversation;
        break;
    }
    if (random.chance(20)) conversation.set_shape(static_cast<DocumentShape>(random.below(3)));
    if (random.chance(10)) conversation.set_system(Message::system_message("be brief"));
    if (random.chance(10)) conversation.set_tools({Tool{"f", "does f", Json::parse("{}").value()}});
    // The history may be broken now; repair gives one that can be written anywhere.
    if (random.chance(80)) conversation = repair(conversation, {.complete_pending = true}).conversation;
    std::vector<Dialect> order(std::begin(kDialects), std::end(kDialects));
    random.shuffle(order);
    for (const Dialect to : order) {
      SCOPED_TRACE(to_string(to));
      const auto pieces_before = gather(conversation, to);
      const auto writing = write(conversation, to);
      const auto pieces_after = gather(conversation, to);
      ASSERT_EQ(writing.has_value(), pieces_before.has_value());
      ASSERT_EQ(writing.has_value(), pieces_after.has_value());
      if (!writing) {
        EXPECT_EQ(writing.error().code, Code::BrokenHistory);
        continue;
      }
      EXPECT_EQ(gathered(*pieces_before), writing->text.view());
      EXPECT_EQ(gathered(*pieces_after), writing->text.view());
      EXPECT_EQ(pieces_before->notes, writing->notes);
      EXPECT_EQ(pieces_after->notes, writing->notes);
      const auto back = read(writing->text, to);
      ASSERT_TRUE(back) << back.error().message << " at " << back.error().path << "\n"
                        << writing->text.view();
      EXPECT_TRUE(to != Dialect::Parley || back->conversation.size() >= conversation.size());
    }
  }
}

// ---- D5

// Changes a document somewhere: bytes, or a value for another.
std::string mutated(Generator& generator, std::string document) {
  test::Random& random = generator.random;
  if (document.empty()) return document;
  static const std::vector<std::string> kTokens = {
      "{",       "}",        "[",  "]",    ",",  ":",  "\"",   "null", "1",   "true", "\\",          "\\u",
      "\\ud800", "\"role\"", "[[", "\xFF", "{}", "[]", "\"\"", "-",    "1e5", "\x01", "\xEF\xBB\xBF"};
  for (std::size_t i = 1 + random.below(3); i > 0; --i) {
    const std::size_t at = random.below(document.size());
    switch (random.below(6)) {
      case 0:
        document[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        document.erase(at, 1 + random.below(10));
        break;
      case 2:
        document.insert(at, random.one_of(kTokens));
        break;
      case 3:
        document.resize(at);
        break;
      case 4: {  // one value or name instead of another
        const std::size_t from = document.find_first_of(":,[", at);
        if (from == std::string::npos) break;
        const std::size_t to = document.find_first_of(",]}", from + 1);
        if (to == std::string::npos) break;
        document.replace(from + 1, to - from - 1, generator.spelled(generator.value()));
        break;
      }
      default: {
        const std::size_t length = random.below(30);
        document.insert(random.below(document.size()), document.substr(at, length));
        break;
      }
    }
    if (document.empty()) break;
  }
  return document;
}

// D5: a document that was changed is read, and then kept; or it is refused, naming a place that is there.
TEST_P(Dialects, ReadOrRefuseWhatWasChanged) {
  int refused = 0;
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < kDocuments && !enough(); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const std::string document =
        mutated(generator, generator.document(GetParam(), {.duplicates = true, .extras = true}));
    const auto reading = read(document, GetParam());
    if (!reading) {
      ++refused;
      EXPECT_FALSE(reading.error().message.empty());
      if (const auto json = Json::parse(document)) {
        EXPECT_NE(reading.error().code, Code::Malformed) << document;
        EXPECT_TRUE(json->at(reading.error().path)) << reading.error().path << "\n" << document;
      }
      continue;
    }
    ++accepted;
    ASSERT_TRUE(Json::parse(document) || !reading->notes.empty());
    const bool is_changed = std::any_of(reading->notes.begin(), reading->notes.end(), [](const Note& note) {
      return note.code == "byte_order_mark" || note.code == "lone_surrogate";
    });
    const auto writing = write(reading->conversation, GetParam());
    ASSERT_TRUE(writing);
    EXPECT_TRUE(is_changed || writing->text.view() == document);
    (void)validate(reading->conversation.messages());
    for (const Dialect to : kDialects) {
      if (generator.random.below(std::size(kDialects)) > 3) continue;  // three or four of them
      if (const auto other = write(reading->conversation, to)) must_read(other->text, to);
      const Conversation repaired =
          repair(reading->conversation, {.complete_pending = true, .target = to}).conversation;
      const auto other = write(repaired, to);
      ASSERT_TRUE(other) << other.error().message << "\n" << document;
      must_read(other->text, to);
    }
    // Strict reading refuses exactly what has something to note.
    const bool is_odd = std::any_of(reading->notes.begin(), reading->notes.end(),
                                    [](const Note& note) { return note.code != "byte_order_mark"; });
    EXPECT_EQ(read(document, GetParam(), {.strict = true}).has_value(), !is_odd) << document;
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(accepted, 50);
}

// ---- Fields of OpenManus in all combinations

// Every combination of the five optional fields, for each of the four roles, and the same with explicit
// nulls.
TEST(OpenManusFields, ComeBackInEveryCombination) {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"content", R"("text")"},
      {"tool_calls", R"([{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}}])"},
      {"name", R"("n")"},
      {"tool_call_id", R"("c1")"},
      {"base64_image", R"("AAAA")"}};
  int combinations = 0;
  for (const std::string_view role : {"system", "user", "assistant", "tool"}) {
    for (unsigned present = 0; present < 32; ++present) {
      std::string omitting = R"({"role":")" + std::string(role) + '"';
      std::string dumped = omitting;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const bool is_there = (present >> i & 1) != 0;
        if (is_there) omitting += ",\"" + fields[i].first + "\":" + fields[i].second;
        dumped += ",\"" + fields[i].first + "\":" + (is_there ? fields[i].second : "null");
      }
      omitting += "}";
      dumped += "}";
      for (const std::string& form : {omitting, dumped}) {
        SCOPED_TRACE(form);
        const auto message = from_dict(form, Dialect::OpenManus);
        ASSERT_TRUE(message) << message.error().message;
        EXPECT_EQ(to_dict(*message, Dialect::OpenManus).value().text().view(), form);
        EXPECT_EQ(to_dict(*message, Dialect::OpenManus, Form::Canonical).value().text().view(), omitting);
        EXPECT_EQ(from_dict(to_dict(*message, Dialect::OpenManus).value(), Dialect::OpenManus).value(),
                  *message);
        const auto parley = from_dict(to_dict(*message, Dialect::Parley).value(), Dialect::Parley);
        ASSERT_TRUE(parley);
        EXPECT_TRUE(Json::equal(to_dict(*parley, Dialect::OpenManus).value(), *message->wire()));
        ++combinations;
      }
    }
  }
  EXPECT_EQ(combinations, 32 * 4 * 2);
}

// What is read is what the factories build.
TEST(OpenManusFields, AreWhatTheFactoriesBuild) {
  const std::vector<ToolCall> calls = {{.id = "c1", .function = {"f", "{\"q\": 1}"}},
                                       {.id = "", .function = {"", ""}}};
  std::vector<Message> built;
  const std::vector<std::optional<Text>> images = {std::nullopt, Text("AAAA"), Text(""),
                                                   Text("data:image/png;base64,AAAA")};
  for (const std::optional<Text>& image : images) {
    for (const Text& text : {Text(""), Text("x"), Text("a\"\\\n\xF0\x9F\x98\x80")}) {
      built.push_back(Message::user_message(text, image));
      built.push_back(Message::assistant_message(text, image));
      built.push_back(Message::from_tool_calls(calls, text, image));
      built.push_back(Message::from_tool_calls({}, text, image));
      built.push_back(Message::tool_message(text, "f", "c1", image));
      built.push_back(Message::tool_message(text, "", "", image));
      built.push_back(Message::system_message(text));
    }
    built.push_back(Message::assistant_message(std::nullopt, image));
    built.push_back(Message::from_tool_calls(calls, std::nullopt, image));
    built.push_back(Message::from_tool_calls({}, std::nullopt, image));
  }
  for (const Message& message : built) {
    const Json dict = to_dict(message, Dialect::OpenManus).value();
    EXPECT_EQ(to_dict(message, Dialect::OpenManus, Form::Canonical).value(), dict);
    const auto back = from_dict(dict, Dialect::OpenManus);
    ASSERT_TRUE(back) << dict.text().view();
    EXPECT_EQ(*back, message) << dict.text().view();
    EXPECT_EQ(to_dict(*back, Dialect::OpenManus).value(), dict);
  }
}

}  // namespace
}  // namespace parley
