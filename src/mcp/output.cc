// The output of an MCP tool as blocks (MCP6).
//
//   {"type":"text","text"}  {"type":"image","data","mimeType"}  {"type":"audio","data","mimeType"}
//   {"type":"resource","resource":{"uri","mimeType","text" or "blob"}}
//   {"type":"resource_link","uri","name","title","description","mimeType"}
#include <array>
#include <utility>

#include "mcp/message.h"
#include "parley/media/data_url.h"

namespace parley {
namespace {

Block text_block(const std::string& text) { return TextBlock{Text(text)}; }

// Providers refuse requests with invalid base64, and it would stay in the conversation.
std::optional<Base64Source> read_source(const Json& item, std::string_view key) {
  Base64Source source{.media_type = mcp_text(item, "mimeType"), .data = mcp_text(item, key)};
  if (source.data.empty() || !base64_check(source.data)) return std::nullopt;
  return source;
}

Block not_base64(std::string_view what) {
  return text_block("[the server sent " + std::string(what) + " that is not base64]");
}

Block read_text(const Json& item) { return TextBlock{mcp_text(item, "text")}; }

Block read_image(const Json& item) {
  std::optional<Base64Source> source = read_source(item, "data");
  return source ? Block(ImageBlock{*std::move(source)}) : not_base64("an image");
}

Block read_audio(const Json& item) {
  std::optional<Base64Source> source = read_source(item, "data");
  return source ? Block(AudioBlock{*std::move(source)}) : not_base64("audio");
}

// The bytes of a resource by their type; what is neither image, audio nor video is a document.
Block read_blob(const Json& resource, const Text& uri) {
  std::optional<Base64Source> source = read_source(resource, "blob");
  if (!source) return not_base64("a resource");
  const std::string_view type = source->media_type;
  if (type.starts_with("image/")) return ImageBlock{*std::move(source)};
  if (type.starts_with("audio/")) return AudioBlock{*std::move(source)};
  if (type.starts_with("video/")) return VideoBlock{*std::move(source)};
  return DocumentBlock{*std::move(source), uri};
}

Block read_resource(const Json& item) {
  const Json resource = item.get("resource").value_or(Json());
  const Text uri = mcp_text(resource, "uri");
  if (resource.get("blob")) return read_blob(resource, uri);
  return text_block(uri.str() + "\n" + mcp_text(resource, "text").str());
}

Block read_link(const Json& item) {
  std::string text = mcp_text(item, "uri").str();
  for (const std::string_view key : {"name", "title", "description", "mimeType"}) {
    const Text value = mcp_text(item, key);
    if (!value.empty()) text.append("\n").append(key).append(": ").append(value.view());
  }
  return text_block(text);
}

struct Row {
  std::string_view type;
  Block (*read)(const Json& item);
};
constexpr std::array kRows = {Row{"text", read_text}, Row{"image", read_image}, Row{"audio", read_audio},
                              Row{"resource", read_resource}, Row{"resource_link", read_link}};

Block read_item(const Json& item) {
  const Text type = mcp_text(item, "type");
  for (const Row& row : kRows) {
    if (row.type == type.view()) return row.read(item);
  }
  return TextBlock{item.compact().text()};  // a later version's: shown as it is
}

}  // namespace

Result<ToolOutput> read_mcp_output(const Json& result) {
  if (!result.is_object()) return fail(Code::WrongType, "tool result is not an object");
  ToolOutput output;
  const std::optional<Json> content = result.get("content");
  if (content && !content->is_array()) {
    return fail(Code::WrongType, "content of the tool result is not a list", "/content");
  }
  output.structured = result.get("structuredContent");
  if (!content && !output.structured) return fail(Code::Missing, "tool result has no content", "/content");
  if (content) {
    for (const Json& item : content->elements()) output.content.push_back(read_item(item));
  }
  // Servers are asked to give it as a text too; a model sees only texts and media.
  if (output.content.empty() && output.structured) {
    output.content.emplace_back(TextBlock{output.structured->compact().text()});
  }
  const std::optional<Json> is_error = result.get("isError");
  if (is_error && is_error->as_bool().value_or(false)) output.status = ToolStatus::Failed;
  return output;
}

}  // namespace parley
