#include "mcp/message.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace parley {
namespace {

constexpr std::size_t kLimit = 1000;

Json parsed(std::string_view text) { return Json::parse(text).value(); }
McpMessage one(std::string_view text) { return read_mcp_messages(text, kLimit).value().at(0); }

TEST(McpMessages, AreRequestsNotificationsAndAnswers) {
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":"a","method":"ping"})").kind, McpMessage::Kind::Request);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","method":"ping"})").kind, McpMessage::Kind::Notification);
  const McpMessage answer = one(R"({"jsonrpc":"2.0","id":3,"result":{}})");
  EXPECT_TRUE(answer.answers(3));
  EXPECT_FALSE(answer.answers(4));
  EXPECT_FALSE(one(R"({"jsonrpc":"2.0","id":"3","result":{}})").answers(3));
  EXPECT_FALSE(one(R"({"jsonrpc":"2.0","id":3,"method":"ping"})").answers(3));
  const McpMessage error = one(R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}})");
  ASSERT_TRUE(error.error);
  EXPECT_EQ(error.error->code, -32601);
  EXPECT_EQ(error.error->message.view(), "no");
}

TEST(McpMessages, MayComeInBatches) {
  const auto batch = read_mcp_messages(R"([{"id":1,"result":{}},{"method":"x"}])", kLimit);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 2U);
  EXPECT_EQ(read_mcp_messages("[]", kLimit)->size(), 0U);
}

TEST(McpMessages, AnInvalidMessageIsRefused) {
  const std::pair<std::string_view, Code> cases[] = {{"Loading...", Code::Malformed},
                                                     {"7", Code::WrongType},
                                                     {"{}", Code::WrongType},
                                                     {R"({"id":1})", Code::WrongType},
                                                     {R"({"method":7})", Code::WrongType},
                                                     {"[[]]", Code::WrongType}};
  for (const auto& [text, code] : cases) {
    const auto messages = read_mcp_messages(text, kLimit);
    ASSERT_FALSE(messages) << text;
    EXPECT_EQ(messages.error().code, code) << text;
  }
  const std::string frame = R"({"method":"","x":""})";
  const auto padded = [&](std::size_t size) {
    return R"({"method":"","x":")" + std::string(size - frame.size(), 'x') + "\"}";
  };
  EXPECT_TRUE(read_mcp_messages(padded(kLimit - 1), kLimit));
  EXPECT_TRUE(read_mcp_messages(padded(kLimit), kLimit));
  EXPECT_EQ(read_mcp_messages(padded(kLimit + 1), kLimit).error().code, Code::LimitExceeded);
}

TEST(McpMessages, AreWrittenAsOneLine) {
  const Json arguments = parsed("{\n  \"city\": \"Oslo\"\n}");
  EXPECT_EQ(
      mcp_request(7, "tools/call", mcp_call_params("weather", arguments)),
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}})");
  EXPECT_EQ(mcp_notification("notifications/initialized", {}),
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(mcp_request(8, "tools/list", mcp_list_params(Text("p2"))),
            R"({"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"p2"}})");
}

TEST(McpMessages, PingIsAnsweredAndTheRestIsNotOffered) {
  EXPECT_EQ(mcp_reply(one(R"({"id":"p","method":"ping"})")), R"({"jsonrpc":"2.0","id":"p","result":{}})");
  const Json refusal = parsed(mcp_reply(one(R"({"id":5,"method":"sampling/createMessage"})")));
  EXPECT_EQ(refusal.at("/error/code")->as_int64(), -32601);
  EXPECT_EQ(refusal.get("id")->as_int64(), 5);
}

TEST(McpHellos, AreOfAVersionThatIsKnown) {
  for (const std::string_view version : {"2025-06-18", "2025-03-26", "2024-11-05"}) {
    const auto hello = read_mcp_hello(
        parsed(R"({"capabilities":{"tools":{}},"protocolVersion":")" + std::string(version) + "\"}"));
    ASSERT_TRUE(hello) << version;
    EXPECT_EQ(hello->version, version);
    EXPECT_TRUE(hello->has_tools);
  }
  EXPECT_FALSE(read_mcp_hello(parsed(R"({"protocolVersion":"2024-11-05","capabilities":{}})"))->has_tools);
  EXPECT_EQ(read_mcp_hello(parsed(R"({"protocolVersion":"1999-01-01"})")).error().code, Code::Unsupported);
  EXPECT_EQ(read_mcp_hello(parsed("{}")).error().code, Code::Missing);
  EXPECT_EQ(read_mcp_hello(parsed("[]")).error().code, Code::Missing);
}

TEST(McpPages, HaveToolsAndACursor) {
  const auto page = read_mcp_page(parsed(R"json({"tools":[
      {"name":"a","title":"A","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},
      {"name":"b","description":"does b","annotations":{"readOnlyHint":"yes"}}],"nextCursor":"2"})json"));
  ASSERT_TRUE(page);
  ASSERT_EQ(page->tools.size(), 2U);
  EXPECT_EQ(page->tools[0].description.view(), "A");
  EXPECT_TRUE(page->tools[0].only_reads);
  EXPECT_FALSE(page->tools[1].only_reads);  // MCP7
  EXPECT_EQ(page->tools[1].schema.text().view(), R"({"type":"object"})");
  EXPECT_EQ(page->next->view(), "2");
  EXPECT_FALSE(read_mcp_page(parsed(R"({"tools":[],"nextCursor":""})"))->next);
  EXPECT_EQ(read_mcp_page(parsed("{}")).error().code, Code::WrongType);
  EXPECT_EQ(read_mcp_page(parsed(R"({"tools":[{"name":"a"},{}]})")).error().path, "/tools/1");
}

// MCP6.
TEST(McpOutputs, KeepEveryKindOfContent) {
  const auto output = read_mcp_output(parsed(R"json({"content":[
      {"type":"text","text":"t"},
      {"type":"image","data":"aGk=","mimeType":"image/png"},
      {"type":"audio","data":"aGk=","mimeType":"audio/wav"},
      {"type":"resource","resource":{"uri":"u://1","text":"inside"}},
      {"type":"resource","resource":{"uri":"u://2","mimeType":"video/mp4","blob":"aGk="}},
      {"type":"resource","resource":{"uri":"u://3","blob":"aGk="}},
      {"type":"resource_link","uri":"u://4","name":"n","description":"d"},
      {"type":"image","data":"?","mimeType":"image/png"},
      {"type":"new", "x": 1}]})json"));
  ASSERT_TRUE(output);
  EXPECT_EQ(output->status, ToolStatus::Ok);
  EXPECT_FALSE(output->structured);
  const Base64Source png{"image/png", "aGk="};
  const std::vector<Block> expected = {
      TextBlock{"t"},
      ImageBlock{png},
      AudioBlock{Base64Source{"audio/wav", "aGk="}},
      TextBlock{"u://1\ninside"},
      VideoBlock{Base64Source{"video/mp4", "aGk="}},
      DocumentBlock{Base64Source{"", "aGk="}, "u://3"},
      TextBlock{"u://4\nname: n\ndescription: d"},
      TextBlock{"[the server sent an image that is not base64]"},
      TextBlock{R"({"type":"new","x":1})"},
  };
  EXPECT_EQ(output->content, expected);
}

TEST(McpOutputs, KeepStructuredContentAndTheErrorFlag) {
  const auto both =
      read_mcp_output(parsed(R"({"content":[{"type":"text","text":"t"}],"structuredContent":{"n": 1.50}})"));
  ASSERT_TRUE(both && both->structured);
  EXPECT_EQ(both->structured->text().view(), R"({"n": 1.50})");
  EXPECT_EQ(both->content.size(), 1U);
  const auto alone = read_mcp_output(parsed(R"({"structuredContent":{"n": 1.50}})"));
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->content, std::vector<Block>{TextBlock{R"({"n":1.50})"}});
  EXPECT_EQ(read_mcp_output(parsed(R"({"content":[],"isError":true})"))->status, ToolStatus::Failed);
  EXPECT_EQ(read_mcp_output(parsed(R"({"content":[],"isError":false})"))->status, ToolStatus::Ok);
}

TEST(McpOutputs, AnInvalidResultIsRefused) {
  EXPECT_EQ(read_mcp_output(parsed("[]")).error().code, Code::WrongType);
  EXPECT_EQ(read_mcp_output(parsed("{}")).error().code, Code::Missing);
  EXPECT_EQ(read_mcp_output(parsed(R"({"content":"t"})")).error().code, Code::WrongType);
}

}  // namespace
}  // namespace parley
