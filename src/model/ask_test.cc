#include <gtest/gtest.h>

#include <algorithm>

#include "model/server_testing.h"
#include "parley/media/data_url.h"
#include "parley/model/model.h"

namespace parley::model {
namespace {

// A PNG of one pixel.
constexpr std::string_view kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

std::string said(std::string_view text) {
  return sse(streamed(Dialect::OpenAI, Message::assistant_message(Text(text)), plain_outcome()));
}

std::shared_ptr<Model> opened(const ModelConfig& config) { return open_model(config).value(); }

const Message kHello = Message::user_message("Hello");

// ASK1
TEST(Ask, GivesTheTextAsItWasSaid) {
  TestProvider provider({said("  two lines\n of text \n")});
  const auto text = ask(*opened(provider.config()), {&kHello, 1});
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "  two lines\n of text \n");
}

// ASK3
TEST(Ask, PutsTheSystemMessagesInFront) {
  TestProvider provider({said("Hi")});
  const std::vector<Message> system = {Message::system_message("Be brief."),
                                       Message::system_message("Be kind.")};
  const std::vector<Message> messages = {kHello, Message::assistant_message(""),
                                         Message::user_message("And?")};
  ASSERT_TRUE(ask(*opened(provider.config()), messages, {.system = system, .temperature = 0.25}));
  const Json body = Json::parse(provider.server.seen().front().body).value();
  EXPECT_EQ(body.get("messages")->elements().size(), 5U) << body.text().view();
  EXPECT_EQ(body.at("/messages/1/content"), Json::string("Be kind."));
  EXPECT_EQ(body.get("temperature")->text().view(), "0.25");
}

// ASK1
TEST(Ask, TakesNothingForNoText) {
  for (const bool stream : {true, false}) {
    const std::string nothing =
        stream ? sse(streamed(Dialect::OpenAI, Message::assistant_message(""), plain_outcome()))
               : json_answer("200 OK",
                             written(Dialect::OpenAI, Message::assistant_message(""), plain_outcome()));
    TestProvider provider({nothing});
    const auto model = opened(provider.config());
    const auto ours = ask(*model, {&kHello, 1}, {.stream = stream});
    ASSERT_FALSE(ours);
    EXPECT_EQ(ours.error().message, "the model returned an empty answer");
    const auto theirs = ask(*model, {&kHello, 1}, {.stream = stream, .openmanus = true});
    EXPECT_EQ(theirs.error().message,
              stream ? "Empty response from streaming LLM" : "Empty or invalid response from LLM");
    EXPECT_EQ(provider.server.seen().size(), 2U);  // it is not asked again and again
  }
}

// ASK1
TEST(Ask, TakesHalfAnAnswerForNoText) {
  TestProvider provider(
      {"HTTP/1.1 200 OK\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n"});
  const auto text = ask(*opened(provider.config()), {&kHello, 1});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::Unavailable);
  EXPECT_EQ(text.error().call.attempts, 1U);
}

// ASK1
TEST(Ask, TakesAnAnswerThatReachedItsLimitForNoText) {
  for (const auto& [finish, code] :
       {std::pair(Finish::Length, Code::LimitExceeded), std::pair(Finish::Filtered, Code::Invalid)}) {
    Outcome cut = plain_outcome();
    cut.finish = finish;
    TestProvider provider({sse(streamed(Dialect::OpenAI, Message::assistant_message("half"), cut))});
    const auto model = opened(provider.config());
    const auto ours = ask(*model, {&kHello, 1});
    ASSERT_FALSE(ours);
    EXPECT_EQ(ours.error().code, code);
    EXPECT_EQ(ours.error().message,
              "incomplete answer: the model ended with '" + std::string(to_string(finish)) + "'");
    const auto theirs = ask(*model, {&kHello, 1}, {.openmanus = true});
    ASSERT_TRUE(theirs) << "OpenManus takes what there is";
    EXPECT_EQ(theirs->view(), "half");
  }
}

// A caller that stopped must not see a retryable error.
TEST(Ask, SaysThatItWasStopped) {
  std::stop_source stop;
  TestProvider provider({said("Hi")});
  AskOptions options;
  options.call = {.on_event =
                      [&](const StreamEvent& event) {
                        if (std::holds_alternative<stream::Delta>(event)) stop.request_stop();
                      },
                  .stop = stop.get_token()};
  const auto text = ask(*opened(provider.config()), {&kHello, 1}, options);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Code::Cancelled);
  EXPECT_FALSE(text.error().failure.retryable);
}

TEST(Ask, KeepsTheLimitOnAllInput) {
  TestProvider provider({said("Hi")});  // which says 11 tokens of input
  const auto model = opened(provider.config());
  TokenLedger limit(20);
  ASSERT_TRUE(ask(*model, {&kHello, 1}, {.limit = &limit}));
  EXPECT_EQ(limit.total_input(), 11U);
  const std::vector<Message> longer = {Message::user_message("one two three four five six seven eight")};
  const auto refused = ask(*model, longer, {.limit = &limit});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::LimitExceeded);
  EXPECT_TRUE(
      refused.error().message.starts_with("Request may exceed input token limit (Current: 11, Needed: "))
      << refused.error().message;
  EXPECT_EQ(provider.server.seen().size(), 1U);
}

// ASK2
TEST(AskTool, GivesEverythingThatWasSaid) {
  Outcome made = plain_outcome();
  made.finish = Finish::ToolCalls;
  const Message message = MessageBuilder(Role::Assistant)
                              .block(ThinkingBlock{"Oslo, then.", "c2ln", "anthropic"})
                              .text("Looking it up.")
                              .block(ToolUseBlock{"toolu_1", "weather", R"({"city":"Oslo"})"})
                              .build()
                              .value();
  TestProvider provider({sse(streamed(Dialect::Anthropic, message, made))});
  const std::vector<Tool> tools = {{"weather", "The weather.", Json::parse(R"({"type":"object"})").value()}};
  const auto answer =
      ask_tool(*opened(provider.config("anthropic")), {&kHello, 1}, tools, ToolChoice::Required);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->message == message);
  EXPECT_EQ(answer->outcome.finish, Finish::ToolCalls);
  EXPECT_EQ(answer->outcome.usage.output, 7U);
  const Json body = Json::parse(provider.server.seen().front().body).value();
  EXPECT_EQ(body.at("/tool_choice/type"), Json::string("any"));
  EXPECT_EQ(body.at("/tools/0/name"), Json::string("weather"));
}

// ASK4
TEST(AskWithImages, LabelsImagesByWhatTheyAre) {
  TestProvider provider({said("A pixel.")});
  const std::string wrong = "data:image/jpeg;base64," + std::string(kPixel);
  const std::string_view images[] = {kPixel, wrong, "https://example.com/a.png"};
  ASSERT_TRUE(ask_with_images(*opened(provider.config()), {&kHello, 1}, images));
  const Json body = Json::parse(provider.server.seen().front().body).value();
  const auto parts = body.at("/messages/0/content")->elements();
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].get("text"), Json::string("Hello"));
  for (std::size_t i : {1U, 2U}) {
    EXPECT_EQ(parts[i].at("/image_url/url"), Json::string("data:image/png;base64," + std::string(kPixel)));
  }
  EXPECT_EQ(parts[3].at("/image_url/url"), Json::string("https://example.com/a.png"));
}

// ASK4
TEST(AskWithImages, RefusesAnInvalidImage) {
  TestProvider provider({said("?")});
  const std::string_view images[] = {kPixel, "bm90IGFuIGltYWdl"};
  const auto refused = ask_with_images(*opened(provider.config()), {&kHello, 1}, images);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().path, "/images/1");
  EXPECT_TRUE(provider.server.seen().empty());
}

TEST(AskWithImages, SaysWhyNot) {
  TestProvider provider({said("?")});
  const std::string_view images[] = {kPixel};
  const std::vector<Message> answered = {kHello, Message::assistant_message("Hi")};
  const auto model = opened(provider.config());
  EXPECT_EQ(ask_with_images(*model, answered, images, {.openmanus = true}).error().message,
            "The last message must be from the user to attach images");
  EXPECT_EQ(ask_with_images(*model, {}, images).error().code, Code::Invalid);
  ModelConfig config = provider.config();
  config.sees_images = false;
  const auto blind = opened(config);
  EXPECT_EQ(ask_with_images(*blind, {&kHello, 1}, images).error().code, Code::Unsupported);
  EXPECT_EQ(
      ask_with_images(*blind, {&kHello, 1}, images, {.openmanus = true}).error().message,
      "Model a-model does not support images. Use a model from ['gpt-4-vision-preview', 'gpt-4o', "
      "'gpt-4o-mini', 'claude-3-opus-20240229', 'claude-3-sonnet-20240229', 'claude-3-haiku-20240307']");
}

// ASK3: nothing vanishes for a model that sees no images.
TEST(AskWithImages, ShowsABlindModelThatThereWasAnImage) {
  TestProvider provider({said("I cannot see it.")});
  ModelConfig config = provider.config();
  config.sees_images = false;
  ModelRequest request;
  const Block image = ImageBlock{Base64Source{"image/png", Text(kPixel)}};
  request.conversation = Conversation(
      {MessageBuilder(Role::User).block(image).build().value(),
       Message::from_tool_calls(std::vector<ToolCall>{{"call_1", "function", {"look", "{}"}}}),
       MessageBuilder(Role::Tool)
           .block(ToolResultBlock{"call_1", "look", std::vector<Block>{TextBlock{"Here:"}, image}})
           .build()
           .value()});
  const auto answer = opened(config)->complete(request);
  ASSERT_TRUE(answer);
  const std::string body = provider.server.seen().front().body;
  EXPECT_FALSE(body.contains("iVBOR")) << body;
  EXPECT_EQ(Json::parse(body)->get("messages")->elements().size(), 3U) << body;
  EXPECT_EQ(std::ranges::count(answer->notes, "image_replaced", &Note::code), 2);
}

}  // namespace
}  // namespace parley::model
