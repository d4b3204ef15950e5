// OpenManus' LLM.format_messages (its app/llm.py), which turns messages into maps by to_dict:
//
//   1  With supports_images, a message with an image gets a list for its content: its text, if it has any (or
//      what a list has, its strings as texts), then
//      {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,<base64_image>"}}, whatever the
//      image is and even if it is a data URL already. Without, the image is dropped.
//   2  An image that is "" stays where it is.
//   3  A message that then has neither "content" nor "tool_calls" is dropped.
#include <array>

#include "dialect/format.h"
#include "dialect/formatters/formatter.h"
#include "json/python.h"

namespace parley::dialect {
namespace {

constexpr std::array<Dialect, 1> kTargets = {Dialect::OpenAI};

void put_content_with_image(json::Writer& w, const std::optional<Json>& content, std::string_view image) {
  const Text text = content ? content->as_string().value_or(Text()) : Text();
  w.key("content").begin_array();
  const auto put_text = [&](const Text& each) {
    w.begin_object().key("type").string("text").key("text").string(each).end_object();
  };
  if (!text.empty()) put_text(text);
  for (const Json& part : content.value_or(Json()).elements()) {
    part.is_string() ? put_text(*part.as_string()) : (void)w.raw(json::python_json(part.text()));
  }
  w.begin_object().key("type").string("image_url").key("image_url").begin_object();
  w.key("url").string("data:image/jpeg;base64," + std::string(image));
  w.end_object().end_object().end_array();
}

void put_message(json::Writer& w, const Json& map, Draft& draft, bool supports_images) {
  const auto content = map.get("content");
  const auto image_member = map.get("base64_image");
  const Text image = image_member ? image_member->as_string().value_or(Text()) : Text();
  const bool sends_image = !image.empty() && supports_images;
  if (!image.empty() && !supports_images) {
    draft.note("image_dropped", Severity::Major, "dropped", "OpenManus sends no images to this model");
  }
  if (!content && !map.get("tool_calls") && !sends_image) {
    draft.note("message_dropped", Severity::Minor, "dropped",
               "OpenManus leaves out a message with neither content nor tool calls");
    return;
  }
  w.begin_object();
  for (const Json::Member& member : map.members()) {
    if (member.key == Text("base64_image") && !image.empty()) continue;
    if (member.key == Text("content") && sends_image) {
      put_content_with_image(w, content, image);
    } else {
      w.key(member.key).raw(json::python_json(member.value.text()));
    }
  }
  if (!content && sends_image) put_content_with_image(w, content, image);
  w.end_object();
}

}  // namespace

std::span<const Dialect> openmanus_targets() { return kTargets; }

Result<std::string> format_openmanus(const FormatterJob& job) {
  json::Writer w;
  json::Out unused;
  Draft draft{job.target, unused, job.notes};
  w.begin_array();
  for (const Message& message : job.messages) {
    put_message(w, *message.wire(), draft, job.options.supports_images);
    ++draft.position;
  }
  w.end_array();
  return w.take_string();
}

}  // namespace parley::dialect
