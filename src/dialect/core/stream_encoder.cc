#include "dialect/core/stream_encoder.h"

#include <algorithm>
#include <utility>

#include "dialect/format.h"
#include "parley/base/text.h"

namespace parley {
namespace dialect {

void Encoder::data(json::Writer& json) { out_->append("data: ").append(json.take_string()).append("\n\n"); }

void Encoder::event(std::string_view name, json::Writer& json) {
  out_->append("event: ").append(name).append("\n");
  data(json);
}

void Encoder::line(json::Writer& json) { out_->append(json.take_string()).append("\n"); }

void Encoder::drop(std::string_view code, Severity severity, Text detail, std::string_view action) {
  const auto same = [&](const Note& note) { return note.code == code; };
  if (std::any_of(notes.begin(), notes.end(), same)) return;
  notes.push_back(
      {code, severity, std::nullopt, std::nullopt, to_string(dialect_), action, std::move(detail)});
}

bool Encoder::keeps_raw() {
  if (!is_own()) drop("raw_dropped", Severity::Major, "a block of another dialect has no place here");
  return is_own();
}

void Encoder::note_refusal() {
  drop("refusal_as_text", Severity::Minor, "the refusal is written as a text like any other", "mapped");
}

void Encoder::note_custom_call() {
  drop("custom_call_mapped", Severity::Info,
       "the text for a custom tool is written as the argument \"input\"", "mapped");
}

Json Encoder::input_of(const OpenBlock& use) {
  json::Writer wrapped;
  if (use.is_custom) {
    note_custom_call();
    return wrapped.begin_object().key("input").string(use.text).end_object().take();
  }
  if (use.text.empty()) return Json::trusted("{}");
  if (auto json = Json::parse(use.text); json && json->is_object()) return *json;
  drop("arguments_wrapped", Severity::Minor, "arguments that are no JSON object are under _raw");
  return wrapped.begin_object().key("_raw").string(use.text).end_object().take();
}

void Encoder::ensure_start() {
  if (!std::exchange(has_started_, true)) start();
}

void Encoder::write(const stream::BlockStart& start) {
  ensure_start();
  const std::size_t index = blocks_.size();
  OpenBlock& open = blocks_.try_emplace(start.block).first->second;
  if (index != blocks_.size()) open.index = index;
  open.type = start.type;
  open.id = start.id;
  open.name = start.name;
  open.is_refusal = start.is_refusal;
  open.is_custom = start.is_custom;
  block(open);
}

void Encoder::write(const stream::Delta& delta) {
  const auto found = blocks_.find(delta.block);
  if (found == blocks_.end()) return;
  OpenBlock& open = found->second;
  if (delta.kind == stream::DeltaKind::Signature) {
    if (is_own()) open.signature = delta.text;
    if (!is_own())
      drop("signature_dropped", Severity::Minor, "a signature is sent only to the provider that made it");
    return;
  }
  if (delta.replaces) open.text.clear();
  open.text.append(delta.text);
  if (delta.kind == stream::DeltaKind::Json) return;
  if (delta.replaces && open.is_written) {
    replaced(open);
  } else {
    this->delta(open, delta.text);
  }
}

void Encoder::write_done(const stream::Done& said) {
  ensure_start();
  finish_ = said.finish;
  const bool keeps_word = is_own() && !said.raw.empty();
  done(keeps_word ? said.raw.view() : finish_word(dialect_, said.finish));
}

void Encoder::write(const StreamEvent& event, std::string& out) {
  out_ = &out;
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    write(*delta);
  } else if (const auto* names = std::get_if<stream::Start>(&event)) {
    names_ = *names;
    ensure_start();
  } else if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
    write(*start);
  } else if (const auto* ended = std::get_if<stream::BlockEnd>(&event)) {
    if (const auto found = blocks_.find(ended->block); found != blocks_.end()) end(found->second);
  } else if (const auto* update = std::get_if<stream::UsageUpdate>(&event)) {
    usage_ = update->usage;
  } else if (std::holds_alternative<stream::Unknown>(event)) {
    drop("event_dropped", Severity::Minor, "an unknown event of another stream has no place here");
  } else if (const auto* said = std::get_if<stream::Done>(&event)) {
    write_done(*said);
  } else if (const auto* failure = std::get_if<stream::Failed>(&event)) {
    failed(*failure);
  }
}

}  // namespace dialect

Result<StreamWriter> StreamWriter::of(Dialect dialect, Dialect source) {
  const dialect::StreamFormat* row = dialect::stream_of(dialect);
  if (row == nullptr || row->encoder == nullptr) {
    return fail(Code::Unsupported,
                "streams are not written in the dialect '" + std::string(to_string(dialect)) + "'");
  }
  return StreamWriter(row->encoder(dialect, source));
}

StreamWriter::StreamWriter(std::unique_ptr<dialect::Encoder> encoder) : encoder_(std::move(encoder)) {}
StreamWriter::StreamWriter(StreamWriter&&) noexcept = default;
StreamWriter& StreamWriter::operator=(StreamWriter&&) noexcept = default;
StreamWriter::~StreamWriter() = default;

void StreamWriter::write(const StreamEvent& event, std::string& out) { encoder_->write(event, out); }
const std::vector<Note>& StreamWriter::notes() const { return encoder_->notes; }

std::vector<Note> to_events(const Message& message, const Outcome& outcome, const OnStreamEvent& on_event,
                            std::size_t delta_bytes) {
  std::vector<Note> notes;
  std::uint64_t number = 0;
  const auto in_deltas = [&](stream::DeltaKind kind, std::string_view text) {
    while (!text.empty()) {
      // At least one character, so that a small limit ends, too.
      std::size_t size = utf8_floor(text, std::min(std::max<std::size_t>(delta_bytes, 1), text.size()));
      if (size == 0) size = utf8_sequence_length(text, 0);
      on_event(stream::Delta{number, kind, text.substr(0, size), false});
      text.remove_prefix(size);
    }
  };
  on_event(stream::Start{outcome.id, outcome.model});
  for (const Block& block : message.blocks()) {
    stream::BlockStart start{number, block.type(), {}, {}};
    if (const auto* text = block.as<TextBlock>()) {
      start.is_refusal = text->is_refusal;
      on_event(start);
      in_deltas(stream::DeltaKind::Text, text->text);
    } else if (const auto* thinking = block.as<ThinkingBlock>()) {
      on_event(start);
      in_deltas(stream::DeltaKind::Thinking, thinking->thinking);
      if (!thinking->signature.empty()) {
        on_event(stream::Delta{number, stream::DeltaKind::Signature, thinking->signature, true});
      }
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      start.id = use->id;
      start.name = use->name;
      start.is_custom = use->is_custom;
      on_event(start);
      in_deltas(stream::DeltaKind::Arguments, use->arguments);
    } else if (const auto* raw = block.as<RawBlock>()) {
      on_event(start);
      on_event(stream::Delta{number, stream::DeltaKind::Json, raw->json.text(), false});
    } else {
      notes.push_back({"block_dropped", Severity::Major, std::nullopt, number, "", "dropped",
                       "a stream has no place for media and results"});
      continue;
    }
    on_event(stream::BlockEnd{number++});
  }
  on_event(stream::UsageUpdate{outcome.usage});
  on_event(stream::Done{outcome.finish, outcome.raw_finish});
  return notes;
}

}  // namespace parley
