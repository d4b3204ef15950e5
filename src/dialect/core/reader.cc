#include "dialect/core/reader.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dialect/core/names.h"
#include "json/out.h"
#include "parley/base/clock.h"

namespace parley::dialect {
namespace {

// Room is made for messages of this size at once; smaller ones make the lists grow.
constexpr std::size_t kLikelyMessageBytes = 128;

bool is_media_type(BlockType type) { return type >= BlockType::Image && type <= BlockType::Document; }

// The records tell a null from an absent member. All other nulls read as absent (see Reader::object).
bool tells_null(Want want) {
  return want == Want::StringOrNull || want == Want::Output || want == Want::Value;
}

}  // namespace

BlockType type_of_media(std::string_view media_type) {
  if (media_type.starts_with("image/")) return BlockType::Image;
  if (media_type.starts_with("audio/")) return BlockType::Audio;
  if (media_type.starts_with("video/")) return BlockType::Video;
  return BlockType::Document;
}

bool Reader::wrong_type(std::string_view member, std::string_view expected) {
  std::string message = "'";
  message.append(member).append("' must be ").append(expected);
  return cursor.fail(Code::WrongType, cursor.position(), std::move(message));
}

bool Reader::skip_value() {
  Slice ignored;
  return cursor.skip(ignored);
}

bool Reader::missing(std::uint32_t object_offset, std::string_view member) {
  if (mistaken_.at != nullptr && shape_ == DocumentShape::Single) {
    std::string message = "'";
    message.append(mistaken_.member).append("' must be ").append(mistaken_.expected);
    return cursor.fail(Code::WrongType, mistaken_.at, std::move(message));
  }
  std::string message = "the member '";
  message.append(member).append("' is missing");
  const char* object = cursor.position() - (cursor.offset() - object_offset);
  return cursor.fail(Code::Missing, object, std::move(message));
}

bool Reader::string(Slice& out, std::string_view member) {
  if (cursor.peek() != '"') return wrong_type(member, "a string");
  return cursor.string(out);
}

bool Reader::media(Slice& out, std::string_view member) {
  if (!string(out, member)) return false;
  unescape_media(out);
  return true;
}

void Reader::unescape_media(Slice& media) {
  constexpr std::size_t kLookedAt = 256;
  if (!media.present()) return;
  if (cursor.bytes(media).substr(0, kLookedAt).find('\\') == std::string_view::npos) return;
  const std::string text(plain(media));
  if (!text.starts_with("data:")) return;
  json::Out spelled;
  media = mint(spelled.escaped(text).view());
}

bool Reader::string_or_null(Slice& out, std::string_view member) {
  if (cursor.peek() == '"') return cursor.string(out);
  if (cursor.peek() != 'n') return wrong_type(member, "a string or null");
  out = Slice::null();
  Slice ignored;
  return cursor.skip(ignored);
}

bool Reader::object_or_null(Slice& out, std::string_view member) {
  const char first = cursor.peek();
  if (first != '{' && first != 'n') return wrong_type(member, "an object or null");
  if (!cursor.skip(out)) return false;
  if (first == 'n') out = Slice::null();
  return true;
}

bool Reader::role(Role& out, std::span<const Role> allowed, std::span<const RoleName> others) {
  const char* at = cursor.position();
  Slice spelled;
  if (!string(spelled, "role")) return false;
  std::optional<Role> known = role_named(cursor.bytes(spelled));
  if (!known) known = role_named(plain(spelled));
  if (known && std::find(allowed.begin(), allowed.end(), *known) != allowed.end()) {
    out = *known;
    return true;
  }
  for (const RoleName& other : others) {
    if (plain(spelled) != other.name) continue;
    if (other.is_odd) more();
    out = other.role;
    return true;
  }
  std::string message = "the role must be ";
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (i != 0) message += i + 1 == allowed.size() ? " or " : ", ";
    message.append("'").append(to_string(allowed[i])).append("'");
  }
  for (const RoleName& other : others) message.append(" or '").append(other.name).append("'");
  return cursor.fail(Code::UnknownRole, at, std::move(message));
}

bool Reader::content(MessageRecord& message, const BlockTable& table, bool strings_allowed,
                     std::string_view member) {
  blocks.shrink_to(first_block_);  // of a duplicate member the last one counts
  const char first = cursor.peek();
  if (first == '"' && strings_allowed) {
    BlockRecord text;
    text.type = BlockType::Text;
    const std::uint32_t start = cursor.offset();
    if (!cursor.string(text.text())) return false;
    text.wire = {start, cursor.offset() - start};
    blocks.push_back(text);
    message.shape = ContentShape::String;
    return true;
  }
  if (first == 'n') {
    message.shape = ContentShape::Null;
    Slice ignored;
    return cursor.skip(ignored);
  }
  if (first != '[') {
    return wrong_type(member,
                      strings_allowed ? "a string, a list of blocks or null" : "a list of blocks or null");
  }
  message.shape = ContentShape::Blocks;
  return cursor.array([&](std::uint32_t) { return block(table, blocks); });
}

bool Reader::block(const BlockTable& table, Records<BlockRecord>& into) {
  if (cursor.peek() != '{') return wrong_type("block", "an object");
  BlockRecord out;
  const std::uint32_t start = cursor.offset();
  Slice quoted;
  if (!cursor.look_ahead("type", quoted)) return false;
  if (quoted.present() && cursor.bytes(quoted) == "null") quoted = Slice::absent();
  if (quoted.present() && cursor.bytes(quoted).front() != '"') {
    return cursor.fail(Code::WrongType, cursor.position() + (quoted.offset - start),
                       "'type' must be a string");
  }
  const Slice type = quoted.present() ? Slice{quoted.offset + 1, quoted.length - 2} : Slice::absent();
  const std::string_view name = type.present()   ? plain(type)
                                : table.untagged ? told_type(table)
                                                 : std::string_view();
  if (std::find(table.foreign_types.begin(), table.foreign_types.end(), name) != table.foreign_types.end()) {
    return cursor.fail(
        Code::WrongDialect, cursor.position(),
        "a block of this type belongs to the dialect '" + std::string(table.foreign_dialect) + "'");
  }
  const auto rule = std::find_if(table.rules.begin(), table.rules.end(), [&](const BlockRule& each) {
    const bool fits_here = !nested_ || each.block == BlockType::Text || each.block == BlockType::Raw ||
                           is_media_type(each.block);
    return each.type == name && fits_here;
  });
  bool known = rule != table.rules.end();
  if (known) {
    out.type = rule->block;
    if (is_media_type(out.type)) out.source = SourceKind::Missing;
    if (!members(*rule, table, out)) return false;
    // A media block whose source is of a kind we do not know, or that has none, is kept whole.
    const bool fits_here =
        !nested_ || out.type == BlockType::Text || out.type == BlockType::Raw || is_media_type(out.type);
    known = fits_here && (out.type != BlockType::Raw || rule->block == BlockType::Raw) &&
            (!is_media_type(out.type) || out.source == SourceKind::Base64 || out.source == SourceKind::Url);
    if (known && is_media_type(out.type) && table.kind_by_media_type) {
      out.type = type_of_media(out.media_type().present() ? cursor.bytes(out.media_type()) : "");
    }
  } else {
    Slice ignored;
    if (!cursor.skip(ignored)) return false;
  }
  out.wire = {start, cursor.offset() - start};
  if (known && out.type == BlockType::Raw && table.untagged) {
    out.raw_type() = mint(name);
    out.raw_value() = out.wire;
  }
  if (!known) {
    out = BlockRecord{.type = BlockType::Raw, .source = out.source, .wire = out.wire, .slots = {}};
    out.raw_type() = type.present() || !table.untagged ? type : first_member(out.wire);
    out.raw_value() = out.wire;
  }
  into.push_back(out);
  return true;
}

// The name of the first member of an object that is not null, which tells what it is.
Slice Reader::first_member(Slice object) {
  for (const Json::Member& member : Json::trusted(Text::trusted(nullptr, cursor.bytes(object))).members()) {
    json::Out name;
    if (!member.value.is_null()) return mint(name.escaped(member.key).view());
  }
  return Slice::absent();
}

// The first member of the block at the cursor that is the name of a rule, and not null; else one that takes
// null for a value.
std::string_view Reader::told_type(const BlockTable& table) {
  std::string_view found, null;
  cursor.look([&](std::string_view key) {
    const auto rule = std::find_if(table.rules.begin(), table.rules.end(),
                                   [&](const BlockRule& each) { return each.type == key; });
    if (rule == table.rules.end()) return true;
    if (cursor.peek() != 'n') {
      found = rule->type;
    } else if (null.empty() && rule->members.front().takes_null) {
      null = rule->type;
    }
    return found.empty();
  });
  return found.empty() ? null : found;
}

bool Reader::members(const BlockRule& rule, const BlockTable& table, BlockRecord& out) {
  return cursor.object([&](std::string_view key) {
    for (const MemberRule& member : rule.members) {
      if (member.key != key) continue;
      if (cursor.peek() == 'n' && !member.takes_null && !tells_null(member.want)) return unknown();
      Slice& slot = out.slots[member.slot];
      switch (member.want) {
        case Want::String:
        case Want::Arguments:
          return string(slot, key);
        case Want::StringOrNull:
          return string_or_null(slot, key);
        case Want::Object:
          return cursor.peek() == '{' ? cursor.skip(slot) : wrong_type(key, "an object");
        case Want::Value:
          return cursor.skip(slot);
        case Want::Source:
          return source(out);
        case Want::Output:
          return output(table, out, key);
        case Want::ErrorFlag: {
          const char first = cursor.peek();
          if (first != 't' && first != 'f') return wrong_type(key, "true or false");
          out.is_error = first == 't' ? Tristate::True : Tristate::False;
          Slice ignored;
          return cursor.skip(ignored);
        }
        case Want::Own:
          return member.own(*this, out);
        case Want::ErrorState: {
          Slice state;
          if (!string(state, key)) return false;
          const std::string_view said = plain(state);
          const bool failed = said == "error" || said == "interrupted" || said == "denied";
          out.is_error = failed ? Tristate::True : said == "success" ? Tristate::False : Tristate::Unsaid;
          if (said != "error" && said != "success") more();  // the records know these two only
          return true;
        }
      }
    }
    if (!table.foreign_member.empty() && key == table.foreign_member) {
      return cursor.fail(
          Code::WrongDialect, cursor.position(),
          "a block with this member belongs to the dialect '" + std::string(table.foreign_dialect) + "'");
    }
    return key == "type" ? skip_value() : unknown();
  });
}

bool Reader::source(BlockRecord& out) {
  if (cursor.peek() != '{') return wrong_type("source", "an object");
  Slice quoted;
  if (!cursor.look_ahead("type", quoted)) return false;
  const bool is_string = quoted.present() && quoted.length >= 2 && cursor.bytes(quoted).front() == '"';
  const std::string_view type =
      is_string ? plain({quoted.offset + 1, quoted.length - 2}) : std::string_view();
  const bool is_url = type == "url";
  out.source = is_url ? SourceKind::Url : type == "base64" ? SourceKind::Base64 : SourceKind::None;
  out.data() = out.media_type() = Slice::absent();  // of a duplicate member the last one counts
  return object([&](std::string_view key) {
    if (out.source != SourceKind::None) {
      if (key == (is_url ? "url" : "data")) return media(out.data(), key);
      if (key == "media_type") return string(out.media_type(), key);
    }
    return key == "type" ? skip_value() : unknown();
  });
}

bool Reader::cache_mark(BlockRecord& block, std::string_view key, std::string_view word) {
  block.cache = CacheMark::None;  // of a duplicate member the last one counts
  if (cursor.peek() != '{') return unknown();
  Slice kind, ttl;
  if (!cursor.look_ahead(key, kind) || !cursor.look_ahead("ttl", ttl)) return false;
  const auto says = [&](Slice quoted, std::string_view text) {
    const bool is_string = quoted.present() && cursor.bytes(quoted).starts_with('"');
    return is_string && plain({quoted.offset + 1, quoted.length - 2}) == text;
  };
  std::size_t members = 0;
  if (!cursor.look([&](std::string_view) { return ++members != 0; })) return false;
  const bool is_mark = says(kind, word);
  if (is_mark) {
    block.cache = says(ttl, "5m")   ? CacheMark::FiveMinutes
                  : says(ttl, "1h") ? CacheMark::OneHour
                                    : CacheMark::Default;
  }
  const std::size_t known = block.cache == CacheMark::None ? 0 : block.cache == CacheMark::Default ? 1 : 2;
  return members == known ? skip_value() : unknown();
}

bool Reader::output(const BlockTable& table, BlockRecord& out, std::string_view member) {
  out.is_list = cursor.peek() == '[';
  if (!out.is_list) {
    if (cursor.peek() != '"' && cursor.peek() != 'n')
      return wrong_type(member, "a string, a list of blocks or null");
    return string_or_null(out.output(), member);
  }
  const std::size_t first = children.size();
  nested_ = true;
  const bool good = cursor.array([&](std::uint32_t) { return block(table, children); });
  nested_ = false;
  out.output() = Slice::absent();
  out.children() = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(children.size() - first)};
  return good;
}

// The last message is an assistant's with calls, or part of such a step.
bool Reader::waits_for_results() const {
  const std::span<const MessageRecord> all = messages.view();
  if (all.empty() || all.back().role != Role::Assistant) return false;
  const auto own = blocks.view().subspan(all.back().first_block, all.back().block_count);
  return all.back().has(MessageRecord::kContinues) ||
         std::ranges::any_of(own, [](const BlockRecord& block) { return block.type == BlockType::ToolUse; });
}

void Reader::end_message(MessageRecord& message, std::uint32_t start) {
  message.wire = {start, cursor.offset() - start};
  message.first_block = first_block_;
  message.block_count = static_cast<std::uint32_t>(blocks.size()) - first_block_;
  bool only_results = message.block_count != 0;
  for (std::size_t i = first_block_; i < blocks.size(); ++i) {
    only_results = only_results && blocks[i].type == BlockType::ToolResult;
  }
  message.wire_role = message.role;
  if (only_results) message.role = Role::Tool;
  if (has_more_) message.flags |= MessageRecord::kHasMore;
  messages.push_back(message);
}

std::string_view Reader::plain(Slice spelled) {
  const std::string_view all = this->spelled(spelled);
  if (all.find('\\') == std::string_view::npos) return all;
  plain_.resize(all.size() + json::kPadding);
  const char* end = json::kernel().unescape(all.data(), all.size(), plain_.data());
  plain_.resize(static_cast<std::size_t>(end - plain_.data()));
  return plain_;
}

Slice Reader::mint(std::string_view spelled) {
  const Slice slice = {static_cast<std::uint32_t>(size_ + minted_.size()),
                       static_cast<std::uint32_t>(spelled.size())};
  minted_ += spelled;
  return slice;
}

std::string_view Reader::spelled(Slice slice) const {
  if (slice.offset < size_) return cursor.bytes(slice);
  return std::string_view(minted_).substr(slice.offset - size_, slice.length);
}

Slice Reader::text_of(Slice value) {
  const std::string_view bytes = cursor.bytes(value);
  if (bytes.starts_with('"')) return {value.offset + 1, value.length - 2};
  json::Out escaped;
  escaped.escaped(Json::trusted(Text::trusted(nullptr, bytes)).compact().text());
  return mint(escaped.view());
}

void Reader::sign(BlockRecord& thinking, Dialect dialect) {
  if (!origin_.present()) origin_ = mint(to_string(dialect));
  thinking.origin() = origin_;
}

void Reader::asks(BlockRecord& use) {
  if (!std::exchange(has_asked_, true)) waiting_ = {};
  own_id(use);
  if (!use.id().present()) use.id() = mint(made_up_id(made_ids_++));
  const std::size_t index = waiting_.ids.size();
  const std::string id(is_made_up(spelled(use.id())) ? spelled(use.id()) : plain(use.id()));
  waiting_.ids.push_back(use.id());
  waiting_.is_answered.push_back(false);
  waiting_.by_id.emplace(id, index);
  if (use.name().present()) waiting_.by_name[std::string(plain(use.name()))].push_back(index);
}

// An id of the wire that looks as if it was made up here: those made up must be others.
void Reader::own_id(const BlockRecord& block) {
  if (!block.id().present()) return;
  const auto number = number_of_made_up(plain(block.id()));
  if (number) taken_ids_ = std::max(taken_ids_, *number + 1);
}

void Reader::part_ids() {
  if (taken_ids_ == 0 || made_ids_ == 0) return;
  for (BlockRecord& block : blocks) {
    const bool has_id = block.type == BlockType::ToolUse || block.type == BlockType::ToolResult;
    if (!has_id || !block.id().present() || block.id().offset < size_) continue;
    const auto number = number_of_made_up(spelled(block.id()));
    if (number) block.id() = mint(made_up_id(*number + taken_ids_));
  }
}

void Reader::answers(BlockRecord& result) {
  own_id(result);
  if (result.id().present()) {
    const auto call = waiting_.by_id.find(std::string(plain(result.id())));
    if (call != waiting_.by_id.end()) waiting_.is_answered[call->second] = true;
    return;
  }
  const auto first_open = [&](std::deque<std::size_t>& calls) -> std::optional<std::size_t> {
    while (!calls.empty() && waiting_.is_answered[calls.front()]) calls.pop_front();
    if (calls.empty()) return std::nullopt;
    return calls.front();
  };
  std::optional<std::size_t> call;
  if (result.name().present()) {
    const auto named = waiting_.by_name.find(std::string(plain(result.name())));
    if (named != waiting_.by_name.end()) call = first_open(named->second);
  }
  while (waiting_.next < waiting_.ids.size() && waiting_.is_answered[waiting_.next]) ++waiting_.next;
  if (!call && waiting_.next < waiting_.ids.size()) call = waiting_.next;
  if (call) waiting_.is_answered[*call] = true;
  result.id() = call ? waiting_.ids[*call] : mint(made_up_id(made_ids_++));
}

void Reader::name_results() {
  const auto has_no_name = [](const BlockRecord& block) {
    return block.type == BlockType::ToolResult && !block.name().present();
  };
  const auto tells_more = [&](const BlockRecord& block) { return has_no_name(block) || block.is_custom; };
  if (std::none_of(blocks.begin(), blocks.end(), tells_more)) return;
  // Calls of one step may share an id: results answer them in order.
  struct Calls {
    std::vector<BlockRecord> all;
    std::size_t answered = 0;
    std::size_t step = 0;
  };
  std::unordered_map<std::string, Calls> calls;
  std::size_t step = 0;
  bool is_answered = false;  // a result came since the last call
  for (BlockRecord& block : blocks) {
    const bool is_one = block.type == BlockType::ToolUse || block.type == BlockType::ToolResult;
    if (!is_one || !block.id().present()) continue;
    if (block.type == BlockType::ToolUse && std::exchange(is_answered, false)) ++step;
    is_answered = is_answered || block.type == BlockType::ToolResult;
    const std::string_view own = spelled(block.id());
    std::string id(own.find('\\') == std::string_view::npos ? own : plain(block.id()));
    if (block.type == BlockType::ToolUse) {
      Calls& same = calls[std::move(id)];
      if (same.step != step) same = {.all = {}, .answered = 0, .step = step};
      same.all.push_back(block);
    } else if (const auto same = calls.find(id); same != calls.end()) {
      const std::size_t place = std::min(same->second.answered++, same->second.all.size() - 1);
      const BlockRecord& call = same->second.all[place];
      if (has_no_name(block)) block.name() = call.name();
      if (call.is_custom) block.is_custom = true;
    }
  }
}

bool Reader::document(ReadMessage read_message, std::span<const MessagesLocation> places,
                      std::span<const std::string_view> of_message) {
  if (!cursor.ok()) return false;
  read_message_ = read_message;
  const std::size_t likely = size_ / kLikelyMessageBytes + 1;
  messages.reserve(likely);
  blocks.reserve(likely);
  const char first = cursor.peek();
  const std::uint32_t start = cursor.offset();
  if (first == '[') {
    if (!list()) return false;
  } else if (first == '{') {
    const MessagesLocation* place = nullptr;
    if (!tell(places, of_message, place)) return false;
    shape_ = place != nullptr ? place->shape : DocumentShape::Single;
    takes_text_ = place != nullptr && place->may_be_text;
    if (!(place != nullptr ? descend(place->path, place->is_message) : here(true))) return false;
    const bool needs_list = shape_ == DocumentShape::Envelope && place->told_by.empty();
    if (needs_list && !list_.present()) return missing(start, place->path.back());
  } else {
    // What is no JSON at all is said to be so before anything is said about its shape.
    Slice ignored;
    if (!cursor.skip(ignored)) return false;
    const char* at = cursor.position() - (cursor.offset() - start);
    return cursor.fail(Code::WrongType, at, "a document must be a list of messages or an object");
  }
  document_ = {start, cursor.offset() - start};
  return cursor.finish();
}

// The place whose first name comes first, with a value of its kind; one that yields only if there is no
// other. A string there may as well be a member of a message, which the other members tell.
bool Reader::tell(std::span<const MessagesLocation> places, std::span<const std::string_view> of_message,
                  const MessagesLocation*& found) {
  const auto begins = [&](const MessagesLocation& place, std::string_view key) {
    if (!place.told_by.empty()) return place.told_by == key;
    const bool is_list = place.path.size() == 1 ? !place.is_message : place.path[1] == "0";
    if (place.path[0] != key) return false;
    const bool is_text = place.may_be_text && cursor.peek() == '"';
    if (is_text || cursor.peek() == (is_list ? '[' : '{')) return true;
    const std::string_view expected = place.may_be_text ? "a list or a string"
                                      : is_list         ? "a list"
                                                        : "an object";
    if (mistaken_.at == nullptr) mistaken_ = {cursor.position(), place.path[0], expected};
    return false;
  };
  bool is_text = false;
  return cursor.look([&](std::string_view key) {
    for (const MessagesLocation& place : places) {
      if (!begins(place, key)) continue;
      if (found == nullptr || found->yields) found = &place;
      is_text = cursor.peek() == '"' && found->told_by.empty();
      return found->yields || is_text;
    }
    const bool is_message = cursor.peek() != 'n' && std::ranges::find(of_message, key) != of_message.end();
    if (is_message && is_text) found = nullptr;
    return !is_message;
  });
}

// Follows the path to the messages. Of a duplicate member the last one counts.
bool Reader::descend(std::span<const std::string_view> path, bool is_message, std::string_view member) {
  if (path.empty()) return here(is_message);
  const std::string_view next = path.front();
  if (next == "0") {
    if (cursor.peek() != '[') return wrong_type(member, "a list");
    return cursor.array([&](std::uint32_t i) {
      if (i != 0) return skip_value();
      if (cursor.peek() != '{') return wrong_type(member, "a list of objects");
      return descend(path.subspan(1), is_message, member);
    });
  }
  if (cursor.peek() != '{') return wrong_type(member, "an object");
  return cursor.object([&](std::string_view key) {
    return key == next ? descend(path.subspan(1), is_message, next) : skip_value();
  });
}

// The messages are here: a list of them, or one, or null for none.
bool Reader::here(bool is_message) {
  if (cursor.peek() == 'n') return skip_value();
  const bool is_text = takes_text_ && cursor.peek() == '"';
  if (!is_text && cursor.peek() != (is_message ? '{' : '[')) {
    return is_message ? wrong_type("message", "an object or null") : wrong_type("messages", "a list or null");
  }
  messages.clear();
  blocks.clear();
  children.clear();
  if (is_text) return text_of_user();
  if (!is_message) return list();
  const std::uint32_t start = cursor.offset();
  const bool good = read_message_(*this);
  list_ = {start, cursor.offset() - start};
  return good;
}

// One message, whose wire is the string.
bool Reader::text_of_user() {
  MessageRecord message;
  const std::uint32_t start = cursor.offset();
  begin_message();
  if (!content(message, {})) return false;
  end_message(message, start);
  list_ = messages.back().wire;
  return true;
}

bool Reader::list() {
  const std::uint32_t start = cursor.offset();
  const bool good = cursor.array([&](std::uint32_t) {
    if (cursor.peek() == '{') return read_message_(*this);
    Slice ignored;
    const char* at = cursor.position();
    return cursor.skip(ignored) && cursor.fail(Code::WrongType, at, "a message must be an object");
  });
  list_ = {start, cursor.offset() - start};
  return good;
}

std::shared_ptr<Arena> Reader::seal(json::Buffer buffer, DialectTag dialect) {
  auto arena = std::make_shared<Arena>(std::move(buffer), dialect);
  arena->set_read(now_ms());
  if (!minted_.empty()) arena->set_minted(json::Buffer::copy_of(minted_));
  // Lists of a few records are copied together, larger ones are taken over as they are.
  constexpr std::size_t kFew = 16;
  if (blocks.size() + children.size() <= kFew && messages.size() <= kFew) {
    arena->seal(messages.view(), blocks.view(), children.view());
  } else {
    arena->seal(std::move(messages), std::move(blocks), children.view());
  }
  arena->set_frame(shape_, document_, list_);
  arena->set_dialect_name(to_string(static_cast<Dialect>(dialect)));
  return arena;
}

}  // namespace parley::dialect
