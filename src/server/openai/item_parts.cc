#include "server/openai/item_parts.h"

#include <variant>

#include "parley/media/data_url.h"

namespace parley::server {
namespace {

json::Writer begin_item(std::string_view id, std::string_view type) {
  json::Writer w;
  w.begin_object().key("id").string(id).key("type").string(type);
  return w;
}

void put_output_part(json::Writer& w, const ItemParts::Part& part) {
  w.begin_object().key("type").string(part.is_refusal ? "refusal" : "output_text");
  w.key(part.is_refusal ? "refusal" : "text").string(part.text);
  if (!part.is_refusal) {
    w.key("annotations").begin_array().end_array().key("logprobs").begin_array().end_array();
  }
  w.end_object();
}

std::string data_url(const Base64Source& source) {
  const std::string_view type =
      source.media_type.empty() ? "application/octet-stream" : source.media_type.view();
  return "data:" + std::string(type) + ";base64," + source.data.str();
}

void put_image(json::Writer& w, const MediaSource& source) {
  w.begin_object().key("type").string("input_image").key("detail").string("auto").key("image_url");
  const auto* here = std::get_if<Base64Source>(&source);
  w.string(here != nullptr ? data_url(*here) : std::get<URLSource>(source).url.str()).end_object();
}

void put_file(json::Writer& w, const MediaSource& source, std::string_view name) {
  w.begin_object().key("type").string("input_file");
  if (!name.empty()) w.key("filename").string(name);
  if (const auto* here = std::get_if<Base64Source>(&source)) {
    w.key("file_data").string(data_url(*here));
  } else {
    const Text& url = std::get<URLSource>(source).url;
    w.key(is_data_url(url) ? "file_data" : "file_url").string(url);
  }
  w.end_object();
}

bool has_status(std::string_view type) {
  return type == "message" || type.starts_with("function_call") || type.starts_with("custom_tool_call");
}

// Content as a list of parts with all their members.
void put_whole_content(json::Writer& w, const Json& content, bool is_assistant) {
  if (content.is_array()) {
    w.begin_array();
    for (const Json& part : content.elements()) {
      const Text type = part.get("type").value_or(Json()).as_string().value_or(Text());
      const bool lacks = (type == "output_text" && !part.get("annotations")) ||
                         (type == "input_image" && !part.get("detail"));
      if (!lacks) {
        w.value(part);
        continue;
      }
      w.begin_object();
      for (const Json::Member& member : part.members()) w.key(member.key).value(member.value);
      if (type == "output_text") {
        w.key("annotations").begin_array().end_array();
      } else {
        w.key("detail").string("auto");
      }
      w.end_object();
    }
    w.end_array();
    return;
  }
  w.begin_array();
  if (const auto text = content.as_string()) {
    if (is_assistant) {
      put_output_part(w, {.text = *text});
    } else {
      w.begin_object().key("type").string("input_text").key("text").string(*text).end_object();
    }
  }
  w.end_array();
}

}  // namespace

Json complete_item(const Json& wire, std::string_view id) {
  const Json item = wire.compact();  // a line of a stream has no line breaks
  const std::string type = item_type(item);
  json::Writer w = begin_item(id, type);
  if (has_status(type) && item.get("status").value_or(Json()).is_null()) w.key("status").string("completed");
  const bool is_assistant = item.get("role").value_or(Json()).as_string() == "assistant";
  for (const Json::Member& member : item.members()) {
    if (member.key == "id" || member.key == "type") continue;
    if (member.key == "status" && member.value.is_null()) continue;
    w.key(member.key);
    if (member.key == "content" && type == "message") {
      put_whole_content(w, member.value, is_assistant);
    } else {
      w.value(member.value);
    }
  }
  if (type == "message" && !item.get("content")) w.key("content").begin_array().end_array();
  return w.end_object().take();
}

void put_input_part(json::Writer& w, const Block& block) {
  if (const auto* text = block.as<TextBlock>()) {
    w.begin_object().key("type").string("input_text").key("text").string(text->text).end_object();
  } else if (const auto* image = block.as<ImageBlock>()) {
    put_image(w, image->source);
  } else if (const auto* document = block.as<DocumentBlock>()) {
    put_file(w, document->source, document->name);
  } else if (const auto* audio = block.as<AudioBlock>()) {
    put_file(w, audio->source, {});
  } else if (const auto* video = block.as<VideoBlock>()) {
    put_file(w, video->source, {});
  } else if (const auto* raw = block.as<RawBlock>()) {
    if (raw->dialect == "responses") w.value(raw->json);
  }
}

Json to_item(const ToolResultBlock& result, std::string_view id) {
  const std::string_view type = result.is_custom ? "custom_tool_call_output" : "function_call_output";
  json::Writer w = begin_item(id, type);
  w.key("status").string("completed").key("call_id").string(result.id).key("output");
  if (const auto* parts = std::get_if<std::vector<Block>>(&result.output)) {
    w.begin_array();
    for (const Block& part : *parts) put_input_part(w, part);
    w.end_array();
  } else {
    const auto* text = std::get_if<Text>(&result.output);
    w.string(text != nullptr ? text->view() : std::string_view());
  }
  return w.end_object().take();
}

Json to_item(const Base64Source& image, std::string_view id) {
  json::Writer w = begin_item(id, "image_generation_call");
  w.key("status").string("completed").key("result").string(image.data);
  return w.end_object().take();
}

std::string_view to_string(ItemStatus status) {
  switch (status) {
    case ItemStatus::InProgress:
      return "in_progress";
    case ItemStatus::Completed:
      return "completed";
    case ItemStatus::Incomplete:
      return "incomplete";
  }
  return {};
}

std::string item_type(const Json& item) {
  const auto type = item.get("type").value_or(Json()).as_string();
  return type ? type->str() : "message";
}

Json to_part(const ItemParts::Part& part) {
  json::Writer w;
  put_output_part(w, part);
  return w.take();
}

Json to_item(const ItemParts& item) {
  const bool is_call = item.type == BlockType::ToolUse;
  const bool is_reasoning = item.type == BlockType::Thinking;
  json::Writer w = begin_item(item.id, is_reasoning     ? "reasoning"
                                       : !is_call       ? "message"
                                       : item.is_custom ? "custom_tool_call"
                                                        : "function_call");
  w.key("status").string(to_string(item.status));
  if (is_call) {
    w.key("call_id").string(item.call_id).key("name").string(item.name);
    w.key(item.is_custom ? "input" : "arguments").string(item.arguments);
    return w.end_object().take();
  }
  if (!is_reasoning) w.key("role").string("assistant");
  w.key(is_reasoning ? "summary" : "content").begin_array();
  for (const ItemParts::Part& part : item.parts) {
    if (!is_reasoning) {
      put_output_part(w, part);
    } else {
      w.begin_object().key("type").string("summary_text").key("text").string(part.text).end_object();
    }
  }
  w.end_array();
  if (!item.encrypted.empty()) w.key("encrypted_content").string(item.encrypted);
  return w.end_object().take();
}

}  // namespace parley::server
