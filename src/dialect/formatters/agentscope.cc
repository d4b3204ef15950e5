#include "dialect/formatters/agentscope.h"

#include <algorithm>
#include <array>

#include "dialect/core/write_blocks.h"

namespace parley::dialect {
namespace agentscope {
namespace {

constexpr std::string_view kHistoryPrompt =
    "# Conversation History\nThe content between <history></history> tags contains your conversation "
    "history\n";

Text plain(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::string_view all = *owner;
  return Text::trusted(std::move(owner), all);
}

void add_line(std::string& lines, std::string_view line) {
  if (!lines.empty()) lines += '\n';
  lines += line;
}

void flush(Run& run, std::string& lines) {
  if (!lines.empty()) run.items.push_back({Run::Item::Lines, std::exchange(lines, {})});
}

// Puts the history into its tags. A run that begins or ends with media has them in items of their own.
void add_tags(Run& run, std::string opening) {
  if (run.items.empty()) return;
  Run::Item& first = run.items.front();
  if (first.what == Run::Item::Lines) {
    first.value.insert(0, opening);
  } else {
    run.items.insert(run.items.begin(), {Run::Item::Tag, std::move(opening)});
  }
  Run::Item& last = run.items.back();
  if (last.what == Run::Item::Lines) {
    last.value += "\n</history>";
  } else {
    run.items.push_back({Run::Item::Tag, "</history>"});
  }
}

}  // namespace

std::uint8_t kind_of(BlockType type) { return kind_named(to_string(type)); }

std::uint8_t kind_named(std::string_view type) {
  return type == "image" ? kImage : type == "audio" ? kAudio : type == "video" ? kVideo : kNone;
}

std::string_view without_file_scheme(std::string_view url) {
  constexpr std::string_view kPrefix = "file://";
  return url.starts_with(kPrefix) ? url.substr(kPrefix.size()) : url;
}

bool is_web_url(std::string_view url) {
  const std::string_view scheme = python_url_scheme(without_file_scheme(url));
  return !scheme.empty() && lower(scheme) != "file";
}

// ---- What is at hand

Said Traversal::said(const BlockRecord& block) const {
  const bool is_object = record().shape == ContentShape::Blocks;
  return {string(block.text()), is_object ? arena().bytes(block.wire) : std::string_view()};
}

Media Traversal::media(const BlockRecord& block) const {
  return {block.type, block.source, string(block.data()), string(block.media_type()),
          arena().bytes(block.wire)};
}

std::string Traversal::input(const BlockRecord& use, json::Gaps gaps) const {
  return use.input().present() ? json::python_json(arena().bytes(use.input()), gaps) : "{}";
}

std::string Traversal::place() const {
  std::string path = job_.path(draft_.position) + "/content";
  if (record().shape == ContentShape::Blocks && !blocks().empty()) path += "/" + std::to_string(block_);
  if (child_) path += "/output/" + std::to_string(*child_);
  return path;
}

std::unexpected<Error> Traversal::raises(std::string_view exception, std::string_view why) const {
  return fail(Code::Invalid, "AgentScope raises " + std::string(exception) + " here: " + std::string(why),
              place());
}

Result<void> Traversal::require(bool is_there, std::string_view member) const {
  if (is_there) return {};
  return raises("KeyError", "the member '" + std::string(member) + "' is missing");
}

std::unexpected<Error> Traversal::needs_bytes() const {
  return fail(Code::Unsupported,
              "AgentScope sends the bytes at this URL to " + std::string(to_string(job_.target)) +
                  "; nothing is fetched here, so put them into the message first",
              place());
}

Result<Text> Traversal::url(const Media& media) {
  PARLEY_CHECK(require(media.data.has_value(), "url"));
  if (!is_web_url(*media.data)) {
    note("media_not_read", Severity::Major, "kept",
         "AgentScope sends the bytes of the file; its path stands here, as no files are read");
  }
  return *media.data;
}

Result<void> Traversal::require_base64(const Media& media) const {
  PARLEY_CHECK(require(media.data.has_value(), "data"));
  return require(media.media_type.has_value(), "media_type");
}

Result<std::string> Traversal::data_url(const Media& media) const {
  PARLEY_CHECK(require_base64(media));
  return "data:" + media.media_type->str() + ";base64," + media.data->str();
}

Result<void> Traversal::enter(std::size_t message) {
  draft_.position = message;
  block_ = 0;
  child_.reset();
  if (record().shape == ContentShape::Null) {
    return raises("AssertionError", "the content must be a string or a list");
  }
  return {};
}

bool Traversal::writes(std::uint8_t kind) const {
  const bool is_own_audio = kind == kAudio && record().wire_role == Role::Assistant;
  return (provider_.carries & kind) != 0 && !(is_own_audio && provider_.drops_own_audio);
}

// What a message has beside its content; ids, times and names that were made up for AgentScope do not count.
void Traversal::note_lost(bool is_chat) {
  const Message& source = job_.sources[draft_.position];
  const MessageRecord& source_record = Arena::record_of(source);
  const bool writes_name = provider_.writes_name || !is_chat;
  note_identity(draft_, Arena::of(source), source_record, !writes_name && source_record.name.present());
  if (record().has(MessageRecord::kHasMore)) {
    draft_.note("member_dropped", Severity::Minor, "dropped",
                "members that AgentScope does not define are written only where it copies a block whole");
  }
}

// Notes a block that the formatter leaves out. Media of a kind it writes are an error if their source is
// none that it knows.
Result<void> Traversal::drop(const BlockRecord& block) {
  if (block.type == BlockType::Raw && block.raw_type().present() &&
      writes(kind_named(*string(block.raw_type())))) {
    return raises("ValueError", "the source of media must be 'base64' or 'url'");
  }
  note_dropped_block(draft_, arena(), block, block_);
  return {};
}

// ---- One message

Result<void> Traversal::chat(std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    PARLEY_CHECK(enter(i));
    PARLEY_CHECK(message(i == first));
    note_lost(true);
  }
  return {};
}

// Results are written before the rest of their message, and what is promoted from them after it.
Result<void> Traversal::message(bool is_first) {
  Turn turn{.role = to_string(record().wire_role), .name = *string(record().name), .is_first = is_first};
  bool has_results = false;
  for (const BlockRecord& each : blocks()) {
    at_block(each);
    has_results = has_results || each.type == BlockType::ToolResult;
    PARLEY_CHECK(block(turn, each));
  }
  const bool is_written = provider_.close(out_, turn);
  PARLEY_CHECK(promote());
  if (!is_written && !turn.thoughts.empty()) {
    draft_.note("thinking_dropped", Severity::Major, "dropped",
                "AgentScope leaves out a message that holds nothing but thinking");
  } else if (!is_written && !has_results) {
    draft_.note("message_dropped", Severity::Minor, "dropped",
                "AgentScope leaves out a message with nothing to write");
  }
  return {};
}

Result<void> Traversal::block(Turn& turn, const BlockRecord& block) {
  switch (block.type) {
    case BlockType::Text:
      return add_text(turn, said(block));
    case BlockType::Thinking:
      if (provider_.thinking == nullptr) return drop(block);
      provider_.thinking(turn, said(block));
      return {};
    case BlockType::ToolUse:
      if (block.arguments().present()) {
        note("raw_input_dropped", Severity::Minor, "dropped", "AgentScope writes the input alone");
      }
      return provider_.tool_use(*this, turn, block);
    case BlockType::ToolResult:
      located_.clear();
      PARLEY_CHECK(provider_.tool_result(*this, turn, block));
      PARLEY_CHECK(remember(block));
      return provider_.promotes_at_once ? promote() : Result<void>();
    default:
      if (!block.is_media() || !writes(kind_of(block.type))) return drop(block);
      return add_media(turn, media(block));
  }
}

Result<void> Traversal::add_text(Turn& turn, const Said& said) {
  turn.texts.push_back(said.text.value_or(Text()));
  return provider_.text == nullptr ? Result<void>() : provider_.text(*this, turn, said);
}

Result<void> Traversal::add_media(Turn& turn, const Media& media) {
  turn.has_media = true;
  return provider_.media(*this, provider_.images_apart ? turn.images : turn.parts, media);
}

// ---- Results

Result<std::string> Traversal::result_text(const BlockRecord& result) {
  if (!result.is_list) {
    PARLEY_CHECK(require(!result.output().is_absent() || provider_.output_may_be_absent, "output"));
    return string(result.output()).value_or(Text()).str();
  }
  const auto list = children(result);
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    at_child(i);
    PARLEY_TRY(const std::string text, child_text(list[i]));
    if (i != 0) out += '\n';
    if (list.size() > 1) out += "- ";
    out += text;
  }
  at_child({});
  return out;
}

Result<std::string> Traversal::child_text(const BlockRecord& child) {
  if (child.type == BlockType::Text) {
    PARLEY_CHECK(require(child.text().present(), "text"));
    return string(child.text())->str();
  }
  if (!child.is_media()) return raises("ValueError", "a result holds text, images, audio and video only");
  Media found = media(child);
  std::string location;
  if (found.source == SourceKind::Url) {
    PARLEY_CHECK(require(found.data.has_value(), "url"));
    location = found.data->str();
  } else {
    PARLEY_CHECK(require_base64(found));
    auto bytes = python_base64(*found.data);
    if (!bytes) return raises("binascii.Error", "the data is no base64");
    found.data = plain(*std::move(bytes));
    location = "(" + found.media_type->str() + ", not saved)";
    note("media_not_saved", Severity::Major, "replaced",
         "AgentScope saves the bytes to a file and names it; a placeholder stands here");
  }
  located_.push_back({location, std::move(found)});
  return "The returned " + std::string(to_string(child.type)) + " can be found at: " + location;
}

// The media of the result at hand that are to be promoted.
Result<void> Traversal::remember(const BlockRecord& result) {
  const FormatterOptions& options = job_.options;
  const int wanted = (options.promote_images ? kImage : kNone) | (options.promote_audios ? kAudio : kNone) |
                     (options.promote_videos ? kVideo : kNone);
  std::erase_if(located_, [&](const Located& each) { return (wanted & kind_of(each.media.type)) == 0; });
  if (located_.empty()) return {};
  PARLEY_CHECK(require(!result.name().is_absent(), "name"));
  promotions_.push_back(
      {block_, string(result.name()).value_or(Text("None")).str(), std::exchange(located_, {})});
  return {};
}

// Writes what is promoted, the last one first, as the original inserts each right after the message.
Result<void> Traversal::promote() {
  for (; !promotions_.empty(); promotions_.pop_back()) {
    const Promotion& promotion = promotions_.back();
    block_ = promotion.block;
    Turn turn{.role = "user", .name = "user"};
    const auto add = [&](std::string text) { return add_text(turn, {plain(std::move(text)), {}}); };
    PARLEY_CHECK(add("<system-info>The following are the " + std::string(provider_.promoted_contents) +
                     " contents from the tool result of '" + promotion.tool + "':"));
    for (const Located& each : promotion.media) {
      PARLEY_CHECK(
          add("\n- The " + std::string(to_string(each.media.type)) + " from '" + each.location + "': "));
      PARLEY_CHECK(add_media(turn, each.media));
    }
    PARLEY_CHECK(add("</system-info>"));
    provider_.close(out_, turn);
  }
  return {};
}

Result<void> Traversal::check_options() const {
  const std::array<std::pair<bool, Kind>, 3> wanted = {{{job_.options.promote_images, kImage},
                                                        {job_.options.promote_audios, kAudio},
                                                        {job_.options.promote_videos, kVideo}}};
  for (const auto& [is_wanted, kind] : wanted) {
    if (is_wanted && (provider_.promotes & kind) == 0) {
      return fail(Code::Unsupported, "AgentScope's formatter for " + std::string(to_string(job_.target)) +
                                         " does not promote media of this kind");
    }
  }
  return {};
}

// ---- Several agents

Result<void> Traversal::multi_agent() {
  const std::size_t size = job_.messages.size();
  std::size_t i = 0;
  if (size != 0 && job_.messages.front().wire_role() == Role::System) {
    PARLEY_CHECK(system());
    i = 1;
  }
  bool is_first = true;
  while (i < size) {
    const bool is_tools = uses_tools(i);
    std::size_t end = i + 1;
    while (end < size && uses_tools(end) == is_tools) ++end;
    for (std::size_t k = i; k < end; ++k) {
      PARLEY_CHECK(enter(k));
      PARLEY_CHECK(require_types());
    }
    PARLEY_CHECK(is_tools ? chat(i, end) : agents(i, end, std::exchange(is_first, false)));
    i = end;
  }
  return {};
}

bool Traversal::uses_tools(std::size_t message) const {
  const Message& each = job_.messages[message];
  return std::ranges::any_of(Arena::of(each).blocks(Arena::record_of(each)), [](const BlockRecord& block) {
    return block.type == BlockType::ToolUse || block.type == BlockType::ToolResult;
  });
}

// Telling the kinds of messages apart, the original looks at the type of every block.
Result<void> Traversal::require_types() const {
  const bool has_types = std::ranges::all_of(blocks(), [](const BlockRecord& block) {
    return block.type != BlockType::Raw || block.raw_type().present();
  });
  return require(has_types, "type");
}

Result<void> Traversal::system() {
  PARLEY_CHECK(enter(0));
  if (provider_.system_needs_types) PARLEY_CHECK(require_types());
  PARLEY_CHECK(provider_.system(*this, out_));
  for (const BlockRecord& each : blocks()) {
    at_block(each);
    if (each.type != BlockType::Text) note_dropped_block(draft_, arena(), each, block_);
  }
  note_lost(true);
  return {};
}

Result<void> Traversal::agents(std::size_t first, std::size_t end, bool is_first) {
  Run run;
  std::string lines;
  for (std::size_t i = first; i < end; ++i) {
    PARLEY_CHECK(enter(i));
    PARLEY_CHECK(gather(run, lines));
    note_lost(false);
  }
  flush(run, lines);
  const std::string_view words =
      job_.options.history_prompt ? job_.options.history_prompt->view() : kHistoryPrompt;
  add_tags(run, std::string(is_first ? words : "").append(provider_.history_tag));
  provider_.run(out_, run);
  return {};
}

Result<void> Traversal::gather(Run& run, std::string& lines) {
  const std::string name = string(record().name)->str();
  for (const BlockRecord& each : blocks()) {
    at_block(each);
    if (each.type == BlockType::Text) {
      PARLEY_CHECK(require(each.text().present(), "text"));
      add_line(lines, name + ": " + string(each.text())->str());
    } else if (each.is_media() && writes(kind_of(each.type))) {
      PARLEY_CHECK(gather_media(run, lines, each));
    } else {
      PARLEY_CHECK(drop(each));
    }
  }
  return {};
}

Result<void> Traversal::gather_media(Run& run, std::string& lines, const BlockRecord& block) {
  if (!provider_.interleaves) {
    return provider_.media(*this, block.type == BlockType::Image ? run.images : run.audios, media(block));
  }
  flush(run, lines);
  json::Writer part;
  PARLEY_CHECK(provider_.media(*this, provider_.images_apart ? run.images : part, media(block)));
  run.items.push_back({Run::Item::Media, part.take_string()});
  return {};
}

}  // namespace agentscope

namespace {

const agentscope::Provider& provider_for(Dialect target) {
  const auto all = agentscope::providers();
  return *std::ranges::find_if(all, [&](const auto& each) { return each.target == target; });
}

Result<std::string> formatted(const FormatterJob& job, Result<void> (agentscope::Traversal::*run)()) {
  agentscope::Traversal traversal(job, provider_for(job.target));
  PARLEY_CHECK(traversal.check_options());
  PARLEY_CHECK((traversal.*run)());
  return traversal.take();
}

}  // namespace

std::span<const Dialect> agentscope_targets() {
  static const std::vector<Dialect> targets = [] {
    std::vector<Dialect> out;
    out.reserve(agentscope::providers().size());
    for (const agentscope::Provider& each : agentscope::providers()) out.push_back(each.target);
    return out;
  }();
  return targets;
}

Result<std::string> format_agentscope_chat(const FormatterJob& job) {
  return formatted(job, &agentscope::Traversal::chat);
}

Result<std::string> format_agentscope_multi_agent(const FormatterJob& job) {
  return formatted(job, &agentscope::Traversal::multi_agent);
}

}  // namespace parley::dialect
