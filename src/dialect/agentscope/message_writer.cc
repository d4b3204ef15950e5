#include "dialect/agentscope/message_writer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dialect/core/write_blocks.h"
#include "parley/base/clock.h"

namespace parley::dialect::agentscope {
namespace {

// Checks `text` against a pattern in which 'd' stands for a digit.
bool matches(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(),
                    [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
}

constexpr std::string_view kSpaced = "dddd-dd-dd dd:dd:dd.ddd";
constexpr std::string_view kIso = "dddd-dd-ddTdd:dd:dd.dddddd";
constexpr std::string_view kIsoWhole = "dddd-dd-ddTdd:dd:dd";
constexpr std::size_t kSeparator = 10;
constexpr std::size_t kSeconds = 19;
constexpr std::size_t kMilliseconds = 23;

// REQUIRES: `spaced` is kSpaced.
std::string iso(std::string spaced) {
  spaced[kSeparator] = 'T';
  // Python leaves a fraction of zero out.
  spaced.ends_with(".000") ? spaced.resize(kSeconds) : static_cast<void>(spaced.append("000"));
  return spaced;
}

// `spelled` in the wanted style; any other spelling as it is.
std::string respelled(std::string_view spelled, TimeStyle style) {
  std::string time(spelled);
  if (style == TimeStyle::Iso && matches(spelled, kSpaced)) return iso(std::move(time));
  if (style == TimeStyle::Spaced && (matches(spelled, kIso) || matches(spelled, kIsoWhole))) {
    time[kSeparator] = ' ';
    return time.size() == kSeconds ? time + ".000" : time.substr(0, kMilliseconds);
  }
  return time;
}

// Puts it as a JSON string, with a note if that changed it.
void put_timestamp(Draft& draft, std::string_view spelled, TimeStyle style) {
  const std::string time = respelled(spelled, style);
  draft.out.quoted(time);
  if (time == spelled) return;
  const bool exact = style == TimeStyle::Iso || !matches(spelled, kIso) || spelled.ends_with("000");
  if (exact) {
    draft.note("timestamp_respelled", Severity::Info, "respelled", "the time is spelled the target's way");
  } else {
    draft.note("timestamp_respelled", Severity::Minor, "respelled", "microseconds are cut to milliseconds");
  }
}

}  // namespace

bool MessageWriter::put_name(std::string_view role) {
  // The name of an OpenManus tool message is the tool's, which the result carries.
  const bool is_the_tools = record_->wire_role == Role::Tool && names_its_tool(*arena_, *record_);
  const bool is_made_up = !record_->name.present() || is_the_tools;
  out_.quoted(is_made_up ? role : arena_->bytes(record_->name));
  return is_made_up;
}

bool MessageWriter::put_time(TimeStyle style) {
  if (record_->timestamp.present()) {
    put_timestamp(draft_, arena_->bytes(record_->timestamp), style);
    return false;
  }
  const bool is_made_up = arena_->created_ms() < 0;
  const std::int64_t ms = is_made_up ? arena_->read_ms() : arena_->created_ms();
  std::string time = local_timestamp(ms);  // spaced
  out_.quoted(style == TimeStyle::Iso ? iso(std::move(time)) : std::move(time));
  return is_made_up;
}

void MessageWriter::put_role(std::string_view role) {
  out_.raw(",\"role\":").quoted(role);
  if (record_->role == Role::Developer) {
    draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
  }
}

void MessageWriter::put_member(std::string_view key, Slice slot) {
  if (!slot.is_absent()) put_string(out_.raw(key), *arena_, slot);
}

void MessageWriter::begin_call(std::string_view head, const BlockRecord& block) {
  out_.raw(head);
  put_member(",\"id\":", block.id());
  put_member(",\"name\":", block.name());
}

void MessageWriter::put_block(const BlockRecord& block, std::size_t index, std::size_t first) {
  if (block.type == BlockType::Raw && !raw_belongs_to(*arena_, block, draft_.target)) {
    note_dropped_block(draft_, *arena_, block, index);
    return;
  }
  if (out_.size() != first) out_.raw(',');
  switch (block.type) {
    case BlockType::Text:
      out_.raw("{\"type\":\"text\"");
      put_member(",\"text\":", block.text());
      out_.raw('}');
      return;
    case BlockType::Thinking:
      out_.raw("{\"type\":\"thinking\"");
      put_member(",\"thinking\":", block.text());
      put_member(",\"signature\":", block.signature());
      out_.raw('}');
      if (block.origin().present()) note_origin(draft_, index);
      return;
    case BlockType::Image:
    case BlockType::Audio:
    case BlockType::Video:
    case BlockType::Document:
      put_media(block, index);
      return;
    case BlockType::ToolUse:
      put_call(block, index);
      return;
    case BlockType::ToolResult:
      put_result(block, index);
      return;
    case BlockType::Raw:
      put_value(out_, *arena_, block.raw_value());
      return;
  }
}

}  // namespace parley::dialect::agentscope
