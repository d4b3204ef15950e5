#include "mcp/message.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "parley/json/writer.h"

namespace parley {
namespace {

constexpr std::int64_t kNoSuchMethod = -32601;

bool is_id(const Json& id) { return id.is_string() || id.type() == Json::Type::Number; }

bool is_true(const std::optional<Json>& value) { return value && value->as_bool().value_or(false); }

McpError read_error(const Json& error) {
  const std::optional<Json> code = error.get("code");
  return {.code = code ? code->as_int64().value_or(0) : 0, .message = mcp_text(error, "message")};
}

Result<McpMessage> read_message(const Json& json) {
  if (!json.is_object()) return fail(Code::WrongType, "message is not an object");
  McpMessage message;
  const std::optional<Json> id = json.get("id");
  const std::optional<Json> method = json.get("method");
  if (id) message.id = *id;
  if (method) {
    const std::optional<Text> name = method->as_string();
    if (!name) return fail(Code::WrongType, "method is not a string", "/method");
    message.method = *name;
    message.kind = id && is_id(*id) ? McpMessage::Kind::Request : McpMessage::Kind::Notification;
    return message;
  }
  const std::optional<Json> error = json.get("error");
  const std::optional<Json> result = json.get("result");
  if (error && error->is_object()) {
    message.error = read_error(*error);
  } else if (result) {
    message.result = *result;
  } else {
    return fail(Code::WrongType, "message is neither a request nor a response");
  }
  return message;
}

std::string message_line(const Json* id, std::string_view method, const Json& params) {
  json::Writer w;
  w.begin_object().key("jsonrpc").string("2.0");
  if (id != nullptr) w.key("id").value(*id);
  w.key("method").string(method);
  if (!params.is_null()) w.key("params").value(params);
  w.end_object();
  return w.take_string();
}

}  // namespace

Text mcp_text(const Json& object, std::string_view key) {
  const std::optional<Json> member = object.get(key);
  return member ? member->as_string().value_or(Text()) : Text();
}

Result<std::vector<McpMessage>> read_mcp_messages(std::string_view text, std::size_t max_bytes) {
  json::Limits limits;
  limits.bytes = max_bytes;
  limits.string = max_bytes;
  PARLEY_TRY(const Json json, Json::parse(text, limits));
  std::vector<McpMessage> messages;
  if (!json.is_array()) {
    PARLEY_TRY(McpMessage message, read_message(json));
    messages.push_back(std::move(message));
    return messages;
  }
  for (const Json& element : json.elements()) {
    PARLEY_TRY(McpMessage message, read_message(element));
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string mcp_request(std::int64_t id, std::string_view method, const Json& params) {
  const Json number = Json::number(id);
  return message_line(&number, method, params);
}

std::string mcp_notification(std::string_view method, const Json& params) {
  return message_line(nullptr, method, params);
}

std::string mcp_reply(const McpMessage& request) {
  json::Writer w;
  w.begin_object().key("jsonrpc").string("2.0").key("id").value(request.id);
  if (request.method.view() == "ping") {
    w.key("result").begin_object().end_object();
  } else {
    w.key("error").begin_object().key("code").number(kNoSuchMethod);
    w.key("message").string("unsupported by this client: " + request.method.str()).end_object();
  }
  w.end_object();
  return w.take_string();
}

Json mcp_initialize_params() {
  json::Writer w;
  w.begin_object().key("protocolVersion").string(kMcpVersions[0]);
  w.key("capabilities").begin_object().end_object();
  w.key("clientInfo").begin_object().key("name").string("parley").key("version").string("0.1.0").end_object();
  w.end_object();
  return w.take();
}

Json mcp_list_params(const std::optional<Text>& cursor) {
  json::Writer w;
  w.begin_object();
  if (cursor) w.key("cursor").string(*cursor);
  w.end_object();
  return w.take();
}

Json mcp_call_params(std::string_view tool, const Json& arguments) {
  json::Writer w;
  // Compact, because a message is one line, and the arguments may have been written over several.
  w.begin_object().key("name").string(tool).key("arguments").value(arguments.compact()).end_object();
  return w.take();
}

Json mcp_cancel_params(std::int64_t request, std::string_view reason) {
  json::Writer w;
  w.begin_object().key("requestId").number(request).key("reason").string(reason).end_object();
  return w.take();
}

Result<McpHello> read_mcp_hello(const Json& result) {
  McpHello hello;
  hello.version = mcp_text(result, "protocolVersion").str();
  if (hello.version.empty()) {
    return fail(Code::Missing, "the server's response has no protocol version", "/protocolVersion");
  }
  if (std::ranges::find(kMcpVersions, hello.version) == std::end(kMcpVersions)) {
    return fail(Code::Unsupported, "the server's protocol version is not supported", "/protocolVersion");
  }
  hello.has_tools = result.at("/capabilities/tools").has_value();
  return hello;
}

Result<McpPage> read_mcp_page(const Json& result) {
  const std::optional<Json> tools = result.get("tools");
  if (!tools || !tools->is_array()) return fail(Code::WrongType, "expected a list of tools", "/tools");
  McpPage page;
  for (const Json& entry : tools->elements()) {
    McpTool tool{.name = mcp_text(entry, "name"),
                 .description = mcp_text(entry, "description"),
                 .schema = entry.get("inputSchema").value_or(Json::trusted(Text(R"({"type":"object"})"))),
                 .only_reads = is_true(entry.at("/annotations/readOnlyHint"))};
    if (tool.name.empty()) {
      return fail(Code::Missing, "a tool has no name", "/tools/" + std::to_string(page.tools.size()));
    }
    if (tool.description.empty()) tool.description = mcp_text(entry, "title");
    page.tools.push_back(std::move(tool));
  }
  const Text next = mcp_text(result, "nextCursor");
  if (!next.empty()) page.next = next;
  return page;
}

}  // namespace parley
