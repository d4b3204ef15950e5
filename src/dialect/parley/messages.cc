// Parley's own dialect: the canonical form in full, described in docs/format.md.
//
//   {"id": string|null, "role": "system"|"user"|"assistant"|"tool"|"developer", "wire_role": role,
//    "name": string, "content": string|null|[block], "continues": true, "tool_calls": [],
//    "metadata": object|null, "timestamp": string, "invocation_id": string, "extra": {dialect: patch}}
//
// Every member but the role may be missing. `extra` holds, per dialect, what the canonical form cannot say
// about the wire a message came from (see patch.h).
#include <algorithm>
#include <array>

#include "dialect/core/write_blocks.h"
#include "dialect/format.h"
#include "parley/base/clock.h"

namespace parley::dialect {
namespace {

constexpr std::array kRoles = {Role::System, Role::User, Role::Assistant, Role::Tool, Role::Developer};
constexpr std::string_view kToldNulls[] = {"id", "name", "content", "metadata", "timestamp", "invocation_id"};

// Flags are true or missing.
bool read_true(Reader& r, std::string_view member) {
  return r.cursor.peek() == 't' ? r.skip_value() : r.wrong_type(member, "true");
}
bool read_refusal(Reader& r, BlockRecord& block) {
  block.is_refusal = true;
  return read_true(r, "refusal");
}
bool read_custom(Reader& r, BlockRecord& block) {
  block.is_custom = true;
  return read_true(r, "custom");
}

struct CacheWord {
  CacheMark mark;
  std::string_view word;
};
constexpr auto kCacheWords = std::to_array<CacheWord>(
    {{CacheMark::Default, "default"}, {CacheMark::FiveMinutes, "5m"}, {CacheMark::OneHour, "1h"}});
bool read_cache(Reader& r, BlockRecord& block) {
  const char* at = r.cursor.position();
  Slice word;
  if (!r.string(word, "cache")) return false;
  const auto row = std::ranges::find(kCacheWords, r.plain(word), &CacheWord::word);
  if (row == kCacheWords.end())
    return r.cursor.fail(Code::WrongType, at, "'cache' must be 'default', '5m' or '1h'");
  block.cache = row->mark;
  return true;
}
constexpr MemberRule kCache = {"cache", Want::Own, 0, read_cache};

constexpr auto kText =
    std::to_array<MemberRule>({{"text", Want::String, 0}, {"refusal", Want::Own, 0, read_refusal}, kCache});
constexpr auto kThinking = std::to_array<MemberRule>(
    {{"thinking", Want::String, 0}, {"signature", Want::StringOrNull, 1}, {"origin", Want::StringOrNull, 2}});
constexpr auto kMedia =
    std::to_array<MemberRule>({{"source", Want::Source}, {"name", Want::StringOrNull, 2}, kCache});
constexpr auto kToolUse = std::to_array<MemberRule>({{"id", Want::StringOrNull, 0},
                                                     {"name", Want::String, 1},
                                                     {"arguments", Want::StringOrNull, 2},
                                                     {"input", Want::Value, 3},
                                                     {"custom", Want::Own, 0, read_custom},
                                                     kCache});
constexpr auto kToolResult = std::to_array<MemberRule>({{"id", Want::StringOrNull, 0},
                                                        {"name", Want::StringOrNull, 1},
                                                        {"output", Want::Output},
                                                        {"is_error", Want::ErrorFlag},
                                                        {"custom", Want::Own, 0, read_custom},
                                                        kCache});
constexpr auto kRaw = std::to_array<MemberRule>({{"dialect", Want::String, 1}, {"value", Want::Value, 2}});

constexpr auto kBlocks = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"thinking", BlockType::Thinking, kThinking},
    {"image", BlockType::Image, kMedia},
    {"audio", BlockType::Audio, kMedia},
    {"video", BlockType::Video, kMedia},
    {"document", BlockType::Document, kMedia},
    {"tool_use", BlockType::ToolUse, kToolUse},
    {"tool_result", BlockType::ToolResult, kToolResult},
    {"raw", BlockType::Raw, kRaw},
});
constexpr BlockTable kTable = {kBlocks, {}, "", ""};

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  bool has_wire_role = false;
  Role wire_role = Role::User;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string_or_null(message.id, key);
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "wire_role") return has_wire_role = r.role(wire_role, kRoles);
    if (key == "name") return r.string_or_null(message.name, key);
    if (key == "content") return r.content(message, kTable);
    if (key == "metadata") return r.object_or_null(message.metadata, key);
    if (key == "timestamp") return r.string_or_null(message.timestamp, key);
    if (key == "invocation_id") return r.string_or_null(message.invocation_id, key);
    if (key == "tool_calls") {
      if (r.cursor.peek() != '[') return r.wrong_type(key, "an empty list");
      message.flags |= MessageRecord::kEmptyToolCalls;
      return r.cursor.array([&](std::uint32_t) { return r.wrong_type(key, "an empty list"); });
    }
    if (key == "continues") {
      if (r.cursor.peek() != 't') return r.wrong_type(key, "true");
      message.flags |= MessageRecord::kContinues;
      return r.skip_value();
    }
    if (key == "extra" && r.cursor.peek() != '{') return r.wrong_type(key, "an object");
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  r.end_message(message, start);
  if (has_wire_role) r.messages.back().wire_role = wire_role;
  return true;
}

class Writer {
 public:
  Writer(Draft& draft, const Message& message)
      : draft_(draft),
        out_(draft.next()),
        message_(message),
        arena_(Arena::of(message)),
        record_(Arena::record_of(message)) {}

  void write() {
    out_.raw('{');
    first_ = out_.size();
    string("id", record_.id);
    key("role").quoted(to_string(record_.role));
    if (record_.wire_role != record_.role) key("wire_role").quoted(to_string(record_.wire_role));
    string("name", record_.name);
    content();
    if (record_.has(MessageRecord::kContinues)) key("continues").raw("true");
    if (record_.has(MessageRecord::kEmptyToolCalls)) key("tool_calls").raw("[]");
    value("metadata", record_.metadata);
    if (record_.timestamp.is_absent() && arena_.created_ms() >= 0) {
      key("timestamp").quoted(local_timestamp(arena_.created_ms()));
    }
    string("timestamp", record_.timestamp);
    string("invocation_id", record_.invocation_id);
    if (!draft_.extra.empty()) {
      key("extra").raw("{\"").raw(draft_.extra_of).raw("\":").raw(draft_.extra).raw('}');
    } else if (const auto extra = own_extra()) {
      key("extra").raw(extra->compact().text());
    }
    out_.raw('}');
  }

 private:
  // What a `parley` message remembers about other dialects is part of it.
  std::optional<Json> own_extra() const {
    if (arena_.dialect() != tag(Dialect::Parley) || !record_.has(MessageRecord::kHasMore))
      return std::nullopt;
    return message_.wire()->get("extra");
  }
  json::Out& key(std::string_view name) {
    if (out_.size() != first_) out_.raw(',');
    return out_.quoted(name).raw(':');
  }
  void string(std::string_view name, Slice slot) {
    if (!slot.is_absent()) put_string(key(name), arena_, slot);
  }
  void value(std::string_view name, Slice slot) {
    if (slot.is_null()) key(name).raw("null");
    if (slot.present()) put_value(key(name), arena_, slot);
  }

  void content() {
    const auto blocks = arena_.blocks(record_);
    if (blocks.empty() && record_.shape == ContentShape::Absent) return;
    key("content");
    if (blocks.empty() && record_.shape == ContentShape::Null) {
      out_.raw("null");
    } else if (record_.shape == ContentShape::String && blocks.size() == 1 && is_plain(blocks.front())) {
      out_.quoted(arena_.bytes(blocks.front().text()));
    } else {
      list(blocks);
    }
  }

  static bool is_plain(const BlockRecord& block) {
    return block.type == BlockType::Text && !block.is_refusal && block.cache == CacheMark::None;
  }

  void list(std::span<const BlockRecord> blocks) {
    out_.raw('[');
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i != 0) out_.raw(',');
      block(blocks[i]);
    }
    out_.raw(']');
  }

  void block(const BlockRecord& block) {
    const std::size_t outer = first_;
    out_.raw('{');
    first_ = out_.size();
    key("type").quoted(to_string(block.type));
    switch (block.type) {
      case BlockType::Text:
        string("text", block.text());
        if (block.is_refusal) key("refusal").raw("true");
        break;
      case BlockType::Thinking:
        string("thinking", block.text());
        string("signature", block.signature());
        string("origin", block.origin());
        break;
      case BlockType::ToolUse:
        string("id", block.id());
        string("name", block.name());
        string("arguments", block.arguments());
        value("input", block.input());
        break;
      case BlockType::ToolResult:
        result(block);
        break;
      case BlockType::Raw:
        raw(block);
        break;
      default:
        media(block);
        break;
    }
    if (block.is_custom) key("custom").raw("true");
    if (block.cache != CacheMark::None)
      key("cache").quoted(std::ranges::find(kCacheWords, block.cache, &CacheWord::mark)->word);
    out_.raw('}');
    first_ = outer;
  }

  void media(const BlockRecord& block) {
    const bool is_url = block.source == SourceKind::Url;
    key("source").raw(is_url ? "{\"type\":\"url\"" : "{\"type\":\"base64\"");
    if (block.media_type().present()) put_string(out_.raw(",\"media_type\":"), arena_, block.media_type());
    if (block.data().present())
      put_string(out_.raw(is_url ? ",\"url\":" : ",\"data\":"), arena_, block.data());
    out_.raw('}');
    string("name", block.media_name());
  }

  void result(const BlockRecord& block) {
    string("id", block.id());
    string("name", block.name());
    if (block.is_list) {
      key("output");
      list(arena_.children(block));
    } else {
      string("output", block.output());
    }
    if (block.is_error != Tristate::Unsaid) {
      key("is_error").raw(block.is_error == Tristate::True ? "true" : "false");
    }
  }

  void raw(const BlockRecord& block) {
    key("dialect");
    if (block.raw_dialect().present()) {
      put_string(out_, arena_, block.raw_dialect());
    } else {
      out_.quoted(arena_.dialect() == 0 ? "" : to_string(static_cast<Dialect>(arena_.dialect())));
    }
    value("value", block.raw_value());
  }

  Draft& draft_;
  json::Out& out_;
  const Message& message_;
  const Arena& arena_;
  const MessageRecord& record_;
  std::size_t first_ = 0;  // where the innermost object began: no comma before its first member
};

void write_group(Draft& draft, std::span<const Message> group) { Writer(draft, group.front()).write(); }

// ---- What is around the messages
//
// {"parley": 1, "system": content, "tools": [{"name", "description", "parameters"}], "settings": {...},
// "messages": [...]}, or {"parley": 1, "answer": {...}, "messages": [...]}

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("tools").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object().key("name").string(tool.name).key("description").string(tool.description);
    if (tool.is_custom) {
      out.key("custom").boolean(true).end_object();
    } else {
      out.key("parameters").value(tool.parameters.compact()).end_object();
    }
  }
  out.end_array();
}

Result<std::vector<Tool>> read_tools(const Json& request) {
  return read_tools_of(request.get("tools"), "/tools",
                       [](const Json& tool, const std::string& path) -> Result<Tool> {
                         PARLEY_TRY(Tool read, read_tool(tool, path));
                         read.is_custom = tool.get("custom").value_or(Json()).as_bool().value_or(false);
                         return read;
                       });
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("settings/model"),
    plain_setting<Setting::MaxTokens>("settings/max_tokens"),
    plain_setting<Setting::Temperature>("settings/temperature"),
    plain_setting<Setting::TopP>("settings/top_p"),
    plain_setting<Setting::TopK>("settings/top_k"),
    plain_setting<Setting::Seed>("settings/seed"),
    plain_setting<Setting::Stop>("settings/stop"),
    plain_setting<Setting::Stream>("settings/stream"),
    plain_setting<Setting::ToolChoice>("settings/tool_choice"),
    plain_setting<Setting::ParallelToolCalls>("settings/parallel_tool_calls"),
    plain_setting<Setting::ReasoningEffort>("settings/reasoning_effort"),
    plain_setting<Setting::StreamUsage>("settings/stream_usage"),
    plain_setting<Setting::ReplySchema>("settings/reply_schema"),
    plain_setting<Setting::FrequencyPenalty>("settings/frequency_penalty"),
    plain_setting<Setting::PresencePenalty>("settings/presence_penalty"),
    plain_setting<Setting::User>("settings/user"),
});

constexpr std::string_view kCounters[] = {"input", "cache_read", "cache_write", "output", "reasoning"};
std::optional<std::uint64_t>& counter(Usage& usage, std::size_t i) {
  std::optional<std::uint64_t>* all[] = {&usage.input, &usage.cache_read, &usage.cache_write, &usage.output,
                                         &usage.reasoning};
  return *all[i];
}

void write_answer(json::Writer& out, const Outcome& outcome) {
  out.key("parley").number(1).key("answer").begin_object();
  if (!outcome.id.empty()) out.key("id").string(outcome.id);
  if (!outcome.model.empty()) out.key("model").string(outcome.model);
  if (outcome.finish != Finish::Unknown) out.key("finish").string(to_string(outcome.finish));
  if (!outcome.raw_finish.empty()) out.key("raw_finish").string(outcome.raw_finish);
  out.key("usage").begin_object();
  Usage usage = outcome.usage;
  for (std::size_t i = 0; i < std::size(kCounters); ++i) {
    if (const auto count = counter(usage, i)) out.key(kCounters[i]).raw(std::to_string(*count));
  }
  out.end_object().end_object();
  out.key("messages").begin_array().end_array();
}

Outcome read_answer(const Json& document, bool) {
  Outcome outcome;
  const Json answer = document.get("answer").value_or(Json());
  outcome.id = text_at(answer, "/id");
  outcome.model = text_at(answer, "/model");
  outcome.finish = finish_named(text_at(answer, "/finish")).value_or(Finish::Unknown);
  outcome.raw_finish = text_at(answer, "/raw_finish");
  const Json usage = answer.get("usage").value_or(Json());
  for (std::size_t i = 0; i < std::size(kCounters); ++i) {
    const auto count = usage.get(kCounters[i]).value_or(Json()).as_int64();
    if (count && *count >= 0) counter(outcome.usage, i) = static_cast<std::uint64_t>(*count);
  }
  return outcome;
}

constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, kMessagesPath, false, "answer"}};
constexpr Envelope kEnvelope = {.locations = kLocations,
                                .system_form = SystemForm::Content,
                                .system = "system",
                                .write_tools = write_tools,
                                .read_tools = read_tools,
                                .messages_last = true,
                                .lists_allowed_tools = true,
                                .has_custom_tools = true,
                                .settings = kSettings,
                                .write_answer = write_answer,
                                .read_answer = read_answer};

constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 0, .member = "parley"},
    {.of = SignOf::Message, .rank = 0, .member = "wire_role"},
    {.of = SignOf::Message, .rank = 0, .member = "extra"},
    {.of = SignOf::Block, .rank = 40, .member = "type", .value = "raw"},
    {.of = SignOf::Block, .rank = 40, .member = "arguments"},
    {.of = SignOf::Block, .rank = 40, .member = "is_error"},
    {.of = SignOf::Block,
     .rank = 80,
     .member = "type",
     .value = "document",
     .when = SignWhen::OutsideRequest},
    {.of = SignOf::Rest, .rank = 20, .when = SignWhen::OutsideRequest},
};

}  // namespace

extern const Format kParley = {
    .info = {Dialect::Parley, "parley", "Parley's canonical form, complete", "all",
             "a list, one message, {\"parley\": 1, \"messages\": [...]}"},
    .read_message = read_message,
    .group = one_by_one,
    .write_group = write_group,
    .envelope = kEnvelope,
    .carries_broken_history = true,
    .signs = kSigns,
};

}  // namespace parley::dialect
