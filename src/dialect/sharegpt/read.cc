// Reading ShareGPT (see sharegpt.h), and its row.
#include <algorithm>

#include "dialect/sharegpt/parts.h"
#include "dialect/sharegpt/sharegpt.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace sharegpt {
namespace {

// ---- Reading

enum class From : std::uint8_t { Human, Gpt, FunctionCall, Observation, System };
struct FromRow {
  std::string_view name;
  From from;
  Role role;
};
constexpr auto kFrom = std::to_array<FromRow>({{"human", From::Human, Role::User},
                                               {"gpt", From::Gpt, Role::Assistant},
                                               {"function_call", From::FunctionCall, Role::Assistant},
                                               {"observation", From::Observation, Role::Tool},
                                               {"system", From::System, Role::System}});

std::string spelled(std::string_view utf8) {
  json::Out out;
  return std::string(out.escaped(utf8).view());
}

// A string of the wire and what it reads, with slices of parts of it.
class Value {
 public:
  Value(Reader& r, Slice slice) : r_(r), slice_(slice), plain_(r.plain(slice)) {}

  std::string_view plain() const { return plain_; }
  // A part of plain(). Where the wire has escapes it is spelled anew.
  Slice part(std::string_view part) const {
    const auto at = static_cast<std::uint32_t>(part.data() - plain_.data());
    if (part.size() == plain_.size()) return slice_;
    if (plain_.size() == slice_.length) return {slice_.offset + at, static_cast<std::uint32_t>(part.size())};
    return r_.mint(spelled(part));
  }

 private:
  Reader& r_;
  Slice slice_;
  std::string plain_;
};

void add(Reader& r, BlockType type, Slice text, Slice wire) {
  BlockRecord block;
  block.type = type;
  block.text() = text;
  block.wire = wire;
  r.blocks.push_back(block);
}

// Takes the thinking at the front of `rest` away, if there is any.
void read_thinking(Reader& r, const Value& value, std::string_view& rest, Slice wire) {
  const std::size_t end = rest.starts_with(kThink) ? rest.find(kEndThink) : std::string_view::npos;
  if (end == std::string_view::npos) return;
  add(r, BlockType::Thinking, value.part(rest.substr(kThink.size(), end - kThink.size())), wire);
  rest.remove_prefix(end + kEndThink.size());
}

// {"name": string, "arguments": any JSON}. What else it says is in the wire only.
bool read_call(Reader& r, const Json& call, Slice id, Slice wire) {
  const auto name = call.get("name").value_or(Json()).as_string();
  if (!name) return false;
  BlockRecord use;
  use.type = BlockType::ToolUse;
  use.id() = id;
  use.name() = r.mint(spelled(*name));
  use.wire = wire;
  const auto arguments = call.get("arguments");
  const auto text = arguments ? arguments->as_string() : std::nullopt;
  if (arguments) use.arguments() = r.mint(spelled(text ? *text : arguments->text()));
  const std::vector<Json::Member> members = call.members();
  const bool is_usual = members.size() == (arguments ? 2U : 1U) && members.front().key.view() == "name";
  if (!is_usual || (text && is_embedded(*text))) r.more();
  r.blocks.push_back(use);
  return true;
}

// False, with nothing added, if the text is no call and no list of calls.
bool read_calls(Reader& r, std::string_view text, Slice wire) {
  const Result<Json> json = Json::parse(text);
  if (!json) return false;
  const std::vector<Json> calls = json->is_array() ? json->elements() : std::vector<Json>{*json};
  if (calls.empty()) return false;
  if (json->is_array() && calls.size() == 1) r.more();
  const std::size_t first = r.blocks.size();
  const std::string prefix = "sg_" + std::to_string(r.messages.size()) + "_";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (read_call(r, calls[i], r.mint(prefix + std::to_string(i)), wire)) continue;
    r.blocks.shrink_to(first);
    return false;
  }
  // They wait for their results, the first of them last.
  r.later.clear();
  for (std::size_t i = r.blocks.size(); i-- > first;) r.later.push_back(r.blocks[i]);
  return true;
}

// No more results than there are calls that wait: what is left over belongs to the last one.
void read_results(Reader& r, const Value& value, Slice wire) {
  std::string_view rest = value.plain();
  for (std::size_t open = std::max<std::size_t>(r.later.size(), 1); open > 0; --open) {
    const std::size_t end = open > 1 ? rest.find(kBetweenResults) : std::string_view::npos;
    BlockRecord result;
    result.type = BlockType::ToolResult;
    result.output() = value.part(rest.substr(0, end));
    result.wire = wire;
    if (r.later.size() != 0) {
      result.id() = r.later.back().id();
      r.later.shrink_to(r.later.size() - 1);
    }
    r.blocks.push_back(result);
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + kBetweenResults.size());
  }
}

void read_value(Reader& r, MessageRecord& message, From from, Slice slice, Slice wire) {
  message.shape = ContentShape::String;
  const std::string_view bytes = r.spelled(slice);
  const bool is_text = from == From::Human || from == From::System ||
                       (from == From::Gpt && !bytes.starts_with('<') && !bytes.starts_with('\\'));
  if (is_text) {
    add(r, BlockType::Text, slice, wire);
    return;
  }
  const Value value(r, slice);
  std::string_view rest = value.plain();
  if (from == From::Observation) {
    read_results(r, value, wire);
    return;
  }
  const std::size_t before = r.blocks.size();
  if (message.role == Role::Assistant) read_thinking(r, value, rest, wire);
  const bool is_call = from == From::FunctionCall && read_calls(r, rest, wire);
  const bool has_thinking = r.blocks.size() != before;
  if (is_call || has_thinking) message.shape = ContentShape::Blocks;
  if (is_call) return;
  if (from == From::FunctionCall) r.more();  // it is no call, so it is what the model said
  if (!rest.empty() || !has_thinking) add(r, BlockType::Text, value.part(rest), wire);
}

constexpr std::string_view kToldNulls[] = {"value"};

bool read_message(Reader& r) {
  MessageRecord message;
  Slice from, value, wire;
  const char* from_at = nullptr;
  const std::uint32_t start = r.cursor.offset();
  if (r.messages.size() == 0) r.later.clear();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    r.cursor.peek();
    const std::uint32_t at = r.cursor.offset();
    if (key == "from") {
      from_at = r.cursor.position();
      return r.string(from, key);
    }
    if (key != "value") return r.unknown();
    if (!r.string_or_null(value, key)) return false;
    wire = {at, r.cursor.offset() - at};
    return true;
  });
  if (!good) return false;
  if (from_at == nullptr) return r.missing(start, "from");
  const auto row = std::ranges::find(kFrom, r.plain(from), &FromRow::name);
  if (row == kFrom.end()) {
    return r.cursor.fail(Code::UnknownRole, from_at,
                         "'from' must be 'human', 'gpt', 'function_call', 'observation' or 'system'");
  }
  message.role = row->role;
  if (value.present()) {
    read_value(r, message, row->from, value, wire);
  } else {
    if (value.is_null()) message.shape = ContentShape::Null;
    if (row->from == From::FunctionCall) r.more();
  }
  r.end_message(message, start);
  return true;
}

// ---- Media that stand in lists

// Puts the media of a request's lists where the texts name them.
class Binder {
 public:
  Binder(Reader& r, const Json& request) : r_(r) {
    for (std::size_t kind = 0; kind < kMediaRows.size(); ++kind) {
      const std::vector<Json> list = request.get(kMediaRows[kind].list).value_or(Json()).elements();
      if (!std::ranges::all_of(list, &Json::is_string)) continue;
      for (const Json& url : list) {
        const std::string_view quoted = url.text();
        media_[kind].push_back(block_of(kMediaRows[kind].type, quoted.substr(1, quoted.size() - 2)));
      }
    }
  }

  void run() {
    if (std::ranges::all_of(media_, &std::vector<BlockRecord>::empty)) return;
    std::array<std::size_t, kMediaRows.size()> count = {};
    each_text([&](Slice text) {
      const Value value(r_, text);
      for (std::size_t at = 0, kind = 0; next_mark(value.plain(), at, kind);
           at += kMediaRows[kind].mark.size())
        ++count[kind];
    });
    bool has_any = false;
    for (std::size_t kind = 0; kind < kMediaRows.size(); ++kind) {
      is_bound_[kind] = count[kind] != 0 && count[kind] == media_[kind].size();
      has_any = has_any || is_bound_[kind];
    }
    if (has_any) bind();
  }

 private:
  // A data URL with nothing but a media type and base64 is taken apart; it is written the same again.
  BlockRecord block_of(BlockType type, std::string_view url) const {
    const auto slice = [&](std::string_view part) {
      return Slice{r_.cursor.offset(part.data()), static_cast<std::uint32_t>(part.size())};
    };
    BlockRecord block;
    block.type = type;
    block.source = SourceKind::Url;
    block.data() = slice(url);
    constexpr std::string_view kAround = "data:;base64,";
    const DataUrlParts parts = split_data_url(url);
    const bool is_plain = url.starts_with("data:") && parts.is_base64 &&
                          parts.media_type.size() + kAround.size() + parts.data.size() == url.size();
    if (is_plain && !parts.media_type.empty()) {
      block.source = SourceKind::Base64;
      block.data() = slice(parts.data);
      block.media_type() = slice(parts.media_type);
    }
    return block;
  }

  static bool holds_media(const MessageRecord& message) { return message.role != Role::System; }

  template <typename Each>
  void each_text(Each each) {
    for (const MessageRecord& message : r_.messages) {
      for (std::size_t i = 0; i < message.block_count && holds_media(message); ++i) {
        const BlockRecord& block = r_.blocks[message.first_block + i];
        if (block.type == BlockType::Text) each(block.text());
        if (block.type == BlockType::ToolResult && block.output().present()) each(block.output());
      }
    }
  }

  // The next mark from `at` on.
  static bool next_mark(std::string_view text, std::size_t& at, std::size_t& kind) {
    for (; (at = text.find('<', at)) != std::string_view::npos; ++at) {
      for (kind = 0; kind < kMediaRows.size(); ++kind) {
        if (text.substr(at).starts_with(kMediaRows[kind].mark)) return true;
      }
    }
    return false;
  }

  void bind() {
    const std::vector<BlockRecord> blocks(r_.blocks.begin(), r_.blocks.end());
    r_.blocks.clear();
    for (MessageRecord& message : r_.messages) {
      const auto own = std::span(blocks).subspan(message.first_block, message.block_count);
      message.first_block = static_cast<std::uint32_t>(r_.blocks.size());
      for (BlockRecord block : own) {
        if (block.type == BlockType::Text && holds_media(message)) {
          split(block, block.text(), r_.blocks);
          continue;
        }
        if (block.type == BlockType::ToolResult) bind_result(block);
        r_.blocks.push_back(block);
      }
      message.block_count = static_cast<std::uint32_t>(r_.blocks.size()) - message.first_block;
      const bool is_text = message.block_count == 1 && r_.blocks[message.first_block].type == BlockType::Text;
      if (message.shape == ContentShape::String && !is_text) message.shape = ContentShape::Blocks;
    }
  }

  void bind_result(BlockRecord& result) {
    if (!result.output().present()) return;
    const std::size_t first = r_.children.size();
    split(result, result.output(), r_.children);
    const std::size_t count = r_.children.size() - first;
    if (count == 1 && r_.children.back().type == BlockType::Text) {
      r_.children.shrink_to(first);
      return;
    }
    result.is_list = true;
    result.output() = Slice::absent();
    result.children() = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
  }

  // The text, with media in place of their marks.
  void split(const BlockRecord& block, Slice text, Records<BlockRecord>& into) {
    const Value value(r_, text);
    const std::string_view plain = value.plain();
    std::size_t begin = 0;
    const auto put_text = [&](std::size_t end) {
      if (begin == end && !plain.empty()) return;
      BlockRecord piece;
      piece.type = BlockType::Text;
      piece.wire = block.wire;
      piece.text() = value.part(plain.substr(begin, end - begin));
      into.push_back(piece);
    };
    for (std::size_t at = 0, kind = 0; next_mark(plain, at, kind); at += kMediaRows[kind].mark.size()) {
      if (!is_bound_[kind]) continue;
      put_text(at);
      into.push_back(media_[kind][used_[kind]++]);
      into.back().wire = block.wire;
      begin = at + kMediaRows[kind].mark.size();
    }
    put_text(plain.size());
  }

  Reader& r_;
  std::array<std::vector<BlockRecord>, kMediaRows.size()> media_;  // by the lists
  std::array<std::size_t, kMediaRows.size()> used_ = {};
  std::array<bool, kMediaRows.size()> is_bound_ = {};
};

// ---- What is around the messages

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  json::Writer list;
  list.begin_array();
  for (const Tool& tool : tools) {
    list.begin_object().key("name").string(tool.name).key("description").string(tool.description);
    if (!tool.parameters.is_null()) list.key("parameters").value(tool.parameters.compact());
    list.end_object();
  }
  out.key("tools").string(list.end_array().take_string());
}

// Text that is no list of tools says nothing to others; it stays in the document.
Result<std::vector<Tool>> read_tools(const Json& request) {
  const auto member = request.get("tools");
  if (!member || member->is_null()) return std::vector<Tool>();
  if (!member->is_string())
    return fail(Code::WrongType, "'tools' must be a string that holds JSON", "/tools");
  const Result<Json> list = Json::parse(*member->as_string());
  if (!list) return std::vector<Tool>();
  auto tools = read_tools_of(*list, "/tools", [](const Json& tool, const std::string& path) {
    return read_tool(tool.get("function").value_or(tool), path);
  });
  return tools ? *std::move(tools) : std::vector<Tool>();
}

constexpr std::string_view kConversations[] = {"conversations"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kConversations}};
constexpr std::string_view kOfMessage[] = {"from"};
constexpr Envelope kEnvelope = {.locations = kLocations,
                                .of_message = kOfMessage,
                                .role = "from",
                                .system_form = SystemForm::String,
                                .system = "system",
                                .content = "value",
                                .write_tools = write_tools,
                                .read_tools = read_tools,
                                .write_media = write_media,
                                .json_text = "tools"};

constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 10, .member = "conversations", .value = "["},
    {.of = SignOf::Message, .rank = 20, .member = "from"},
};

}  // namespace
}  // namespace sharegpt

extern const Format kShareGPT = {
    .info = {Dialect::ShareGPT, "sharegpt", "ShareGPT files for fine-tuning (LLaMA-Factory)",
             "text, thinking, image, audio, video, tool use, tool result",
             "a list, one message, {\"conversations\": [...]}"},
    .read_message = sharegpt::read_message,
    .group = sharegpt::group,
    .write_group = sharegpt::write_group,
    .envelope = sharegpt::kEnvelope,
    .joins = true,
    .names_results = true,
    .is_plain = true,
    .hints_used = kIsFirst,
    .has_documents = false,
    .complete = [](Reader& reader, const Json& request) { sharegpt::Binder(reader, request).run(); },
    .signs = sharegpt::kSigns,
    .check_rules = rules::check_sharegpt,
};

}  // namespace parley::dialect
