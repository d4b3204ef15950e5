#include "parley/token/counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/allocations_testing.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"
#include "parley/media/data_url.h"
#include "token/chat_form.h"

namespace parley {
namespace {

Text text(std::string_view bytes) { return Text::checked(bytes).value(); }
Json json(std::string_view bytes) { return Json::parse(bytes).value(); }

std::string png(std::uint32_t width, std::uint32_t height) {
  std::string out("\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", 16);
  for (const std::uint32_t side : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(side >> shift & 0xFF);
  }
  return base64_encode(out);
}

const ToolCall kSearch = {.id = "call_123", .function = {"web_search", "{\"query\": \"OpenManus\"}"}};
constexpr const char* kHelper =
    "\xE4\xBD\xA0\xE6\x98\xAF\xE4\xB8\x80\xE4\xB8\xAA\xE6\x9C\x89\xE7\x94\xA8\xE7\x9A\x84"
    "\xE5\x8A\xA9\xE6\x89\x8B";
constexpr const char* kPoem =
    "\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE8\xAF\xB7\xE5\xB8\xAE\xE6\x88\x91\xE5\x86\x99"
    "\xE4\xB8\x80\xE9\xA6\x96\xE8\xAF\x97";

Tool ask_human() {
  return {"ask_human", "Use this tool to ask human for help.",
          json(R"({"type": "object", "properties": {"inquire": {"type": "string",
                   "description": "The question you want to ask human."}}, "required": ["inquire"]})")};
}

// ---- OpenManus

TEST(OpenManusCounter, MeetsTheWorkedTexts) {
  struct Row {
    std::string_view text;
    std::size_t cl100k, o200k;
  };
  const Row rows[] = {{"", 0, 0},          {"system", 1, 1},       {"user", 1, 1},
                      {"assistant", 1, 1}, {"tool", 1, 1},         {"You are a helpful assistant", 5, 5},
                      {"Hello", 1, 1},     {"How are you?", 4, 4}, {kHelper, 9, 7},
                      {kPoem, 11, 8},      {"web_search", 2, 2},   {"{\"query\": \"OpenManus\"}", 8, 8},
                      {"call_123", 3, 3},  {"<|endoftext|>", 7, 7}};
  for (const Row& row : rows) {
    EXPECT_EQ(TokenCounter::openmanus(Encoding::cl100k_base()).count_text(row.text), row.cl100k) << row.text;
    EXPECT_EQ(TokenCounter::openmanus(Encoding::o200k_base()).count_text(row.text), row.o200k) << row.text;
  }
}

TEST(OpenManusCounter, MeetsTheWorkedLists) {
  struct Row {
    std::vector<Message> messages;
    std::size_t cl100k, o200k;
  };
  const Row rows[] = {
      {{}, 2, 2},
      {{Message::user_message("Hello")}, 8, 8},
      {{Message::system_message("You are a helpful assistant"), Message::user_message("Hello"),
        Message::user_message("How are you?")},
       27,
       27},
      {{Message::from_tool_calls({&kSearch, 1}, "")}, 17, 17},
      {{Message::tool_message("hi", "web_search", "call_123")}, 13, 13},
      {{Message::system_message(text(kHelper)), Message::user_message(text(kPoem))}, 32, 27},
      {{Message::assistant_message()}, 2 + 5, 2 + 5},
      {{Message::tool_message("hi", "web_search", "call_123", Text("AAAA"))}, 13, 13},
      {{Message::user_message("Hello", text(png(1, 1)))}, 8, 8},
  };
  const TokenCounter cl100k = TokenCounter::openmanus(Encoding::cl100k_base());
  const TokenCounter o200k = TokenCounter::openmanus(Encoding::o200k_base());
  for (const Row& row : rows) {
    EXPECT_EQ(cl100k.count(row.messages), row.cl100k);
    EXPECT_EQ(o200k.count(row.messages), row.o200k);
  }
  EXPECT_TRUE(cl100k.is_exact());
}

TEST(OpenManusCounter, CountsAnImageAsFormattedOnDemand) {
  const auto counter = TokenCounter::openmanus(Encoding::cl100k_base(), TokenCounter::Images::Formatted);
  const std::vector<Message> messages = {Message::user_message("Hello", Text("AAAA"))};
  EXPECT_EQ(counter.count(messages), 1032U);
  EXPECT_EQ(counter.list_cost() + counter.count(Message::user_message("Hello")), 8U);
  EXPECT_EQ(counter.count_dict(json(R"({"role":"user","content":"Hello","base64_image":""})")), 6U);
}

// The dictionaries OpenManus' formatting makes, and those a caller may pass.
TEST(OpenManusCounter, CountsDictionariesWithParts) {
  const TokenCounter counter = TokenCounter::openmanus(Encoding::o200k_base());
  struct Row {
    const char* content;
    std::size_t tokens;
  };
  constexpr Row kRows[] = {
      {R"("Hello")", 1},
      {R"(null)", 0},
      {R"("")", 0},
      {R"([])", 0},
      {R"(["Hello", "How are you?"])", 5},
      {R"([{"type":"text","text":"Hello"},{"type":"image_url","image_url":{"url":"data:,x"}}])", 1025},
      {R"([{"image_url":{"url":"x","detail":"low"}}])",
       1024},  // OpenAI's place, where OpenManus does not look
      {R"([{"image_url":{},"detail":"low"}])", 85},
      {R"([{"image_url":{},"detail":"high"}])", 765},
      {R"([{"image_url":{},"detail":"high","dimensions":[1920,1080]}])", 1105},
      {R"([{"image_url":{},"dimensions":[1537,768]}])", 1445},
      {R"([{"image_url":{},"detail":"medium"}])", 1024},
      {R"([{"image_url":{},"detail":"auto","dimensions":[1920,1080]}])", 1024},
      {R"([{"image_url":{},"detail":"low","dimensions":[1920,1080]}])", 85},
      {R"([{"type":"input_audio","input_audio":{"data":"AAAA"}}])", 0},
      // Where the original divides by zero or raises.
      {R"([{"image_url":{},"dimensions":[1,8192]}])", 765},
      {R"([{"image_url":{},"detail":"high","dimensions":[0,5]}])", 765},
      {R"([{"image_url":{},"dimensions":[0,5]}])", 1024},
      {R"([{"image_url":{},"dimensions":"large"}])", 1024},
      {R"([{"image_url":{},"dimensions":[1]}])", 1024},
      {R"([{"image_url":{},"dimensions":[1.5,1e400]}])", 1024},
      {R"([{"image_url":{},"detail":7}])", 1024},
      {R"([{"text":null}])", 0},
      {R"([{"text":{"a":1}}])", 5},
      {R"([7, null, []])", 0},
  };
  for (const Row& row : kRows) {
    const Json message = json(std::string(R"({"role":"user","content":)") + row.content + "}");
    EXPECT_EQ(counter.count_dict(message), 5 + row.tokens) << row.content;
  }
  EXPECT_EQ(counter.count_dict(json(R"({"role":"assistant","tool_calls":null,"name":null})")), 5U);
  EXPECT_EQ(counter.count_dict(json(R"({"role":"assistant","tool_calls":[{"id":"x"},3,
      {"function":{"name":"web_search"}},{"function":{"arguments":"Hello"}}]})")),
            5U + 2 + 1);
  EXPECT_EQ(counter.count_dict(json("[]")), 4U);
}

TEST(OpenManusCounter, CountsWhatWasReadByItsWire) {
  const auto reading =
      read(R"([{"role":"user","content":"Hello","tool_call_id":"call_123","other":"not counted"}])",
           Dialect::OpenManus);
  EXPECT_EQ(TokenCounter::openmanus(Encoding::cl100k_base()).count(reading->conversation.messages()),
            2U + 6 + 3);
}

// A message of another dialect may be several in OpenManus: each has its own constant.
TEST(OpenManusCounter, CountsAMessageThatBecomesSeveral) {
  const TokenCounter counter = TokenCounter::openmanus(Encoding::cl100k_base());
  const Message both = MessageBuilder(Role::User)
                           .block(ToolResultBlock{"call_123", "web_search", text("hi")})
                           .block(ToolResultBlock{"call_123", "web_search", text("hi")})
                           .text("Hello")
                           .build()
                           .value();
  EXPECT_FALSE(to_dict(both, Dialect::OpenManus));
  EXPECT_EQ(counter.count(both), 11U + 11 + 6);
}

TEST(OpenManusCounter, CountsToolsAsCompactJson) {
  const Tool tool = ask_human();
  EXPECT_EQ(TokenCounter::openmanus(Encoding::cl100k_base()).count_tools({&tool, 1}), 56U);
  EXPECT_EQ(TokenCounter::openmanus(Encoding::o200k_base()).count_tools({&tool, 1}), 58U);
  EXPECT_EQ(TokenCounter::openmanus(Encoding::o200k_base()).count_tools({}), 0U);
}

// ---- OpenAI's chat

TEST(ChatCounter, CountsEveryMemberOfTheForm) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  const auto tokens = [&](std::string_view said) { return counter.count_text(said); };
  EXPECT_EQ(counter.count(std::span<const Message>()), 3U);
  EXPECT_EQ(counter.count(Message::user_message("Hello")), 3U + 1 + 1);
  EXPECT_EQ(counter.count(MessageBuilder(Role::User).name("ann").content("Hello").build().value()),
            3U + 1 + 1 + tokens("ann") + 1);
  EXPECT_EQ(counter.count(Message::tool_message("hi", "web_search", "call_123")), 3U + 1 + 1 + 2 + 1 + 3);
  EXPECT_EQ(counter.count(Message::from_tool_calls({&kSearch, 1}, "Hello")),
            3U + 1 + 1 +
                tokens(R"([{"id": "call_123", "type": "function", "function": {"name": "web_search", )"
                       R"("arguments": "{\"query\": \"OpenManus\"}"}}])"));
  EXPECT_EQ(counter.count(MessageBuilder(Role::Developer).content("Hello").build().value()),
            3U + tokens("developer") + 1);
  EXPECT_EQ(counter.count(Message::assistant_message()), 3U + 1);
  EXPECT_EQ(counter.count_text("<|endoftext|>"), 7U);
}

TEST(ChatCounter, CountsResultsAsSeparateMessages) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  const Message one = MessageBuilder(Role::System)
                          .name("system")
                          .block(ToolResultBlock{"call_123", "web_search", text("hi")})
                          .build()
                          .value();
  EXPECT_EQ(counter.count(one), counter.count(Message::tool_message("hi", "web_search", "call_123")));
  const Message list =
      MessageBuilder(Role::User)
          .block(ToolResultBlock{
              "call_123", "web_search",
              std::vector<Block>{TextBlock{"Hello"}, ImageBlock{Base64Source{"", text(png(1, 1))}},
                                 TextBlock{"How are you?"}}})
          .text("Hello")
          .build()
          .value();
  EXPECT_EQ(counter.count(list),
            (3 + 1 + counter.count_text("Hello\nHow are you?") + 765 + 3 + 3) + (3 + 1 + 1));
  const Message null =
      MessageBuilder(Role::User).block(ToolResultBlock{"call_123", {}, std::monostate()}).build().value();
  EXPECT_EQ(counter.count(null), 3U + 1 + 3);
}

// COUNTER6
TEST(ChatCounter, CountsNeitherThinkingNorMetadataNorBase64) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  const Message said = MessageBuilder(Role::User)
                           .id("a long id that is not counted")
                           .timestamp("2025-06-01 09:30:00.125")
                           .metadata(json(R"({"secret": "value"})"))
                           .block(ThinkingBlock{"let me see"})
                           .text("Hello")
                           .block(RawBlock{"agentscope", json(R"({"type":"other"})")})
                           .build()
                           .value();
  EXPECT_EQ(counter.count(said), 5U);
  const std::string large = png(1024, 1024) + std::string(400000, 'A');
  EXPECT_EQ(counter.count(Message::user_message("Hello", text(large))), 5U + 765);
}

TEST(ChatCounter, CountsMediaByTheRuleOfTheModel) {
  const Message image = Message::user_message("Hello", text(png(1024, 1024)));
  struct Row {
    const char* model;
    std::size_t tokens;
  };
  constexpr Row kRows[] = {
      {"gpt-4o", 765},       {"gpt-4.1", 765},   {"gpt-4.1-mini", 1659},    {"o4-mini", 1762},
      {"o1", 675},           {"o3-mini", 675},   {"claude-sonnet-4", 1399}, {"gemini-2.0-flash", 4 * 258},
      {"qwen-vl-max", 1227}, {"unheard-of", 765}};
  for (const Row& row : kRows)
    EXPECT_EQ(TokenCounter::for_model(row.model).count(image), 5 + row.tokens) << row.model;
  // Thin images and sounds, at which AgentScope raises.
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  EXPECT_EQ(counter.count(Message::user_message("Hello", text(png(1, 5000)))), 5U + 765);
  const Message sound = MessageBuilder(Role::User)
                            .text("Hello")
                            .block(AudioBlock{URLSource{"https://a.example/a.mp3", ""}})
                            .build()
                            .value();
  EXPECT_EQ(counter.count(sound), 5U + 600);
}

TEST(ChatCounter, CountsDictionariesOfOtherMakers) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  const std::string url = "data:image/png;base64," + png(2048, 4096);
  struct Row {
    std::string members;
    std::size_t tokens;
  };
  const Row rows[] = {
      {R"("content":"Hello")", 1},
      {R"("content":null)", 0},
      {R"("content":null,"name":null)", 0},
      {R"("content":"Hello","name":"user")", 1 + 1 + 1},
      {R"("content":[{"type":"text","text":"Hello"}])", 1},
      {R"("content":[{"type":"image_url","image_url":{"url":")" + url + R"("}}])", 1105},
      {R"("content":[{"type":"image_url","image_url":{"url":")" + url + R"(","detail":"low"}}])", 85},
      {R"("content":[{"type":"image_url","image_url":{"url":")" + url + R"(","detail":"auto"}}])", 1105},
      {R"("content":[{"type":"image_url","image_url":{"url":"https://a.example/x"}}])", 765},
      // At these AgentScope raises.
      {R"("content":[{"type":"image_url","image_url":{"url":")" + url + R"(","detail":"best"}}])", 1105},
      {R"("content":[{"type":"image_url"}])", counter.count_text(R"({"type":"image_url"})")},
      {R"("content":[{"image":")" + url + R"("},{"text":"Hello"}])", 1106},
      {R"("content":[{"audio":"https://a.example/a.mp3"}])", 600},
      {R"("content":[{"type":"input_audio","input_audio":{"data":")" + std::string(64000, 'A') +
           R"(","format":"mp3"}}])",
       30},
      {R"("content":[{"type":"file","file":{"file_id":"f"}}])", 1500},
      {R"("content":"Hello","images":[")" + png(2048, 4096) + R"(",7])", 1 + 1105 + 765},
      {R"("content":7)", 1},
      {R"("tool_calls":[{"id":"x"}])", counter.count_text(R"([{"id": "x"}])")},
      {R"("tool_calls":[{"id":"\u00e9\/"}])", counter.count_text("[{\"id\": \"\xC3\xA9/\"}]")},
      {R"("tool_calls":[{"a":[2.50,null]}])", counter.count_text(R"([{"a": [2.5, null]}])")},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(counter.count_dict(json(R"({"role":"user",)" + row.members + "}")), 4 + row.tokens)
        << row.members.substr(0, 80);
  }
}

TEST(ChatCounter, CountsToolsByTheRecipe) {
  const TokenCounter gpt4o = TokenCounter::for_model("gpt-4o-mini");
  const TokenCounter other = TokenCounter::for_model("gpt-4.1");
  const auto tokens = [&](std::string_view said) { return other.count_text(said); };
  EXPECT_EQ(other.count_tools({}), 0U);

  const Tool bare = {"f", "", json("{}")};
  EXPECT_EQ(other.count_tools({&bare, 1}), 12 + 10 + tokens("f:"));
  EXPECT_EQ(gpt4o.count_tools({&bare, 1}), 12 + 7 + tokens("f:"));

  const Tool ask = ask_human();
  EXPECT_EQ(other.count_tools({&ask, 1}), 12 + 10 + tokens("ask_human:Use this tool to ask human for help") +
                                              3 + 3 +
                                              tokens("inquire:string:The question you want to ask human"));

  const Tool weather = {
      "weather", "Looks it up..",
      json(R"({"properties":{"unit":{"type":"string","description":"Which.","enum":["celsius","kelvin"]},
                                 "days":{"enum":[1,2]},"place":{"type":["string","null"],"description":null}}})")};
  const std::size_t properties =
      (3 + tokens("unit:string:Which") - 3 + 3 + tokens("celsius") + 3 + tokens("kelvin")) +
      (3 + tokens("days::") - 3 + 3 + tokens("1") + 3 + tokens("2")) +
      (3 + tokens("place:[\"string\",\"null\"]:"));
  EXPECT_EQ(other.count_tools({&weather, 1}), 12 + 10 + tokens("weather:Looks it up.") + 3 + properties);
  const std::vector<Tool> all = {bare, ask, weather};
  EXPECT_EQ(gpt4o.count_tools(all) + 3 * 3, other.count_tools(all));

  const Tool odd = {"f", "", json(R"({"properties":[1]})")};
  EXPECT_EQ(other.count_tools({&odd, 1}), 12 + 10 + tokens("f:"));
}

TEST(ChatCounter, EstimatesModelsItDoesNotKnow) {
  EXPECT_TRUE(TokenCounter::for_model("gpt-4o").is_exact());
  EXPECT_TRUE(TokenCounter::for_model("openai/gpt-4o").is_exact());
  EXPECT_FALSE(TokenCounter::for_model("claude-sonnet-4").is_exact());
  const Message hello = Message::user_message(text(kHelper));
  EXPECT_EQ(TokenCounter::for_model("gpt-4").count(hello), 3U + 1 + 9);
  EXPECT_EQ(TokenCounter::for_model("claude-sonnet-4").count(hello), 3U + 1 + 7);
  const TokenCounter stated = TokenCounter::for_model("claude-sonnet-4", Encoding::cl100k_base());
  EXPECT_TRUE(stated.is_exact());
  EXPECT_EQ(stated.count(hello), 3U + 1 + 9);
}

// ---- Characters

TEST(CharacterCounter, CountsCodePoints) {
  const TokenCounter counter = TokenCounter::characters();
  EXPECT_EQ(counter.list_cost(), 0U);
  EXPECT_EQ(counter.count(Message::user_message(text(kHelper))), 4U + 9);
  EXPECT_EQ(counter.count(MessageBuilder(Role::User).name("ann").content("Hello").build().value()),
            4U + 3 + 5);
  EXPECT_EQ(counter.count(Message::user_message("Hello", text(png(1024, 1024)))), 4U + 5 + 4 * 765);
  const Tool tool = {"f", "d", json("{}")};
  EXPECT_EQ(
      counter.count_tools({&tool, 1}),
      std::string_view(R"({"type":"function","function":{"name":"f","description":"d","parameters":{}}})")
          .size());
}

// ---- All rules

std::vector<TokenCounter> counters() {
  return {TokenCounter::openmanus(Encoding::cl100k_base()),
          TokenCounter::openmanus(Encoding::o200k_base()),
          TokenCounter::openmanus(Encoding::o200k_base(), TokenCounter::Images::Formatted),
          TokenCounter::for_model("gpt-4o"),
          TokenCounter::for_model("gpt-4.1"),
          TokenCounter::for_model("gpt-4"),
          TokenCounter::for_model("o4-mini"),
          TokenCounter::for_model("gemini-2.5-pro"),
          TokenCounter::for_model("unheard-of"),
          TokenCounter::characters()};
}

// A question, a call and its result with an image, as AgentScope writes them.
std::string exchange(const std::string& number) {
  return R"({"role":"user","name":"ann","content":"question )" + number + R"( \u4f60\n"},)" +
         R"({"role":"assistant","name":"bot","content":[{"type":"thinking","thinking":"hm"},)" +
         R"({"type":"text","text":"let me see"},{"type":"tool_use","id":"call_)" + number +
         R"(","name":"f","input":{"n": )" + number + R"(}}]},{"role":"system","name":"system","content":)" +
         R"([{"type":"tool_result","id":"call_)" + number +
         R"(","name":"f","output":[{"type":"text","text":"ok"},{"type":"image","source":{"type":"base64",)" +
         R"("media_type":"image/png","data":")" + png(600, 400) + R"("}}]}]})";
}

std::vector<Message> history(int exchanges) {
  std::string document = "[";
  for (int i = 0; i < exchanges; ++i) {
    if (i != 0) document += ',';
    document += exchange(std::to_string(i));
  }
  document += ']';
  const auto reading = read(document, Dialect::AgentScope);
  const auto messages = reading->conversation.messages();
  return {messages.begin(), messages.end()};
}

// COUNTER2: adding a message adds its cost, so a count only grows.
TEST(TokenCounter, AListCostsItsConstantAndItsMessages) {
  const std::vector<Message> messages = history(5);
  for (const TokenCounter& counter : counters()) {
    std::size_t sum = counter.list_cost();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      EXPECT_EQ(counter.count(std::span(messages).first(i)), sum);
      EXPECT_GT(counter.count(messages[i]), 0U);
      sum += counter.count(messages[i]);
    }
    EXPECT_EQ(counter.count(messages), sum);
  }
}

// COUNTER3
TEST(TokenCounter, ACachedCountEqualsAFreshOne) {
  const std::vector<Message> messages = history(5);
  std::vector<std::size_t> first;
  for (const TokenCounter& counter : counters()) first.push_back(counter.count(messages));
  for (int round = 0; round < 2; ++round) {
    std::size_t i = 0;
    for (const TokenCounter& counter : counters()) {
      EXPECT_EQ(counter.count(messages), first[i]);                     // after another counter's
      EXPECT_EQ(counter.count(messages), first[i]);                     // from what was kept
      EXPECT_EQ(counter.count(history(5)), first[i]) << "made afresh";  // never counted before
      ++i;
    }
  }
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  const std::size_t cost = counter.count(messages[0]);
  EXPECT_EQ(Arena::of(messages[0]).kept_count(Arena::index_of(messages[0]), counter.tag()), cost);
}

TEST(TokenCounter, CountsAgainWithoutAnAllocation) {
  const std::vector<Message> messages = history(5);
  for (const TokenCounter& counter : counters()) {
    const std::size_t first = counter.count(messages);
    EXPECT_EQ(test::allocations_of([&] { EXPECT_EQ(counter.count(messages), first); }), 0U);
  }
}

// COUNTER4
TEST(TokenCounter, HasADistinctTagIfItsCountsMayDiffer) {
  std::set<std::uint32_t> tags;
  for (const TokenCounter& counter : counters()) {
    EXPECT_NE(counter.tag(), 0U);
    tags.insert(counter.tag());
  }
  EXPECT_EQ(tags.size(), counters().size());
  EXPECT_EQ(TokenCounter::for_model("gpt-4o").tag(), TokenCounter::for_model("gpt-4o").tag());
  EXPECT_EQ(TokenCounter::for_model("claude-3").tag(), TokenCounter::for_model("claude-4").tag());
  const TokenCounter copy = TokenCounter::for_model("gpt-4o");
  EXPECT_EQ(TokenCounter(copy).tag(), copy.tag());

  // Tables from a file may carry any name, and other counters may have stood where they stand.
  std::string file;
  for (int byte = 0; byte < 256; ++byte) {
    file += base64_encode(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte) + "\n";
  }
  const Encoding bytes = Encoding::from_tiktoken(file, SplitPattern::O200k, "o200k_base").value();
  const TokenCounter own = TokenCounter::openmanus(bytes);
  EXPECT_NE(own.tag(), TokenCounter::openmanus(Encoding::o200k_base()).tag());
  EXPECT_NE(own.tag(), TokenCounter::openmanus(bytes).tag());
  const Message hello = Message::user_message("Hello");
  EXPECT_EQ(TokenCounter::openmanus(Encoding::o200k_base()).count(hello), 6U);
  EXPECT_EQ(own.count(hello), 4U + 4 + 5);
}

// COUNTER7
TEST(TokenCounter, AnEstimateIsCalibratedAndAnExactCountIsNot) {
  const std::vector<Message> messages = history(5);
  const TokenCounter estimate = TokenCounter::for_model("unheard-of");
  const std::size_t first = estimate.count(messages);
  const TokenCounter better = estimate.calibrated({first, first * 3 / 2});
  EXPECT_NEAR(better.calibration().factor(), 1.5, 0.01);
  EXPECT_EQ(better.tag(), estimate.tag());
  EXPECT_EQ(estimate.count(messages), first);
  std::size_t sum = better.list_cost();
  for (const Message& message : messages) {
    EXPECT_EQ(better.count(message), better.calibration().apply(estimate.count(message)));
    sum += better.count(message);
  }
  EXPECT_EQ(better.count(messages), sum);
  // The next report is about the corrected estimate: it is right, and the factor stays.
  const TokenCounter same = better.calibrated({1500, 1500});
  EXPECT_NEAR(same.calibration().factor(), 1.5, 0.01);
  EXPECT_EQ(better.calibrated({1500, 0}).calibration(), better.calibration());

  const TokenCounter exact = TokenCounter::for_model("gpt-4o");
  EXPECT_EQ(exact.calibrated({100, 200}).count(messages), exact.count(messages));
  EXPECT_EQ(TokenCounter::for_model("gpt-4o", better.calibration()).count(messages), exact.count(messages));
  EXPECT_EQ(TokenCounter::for_model("unheard-of", better.calibration()).count(messages),
            better.count(messages));
}

TEST(TokenCounter, CountsAConversationWithItsSystemPartAndTools) {
  const TokenCounter counter = TokenCounter::for_model("gpt-4o");
  Conversation conversation(history(2));
  const std::size_t bare = counter.count(conversation);
  EXPECT_EQ(bare, counter.count(conversation.messages()));
  conversation.set_system(Message::system_message("Hello"));
  EXPECT_EQ(counter.count(conversation), bare + 5);
  conversation.set_tools({ask_human()});
  EXPECT_EQ(counter.count(conversation), bare + 5 + counter.count_tools(conversation.tools()));
}

// COUNTER1: blocks of every type in every role, empty and odd.
TEST(TokenCounter, CountsWhateverAMessageHolds) {
  const std::vector<Block> blocks = {
      TextBlock{""},
      TextBlock{"<|endoftext|><|im_start|>"},
      ThinkingBlock{"hm"},
      ImageBlock{Base64Source{"", ""}},
      ImageBlock{Base64Source{"", "not base64!"}},
      ImageBlock{Base64Source{"", text(png(5000, 1))}},
      ImageBlock{URLSource{"data:", ""}},
      AudioBlock{Base64Source{"", ""}},
      VideoBlock{URLSource{"", ""}},
      DocumentBlock{Base64Source{"text/plain", ""}},
      ToolUseBlock{"", "", ""},
      ToolUseBlock{"a", "f", "{not json"},
      ToolResultBlock{"", "", std::monostate()},
      ToolResultBlock{"a", "f", std::vector<Block>{}},
      ToolResultBlock{"a", "f", std::vector<Block>{TextBlock{"x"}, ImageBlock{URLSource{"u", ""}}}},
      RawBlock{"agentscope", json("[[[]]]")},
  };
  for (const TokenCounter& counter : counters()) {
    for (const Role role : {Role::System, Role::User, Role::Assistant, Role::Tool, Role::Developer}) {
      for (const Block& block : blocks) {
        for (const Block& other : blocks) {
          const Message message = MessageBuilder(role).block(block).block(other).build().value();
          EXPECT_GT(counter.count(message), 0U);
          EXPECT_LT(counter.count(message), 200'000U);
        }
      }
      EXPECT_GT(counter.count(MessageBuilder(role).build().value()), 0U);
      EXPECT_GT(counter.count(MessageBuilder(role).null_content().build().value()), 0U);
    }
  }
}

TEST(TokenCounterThreads, CountTheSameMessages) {
  const std::vector<Message> messages = history(10);
  std::vector<std::size_t> expected;
  for (const TokenCounter& counter : counters()) expected.push_back(counter.count(history(10)));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const std::vector<TokenCounter> mine = counters();
      for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < mine.size(); ++i) wrong += mine[i].count(messages) != expected[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace parley
