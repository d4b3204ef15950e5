#include "parley/dialect/dialect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "message/arena.h"
#include "parley/json/json.h"

namespace parley {
namespace {

Conversation must_read(std::string_view document, Dialect dialect, const ReadOptions& options = {}) {
  auto reading = read(document, dialect, options);
  EXPECT_TRUE(reading) << reading.error().message;
  return reading ? std::move(reading).value().conversation : Conversation();
}

std::string text(const Result<Writing>& writing) {
  return writing ? writing->text.str() : std::string(to_string(writing.error().code));
}

std::vector<std::string> codes(const std::vector<Note>& notes) {
  std::vector<std::string> out;
  for (const Note& note : notes) out.emplace_back(note.code);
  return out;
}

// ---- Names

TEST(Dialect, HasANameAndIsFoundByIt) {
  ASSERT_EQ(dialects().size(), 15U);
  for (const DialectInfo& info : dialects()) {
    EXPECT_EQ(to_string(info.dialect), info.name);
    EXPECT_EQ(dialect_named(info.name).value(), info.dialect);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_FALSE(info.blocks.empty());
    EXPECT_FALSE(info.documents.empty());
  }
  const auto unknown = dialect_named("OpenManus");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::NotFound);
  for (const DialectInfo& info : dialects()) {
    EXPECT_NE(unknown.error().message.find(info.name), std::string::npos) << unknown.error().message;
  }
}

// ---- Reading

TEST(Read, TakesABufferOverWithoutACopy) {
  json::Buffer buffer = json::Buffer::copy_of(R"([{"role":"user","content":"x"}])");
  const char* bytes = buffer.data();
  const auto reading = read(std::move(buffer), Dialect::OpenManus);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->conversation.document()->buffer().data(), bytes);
  EXPECT_EQ(write(reading->conversation, Dialect::OpenManus)->text.data(), bytes);
}

TEST(Read, HoldsDocumentsToTheirLimits) {
  const auto verdict = [](const std::string& document, const json::Limits& limits) {
    const auto reading = read(document, Dialect::AgentScope, {.limits = limits});
    const auto buffered = read(json::Buffer::copy_of(document), Dialect::AgentScope, {.limits = limits});
    EXPECT_EQ(reading.has_value(), buffered.has_value());
    return reading ? "" : std::string(to_string(reading.error().code));
  };
  const std::string document =
      R"([{"name":"a","role":"user","content":"0123456789abcdef0123456789","u":[[[]]]}])";
  EXPECT_EQ(verdict(document, {.bytes = document.size() + 1}), "");
  EXPECT_EQ(verdict(document, {.bytes = document.size()}), "");
  EXPECT_EQ(verdict(document, {.bytes = document.size() - 1}), "limit_exceeded");
  EXPECT_EQ(verdict(document, {.string = 27}), "");
  EXPECT_EQ(verdict(document, {.string = 26}), "");
  EXPECT_EQ(verdict(document, {.string = 25}), "limit_exceeded");
  EXPECT_EQ(verdict(document, {.depth = 6}), "");
  EXPECT_EQ(verdict(document, {.depth = 5}), "");
  EXPECT_EQ(verdict(document, {.depth = 4}), "limit_exceeded");
}

// The system part is held to the limits of the caller, as the messages are.
TEST(Read, HoldsTheSystemPartToTheLimitsOfTheCaller) {
  const std::string deep = std::string(600, '[') + std::string(600, ']');
  const std::string document =
      R"({"system":[{"type":"text","text":"hi","u":)" + deep + R"(}],"messages":[]})";
  EXPECT_EQ(read(document, Dialect::Anthropic).error().code, Code::LimitExceeded);
  const auto reading = read(document, Dialect::Anthropic, {.limits = {.depth = 700}});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(write(reading->conversation, Dialect::Responses).value().text.view(),
            R"({"instructions":"hi","input":[]})");
}

// What was read under wider limits can be written as well.
TEST(Write, HasNoLimitsOfItsOwn) {
  std::string deep = "0";
  for (int i = 0; i < 2000; ++i) deep = "[" + deep + "]";
  const std::string document =
      R"({"around":)" + deep + R"(,"messages":[{"role":"user","content":"x","u":)" + deep + "}]}";
  const Conversation conversation = must_read(document, Dialect::OpenManus, {.limits = {.depth = 5000}});
  const auto parley = write(conversation, Dialect::Parley);
  ASSERT_TRUE(parley);
  const Conversation back = must_read(parley->text, Dialect::Parley, {.limits = {.depth = 5000}});
  EXPECT_EQ(text(write(back, Dialect::OpenManus)), document);
}

TEST(Read, SaysWhereANoteIs) {
  const auto reading =
      read(R"([{"role":"user"},{"role":"user","content":"\ud800","a":1,"a":2}])", Dialect::OpenManus);
  ASSERT_TRUE(reading);
  ASSERT_EQ(codes(reading->notes), (std::vector<std::string>{"lone_surrogate", "duplicate_key"}));
  EXPECT_EQ(reading->notes[0].message_index, 1U);
  EXPECT_NE(reading->notes[0].detail.view().find("/1/content"), std::string::npos);
  EXPECT_NE(reading->notes[1].detail.view().find("/1/a"), std::string::npos);
}

TEST(Detect, TellsTheDialectOfADocument) {
  EXPECT_EQ(detect(R"([{"role":"user","content":"x"}])").value(), Dialect::OpenManus);
  EXPECT_EQ(detect(R"({"messages":[],"parley":1})").value(), Dialect::Parley);
  EXPECT_EQ(detect("[").error().code, Code::Malformed);
  EXPECT_EQ(detect("\"\xFF\"").error().code, Code::InvalidUtf8);
  EXPECT_TRUE(detect("5"));
}

// ---- Building and writing

TEST(Write, PutsAListOfBuiltMessages) {
  Conversation talk({Message::user_message("hi")});
  talk.append(Message::assistant_message("hello"));
  EXPECT_EQ(text(write(talk, Dialect::OpenManus)),
            R"([{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}])");
  EXPECT_EQ(text(write(Conversation(), Dialect::OpenManus)), "[]");
  talk.set_shape(DocumentShape::Envelope);
  EXPECT_EQ(text(write(talk, Dialect::OpenManus)),
            R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]})");
  Conversation one({Message::user_message("hi")});
  one.set_shape(DocumentShape::Single);
  EXPECT_EQ(text(write(one, Dialect::OpenManus)), R"({"role":"user","content":"hi"})");
}

// V2: a conversation that was read remembers the document around its messages.
TEST(Write, KeepsTheDocumentAroundMoreMessages) {
  Conversation talk =
      must_read(R"( { "a" : 1, "messages" : [ {"role":"user"} , {"role":"user","content":"2"} ] , "b":2 } )",
                Dialect::OpenManus);
  talk.append(Message::user_message("new"));
  EXPECT_EQ(
      text(write(talk, Dialect::OpenManus)),
      R"({ "a" : 1, "messages" : [{"role":"user"} , {"role":"user","content":"2"},{"role":"user","content":"new"}] , "b":2 })");
  Conversation empty = must_read("[ ]", Dialect::OpenManus);
  empty.append(Message::user_message("new"));
  EXPECT_EQ(text(write(empty, Dialect::OpenManus)), R"([{"role":"user","content":"new"}])");
  Conversation single = must_read(R"({"role":"user"})", Dialect::OpenManus);
  single.append(Message::user_message("new"));
  EXPECT_EQ(text(write(single, Dialect::OpenManus)), R"([{"role":"user"},{"role":"user","content":"new"}])");
}

TEST(Write, KeepsTheDocumentAroundFewerMessages) {
  Conversation talk = must_read(
      R"({"a":1,"messages":[{"role":"user","content":"1"}, {"role":"user","content":"2"}, {"role":"user","content":"3"}]})",
      Dialect::OpenManus);
  const std::vector<Message> all(talk.messages().begin(), talk.messages().end());
  talk.set_messages({all[0], all[2]});
  EXPECT_EQ(text(write(talk, Dialect::OpenManus)),
            R"({"a":1,"messages":[{"role":"user","content":"1"},{"role":"user","content":"3"}]})");
  talk.set_messages({all[2], all[1]});
  EXPECT_EQ(text(write(talk, Dialect::OpenManus)),
            R"({"a":1,"messages":[{"role":"user","content":"3"},{"role":"user","content":"2"}]})");
  talk.set_messages({});
  EXPECT_EQ(text(write(talk, Dialect::OpenManus)), R"({"a":1,"messages":[]})");
}

// One message in its document's place, which becomes two in the target.
TEST(Write, PutsBracketsAroundASingleMessageThatBecameTwo) {
  const Message both = MessageBuilder(Role::Assistant)
                           .block(ToolUseBlock{"1", "f", "{}"})
                           .block(ToolResultBlock{"1", "f", Text("r")})
                           .build()
                           .value();
  const std::string two =
      R"([{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"r","name":"f","tool_call_id":"1"}])";
  Conversation list({both});
  EXPECT_EQ(text(write(list, Dialect::OpenManus)), two);  // keeps the fragment
  Conversation single = must_read(R"({"role":"user","content":"x"})", Dialect::OpenManus);
  single.set_messages({both});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(text(write(single, Dialect::OpenManus)), two);
    const auto pieces = gather(single, Dialect::OpenManus);
    std::string together;
    for (const std::string_view piece : pieces->pieces) together += piece;
    EXPECT_EQ(together, two);
  }
}

TEST(Write, PutsTheSystemPartWhereTheShapeHasAPlaceForIt) {
  Conversation talk({Message::user_message("hi")});
  talk.set_system(Message::system_message("be brief"));
  const auto list = write(talk, Dialect::OpenManus);
  EXPECT_EQ(text(list), R"([{"role":"system","content":"be brief"},{"role":"user","content":"hi"}])");
  EXPECT_EQ(codes(list->notes), std::vector<std::string>{"system_moved"});
  const auto parley = write(talk, Dialect::Parley);
  ASSERT_TRUE(parley);
  EXPECT_EQ(must_read(parley->text, Dialect::Parley).messages()[0].content(), Text("be brief"));
  talk.set_shape(DocumentShape::Envelope);
  talk.set_tools({Tool{"f", "does f", Json::parse(R"({"type":"object"})").value()}});
  const auto envelope = write(talk, Dialect::Parley);
  ASSERT_TRUE(envelope);
  EXPECT_TRUE(envelope->notes.empty());
  const Conversation back = must_read(envelope->text, Dialect::Parley);
  ASSERT_TRUE(back.system());
  EXPECT_EQ(back.system()->content(), Text("be brief"));
  EXPECT_EQ(back.tools().size(), 1U);
  EXPECT_EQ(back.tools()[0], talk.tools()[0]);
  EXPECT_EQ(codes(write(talk, Dialect::AgentScope)->notes),
            (std::vector<std::string>{"tools_dropped", "system_moved", "minted", "minted"}));
}

// D6, and its limits: what was read is not written broken elsewhere; what is being built is the builder's.
// K2: what was found whole once is still judged together with what follows it.
TEST(Write, JudgesWhatFollowsAHistoryThatWasFoundWhole) {
  const Conversation whole = read(R"([{"role":"user","content":"go"},
               {"role":"assistant","content":null,
                "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
               {"role":"tool","tool_call_id":"a","content":"1"},{"role":"assistant","content":"done"}])",
                                  Dialect::OpenAI)
                                 .value()
                                 .conversation;
  const Text first = write(whole, Dialect::Anthropic).value().text;
  const auto followed_by = [&](std::vector<Message> more) {
    Conversation longer = whole;
    for (Message& message : more) longer.append(std::move(message));
    return write(longer, Dialect::Anthropic);
  };
  const Message call = Message::from_tool_calls(std::vector<ToolCall>{{"b", "function", {"f", "{}"}}});
  const Message again = Message::from_tool_calls(std::vector<ToolCall>{{"a", "function", {"f", "{}"}}});
  const Message user = Message::user_message("and now?");

  const auto longer = followed_by({user});
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->text.view().substr(0, first.size() - 1), first.view().substr(0, first.size() - 1));
  EXPECT_TRUE(followed_by({user, call, Message::tool_message("2", "f", "b")}));

  const auto reused = followed_by({user, again, Message::tool_message("2", "f", "a")});
  ASSERT_TRUE(reused);
  EXPECT_TRUE(
      std::ranges::any_of(reused->notes, [](const Note& note) { return note.code == "id_rewritten"; }));

  const std::vector<std::vector<Message>> broken = {
      {Message::tool_message("1", "f", "a")}, {Message::tool_message("1", "f", "x")}, {user, call, user}};
  for (const std::vector<Message>& more : broken) {
    const auto refused = followed_by(more);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::BrokenHistory);
  }
  Conversation shorter = whole;
  shorter.set_messages({whole.messages()[0], whole.messages()[1], whole.messages()[3]});
  EXPECT_FALSE(write(shorter, Dialect::Anthropic));
}

TEST(Write, RefusesABrokenHistoryInAnotherDialect) {
  const std::vector<ToolCall> calls = {{.id = "1", .function = {"f", "{}"}}};
  Conversation built({Message::from_tool_calls(calls)});
  EXPECT_TRUE(write(built, Dialect::OpenManus));
  EXPECT_TRUE(write(built, Dialect::AgentScope));
  const Conversation from_openmanus = must_read(text(write(built, Dialect::OpenManus)), Dialect::OpenManus);
  EXPECT_TRUE(write(from_openmanus, Dialect::OpenManus));
  EXPECT_TRUE(write(from_openmanus, Dialect::Parley));
  const auto refused = write(from_openmanus, Dialect::AgentScope);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::BrokenHistory);
  EXPECT_EQ(refused.error().path, "/0/tool_calls/0");
  EXPECT_NE(refused.error().message.find("pending_call"), std::string::npos);
}

TEST(Write, RefusesALossWhenStrict) {
  const Conversation talk = must_read(
      R"([{"name":"a","role":"user","content":[{"type":"audio","source":{"type":"url","url":"u"}}]}])",
      Dialect::AgentScope);
  EXPECT_TRUE(write(talk, Dialect::OpenManus));
  for (int round = 0; round < 2; ++round) {  // also when the fragment is kept
    const auto strict = write(talk, Dialect::OpenManus, {.strict = true});
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().code, Code::Lossy);
    EXPECT_EQ(gather(talk, Dialect::OpenManus, {.strict = true}).error().code, Code::Lossy);
  }
  EXPECT_TRUE(write(talk, Dialect::AgentScope, {.strict = true}));
  EXPECT_TRUE(write(talk, Dialect::AgentScope2, {.strict = true}));  // minor notes only
}

// A message written once is not written again: the second document is made of the first one's bytes.
TEST(Gather, NamesPiecesThatExistAlready) {
  const Conversation talk =
      must_read(R"([{"role":"user","content":"1"},{"role":"user","content":"2"}])", Dialect::OpenManus);
  const auto own = gather(talk, Dialect::OpenManus);
  ASSERT_EQ(own->pieces.size(), 1U);
  EXPECT_EQ(own->pieces[0].data(), talk.document()->buffer().data());
  const auto first = write(talk, Dialect::AgentScope);
  const auto pieces = gather(talk, Dialect::AgentScope);
  std::size_t shared = 0;
  for (const std::string_view piece : pieces->pieces) {
    const bool inside =
        piece.data() >= first->text.data() && piece.data() < first->text.data() + first->text.size();
    shared += inside ? piece.size() : 0;
  }
  EXPECT_GT(shared, first->text.size() - 10);
}

// K1: the next request is made of the pieces of the one before and of what is new.
TEST(Gather, KeepsWhatItWrote) {
  Conversation talk =
      must_read(R"([{"role":"user","content":"1"},{"role":"user","content":"2"}])", Dialect::OpenManus);
  const auto first = gather(talk, Dialect::AgentScope);
  ASSERT_EQ(first->kept.size(), 1U);
  talk.append(Message::user_message("3"));
  const auto second = gather(talk, Dialect::AgentScope);
  ASSERT_EQ(second->pieces.size(), 4U);  // "[", those of the first, ",", the new one and "]"
  EXPECT_EQ(second->pieces[1].data(), first->kept[0].data() + 1);
  EXPECT_EQ(second->pieces[1].size() + 2, first->kept[0].size());
  Conversation again =
      must_read(R"([{"role":"user","content":"1"},{"role":"user","content":"2"}])", Dialect::OpenManus);
  (void)gather(again, Dialect::AgentScope, {.keep = false});
  EXPECT_EQ(gather(again, Dialect::AgentScope)->kept.size(), 1U);
}

TEST(Gather, LeavesPiecesValidWithoutTheWriter) {
  Gathering gathering;
  const Conversation talk = must_read(R"([{"role":"user","content":"1"}])", Dialect::OpenManus);
  gathering = gather(talk, Dialect::AgentScope).value();
  Gathering moved = std::move(gathering);
  std::string together;
  for (const std::string_view piece : moved.pieces) together += piece;
  EXPECT_EQ(together, write(talk, Dialect::AgentScope)->text.view());
}

// ---- Errors

TEST(Read, NamesTheMemberAtFault) {
  struct Row {
    Dialect dialect;
    std::string_view document, path, sentence;
  };
  constexpr Row kRows[] = {
      {Dialect::OpenAI, R"({"messages":"x"})", "/messages", "'messages' must be a list"},
      {Dialect::Anthropic, R"({"model":"m","messages":{}})", "/messages", "'messages' must be a list"},
      {Dialect::Responses, R"({"input":1})", "/input", "'input' must be a list or a string"},
      {Dialect::Gemini, R"({"contents":[{"role":"user","parts":"x"}]})", "/contents/0/parts",
       "'parts' must be a list of blocks or null"},
      {Dialect::Gemini, R"({"candidates":[1]})", "/candidates/0", "'candidates' must be a list of objects"},
      {Dialect::OTel, R"([{"role":"user","parts":"x"}])", "/0/parts",
       "'parts' must be a list of blocks or null"},
      {Dialect::Anthropic, R"([{"role":"user","content":[{"type":"tool_result","content":1}]}])",
       "/0/content/0/content", "'content' must be a string, a list of blocks or null"},
      {Dialect::Responses, R"([{"type":"function_call_output","output":1}])", "/0/output",
       "'output' must be a string, a list of blocks or null"},
      {Dialect::DashScope, R"({"output":{"choices":1}})", "/output/choices", "'choices' must be a list"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.document);
    const auto reading = read(row.document, row.dialect);
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().code, Code::WrongType);
    EXPECT_EQ(reading.error().path, row.path);
    EXPECT_EQ(reading.error().message, row.sentence);
  }
}

// ---- Notes

TEST(Note, IsAnObjectAndALine) {
  Note note{"thinking_dropped", Severity::Minor, 3, 0, "openmanus", "dropped", "it \"said\""};
  EXPECT_EQ(
      to_json(note).text().view(),
      R"({"code":"thinking_dropped","severity":"minor","message":3,"block":0,"dialect":"openmanus","action":"dropped","detail":"it \"said\""})");
  EXPECT_EQ(to_line(note), "thinking_dropped (minor, message 3, block 0): it \"said\"");
  note.message_index = note.block_index = std::nullopt;
  note.line = 7;
  note.severity = Severity::Major;
  EXPECT_EQ(
      to_json(note).text().view(),
      R"({"code":"thinking_dropped","severity":"major","line":7,"message":null,"block":null,"dialect":"openmanus","action":"dropped","detail":"it \"said\""})");
  EXPECT_EQ(to_line(note), "thinking_dropped (major, line 7): it \"said\"");
  EXPECT_EQ(to_string(Severity::Info), "info");
}

}  // namespace
}  // namespace parley
