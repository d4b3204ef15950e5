// The messages of MCP: JSON-RPC 2.0, and what the answers to the few requests of a client say.
//
//   request       {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{...}}
//   notification  the same without an id
//   answer        {"jsonrpc":"2.0","id":7,"result":{...}} or {...,"error":{"code":-32601,"message":"..."}}
//
// Values and pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/tool/tool.h"

namespace parley {

// The versions that are spoken here, best first: what is asked for, and what a server may choose instead.
inline constexpr std::string_view kMcpVersions[] = {"2025-06-18", "2025-11-25", "2025-03-26", "2024-11-05"};

struct McpError {
  std::int64_t code = 0;
  Text message;
};

struct McpMessage {
  enum class Kind : std::uint8_t { Request, Notification, Answer };
  Kind kind = Kind::Answer;
  Json id = {};      // null if missing
  Text method = {};  // of a request or a notification
  Json result = {};  // of a successful response
  std::optional<McpError> error = {};

  bool answers(std::int64_t request) const { return kind == Kind::Answer && id.as_int64() == request; }
};

// The value of a string member; "" if it is missing or not a string.
Text mcp_text(const Json& object, std::string_view key);

// One message, or the messages of a batch (2025-03-26). Fails with Malformed, InvalidUtf8, LoneSurrogate,
// LimitExceeded or, if it is JSON but no message, WrongType.
Result<std::vector<McpMessage>> read_mcp_messages(std::string_view text, std::size_t max_bytes);

// Each is one line, without its end.
std::string mcp_request(std::int64_t id, std::string_view method, const Json& params);
std::string mcp_notification(std::string_view method, const Json& params);
// The response to a request of a server: {} to "ping", and "method not found" to all others (the client does
// not announce roots, sampling and elicitation).
std::string mcp_reply(const McpMessage& request);

Json mcp_initialize_params();
Json mcp_list_params(const std::optional<Text>& cursor);
Json mcp_call_params(std::string_view tool, const Json& arguments);
Json mcp_cancel_params(std::int64_t request, std::string_view reason);

// The response to "initialize". Fails with Unsupported for an unknown protocol version.
struct McpHello {
  std::string version;
  bool has_tools = false;
};
Result<McpHello> read_mcp_hello(const Json& result);

// One tool as a server lists it.
struct McpTool {
  Text name;
  Text description;
  Json schema;
  bool only_reads = false;
  bool operator==(const McpTool&) const = default;
};
struct McpPage {
  std::vector<McpTool> tools;
  std::optional<Text> next;
};
Result<McpPage> read_mcp_page(const Json& result);

// The response to "tools/call" (MCP6). A text replaces media that are not base64. Fails with WrongType or
// Missing if it is not a tool result.
Result<ToolOutput> read_mcp_output(const Json& result);

}  // namespace parley
