#include <array>
#include <optional>
#include <string>

#include "message/arena.h"
#include "message/edit.h"
#include "parley/json/writer.h"
#include "parley/message/message.h"

namespace parley {
namespace {

constexpr std::string_view kMember = "provenance";
constexpr std::array<std::string_view, 3> kTrusts = {"untrusted", "user", "trusted"};

// What the metadata has under the name, if it has anything.
std::optional<Json> said(const Message& message) {
  const std::optional<Json> metadata = message.metadata();
  return metadata ? metadata->get(kMember) : std::nullopt;
}

Provenance from(const Json& entry) {
  const auto text = [&](std::string_view key) {
    const std::optional<Json> value = entry.get(key);
    return (value ? value->as_string() : std::nullopt).value_or(Text());
  };
  Provenance out{text("source"), Trust::Untrusted};
  const Text trust = text("trust");
  for (std::size_t i = 0; i < kTrusts.size(); ++i) {
    if (trust.view() == kTrusts[i]) out.trust = static_cast<Trust>(i);
  }
  return out;
}

Provenance by_role(const Arena& arena, const MessageRecord& message, const BlockRecord& block) {
  if (block.type == BlockType::ToolResult) {
    const Text name = arena.optional_string(block.name()).value_or(Text());
    if (name.empty()) return {Text("tool"), Trust::Untrusted};
    return {Text("tool:" + std::string(name)), Trust::Untrusted};
  }
  switch (message.role) {
    case Role::System:
    case Role::Developer:
      return {Text("system"), Trust::Trusted};
    case Role::User:
      return {Text("user"), Trust::User};
    case Role::Assistant:
      return {Text("model"), Trust::User};
    case Role::Tool:
      break;
  }
  return {Text("tool"), Trust::Untrusted};
}

bool is_about(const Json& entry, std::size_t block) {
  const std::optional<Json> index = entry.get("block");
  return index && index->as_int64() == static_cast<std::int64_t>(block);
}

// The metadata with the list of entries that no longer says anything else about `block`.
Json metadata_with(const Message& message, std::size_t block, const Provenance& provenance) {
  json::Writer out;
  out.begin_object();
  if (const std::optional<Json> metadata = message.metadata()) {
    for (const Json::Member& member : metadata->members()) {
      if (member.key.view() != kMember) out.key(member.key).value(member.value);
    }
  }
  out.key(kMember).begin_array();
  if (const std::optional<Json> list = said(message)) {
    for (const Json& entry : list->elements()) {
      if (!is_about(entry, block)) out.value(entry);
    }
  }
  out.begin_object().key("block").number(static_cast<std::int64_t>(block));
  out.key("source").string(provenance.source).key("trust").string(to_string(provenance.trust));
  out.end_object().end_array().end_object();
  return out.take();
}

}  // namespace

std::string_view to_string(Trust trust) { return kTrusts[static_cast<std::size_t>(trust)]; }

std::vector<Provenance> provenances(const Message& message) {
  const Arena& arena = Arena::of(message);
  const MessageRecord& record = Arena::record_of(message);
  const auto blocks = arena.blocks(record);
  std::vector<Provenance> out;
  out.reserve(blocks.size());
  for (const BlockRecord& block : blocks) out.push_back(by_role(arena, record, block));
  const std::optional<Json> list = said(message);
  if (!list) return out;
  bool is_good = list->is_array();
  for (const Json& entry : list->elements()) {
    const std::optional<Json> block = entry.get("block");
    const std::optional<std::int64_t> index = block ? block->as_int64() : std::nullopt;
    is_good = is_good && index;
    const bool is_there = index && *index >= 0 && static_cast<std::size_t>(*index) < out.size();
    if (is_there) out[static_cast<std::size_t>(*index)] = from(entry);
  }
  if (!is_good) out.assign(out.size(), Provenance{});
  return out;
}

Provenance provenance(const Message& message, std::size_t block) { return provenances(message)[block]; }

Result<Message> with_provenance(const Message& message, std::size_t block, const Provenance& provenance) {
  if (block >= message.blocks().size())
    return fail(Code::Invalid, "the message has no block " + std::to_string(block));
  if (const std::optional<Json> list = said(message); list && !list->is_array()) {
    return fail(Code::Invalid, "the metadata has a member 'provenance' that is not a list");
  }
  if (has_more(message)) {
    return fail(Code::Lossy, "cannot set the provenance: members of the message's wire would be lost");
  }
  return MessageBuilder::like(message).metadata(metadata_with(message, block, provenance)).build();
}

}  // namespace parley
