#include "transcript.h"

namespace parley::test {
namespace {

std::string quoted(std::string_view text) { return Json::string(text).text().str(); }

std::string to_text(const Usage& usage) {
  std::string out;
  const auto add = [&](std::string_view name, const std::optional<std::uint64_t>& counter) {
    if (counter) out.append(" ").append(name).append("=").append(std::to_string(*counter));
  };
  add("input", usage.input);
  add("cache_read", usage.cache_read);
  add("cache_write", usage.cache_write);
  add("output", usage.output);
  add("reasoning", usage.reasoning);
  return out;
}

std::string to_text(const stream::Failed& failed) {
  return "failed " + std::string(to_string(failed.error.code)) + " " + quoted(failed.kind) + " " +
         quoted(failed.error.message) + (failed.error.path.empty() ? "" : " at " + failed.error.path);
}

struct Line {
  static std::string numbered(std::string_view word, std::uint64_t block) {
    return std::string(word) + " " + std::to_string(block);
  }
  std::string operator()(const stream::Start& e) const {
    return "start " + quoted(e.id) + " " + quoted(e.model);
  }
  std::string operator()(const stream::BlockStart& e) const {
    std::string out = numbered("block", e.block) + " " + std::string(to_string(e.type));
    if (!e.id.empty() || !e.name.empty()) out += " " + quoted(e.id) + " " + quoted(e.name);
    return out + (e.is_refusal ? " refusal" : "") + (e.is_custom ? " custom" : "");
  }
  std::string operator()(const stream::Delta& e) const {
    constexpr std::string_view kKinds[] = {"text", "thinking", "signature", "arguments", "json"};
    const bool is_replaced = e.replaces && e.kind != stream::DeltaKind::Signature;
    return numbered(is_replaced ? "replace" : "delta", e.block) + " " +
           std::string(kKinds[static_cast<std::size_t>(e.kind)]) + " " + quoted(e.text);
  }
  std::string operator()(const stream::BlockEnd& e) const { return numbered("end", e.block); }
  std::string operator()(const stream::UsageUpdate& e) const { return "usage" + to_text(e.usage); }
  std::string operator()(const stream::Unknown& e) const {
    return "unknown " + quoted(e.name) + " " + e.json.text().str();
  }
  std::string operator()(const stream::Done& e) const {
    return "done " + std::string(to_string(e.finish)) + " " + quoted(e.raw);
  }
  std::string operator()(const stream::Truncated&) const { return "truncated"; }
  std::string operator()(const stream::Failed& e) const { return to_text(e); }
};

std::string to_text(const Block& block) {
  if (const auto* text = block.as<TextBlock>())
    return (text->is_refusal ? "refusal " : "text ") + quoted(text->text);
  if (const auto* thinking = block.as<ThinkingBlock>()) {
    const std::string signature =
        thinking->signature.empty() ? "" : " signature " + quoted(thinking->signature);
    return "thinking " + quoted(thinking->thinking) + signature + " origin " + thinking->origin.str();
  }
  if (const auto* use = block.as<ToolUseBlock>()) {
    return (use->is_custom ? "custom_use " : "tool_use ") + quoted(use->id) + " " + quoted(use->name) + " " +
           quoted(use->arguments);
  }
  if (const auto* raw = block.as<RawBlock>())
    return "raw " + raw->dialect.str() + " " + raw->json.text().str();
  return std::string(to_string(block.type()));
}

}  // namespace

std::string to_line(const StreamEvent& event) { return std::visit(Line{}, event); }

std::string to_lines(const Accumulated& accumulated) {
  std::string out;
  for (const Block& block : accumulated.message.blocks()) out += to_text(block) + "\n";
  for (const Note& note : accumulated.notes) {
    out += "note " + std::string(note.code) + " " + std::to_string(note.block_index.value_or(0)) + " " +
           quoted(note.detail) + "\n";
  }
  const Outcome& outcome = accumulated.outcome;
  out += "outcome " + quoted(outcome.id) + " " + quoted(outcome.model) + " " +
         std::string(accumulated.is_truncated ? "truncated" : to_string(outcome.finish)) + " " +
         quoted(outcome.raw_finish) + to_text(outcome.usage) + "\n";
  return out;
}

Transcript transcript_of(Dialect dialect, const std::vector<std::string_view>& pieces,
                         const StreamLimits& limits) {
  Transcript out;
  Accumulator accumulator(dialect);
  StreamReader reader = StreamReader::of(dialect, limits).value();
  const OnStreamEvent add = [&](const StreamEvent& event) {
    out.events += to_line(event) + "\n";
    accumulator.add(event);
  };
  for (const std::string_view piece : pieces) reader.feed(piece, add);
  reader.finish(add);
  out.message = to_lines(accumulator.take());
  return out;
}

Dialect any_dialect_named(std::string_view name) {
  for (auto dialect = Dialect::Parley; dialect <= Dialect::ShareGPT;
       dialect = static_cast<Dialect>(static_cast<int>(dialect) + 1)) {
    if (to_string(dialect) == name) return dialect;
  }
  return Dialect::Parley;
}

}  // namespace parley::test
