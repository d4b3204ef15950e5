#include "dialect/fit.h"

#include <algorithm>
#include <numeric>

#include "dialect/arrange.h"
#include "dialect/pieces.h"
#include "parley/base/data_url.h"

namespace parley::dialect {
namespace {

class Fitter {
 public:
  Fitter(const Conversation& conversation, const Format& format)
      : conversation_(conversation),
        format_(format),
        profile_(*format.profile),
        messages_(conversation.messages().begin(), conversation.messages().end()),
        positions_(messages_.size()) {
    std::iota(positions_.begin(), positions_.end(), std::size_t{0});
  }

  Repairing run() {
    for (const MediaLimit& limit : profile_.limits) limit_media(limit);
    if (profile_.ends_with_user) end_with_user();
    Repairing out{conversation_, {}};
    if (!notes_.empty()) out.conversation.set_messages(std::move(messages_));
    out.notes = std::move(notes_);
    return out;
  }

 private:
  void note(std::string_view code, Severity severity, std::string_view action, std::size_t message,
            std::optional<std::size_t> block, Text detail) {
    notes_.push_back({code, severity, positions_[message], block, to_string(format_.info.dialect), action,
                      std::move(detail)});
  }

  // ---- Media over a limit

  // A block of a message, or a block of the result that it is.
  struct Spot {
    std::size_t message, block;
    std::optional<std::size_t> child;
  };
  struct Found {
    std::vector<Spot> fitting;
    std::vector<Spot> large;
  };

  void limit_media(const MediaLimit& limit) {
    Found all;
    std::vector<Spot> many;
    const std::span<const Message> messages = messages_;
    for (std::size_t i = 0; i < messages.size();) {
      const std::size_t size = format_.group(messages.subspan(i));
      for (std::size_t k = i; k < i + size; ++k) find_media(limit, k, all);
      i += size;
      const bool is_counted = !limit.of_request || i == messages.size();
      if (!is_counted) continue;
      const std::size_t over = all.fitting.size() > limit.most ? all.fitting.size() - limit.most : 0;
      many.insert(many.end(), all.fitting.begin(), all.fitting.begin() + static_cast<std::ptrdiff_t>(over));
      all.fitting.clear();
    }
    const std::string type(to_string(limit.type));
    omit(all.large, type,
         said("the target takes no " + type + " of this size; a text says that it is missing"));
    omit(many, type,
         said("the target takes at most " + std::to_string(limit.most) + " of type " + type +
              "; a text says that it is missing"));
  }

  void find_media(const MediaLimit& limit, std::size_t message, Found& found) const {
    const Arena& arena = Arena::of(messages_[message]);
    const auto blocks = arena.blocks(Arena::record_of(messages_[message]));
    const Where where = is_assistants(messages_[message]) ? Where::Assistant : Where::User;
    const auto look = [&](const BlockRecord& media, Spot spot) {
      const bool goes_there = profile_.carries(arena, media, spot.child ? Where::Result : where);
      const bool is_sent = goes_there || (spot.child && profile_.carries(arena, media, Where::User));
      if (media.type != limit.type || !is_sent) return;
      (bytes_of(arena, media) > limit.most_bytes ? found.large : found.fitting).push_back(spot);
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].is_media()) look(blocks[i], {message, i, std::nullopt});
      const auto children = arena.children(blocks[i]);
      for (std::size_t k = 0; k < children.size(); ++k) {
        if (children[k].is_media()) look(children[k], {message, i, k});
      }
    }
  }

  static std::size_t bytes_of(const Arena& arena, const BlockRecord& media) {
    if (!is_inline(arena, media)) return 0;
    const std::string_view data = arena.bytes(media.data());
    const DataUrlParts url = split_data_url(data);
    return (url.is_base64 ? url.data : data).size() / 4 * 3;
  }

  void omit(std::span<const Spot> spots, const std::string& type, const Text& reason) {
    const TextBlock stand_in{said("[" + type + " omitted: limit]")};
    for (std::size_t i = 0; i < spots.size();) {
      const std::size_t message = spots[i].message;
      std::vector<Block> blocks = messages_[message].blocks();
      for (; i < spots.size() && spots[i].message == message; ++i) {
        const Spot& spot = spots[i];
        note("media_over_limit", Severity::Major, "replaced", message, spot.block, reason);
        BlockVariant& block = blocks[spot.block];
        auto* result = spot.child ? std::get_if<ToolResultBlock>(&block) : nullptr;
        (result == nullptr ? blocks[spot.block] : std::get<std::vector<Block>>(result->output)[*spot.child]) =
            stand_in;
      }
      rebuild(message, std::move(blocks));
    }
  }

  // The message with other blocks. What only its wire had is gone.
  void rebuild(std::size_t message, std::vector<Block> blocks) {
    if (Arena::record_of(messages_[message]).has(MessageRecord::kHasMore)) {
      note("member_dropped", Severity::Minor, "dropped", message, std::nullopt,
           "members outside the canonical form are left out");
    }
    auto built = MessageBuilder::like(messages_[message]).same_shape(std::move(blocks)).build();
    if (built) messages_[message] = *std::move(built);
  }

  // ---- The last message

  // A line of a file for training names no model, and ends as it ends.
  void end_with_user() {
    const bool is_request = conversation_.shape() == DocumentShape::Envelope &&
                            conversation_.settings().get(Setting::Model).has_value();
    if (!is_request || messages_.empty() || !is_assistants(messages_.back())) return;
    if (messages_.back().has_content_blocks({BlockType::ToolUse, BlockType::ToolResult})) return;
    note("prefill_unsupported", Severity::Minor, "added", messages_.size() - 1, std::nullopt,
         "the target does not go on with what the assistant said last; a user asks it to");
    messages_.push_back(*MessageBuilder(Role::User).anonymous().content(Text("Continue.")).build());
    positions_.push_back(positions_.back());
  }

  const Conversation& conversation_;
  const Format& format_;
  const Profile& profile_;
  std::vector<Message> messages_;
  std::vector<std::size_t> positions_;  // of the messages in the conversation
  std::vector<Note> notes_;
};

}  // namespace

Repairing fit(const Conversation& conversation, Dialect target) {
  const Format& format = format_of(target);
  if (format.profile == nullptr) return {conversation, {}};
  return Fitter(conversation, format).run();
}

}  // namespace parley::dialect
