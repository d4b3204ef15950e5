// OpenManus' TokenCounter (its app/llm.py):
//
//   messages    2 + for each: 4 + text(role) + content + tool_calls + text(name) + text(tool_call_id)
//   content     a string: text; a list: for each item a string: text, {"text"}: text, {"image_url"}: image
//   tool_calls  for each with a "function": text(name) + text(arguments)
//   image       by the part's own "detail" and "dimensions", of which OpenAI's parts have neither
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "token/rules.h"

namespace parley::token {
namespace {

constexpr std::uint32_t kLowDetail = 85;
constexpr std::uint32_t kTile = 170;
constexpr std::size_t kHighDetail = 765;  // of 1024 x 1024
constexpr std::size_t kOtherImage = 1024;

std::size_t member(const Meter& meter, const Json& object, std::string_view key) {
  const auto value = object.get(key);
  return value ? meter.value(*value) : 0;
}

// Nothing unless there are two sides of at least one pixel: there the original would raise an error.
std::optional<ImageSize> dimensions_of(const Json& part) {
  const auto dimensions = part.get("dimensions");
  if (!dimensions) return std::nullopt;
  const std::vector<Json> sides = dimensions->elements();
  if (sides.size() != 2) return std::nullopt;
  const std::int64_t width = sides[0].as_int64().value_or(0);
  const std::int64_t height = sides[1].as_int64().value_or(0);
  if (width < 1 || height < 1 || width > UINT32_MAX || height > UINT32_MAX) return std::nullopt;
  return ImageSize{static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

std::size_t image_part(const Json& part) {
  const auto said = part.get("detail");
  const Text detail = said ? said->as_string().value_or(Text()) : Text("medium");
  const bool is_high = detail == Text("high");
  if (detail == Text("low")) return kLowDetail;
  if (is_high || detail == Text("medium")) {
    if (const auto size = dimensions_of(part)) return tile_tokens(*size, kLowDetail, kTile);
  }
  return is_high ? kHighDetail : kOtherImage;
}

std::size_t content_tokens(const Meter& meter, const Json& content) {
  if (!content.is_array()) return meter.value(content);
  std::size_t tokens = 0;
  for (const Json& item : content.elements()) {
    if (item.is_string()) {
      tokens += meter.value(item);
    } else if (const auto text = item.get("text")) {
      tokens += meter.value(*text);
    } else if (item.get("image_url")) {
      tokens += image_part(item);
    }
  }
  return tokens;
}

// Blocks that OpenManus keeps in one message: a result, or what stands between results.
std::vector<std::vector<Block>> groups_of(const Message& message) {
  std::vector<std::vector<Block>> groups;
  bool starts = true;
  for (Block& block : message.blocks()) {
    const bool is_result = block.type() == BlockType::ToolResult;
    if (starts || is_result) groups.emplace_back();
    groups.back().push_back(std::move(block));
    starts = is_result;
  }
  return groups;
}

}  // namespace

std::size_t openmanus_dict_tokens(const Meter& meter, const Json& message) {
  std::size_t tokens = meter.rule.message + member(meter, message, "role");
  if (const auto content = message.get("content")) tokens += content_tokens(meter, *content);
  for (const Json& call : message.get("tool_calls").value_or(Json()).elements()) {
    if (const auto function = call.get("function")) {
      tokens += member(meter, *function, "name") + member(meter, *function, "arguments");
    }
  }
  tokens += member(meter, message, "name") + member(meter, message, "tool_call_id");
  if (const auto image = message.get("base64_image");
      image && image->text() != Text("\"\"") && !image->is_null()) {
    tokens += meter.rule.image;
  }
  return tokens;
}

std::size_t openmanus_message_tokens(const Meter& meter, const Message& message) {
  if (const auto dict = to_dict(message, Dialect::OpenManus)) return openmanus_dict_tokens(meter, *dict);
  // OpenManus needs several messages for this one.
  std::size_t tokens = 0;
  for (std::vector<Block>& group : groups_of(message)) {
    const auto part = MessageBuilder::like(message).blocks(std::move(group)).build();
    if (!part) continue;  // cannot be: the blocks are those of a message
    if (const auto dict = to_dict(*part, Dialect::OpenManus)) tokens += openmanus_dict_tokens(meter, *dict);
  }
  return tokens;
}

std::size_t json_tool_tokens(const Meter& meter, std::span<const Tool> tools) {
  std::size_t tokens = 0;
  for (const Tool& tool : tools) {
    json::Writer w;
    w.begin_object().key("type").string("function").key("function").begin_object();
    w.key("name").string(tool.name).key("description").string(tool.description);
    w.key("parameters").value(tool.parameters.compact()).end_object().end_object();
    tokens += meter.text(w.view());
  }
  return tokens;
}

}  // namespace parley::token
