// OpenAI's recipe for counting, with AgentScope's readings of it. What AgentScope raises an error at is
// counted here: any part by what it holds, any value by its JSON.
#include <algorithm>
#include <string>

#include "json/python.h"
#include "token/chat_form.h"
#include "token/rules.h"

namespace parley::token {
namespace {

// A part of the content that is media: the member that holds it, by OpenAI's names and by DashScope's.
struct PartRow {
  std::string_view member;
  BlockType type;
};
constexpr PartRow kParts[] = {
    {"image_url", BlockType::Image}, {"input_audio", BlockType::Audio}, {"video_url", BlockType::Video},
    {"file", BlockType::Document},   {"image", BlockType::Image},       {"audio", BlockType::Audio},
    {"video", BlockType::Video},
};

// Where the media are: the value itself, or one of its members.
std::optional<Text> place_of(const Json& value) {
  if (value.is_string()) return value.as_string();
  for (const std::string_view member : {"url", "data", "file_data"}) {
    if (const auto found = value.get(member); found && found->is_string()) return found->as_string();
  }
  return std::nullopt;
}

Block media_block(BlockType type, const Text& place, bool is_url) {
  const MediaSource source =
      is_url ? MediaSource(URLSource{place, {}}) : MediaSource(Base64Source{{}, place});
  switch (type) {
    case BlockType::Audio:
      return AudioBlock{source};
    case BlockType::Video:
      return VideoBlock{source};
    case BlockType::Document:
      return DocumentBlock{source};
    default:
      return ImageBlock{source};
  }
}

std::size_t part_tokens(const Meter& meter, const Json& part) {
  if (const auto text = part.get("text")) return meter.value(*text);
  for (const PartRow& row : kParts) {
    const auto value = part.get(row.member);
    if (!value) continue;
    const Text place = place_of(*value).value_or(Text());
    if (row.type == BlockType::Image) {
      const auto detail = value->get("detail");
      const bool is_low = detail && detail->as_string() == Text("low");
      return meter.image(base64_image_size(place).value_or(ImageSize{}),
                         is_low ? ImageDetail::Low : ImageDetail::High);
    }
    const bool is_url = place.view().find("://") != std::string_view::npos || place.empty() ||
                        place.view().starts_with("data:");
    return meter.media(media_block(row.type, place, is_url));
  }
  return meter.value(part);
}

std::size_t member_tokens(const Meter& meter, const Json::Member& member) {
  const Json& value = member.value;
  if (member.key == Text("content") && value.is_array()) {
    std::size_t tokens = 0;
    for (const Json& part : value.elements()) tokens += part_tokens(meter, part);
    return tokens;
  }
  if (member.key == Text("images") && value.is_array()) {  // Ollama
    std::size_t tokens = 0;
    for (const Json& image : value.elements()) {
      tokens += meter.image(base64_image_size(image.as_string().value_or(Text())).value_or(ImageSize{}),
                            ImageDetail::High);
    }
    return tokens;
  }
  if (member.key == Text("tool_calls") && value.is_array()) {  // AgentScope counts calls in Python's spelling
    return meter.text(json::python_json(value.text(), json::Gaps::Spaces));
  }
  return meter.value(value);
}

// "name:type:description" without the full stop of the description.
std::string described(const Json& property, const Text& name) {
  std::string out = name.str() + ":";
  if (const auto type = property.get("type")) {
    out += type->is_string() ? type->as_string()->view() : type->compact().text().view();
  }
  out += ':';
  if (const auto text = property.get("description"); text && text->is_string())
    out += text->as_string()->view();
  if (out.ends_with('.')) out.pop_back();
  return out;
}

}  // namespace

std::size_t chat_message_tokens(const Meter& meter, const Message& message) {
  std::size_t tokens = 0;
  for (const ChatMessage& each : chat_form(message)) {
    tokens += meter.rule.message + meter.text(each.role);
    if (each.name) tokens += meter.text(*each.name) + meter.rule.named;
    for (const Text& text : each.texts) tokens += meter.text(text);
    for (const Block& block : each.media) tokens += meter.media(block);
    tokens += meter.text(each.tool_calls);
    if (each.tool_call_id) tokens += meter.text(*each.tool_call_id);
  }
  return tokens;
}

std::size_t chat_dict_tokens(const Meter& meter, const Json& message) {
  std::size_t tokens = meter.rule.message;
  for (const Json::Member& member : message.members()) {
    tokens += member_tokens(meter, member);
    if (member.key == Text("name") && !member.value.is_null()) tokens += meter.rule.named;
  }
  return tokens;
}

// OpenAI's cookbook gives these constants; `function` is the one that differs between models.
std::size_t chat_tool_tokens(const Meter& meter, std::span<const Tool> tools) {
  constexpr std::size_t kTools = 12;
  constexpr std::size_t kProperties = 3;
  constexpr std::size_t kProperty = 3;
  constexpr std::size_t kEnum = 3;  // taken off
  constexpr std::size_t kEnumItem = 3;
  if (tools.empty()) return 0;
  std::size_t tokens = kTools;
  for (const Tool& tool : tools) {
    std::string head = tool.name.str() + ":" + tool.description.str();
    if (head.ends_with('.')) head.pop_back();
    tokens += meter.rule.function + meter.text(head);
    const auto properties = tool.parameters.get("properties").value_or(Json()).members();
    if (!properties.empty()) tokens += kProperties;
    for (const Json::Member& property : properties) {
      tokens += kProperty + meter.text(described(property.value, property.key));
      if (const auto items = property.value.get("enum"); items && items->is_array()) {
        tokens -= kEnum;
        for (const Json& item : items->elements()) tokens += kEnumItem + meter.value(item);
      }
    }
  }
  return tokens;
}

}  // namespace parley::token
