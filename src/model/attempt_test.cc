// What is made of an answer: streams and whole ones, good and bad.
#include "model/attempt.h"

#include <gtest/gtest.h>

#include "model/server_testing.h"

namespace parley::model {
namespace {

using net::answer;
using net::LoopbackServer;
using net::SeenRequest;

// ---- The same, whole or streamed (MODEL1)

Message with_everything(bool thinks) {
  MessageBuilder builder(Role::Assistant);
  if (thinks) builder.block(ThinkingBlock{"Let me see.", "c2lnbmF0dXJl", "anthropic"});
  return builder.text("It is 21 degrees. \xF0\x9F\x8C\x9E")
      .block(ToolUseBlock{"call_1", "weather", R"({"city":"Oslo"})"})
      .block(ToolUseBlock{"call_2", "time", R"({"zone":"Europe/Oslo"})"})
      .build()
      .value();
}

TEST(Attempt, SaysTheSameStreamedOrWhole) {
  for (const Provider& row : providers()) {
    Outcome made = plain_outcome();
    made.finish = Finish::ToolCalls;
    const bool thinks = row.dialect == Dialect::Anthropic;
    const Message message = with_everything(thinks);
    TestProvider provider({sse(streamed(row.dialect, message, made)),
                           json_answer("200 OK", written(row.dialect, message, made))});
    const auto model = opened(provider.config(row.name));
    const auto from_stream = model->complete(hello(true));
    const auto whole = model->complete(hello(false));
    ASSERT_TRUE(from_stream) << row.name << " " << from_stream.error().message;
    ASSERT_TRUE(whole) << row.name << " " << whole.error().message;
    EXPECT_EQ(to_dict(from_stream->message, Dialect::Parley, Form::Canonical)->get("content"),
              to_dict(whole->message, Dialect::Parley, Form::Canonical)->get("content"))
        << row.name;
    EXPECT_TRUE(from_stream->message == whole->message) << row.name;
    EXPECT_EQ(from_stream->outcome.finish, whole->outcome.finish) << row.name;
    EXPECT_EQ(from_stream->outcome.usage, whole->outcome.usage) << row.name;
    EXPECT_EQ(from_stream->message.tool_calls().size(), 2U) << row.name;
    EXPECT_FALSE(from_stream->cut || whole->cut) << row.name;
  }
}

TEST(Attempt, DeliversTheEventsOfAWholeAnswerToo) {
  TestProvider provider(
      {json_answer("200 OK", written(Dialect::OpenAI, Message::assistant_message("Hi"), plain_outcome()))});
  std::string text;
  unsigned terminals = 0;
  const auto called =
      opened(provider.config())->complete(hello(false), {.on_event = [&](const StreamEvent& event) {
                                            if (const auto* delta = std::get_if<stream::Delta>(&event))
                                              text += delta->text;
                                            terminals += std::holds_alternative<stream::Done>(event) ? 1 : 0;
                                          }});
  EXPECT_EQ(outcome(called), "said 'Hi'");
  EXPECT_EQ(text, "Hi");
  EXPECT_EQ(terminals, 1U);
}

// MODEL1: a call of Gemini has its signature, and gets it back.
TEST(Attempt, KeepsTheSignatureOfACall) {
  const std::string part = R"({"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"CiQB"})";
  const std::string body = R"({"candidates":[{"content":{"role":"model","parts":[)" + part +
                           R"(]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3}})";
  for (const std::string& sent : {"data: " + body + "\n\n", body}) {
    TestProvider provider({answer("200 OK", "Connection: close\r\n", sent)});
    const auto model = opened(provider.config("gemini"));
    const auto called = model->complete(hello(sent != body));
    ASSERT_TRUE(called) << called.error().message;
    EXPECT_EQ(called->outcome.finish, Finish::ToolCalls);
    EXPECT_TRUE(called->notes.empty());
    const Text id = called->message.tool_calls().front().id;
    Conversation next({Message::user_message("Hello"), called->message});
    next.append(Message::tool_message("1", "f", id));
    ModelRequest request;
    request.conversation = next;
    (void)model->complete(request);
    EXPECT_TRUE(provider.server.seen().back().body.contains(part)) << provider.server.seen().back().body;
  }
}

std::string notes_of(const Called<ModelAnswer>& called) {
  std::string out;
  for (const Note& note : called->notes) out += std::string(note.code) + ": " + note.detail.str();
  return out;
}

// What a message cannot hold is noted, and what says nothing is not.
TEST(Attempt, NotesWhatTheMessageHasNoPlaceFor) {
  const std::tuple<std::string_view, std::string_view, std::string_view> rows[] = {
      {"openai",
       R"({"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{
       "role":"assistant","content":"Hi","reasoning_content":"hm","refusal":null,"annotations":[]},"logprobs":null,
       "finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"service_tier":"x"})",
       ""},
      {"openai",
       R"({"choices":[{"message":{"role":"assistant","content":"Hi","annotations":[{"type":"url_citation"}]},
       "logprobs":{"content":[{"token":"Hi"}]},"finish_reason":"stop"}]})",
       "/choices/0/message/annotations, /choices/0/logprobs"},
      {"openai", R"({"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"},
       {"message":{"role":"assistant","content":"Ho"},"finish_reason":"stop"}]})",
       "/choices"},
      {"anthropic",
       R"({"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"Hi",
       "citations":null},{"type":"text","text":"Ho","citations":[{"type":"char_location"}]}],"stop_reason":"end_turn",
       "stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}})",
       "/content/1/citations"},
      {"gemini",
       R"({"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0,
       "groundingMetadata":{"webSearchQueries":["q"]}}],"modelVersion":"g","responseId":"r"})",
       "/candidates/0/groundingMetadata"},
      {"responses",
       R"({"id":"r","object":"response","status":"completed","model":"m","output":[{"id":"i","type":"message",
       "status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","logprobs":[],
       "annotations":[{"type":"url_citation"}]}]}],"tools":[],"temperature":1.0})",
       "/output/0/content/0/annotations"},
      {"ollama", R"({"model":"l","created_at":"x","message":{"role":"assistant","content":"Hi"},"done":true,
       "done_reason":"stop","total_duration":5,"eval_count":2})",
       ""},
  };
  for (const auto& [name, body, places] : rows) {
    TestProvider provider({json_answer("200 OK", body)});
    const auto called = opened(provider.config(name))->complete(hello(false));
    ASSERT_TRUE(called) << body;
    const std::string start = places.empty() ? "" : "member_dropped: left out of the message: ";
    EXPECT_EQ(notes_of(called), start + std::string(places)) << body;
  }
}

TEST(Attempt, NotesEventsThatTheMessageHasNoPlaceFor) {
  const std::string citation =
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
      "\"delta\":{\"type\":\"citations_delta\",\"citation\":{}}}\n\n";
  const std::string whole = streamed(Dialect::Anthropic, Message::assistant_message("Hi"), plain_outcome());
  const std::size_t end = whole.find("event: content_block_stop");
  TestProvider provider({sse(whole), sse(whole.substr(0, end) + citation + citation + whole.substr(end))});
  const auto model = opened(provider.config("anthropic"));
  EXPECT_EQ(notes_of(model->complete(hello())), "");
  EXPECT_EQ(notes_of(model->complete(hello())),
            "event_dropped: events with content that a message cannot hold: content_block_delta");
  // MODEL7: whatever a server calls them.
  const std::string named = "event: x\ndata: {\"type\":\"" + std::string(kTestKey) + "\"}\n\n";
  TestProvider spiteful({sse(whole.substr(0, end) + named + whole.substr(end))});
  EXPECT_EQ(notes_of(opened(spiteful.config("anthropic"))->complete(hello())),
            "event_dropped: events with content that a message cannot hold: [redacted: key]");
}

// ---- What is no answer

TEST(Attempt, RefusesAResponseThatIsNotAnAnswer) {
  const std::string bodies[] = {
      "",
      "<!DOCTYPE html><html><body>Sign in</body></html>",
      "{\"choices\":[{\"message\":{\"role\":\"assis",
      "data: {\"choices\":[{\"delta\":{\"conte",
      std::string("\x00\xFF\x13garbage\x80", 11),
      R"({"error":{"message":"the server is on fire"}})",
      "[]",
      "null",
      R"({"role":"assistant","content":"a message, and no answer"})",
  };
  for (const std::string& body : bodies) {
    for (const bool stream : {true, false}) {
      TestProvider provider({answer("200 OK", "Content-Type: text/html\r\n", body)});
      const auto called = opened(provider.config())->complete(hello(stream));
      ASSERT_FALSE(called) << body;
      EXPECT_EQ(called.error().call.attempts, 3U) << body;
      EXPECT_EQ(called.error().code, Code::Unavailable) << body;
      EXPECT_FALSE(called.error().failure.message.empty()) << body;
    }
  }
}

TEST(Attempt, SaysWhyAWholeAnswerCannotBeRead) {
  const std::string begin = R"({"choices":[{"message":{"role":"assistant","content":)";
  const std::string end = R"(},"finish_reason":"stop"}]})";
  const std::string long_text(std::size_t{33} * 1024 * 1024, 'x');
  const std::tuple<std::string, std::string_view, std::string_view> rows[] = {
      {begin + "5" + end, "unavailable server after 3", "(/choices/0/message/content)"},
      {begin + "\"\xFF\"" + end, "unavailable server after 3", "UTF-8"},
      {begin, "unavailable server after 3", "cannot read the answer: "},
      {begin + "\"" + long_text + "\"" + end, "invalid server after 1", "33554432"},
      {R"({"error":{"message":"the server is on fire"}})", "unavailable server after 3",
       "the server is on fire"},
  };
  for (const auto& [body, expected, words] : rows) {
    TestProvider provider({json_answer("200 OK", body)});
    const auto called = opened(provider.config())->complete(hello(false));
    EXPECT_EQ(outcome(called), expected) << words;
    EXPECT_TRUE(called.error().message.contains(words)) << called.error().message;
  }
}

TEST(Attempt, HoldsItsLimitOnAnAnswer) {
  for (const bool stream : {true, false}) {
    TestProvider provider([](LoopbackServer::Connection& connection, const SeenRequest&) {
      bool open = connection.send("HTTP/1.1 200 OK\r\n\r\n: ");
      while (open) open = connection.send(std::string(65536, 'x'));
    });
    ModelConfig config = provider.config();
    config.max_answer_bytes = 1'000'000;
    EXPECT_EQ(outcome(opened(config)->complete(hello(stream))), "invalid server after 1");
  }
}

// What an endless stream said takes no more room than its beginning.
TEST(Attempt, KeepsTheBeginningOfAnEndlessStream) {
  const std::string piece =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(65536, 'x') + "\"}}]}\n\n";
  TestProvider provider([&](LoopbackServer::Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\n\r\n");
    while (open) open = connection.send(piece);
  });
  ModelConfig config = provider.config();
  config.max_answer_bytes = 4'000'000;
  const auto called = opened(config)->complete(hello());
  ASSERT_TRUE(called);
  ASSERT_TRUE(called->cut);
  EXPECT_FALSE(called->cut->retryable);
  EXPECT_EQ(called->message.get_text_content()->size(), 1024U * 1024U);
}

// Events without a word, and blocks without an end, are counted.
TEST(Attempt, EndsAStreamOfNothingAndAStreamOfBlocks) {
  const auto ends_with = [](const std::string& words, const std::function<std::string(int)>& event) {
    TestProvider provider([&](LoopbackServer::Connection& connection, const SeenRequest&) {
      bool open = connection.send("HTTP/1.1 200 OK\r\n\r\n");
      for (int i = 0; open; ++i) open = connection.send(event(i));
    });
    const auto called = opened(provider.config("anthropic"))->complete(hello());
    const std::string message = called ? called->cut->message.str() : called.error().message;
    EXPECT_TRUE(message.contains(words)) << message;
  };
  ends_with("4096 events without content", [](int) {
    std::string out;
    for (int i = 0; i < 100; ++i) out += "event: news\ndata: {\"type\":\"news\"}\n\n";
    return out;
  });
  ends_with("65536 blocks", [](int n) {
    std::string out;
    for (int i = n * 100; i < n * 100 + 100; ++i) {
      out += R"(data: {"type":"content_block_start","index":)" + std::to_string(i) +
             R"(,"content_block":{"type":"text","text":"x"}})" + "\n\n";
    }
    return out;
  });
}

// ---- Streams that die

// MODEL2
TEST(Attempt, TriesAStreamAgainThatSaidNothing) {
  TestProvider provider({deltas({}),
                         deltas({}) + "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n",
                         hi_stream()});
  unsigned starts = 0;
  const auto called =
      opened(provider.config())->complete(hello(), {.on_event = [&](const StreamEvent& event) {
                                            starts += std::holds_alternative<stream::Start>(event) ? 1 : 0;
                                          }});
  EXPECT_EQ(outcome(called), "said 'Hi, how are you today?'");
  EXPECT_EQ(called->call.attempts, 3U);
  EXPECT_EQ(starts, 1U);
}

// MODEL2, MODEL3
TEST(Attempt, KeepsWhatAStreamSaidBeforeItDied) {
  const std::string ends[] = {
      "",
      "data: {\"choices\":[{\"index\":0,\"del",
      "data: {\"error\":{\"message\":\"on fire\",\"type\":\"server_error\"}}\n\n",
      "data: "
      "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{"
      "\"name\":\"f\","
      "\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n",
      "data: no json\n\n",
  };
  for (const std::string& end : ends) {
    TestProvider provider({deltas({"Hel", "lo"}) + end, hi_stream()});
    std::string text;
    unsigned terminals = 0;
    const auto called =
        opened(provider.config())->complete(hello(), {.on_event = [&](const StreamEvent& event) {
                                              EXPECT_EQ(terminals, 0U);
                                              if (const auto* delta = std::get_if<stream::Delta>(&event)) {
                                                if (delta->kind == stream::DeltaKind::Text)
                                                  text += delta->text;
                                              }
                                              terminals += std::holds_alternative<stream::Truncated>(event) ||
                                                           std::holds_alternative<stream::Failed>(event);
                                            }});
    EXPECT_EQ(outcome(called), "said 'Hello', cut") << end;
    EXPECT_EQ(text, "Hello");
    EXPECT_EQ(terminals, 1U);
    EXPECT_EQ(provider.server.seen().size(), 1U);
    EXPECT_TRUE(called->message.tool_calls().empty());
    EXPECT_EQ(provider.ledger->total().failed, 1U);
    // It can be sent again.
    Conversation next({Message::user_message("Hello"), called->message, Message::user_message("Go on.")});
    for (const Provider& row : providers()) EXPECT_TRUE(write(next, row.dialect)) << row.name;
  }
}

// The end was said; what happens to the connection then is of no interest.
TEST(Attempt, TakesAnAnswerThatSaidItsEndForWhole) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
  TestProvider provider(
      {head + streamed(Dialect::OpenAI, Message::assistant_message("Hi"), plain_outcome())});
  EXPECT_EQ(outcome(opened(provider.config())->complete(hello())), "said 'Hi'");
}

// ---- Servers with ways of their own

TEST(Attempt, TellsStreamsFromWholeAnswersWhateverTheirHeadersSay) {
  const std::string_view types[] = {"", "Content-Type: application/json\r\n",
                                    "Content-Type: Application/JSON; charset=utf-8\r\n",
                                    "Content-Type: text/event-stream\r\n", "Content-Type: text/plain\r\n"};
  for (const std::string_view name : {"openai", "ollama", "anthropic", "responses", "gemini"}) {
    const Dialect dialect = (*provider_named(name))->dialect;
    const Message message = Message::assistant_message("Hi");
    const std::string stream = streamed(dialect, message, plain_outcome());
    const std::string whole = written(dialect, message, plain_outcome());
    const std::string mark = dialect == Dialect::Ollama ? "" : "\xEF\xBB\xBF";  // no line of JSON has one
    for (const std::string_view type : types) {
      const std::string headers = std::string(type) + "Connection: close\r\n";
      for (const std::string& body : {stream, "\n" + stream, whole, mark + "\n " + whole}) {
        for (const bool asks_for_a_stream : {true, false}) {
          if (dialect == Dialect::Ollama && body.ends_with(stream) && !asks_for_a_stream) continue;
          TestProvider provider({answer("200 OK", headers, body)});
          EXPECT_EQ(outcome(opened(provider.config(name))->complete(hello(asks_for_a_stream))), "said 'Hi'")
              << name << " " << type << body << asks_for_a_stream;
        }
      }
    }
  }
}

TEST(Attempt, SaysOfAStreamThatSaidNothingThatItEnded) {
  for (const std::string_view body : {"data: {\"choi", ": ping\n\n", "event: message_start\n"}) {
    TestProvider provider({sse(body)});
    const auto called = opened(provider.config())->complete(hello());
    EXPECT_EQ(outcome(called), "unavailable transport after 3");
    EXPECT_EQ(called.error().message, "openai: the stream ended before its last event");
  }
}

}  // namespace
}  // namespace parley::model
