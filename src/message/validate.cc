#include "parley/message/validate.h"

#include <algorithm>

#include "message/arena.h"
#include "message/findings.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

class Validator {
 public:
  Validator(std::span<const Message> messages, const ValidationLimits& limits)
      : messages_(messages), limits_(limits) {}

  Findings run() {
    for (std::size_t i = 0; i < messages_.size(); ++i) message(i);
    if (messages_.size() > limits_.messages) {
      too_large({limits_.messages}, "the conversation has more messages than", limits_.messages);
    }
    return std::move(findings_);
  }

 private:
  void message(std::size_t i) {
    const Arena& arena = Arena::of(messages_[i]);
    const MessageRecord& record = Arena::record_of(messages_[i]);
    const auto blocks = arena.blocks(record);
    if (blocks.size() > limits_.blocks) too_large({i}, "the message has more blocks than", limits_.blocks);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const Place place{i, k};
      if (blocks[k].type == BlockType::ToolUse && record.role != Role::Assistant) {
        findings_.error("tool_use_role", place, "tool uses are allowed in assistant messages only");
      }
      block(arena, blocks[k], place);
      const auto children = arena.children(blocks[k]);
      if (children.size() > limits_.blocks)
        too_large(place, "the result has more blocks than", limits_.blocks);
      for (std::size_t c = 0; c < children.size(); ++c) block(arena, children[c], {i, k, c});
    }
  }

  void block(const Arena& arena, const BlockRecord& block, Place place) {
    const auto require = [&](bool there, std::string_view member) {
      if (there) return;
      findings_.error(
          "missing_field", place,
          "a " + std::string(to_string(block.type)) + " block needs '" + std::string(member) + "'");
    };
    switch (block.type) {
      case BlockType::Text:
        require(block.text().present(), "text");
        text(arena, block.text(), place);
        break;
      case BlockType::Thinking:
        require(block.text().present(), "thinking");
        text(arena, block.text(), place);
        break;
      case BlockType::ToolUse:
        require(block.name().present(), "name");
        if (block.name().present() && block.name().length == 0) {
          findings_.warning("empty_name", place, "the tool has an empty name");
        }
        require(block.arguments().present() || block.input().present(), "input");
        arguments(arena, block, place);
        break;
      case BlockType::ToolResult:
        text(arena, block.output(), place);
        break;
      case BlockType::Raw:
        require(block.raw_type().present() || block.raw_dialect().present(), "type");
        require(block.source != SourceKind::Missing, "source");
        break;
      default:
        media(arena, block, place);
        break;
    }
  }

  void text(const Arena& arena, Slice slice, Place place) {
    // A text is never longer than its spelling.
    if (!slice.present() || slice.length <= limits_.text_bytes) return;
    if (arena.string(slice).size() > limits_.text_bytes) {
      too_large(place, "the text is longer than", limits_.text_bytes);
    }
  }

  void arguments(const Arena& arena, const BlockRecord& block, Place place) {
    if (!block.arguments().present() || block.arguments().length == 0) return;
    if (!Json::parse(arena.string(block.arguments()))) {
      findings_.warning("arguments_not_json", place, "the arguments of the call are not JSON");
    }
  }

  void media(const Arena& arena, const BlockRecord& block, Place place) {
    const bool is_url = block.source == SourceKind::Url;
    if (!block.data().present()) {
      findings_.error("missing_field", place, is_url ? "the source needs 'url'" : "the source needs 'data'");
      return;
    }
    const Text data = arena.string(block.data());
    // OpenManus gives bare base64; a source that is an object on the wire must say what it holds.
    const bool is_object = block.wire.present() && arena.bytes(block.wire).starts_with('{');
    if (!is_url && is_object && !block.media_type().present()) {
      const bool shown = !sniff_base64_media_type(data).empty();
      const std::string sentence = "the source needs 'media_type'";
      shown ? findings_.warning("missing_field", place, sentence)
            : findings_.error("missing_field", place, sentence);
    }
    std::string_view base64 = data;
    if (is_url && !is_data_url(base64)) {
      url(data, place);
      return;
    }
    if (is_url) {
      const DataUrlParts parts = split_data_url(base64);
      if (base64.find(',') == std::string_view::npos) {
        findings_.error("invalid_url", place, "a data URL needs a comma");
      }
      if (!parts.is_base64) return;
      base64 = parts.data;
    }
    inline_data(base64, limit_of(block.type), place);
  }

  std::size_t limit_of(BlockType type) const {
    if (type == BlockType::Audio) return limits_.audio_bytes;
    return type == BlockType::Video ? limits_.video_bytes : limits_.media_bytes;
  }

  void inline_data(std::string_view base64, std::size_t limit, Place place) {
    const Result<void> verdict = base64_check(base64, Base64Mode::Canonical, limit);
    if (verdict) return;
    if (verdict.error().code == Code::LimitExceeded) {
      too_large(place, "the inline file is larger than", limit);
    } else {
      findings_.error("invalid_base64", place, "the inline data is not base64: " + verdict.error().message);
    }
  }

  // AgentScope's sources may also be plain paths, so only what can be neither is refused.
  void url(const Text& url, Place place) {
    const std::string_view view = url;
    const bool odd =
        std::any_of(view.begin(), view.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; });
    if (view.empty() || odd)
      findings_.error("invalid_url", place, "the URL is empty or holds spaces or control characters");
  }

  void too_large(Place place, std::string_view what, std::size_t limit) {
    findings_.error("too_large", place, std::string(what) + " the limit of " + std::to_string(limit));
  }

  std::span<const Message> messages_;
  const ValidationLimits& limits_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> validate(std::span<const Message> messages, const ValidationLimits& limits) {
  Findings findings = Validator(messages, limits).run();
  findings.add(history_findings(messages));
  return findings.finish(messages);
}

}  // namespace parley
