// How AgentScope's formatters write images, audio and video, by provider.
#include <algorithm>
#include <array>

#include "dialect/formatters/agentscope.h"

namespace parley::dialect::agentscope {
namespace {

using json::Writer;

std::string extension_of(const Text& url) {
  const std::string_view path = without_file_scheme(url);
  return lower(path.substr(path.rfind('.') + 1));  // all of it, if there is no '.'
}

Result<void> put_input_audio(Traversal& traversal, Writer& to, const Media& media) {
  constexpr std::string_view kWhy = "audio must be wav or mp3";
  if (media.source == SourceKind::Url) {
    PARLEY_CHECK(traversal.require(media.data.has_value(), "url"));
    const std::string extension = extension_of(*media.data);
    if (extension != "wav" && extension != "mp3") return traversal.raises("TypeError", kWhy);
    return traversal.needs_bytes();
  }
  PARLEY_CHECK(traversal.require_base64(media));
  const std::string_view type = *media.media_type;
  if (type != "audio/wav" && type != "audio/mp3") return traversal.raises("TypeError", kWhy);
  to.begin_object().key("type").string("input_audio").key("input_audio").begin_object();
  to.key("data").string(*media.data).key("format").string(type.substr(type.size() - 3));
  to.end_object().end_object();
  return {};
}

Result<std::string> image_url(Traversal& traversal, const Media& media) {
  if (media.source == SourceKind::Base64) return traversal.data_url(media);
  PARLEY_TRY(const Text url, traversal.url(media));
  return url.str();
}

constexpr auto kGeminiExtensions = std::to_array<std::string_view>(
    {"png", "jpeg", "webp", "heic", "heif", "mp4", "mpeg", "mov", "avi", "x-flv",
     "mpg", "webm", "wmv",  "3gpp", "mp3",  "wav", "aiff", "aac", "ogg", "flac"});

}  // namespace

Result<void> openai_media(Traversal& traversal, Writer& to, const Media& media) {
  if (media.type == BlockType::Audio) return put_input_audio(traversal, to, media);
  PARLEY_TRY(const std::string url, image_url(traversal, media));
  to.begin_object().key("type").string("image_url");
  to.key("image_url").begin_object().key("url").string(url).end_object().end_object();
  return {};
}

Result<void> responses_media(Traversal& traversal, Writer& to, const Media& media) {
  if (media.type == BlockType::Audio) return put_input_audio(traversal, to, media);
  PARLEY_TRY(const std::string url, image_url(traversal, media));
  to.begin_object().key("type").string("input_image").key("image_url").string(url).end_object();
  return {};
}

Result<void> anthropic_media(Traversal& traversal, Writer& to, const Media& media) {
  if (media.source == SourceKind::Base64) {
    to.raw(json::python_json(media.wire));
    return {};
  }
  PARLEY_TRY(const Text url, traversal.url(media));
  to.begin_object().key("type").string("image").key("source").begin_object();
  to.key("type").string("url").key("url").string(url).end_object().end_object();
  return {};
}

Result<void> gemini_media(Traversal& traversal, Writer& to, const Media& media) {
  if (media.source == SourceKind::Url) {
    PARLEY_CHECK(traversal.require(media.data.has_value(), "url"));
    const bool is_known =
        std::ranges::find(kGeminiExtensions, extension_of(*media.data)) != kGeminiExtensions.end();
    if (!is_known) return traversal.raises("TypeError", "no media type is known for the URL's extension");
    return traversal.needs_bytes();
  }
  PARLEY_CHECK(traversal.require_base64(media));
  to.begin_object().key("inline_data").begin_object();
  to.key("data").string(*media.data).key("mime_type").string(*media.media_type);
  to.end_object().end_object();
  return {};
}

Result<void> dashscope_media(Traversal& traversal, Writer& to, const Media& media) {
  PARLEY_TRY(const std::string url, image_url(traversal, media));
  to.begin_object().key(to_string(media.type)).string(without_file_scheme(url)).end_object();
  return {};
}

Result<void> ollama_media(Traversal& traversal, Writer& to, const Media& media) {
  PARLEY_CHECK(traversal.require(media.data.has_value(), media.source == SourceKind::Url ? "url" : "data"));
  if (media.source == SourceKind::Url) return traversal.needs_bytes();
  to.string(*media.data);
  return {};
}

}  // namespace parley::dialect::agentscope
