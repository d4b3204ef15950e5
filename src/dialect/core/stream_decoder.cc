#include "dialect/core/stream_decoder.h"

#include <charconv>
#include <utility>

#include "json/pointer.h"

namespace parley::dialect {

void Decoder::take(const Chunk& chunk, const OnStreamEvent& on_event) {
  if (has_ended_) return;
  on_event_ = &on_event;
  if (!chunk.stray.empty()) stray(chunk.stray);
  if (has_ended_ || (chunk.data.empty() && !chunk.is_exception)) return;
  if (is_end(chunk)) return done();
  if (read_again(chunk)) return act(chunk);
  load(chunk.data);
  if (!cursor.ok() || !read(chunk) || !cursor.finish()) return chunk.is_last ? eof() : failed_by_fault();
  act(chunk);
}

void Decoder::end(const OnStreamEvent& on_event) {
  if (has_ended_) return;
  on_event_ = &on_event;
  eof();
}

void Decoder::fail(Error error, const OnStreamEvent& on_event) {
  if (has_ended_) return;
  on_event_ = &on_event;
  terminal(stream::Failed{std::move(error), {}});
}

// ---- Reading

bool Decoder::wrong_type(std::string_view member, std::string_view expected) {
  return cursor.fail(Code::WrongType, cursor.position(),
                     "'" + std::string(member) + "' must be " + std::string(expected));
}

bool Decoder::skip() {
  Slice ignored;
  return cursor.skip(ignored);
}

bool Decoder::value(Slice& out) { return cursor.peek() == 'n' ? skip() : cursor.skip(out); }

bool Decoder::text(Slice& out, std::string_view member) {
  const char c = cursor.peek();
  if (c == '"') return cursor.string(out);
  return c == 'n' ? skip() : wrong_type(member, "a string");
}

bool Decoder::number(std::optional<std::uint64_t>& out, std::string_view member) {
  const char* at = cursor.position();
  if (cursor.peek() == 'n') return skip();
  Slice slice;
  if (!cursor.skip(slice)) return false;
  const std::string_view digits = cursor.bytes(slice);
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return cursor.fail(Code::WrongType, at, "'" + std::string(member) + "' must be a whole number");
  }
  out = whole;
  return true;
}

bool Decoder::flag(bool& out, std::string_view member) {
  const char c = cursor.peek();
  if (c != 't' && c != 'f' && c != 'n') return wrong_type(member, "true or false");
  if (c != 'n') out = c == 't';
  return skip();
}

std::string_view Decoder::plain(Slice spelled) {
  if (!spelled.present()) return {};
  const std::string_view bytes = cursor.bytes(spelled);
  if (bytes.find('\\') == std::string_view::npos) return bytes;
  scratch_.shrink_to(0);
  return scratch_.unescaped(bytes).view();
}

Text Decoder::copy(Slice spelled) { return Text::checked(plain(spelled)).value_or(Text()); }

Json Decoder::json(Slice slice) const {
  if (!slice.present()) return {};
  return Json::trusted(Text::checked(cursor.bytes(slice)).value_or(Text("null")));
}

// ---- Saying

void Decoder::terminal(const StreamEvent& event) {
  if (!std::exchange(has_ended_, true)) (*on_event_)(event);
}

void Decoder::failed_by_fault() {
  const json::Fault& fault = cursor.fault();
  auto error = parley::fail(fault.code, "a chunk of the stream: " + fault.message,
                            json::pointer_at(chunk_.view(), fault.at));
  terminal(stream::Failed{std::move(error).error(), {}});
}

void Decoder::wire_error(const Json& error, std::string_view kind) {
  const auto member = [&](std::string_view name) -> std::optional<Text> {
    const auto found = error.get(name);
    if (!found || found->is_null()) return std::nullopt;
    return found->is_string() ? found->as_string() : found->text();
  };
  std::optional<Text> word;
  if (!kind.empty()) word = Text(kind);
  for (const std::string_view name : {"type", "status", "code"}) {
    if (!word) word = member(name);
  }
  const Text message = error.as_string().value_or(member("message").value_or(Text()));
  auto failure =
      parley::fail(Code::Unavailable, message.empty() ? "the provider reports an error" : message.str());
  terminal(stream::Failed{std::move(failure).error(), word.value_or(Text())});
}

// Bare JSON in a stream of events is how some servers report errors. Any other line that is no event is
// ignored, as the standard has it.
void Decoder::stray(std::string_view lines) {
  auto json = Json::parse(lines, limits_);
  if (!json) return;
  if (json->is_array()) {
    const auto elements = json->elements();
    json = elements.empty() ? Json() : elements.front();
  }
  if (!json->is_object()) return;
  if (const auto error = json->get("error"); error && !error->is_null()) return wire_error(*error);
  unknown("", *json);
}

void Decoder::start(const Text& id, const Text& model) {
  if (has_started_ || (id.empty() && model.empty())) return;  // Azure begins with empty names
  has_started_ = true;
  say(stream::Start{id, model});
}

Decoder::BlockState* Decoder::find(std::uint64_t block) {
  if (last_ != nullptr && last_number_ == block) return last_;
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return nullptr;
  last_number_ = block;
  return last_ = &found->second;
}

void Decoder::open(std::uint64_t block, BlockType type, const Text& id, const Text& name,
                   BlockTraits traits) {
  BlockState* state = find(block);
  const bool is_new = state == nullptr;
  if (is_new) {
    state = &blocks_.try_emplace(block, BlockState{type, {}, {}}).first->second;
    has_calls |= type == BlockType::ToolUse;
  }
  const bool changes = (!id.empty() && id != state->id) || (!name.empty() && name != state->name) ||
                       (traits.is_refusal && !state->is_refusal) || (traits.is_custom && !state->is_custom);
  if (!is_new && !changes) return;
  if (!id.empty()) state->id = id;
  if (!name.empty()) state->name = name;
  state->is_refusal |= traits.is_refusal;
  state->is_custom |= traits.is_custom;
  say(stream::BlockStart{block, state->type, state->id, state->name, state->is_refusal, state->is_custom});
}

void Decoder::delta(std::uint64_t block, BlockType type, stream::DeltaKind kind, std::string_view text,
                    bool replaces) {
  if (text.empty() && !replaces) return;
  BlockState* state = find(block);
  if (state == nullptr) {
    open(block, type);
    state = find(block);
  }
  if (state->type != type) {
    auto error = parley::fail(Code::Invalid, "a delta does not fit the block that the stream has started");
    return terminal(stream::Failed{std::move(error).error(), {}});
  }
  if (state->has_ended && !replaces) return;  // S3
  state->has_deltas |= kind != stream::DeltaKind::Signature;
  say(stream::Delta{block, kind, text, replaces || kind == stream::DeltaKind::Signature});
}

void Decoder::close(std::uint64_t block) {
  BlockState* state = find(block);
  if (state == nullptr || std::exchange(state->has_ended, true)) return;
  say(stream::BlockEnd{block});
}

void Decoder::close_call(std::uint64_t block) {
  const BlockState* state = find(block);
  if (state != nullptr && state->type == BlockType::ToolUse && !state->has_deltas) {
    delta(block, BlockType::ToolUse, stream::DeltaKind::Arguments, "{}");
  }
  close(block);
}

void Decoder::raw_block(std::uint64_t block, const Json& json) {
  delta(block, BlockType::Raw, stream::DeltaKind::Json, json.text().view(),
        find(block) != nullptr && find(block)->has_deltas);
}

void Decoder::say_usage(const Json& usage) {
  usage_.add(usage);
  say(stream::UsageUpdate{usage_.usage()});
}

void Decoder::unknown(std::string_view name, Json json) { say(stream::Unknown{Text(name), std::move(json)}); }

void Decoder::truncated() {
  before_end();
  terminal(stream::Truncated{});
}

void Decoder::done() {
  before_end();
  for (const auto& entry : blocks_) close(entry.first);
  Finish finish = finish_is.value_or(finish_of(dialect_, finish_word, has_calls));
  if (finish == Finish::Stop && has_refusal) finish = Finish::Refused;
  terminal(stream::Done{finish, Text(finish_word)});
}

}  // namespace parley::dialect
