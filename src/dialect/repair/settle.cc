#include "dialect/repair/settle.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "dialect/core/arrange.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"
#include "message/edit.h"
#include "parley/dialect/rules.h"

namespace parley::dialect {
namespace {

class Settler {
 public:
  Settler(const Conversation& conversation, Dialect target)
      : out_{conversation, {}},
        target_(target),
        messages_(conversation.messages().begin(), conversation.messages().end()),
        positions_(messages_.size()) {
    std::iota(positions_.begin(), positions_.end(), std::size_t{0});
  }

  Repairing run() {
    const std::set<std::size_t> nameless = calls_without_ids();
    if (!nameless.empty()) rewrite(nameless, "calls and results of other messages have ids now");
    look_and_answer();
    // First what is found alone, then all that was read in the target's dialect: its writer knows the rules.
    attempt([&] { rewrite(at_fault()); });
    attempt([&] { rewrite(all()); });
    attempt([&] { rewrite_envelope(); });
    attempt([&] {
      rewrite(all());
      rewrite_envelope();
    });
    attempt([&] { drop_raw_system(); });
    attempt([&] { drop_raw(/*all=*/false); });
    attempt([&] { drop_raw(/*all=*/true); });
    return std::move(out_);
  }

 private:
  // Takes a step back that does not help.
  template <typename Step>
  void attempt(Step&& step) {
    if (findings_.empty()) return;
    const Repairing out = out_;
    const std::vector<Message> messages = messages_;
    const std::vector<std::size_t> positions = positions_;
    const std::vector<Finding> found = findings_;
    step();
    look_and_answer();
    if (findings_.size() < found.size()) return;
    out_ = out;
    messages_ = messages;
    positions_ = positions;
    findings_ = found;
  }

  // There must be something to answer.
  void look_and_answer() {
    look();
    if (has_messages_) return;
    add_user();
    look();
  }

  void note(std::string_view code, Severity severity, std::string_view action,
            std::optional<std::size_t> message, Text detail) {
    if (message) message = positions_[*message];
    out_.notes.push_back(
        {code, severity, message, std::nullopt, to_string(target_), action, std::move(detail)});
  }

  // Finds what the target refuses of the conversation as it is now.
  void look() {
    out_.conversation.set_messages(messages_);
    findings_.clear();
    has_messages_ = true;
    const auto writing = write(out_.conversation, target_, {.keep = false});
    const auto document = writing ? Json::parse(writing->text) : fail(Code::Invalid, "");
    if (!document) return;
    findings_ = check_rules(*document, target_);
    std::erase_if(findings_, [](const Finding& finding) { return finding.level != FindingLevel::Error; });
    has_messages_ = !needs_messages() || !is_empty(*document);
  }

  bool needs_messages() const {
    const ProviderTraits* traits = format_of(target_).traits;
    return traits != nullptr && traits->needs_messages;
  }

  bool is_empty(const Json& document) const {
    const auto reading = read(document.text(), target_, {.limits = kNoLimits});
    if (!reading || reading->conversation.size() != 0) return false;
    // Part of a conversation may be with the server.
    const bool is_elsewhere = known(document, "previous_response_id") || known(document, "conversation") ||
                              known(document, "prompt");
    return !is_elsewhere;
  }

  static bool has_made_up_ids(const Message& message) {
    const Arena& arena = Arena::of(message);
    return std::ranges::any_of(arena.blocks(Arena::record_of(message)), [&](const BlockRecord& block) {
      const bool has_id = block.type == BlockType::ToolUse || block.type == BlockType::ToolResult;
      return has_id && block.id().present() && is_made_up(arena.bytes(block.id()));
    });
  }

  // Messages of the target's own whose calls and results are identified by their order, where others that
  // were built anew have ids.
  std::set<std::size_t> calls_without_ids() const {
    std::set<std::size_t> own;
    bool has_other = false;
    const ProviderTraits* traits = format_of(target_).traits;
    const bool writes_none = traits != nullptr && !traits->writes_call_ids;
    for (std::size_t i = 0; i < messages_.size() && !writes_none; ++i) {
      if (!has_made_up_ids(messages_[i])) continue;
      if (is_own(i)) own.insert(i);
      if (!is_own(i)) has_other = true;
    }
    return has_other ? own : std::set<std::size_t>();
  }

  bool is_own(std::size_t i) const {
    return is_wire_of(messages_[i], target_) || stored_patch(messages_[i], target_).has_value();
  }

  std::set<std::size_t> all() const {
    std::set<std::size_t> out;
    for (std::size_t i = 0; i < messages_.size(); ++i) out.insert(i);
    return out;
  }

  // Where all messages go back as they were read, the findings name them; else each is asked alone. Where
  // calls have no ids, they are identified by their order, which all messages must keep to.
  std::set<std::size_t> at_fault() const {
    std::set<std::size_t> out;
    if (std::ranges::any_of(messages_, has_made_up_ids)) return all();
    const auto is_wire = [&](const Message& message) { return is_wire_of(message, target_); };
    if (std::ranges::all_of(messages_, is_wire)) {
      for (const Finding& finding : findings_) out.insert(finding.message_index);
      return out;
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (!is_wire(messages_[i])) continue;
      const auto found = check_rules(*messages_[i].wire(), target_);
      if (std::ranges::any_of(found, [](const Finding& each) { return each.level == FindingLevel::Error; })) {
        out.insert(i);
      }
    }
    return out;
  }

  // Builds messages anew from what they say.
  void rewrite(const std::set<std::size_t>& which,
               std::string_view reason = "the target refuses the message as it was") {
    std::vector<Message> kept;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (!which.contains(i) || !is_own(i)) {
        kept.push_back(messages_[i]);
        positions.push_back(positions_[i]);
        continue;
      }
      const bool is_silent = says_nothing(messages_[i]);
      if (is_silent && messages_[i].role() == Role::Assistant) {
        says_more(messages_[i])
            ? note("message_dropped", Severity::Major, "dropped", i, "the target cannot carry this message")
            : note("empty_dropped", Severity::Info, "dropped", i,
                   "an assistant's message that says nothing is left out");
        continue;
      }
      note(is_silent ? "empty_filled" : "message_rewritten", Severity::Info,
           is_silent ? "minted" : "rewritten", i,
           is_silent ? Text("an empty message gets the text '(empty message)'")
                     : said(std::string(reason) + "; it is written anew"));
      if (Arena::record_of(messages_[i]).has(MessageRecord::kHasMore)) {
        note("member_dropped", Severity::Minor, "dropped", i,
             "members outside the canonical form are left out");
      }
      MessageBuilder builder = MessageBuilder::like(messages_[i]);
      is_silent ? builder.content(Text("(empty message)")) : builder.same_shape(messages_[i].blocks());
      kept.push_back(builder.build().value_or(messages_[i]));
      positions.push_back(positions_[i]);
    }
    messages_ = std::move(kept);
    positions_ = std::move(positions);
  }

  bool is_refused(const Message& message) const {
    return std::ranges::any_of(to_dicts(message, target_), [&](const Json& dict) {
      return std::ranges::any_of(check_rules(dict, target_),
                                 [](const Finding& each) { return each.level == FindingLevel::Error; });
    });
  }

  // In results, too.
  std::size_t erase_raw(std::vector<Block>& blocks) const {
    std::size_t erased = std::erase_if(blocks, [&](const Block& block) {
      return block.type() == BlockType::Raw && block.as<RawBlock>()->dialect.view() == to_string(target_);
    });
    for (Block& block : blocks) {
      auto* result = std::get_if<ToolResultBlock>(&static_cast<BlockVariant&>(block));
      auto* list = result == nullptr ? nullptr : std::get_if<std::vector<Block>>(&result->output);
      if (list != nullptr) erased += erase_raw(*list);
    }
    return erased;
  }

  // Blocks of the target's own that Parley does not know, in messages that cannot hold them. A message of
  // nothing else is left out.
  void drop_raw(bool all) {
    std::vector<Message> left;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      std::vector<Block> kept = messages_[i].blocks();
      const bool is_whole = (!all && !is_refused(messages_[i])) || erase_raw(kept) == 0;
      if (!is_whole) {
        note("raw_dropped", Severity::Major, "dropped", i,
             kept.empty() ? Text("the target refuses this raw block here; the message is left out")
                          : Text("the target refuses this raw block here"));
        if (kept.empty()) continue;
      }
      MessageBuilder builder = MessageBuilder::like(messages_[i]);
      left.push_back(is_whole ? messages_[i]
                              : builder.blocks(std::move(kept)).build().value_or(messages_[i]));
      positions.push_back(positions_[i]);
    }
    messages_ = std::move(left);
    positions_ = std::move(positions);
  }

  // The request around the messages, from what it says.
  void rewrite_envelope() {
    Conversation& conversation = out_.conversation;
    const Arena* document = conversation.document().get();
    const bool is_own_envelope = document != nullptr && conversation.envelope_is_intact() &&
                                 document->dialect() == tag(target_) &&
                                 document->shape() == DocumentShape::Envelope;
    if (!is_own_envelope) return;
    conversation.set_settings(conversation.settings());  // it is not as it was read any more
    note(
        "envelope_rewritten", Severity::Minor, "rewritten", std::nullopt,
        "the target refuses the request as it was; it is written anew, without members Parley does not know");
  }

  void drop_raw_system() {
    Conversation& conversation = out_.conversation;
    if (!conversation.system()) return;
    std::vector<Block> kept = conversation.system()->blocks();
    if (erase_raw(kept) == 0) return;
    rewrite_envelope();
    note("raw_dropped", Severity::Major, "dropped", std::nullopt,
         "the target refuses a raw block of the system part");
    std::optional<Message> system;
    if (!kept.empty())
      system = MessageBuilder(Role::System).anonymous().blocks(std::move(kept)).build().value();
    conversation.set_system(std::move(system));
  }

  void add_user() {
    note("user_added", Severity::Info, "minted", std::nullopt,
         "the request has no messages; a user message '(empty message)' is added");
    messages_.push_back(*MessageBuilder(Role::User).anonymous().content(Text("(empty message)")).build());
    positions_.push_back(positions_.empty() ? 0 : positions_.back());  // it follows the last message
    out_.conversation.set_messages(messages_);
  }

  Repairing out_;
  Dialect target_;
  std::vector<Message> messages_;
  std::vector<std::size_t> positions_;  // of the messages in the conversation
  std::vector<Finding> findings_;
  bool has_messages_ = true;
};

// Takes messages apart that the target would need several for.
class Straightener {
 public:
  Straightener(const Conversation& conversation, Dialect target)
      : messages_(conversation.messages()), target_(target), out_{conversation, {}, {}} {}

  Straight run() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const bool is_own = is_wire_of(messages_[i], target_) || stored_patch(messages_[i], target_);
      if (is_own || !take_apart(i)) put(i, messages_[i]);
    }
    if (!out_.notes.empty()) out_.conversation.set_messages(std::move(placed_));
    return std::move(out_);
  }

 private:
  void put(std::size_t source, Message message) {
    placed_.push_back(std::move(message));
    out_.sources.push_back(source);
  }

  void note(std::string_view code, Severity severity, std::string_view action, std::size_t i, Text detail) {
    out_.notes.push_back({code, severity, i, std::nullopt, to_string(target_), action, std::move(detail)});
  }

  static bool is_result(const Block& block) { return block.type() == BlockType::ToolResult; }
  static bool is_said(const Block& block) { return !is_result(block); }

  // Some results are still to come: nothing may be said after those that are here.
  static bool has_open_calls(const std::vector<Block>& blocks) {
    const auto calls = std::ranges::count(blocks, BlockType::ToolUse, &Block::type);
    const auto results = std::ranges::count_if(blocks, is_result);
    return results != 0 && results < calls;
  }

  // False if the message stays as it is.
  bool take_apart(std::size_t i) {
    const Message& message = messages_[i];
    if (!is_assistants(message)) return false;
    std::vector<Block> blocks = message.blocks();
    const bool is_other = message.role() != Role::Assistant;
    const bool is_mixed = !std::ranges::is_partitioned(blocks, is_said);
    if (!is_other && !is_mixed) return false;
    if (is_mixed && has_open_calls(blocks)) std::ranges::stable_partition(blocks, is_said);
    if (is_other) {
      note("role_mapped", Severity::Info, "mapped", i,
           "only an assistant asks for tools, so it is one's message");
    }
    if (is_mixed) {
      note("message_split", Severity::Info, "split", i,
           "what was said before and after results stands apart");
    }
    if (has_more(message)) {
      note("member_dropped", Severity::Minor, "dropped", i,
           "members outside the canonical form are left out");
    }
    for (auto from = blocks.begin(); from != blocks.end();) {
      const bool results = is_result(*from);
      const auto to = std::find_if(from, blocks.end(), results ? is_said : is_result);
      MessageBuilder builder(results ? Role::Tool : Role::Assistant);
      if (from == blocks.begin() && !is_other) builder = MessageBuilder::like(message);
      if (from != blocks.begin() || is_other) builder.anonymous();
      if (const auto name = message.name(); name && !results) builder.name(*name);
      put(i, builder.blocks({from, to}).build().value_or(message));
      from = to;
    }
    return true;
  }

  std::span<const Message> messages_;
  Dialect target_;
  Straight out_;
  std::vector<Message> placed_;
};

}  // namespace

Straight straighten(const Conversation& conversation, Dialect target) {
  return Straightener(conversation, target).run();
}

Repairing settle(const Conversation& conversation, Dialect target) {
  const bool is_request =
      conversation.shape() == DocumentShape::List || conversation.shape() == DocumentShape::Envelope;
  if (!is_request) return {conversation, {}};
  return Settler(conversation, target).run();
}

}  // namespace parley::dialect
