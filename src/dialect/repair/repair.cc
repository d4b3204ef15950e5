#include "parley/dialect/repair.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/hash.h"
#include "dialect/core/arrange.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"
#include "dialect/repair/provider_limits.h"
#include "dialect/repair/settle.h"
#include "dialect/repair/unique_ids.h"
#include "message/arena.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/rules.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Spot {
  std::size_t message = kNowhere;
  std::size_t block = 0;
  auto operator<=>(const Spot&) const = default;
};

// One call and what answers it.
struct Call {
  Spot spot;
  Text id, name;
  std::vector<Spot> results;  // in order; the last one counts
  bool placed = false;        // its result is already after it in the output
};

class Repairer {
 public:
  Repairer(const Conversation& conversation, const RepairOptions& options, bool parts_ids,
           bool answers_elsewhere)
      : messages_(conversation.messages()),
        options_(options),
        out_(conversation),
        parts_ids_(parts_ids),
        answers_elsewhere_(answers_elsewhere) {
    for (const Message& message : messages_) blocks_.push_back(message.blocks());
    changed_.resize(messages_.size());
  }

  Repairing run() {
    collect();
    rewrite_ids();
    merge_duplicates();
    for (std::size_t i = 0; i < messages_.size(); ++i) place(i);
    close_step(/*is_last=*/true);
    out_.set_messages(std::move(placed_));
    return {std::move(out_), std::move(notes_)};
  }

 private:
  template <typename T>
  const T* at(Spot spot) const {
    return blocks_[spot.message][spot.block].template as<T>();
  }
  template <typename T>
  T& edit(Spot spot) {
    changed_[spot.message] = true;
    return std::get<T>(static_cast<BlockVariant&>(blocks_[spot.message][spot.block]));
  }

  void note(std::string_view code, Severity severity, std::string_view action, Spot spot, Text detail) {
    const DialectTag tag = Arena::of(messages_[spot.message]).dialect();
    const std::string_view origin = to_string(tag == 0 ? dialect::kCanonical : static_cast<Dialect>(tag));
    notes_.push_back({code, severity, spot.message, spot.block, origin, action, std::move(detail)});
  }

  // Finds all calls and binds results to them: the nth result of an id to its nth call.
  void collect() {
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_id;
    std::map<std::string, std::size_t, std::less<>> answered;
    each_block([&](Spot spot) {
      if (const auto* use = at<ToolUseBlock>(spot)) {
        by_id[use->id.str()].push_back(calls_.size());
        calls_.push_back({spot, use->id, use->name, {}, false});
      }
    });
    each_block([&](Spot spot) {
      const auto* result = at<ToolResultBlock>(spot);
      if (result == nullptr) return;
      answered_by_[spot] = kNowhere;
      const auto known = by_id.find(result->id.view());
      if (known == by_id.end()) return;
      const std::size_t nth = std::min(answered[result->id.str()]++, known->second.size() - 1);
      calls_[known->second[nth]].results.push_back(spot);
      answered_by_[spot] = known->second[nth];
    });
  }

  template <typename F>
  void each_block(F&& f) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (std::size_t k = 0; k < blocks_[i].size(); ++k) f(Spot{i, k});
    }
  }

  void rewrite_ids() {
    std::map<std::string, int, std::less<>> used;
    for (Call& call : calls_) {
      const bool is_first = used[call.id.str()]++ == 0;
      if (!call.id.empty() && (is_first || !parts_ids_)) continue;
      std::string fresh;
      for (std::uint64_t salt = call.spot.message;; ++salt) {
        fresh = "call_" + encode_short_id(hash128(call.id, salt * 4096 + call.spot.block));
        if (used[fresh]++ == 0) break;
      }
      note("id_rewritten", Severity::Info, "rewritten", call.spot,
           "the id of the call was empty or used before");
      call.id = *Text::checked(std::move(fresh));
      edit<ToolUseBlock>(call.spot).id = call.id;
      for (const Spot& result : call.results) edit<ToolResultBlock>(result).id = call.id;
    }
  }

  static std::vector<Block> as_list(const ToolResultBlock& result) {
    if (const auto* list = std::get_if<std::vector<Block>>(&result.output)) return *list;
    if (const auto* text = std::get_if<Text>(&result.output)) return {TextBlock{*text}};
    return {};
  }

  void merge_duplicates() {
    for (Call& call : calls_) {
      if (call.results.size() < 2) continue;
      const Spot last = call.results.back();
      std::vector<Block> merged = as_list(*at<ToolResultBlock>(last));
      bool differs = false;
      for (std::size_t i = 0; i + 1 < call.results.size(); ++i) {
        note("duplicate_result", Severity::Info, "merged", call.results[i],
             "the call has a later result, which counts");
        const std::vector<Block> earlier = as_list(*at<ToolResultBlock>(call.results[i]));
        if (earlier == as_list(*at<ToolResultBlock>(last))) continue;
        merged.insert(merged.end(), earlier.begin(), earlier.end());
        differs = true;
      }
      if (differs) edit<ToolResultBlock>(last).output = std::move(merged);
      for (std::size_t i = 0; i + 1 < call.results.size(); ++i) gone_.insert(call.results[i]);
      call.results = {last};
    }
  }

  // Puts message i out, without the results that belong elsewhere.
  void place(std::size_t i) {
    if (!Arena::of(messages_[i]).continues_step(Arena::record_of(messages_[i]))) {
      close_step(/*is_last=*/false);
      step_ = i;
    }
    std::vector<Block> kept;
    for (std::size_t k = 0; k < blocks_[i].size(); ++k) {
      const Spot spot{i, k};
      if (at<ToolResultBlock>(spot) == nullptr || stays(spot)) {
        kept.push_back(blocks_[i][k]);
        continue;
      }
      changed_[i] = true;
      if (!gone_.contains(spot) && answered_by_[spot] == kNowhere) orphans_.push_back(spot);
    }
    const bool emptied = kept.empty() && !blocks_[i].empty();
    if (!emptied) put(i, std::move(kept));
  }

  // A result stays if its call is in the open step and nothing answered it yet.
  bool stays(Spot spot) {
    if (gone_.contains(spot)) return false;
    const std::size_t call = answered_by_[spot];
    if (call == kNowhere) return answers_elsewhere_;
    if (calls_[call].placed) return false;
    const Spot asked = calls_[call].spot;
    if (asked.message != step_ || (asked.message == spot.message && spot < asked)) return false;
    calls_[call].placed = true;
    return true;
  }

  void put(std::size_t i, std::vector<Block> kept) {
    if (!changed_[i]) {
      placed_.push_back(messages_[i]);
      return;
    }
    if (Arena::record_of(messages_[i]).has(MessageRecord::kHasMore)) {
      note("member_dropped", Severity::Minor, "dropped", {i, 0},
           "members outside the canonical form are left out");
    }
    MessageBuilder builder = MessageBuilder::like(messages_[i]);
    builder.blocks(std::move(kept));
    if (auto message = builder.build()) placed_.push_back(*std::move(message));
  }

  // Before the conversation continues, every call of the open step gets its result. Orphans follow: a user's
  // text must not come between a call and its results.
  void close_step(bool is_last) {
    // Calls are in the order of the messages.
    auto call = std::partition_point(calls_.begin(), calls_.end(),
                                     [&](const Call& c) { return c.spot.message < step_; });
    for (; step_ != kNowhere && call != calls_.end() && call->spot.message == step_; ++call) {
      if (call->placed) continue;
      if (call->results.empty()) {
        if (is_last && orphans_.empty() && !options_.complete_pending) continue;
        note("missing_result", Severity::Major, "added", call->spot,
             "the call was never answered; a result says so");
        put_result({call->id, call->name, Text("[No result was recorded for this call]"), true});
      } else {
        note("result_moved", Severity::Info, "moved", call->results.back(),
             "the result now follows its call");
        put_result(*at<ToolResultBlock>(call->results.back()));
      }
      call->placed = true;
    }
    for (const Spot& orphan : orphans_) put_orphan(orphan);
    orphans_.clear();
  }

  void put_result(ToolResultBlock result) {
    MessageBuilder builder(Role::Tool);
    builder.anonymous().name(result.name).block(std::move(result));
    placed_.push_back(*builder.build());
  }

  void put_orphan(Spot spot) {
    const auto& result = *at<ToolResultBlock>(spot);
    note("orphan_result", Severity::Major, "rewritten", spot, "a result without a call became a user's text");
    std::string head = result.id.empty() ? "[Result of a call" : "[Result of call " + result.id.str();
    if (!result.name.empty()) head += " (" + result.name.str() + ")";
    head += ", whose request is not part of this conversation]";
    std::vector<Block> said;
    for (Block& block : as_list(result)) {
      if (const auto* text = block.as<TextBlock>()) {
        head += "\n" + text->text.str();
      } else if (const auto* raw = block.as<RawBlock>()) {
        head += "\n" + raw->json.text().str();  // what a result holds need not be what a message may hold
      } else {
        said.push_back(std::move(block));
      }
    }
    MessageBuilder builder(Role::User);
    builder.anonymous();
    if (said.empty()) {
      builder.content(*Text::checked(std::move(head)));
    } else {
      said.insert(said.begin(), TextBlock{*Text::checked(std::move(head))});
      builder.blocks(std::move(said));
    }
    placed_.push_back(*builder.build());
  }

  std::span<const Message> messages_;
  RepairOptions options_;
  Conversation out_;
  bool parts_ids_;                          // calls that share an id get others
  bool answers_elsewhere_;                  // a result without a call answers one that the provider has
  std::vector<std::vector<Block>> blocks_;  // of each message, edited
  std::vector<bool> changed_;
  std::vector<Call> calls_;
  std::set<Spot> gone_;                      // results that a later one replaces
  std::vector<Spot> orphans_;                // waiting for the open step to end
  std::map<Spot, std::size_t> answered_by_;  // each result's call, or kNowhere
  std::vector<Message> placed_;
  std::vector<Note> notes_;
  std::size_t step_ = kNowhere;  // the message whose calls are open
};

}  // namespace

namespace {

// Whether calls that share an id, which their results answer in order, must have others.
bool needs_other_ids(std::span<const Message> messages, const RepairOptions& options) {
  if (!options.history) return false;
  if (!options.target || dialect::shares_ids_in_a_step(messages)) return true;
  const auto is_own = [&](const Message& message) { return dialect::is_wire_of(message, *options.target); };
  return dialect::finds_calls_by_id(*options.target) && !std::ranges::all_of(messages, is_own);
}

bool is_own_document(const Conversation& conversation, std::optional<Dialect> target) {
  return !target || static_cast<Dialect>(conversation.document()->dialect()) == *target;
}

Repairing repaired_history(const Conversation& conversation, const RepairOptions& options) {
  bool broken = false;
  bool pending = false;
  bool shares_ids = false;
  // A result may answer a call that the provider has, as long as the request stays with that provider.
  const bool stays_there = continues_elsewhere(conversation) && is_own_document(conversation, options.target);
  for (const Finding& finding : validate_history(conversation.messages())) {
    if (stays_there && finding.code == "orphan_result") continue;
    const bool is_shared = finding.code == "duplicate_call";
    (finding.level == FindingLevel::Error ? broken : is_shared ? shares_ids : pending) = true;
  }
  const bool parts_ids = shares_ids && (broken || needs_other_ids(conversation.messages(), options));
  const bool repairs = broken ? options.history : parts_ids || (pending && options.complete_pending);
  if (!repairs) return {conversation, {}};
  return Repairer(conversation, options, parts_ids, stays_there).run();
}

// Nothing that the message says has a place in the target. (Where a provider's writer finds that, it leaves
// the message out by itself.)
bool is_lost_to(const Message& message, Dialect target) {
  const bool is_provider = dialect::format_of(target).traits != nullptr;
  if (is_provider || target == dialect::kCanonical || dialect::is_wire_of(message, target)) return false;
  if (message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult})) return false;
  const std::vector<Json> dicts = to_dicts(message, target);
  return std::ranges::all_of(dicts, [&](const Json& dict) {
    const auto again = from_dict(dict, target, {.limits = dialect::kNoLimits});
    return again && dialect::says_nothing(*again);
  });
}

bool only_thinks(const Message& message) {
  const auto blocks = Arena::of(message).blocks(Arena::record_of(message));
  return std::ranges::all_of(blocks, [](const BlockRecord& block) {
    return block.type == BlockType::Thinking || block.type == BlockType::Text;
  });
}

// A message of the role tool without a result is a user's where it would be read as a result.
bool is_no_result(const Message& message, const RepairOptions& options) {
  return options.history && options.target && *options.target != dialect::kCanonical &&
         message.role() == Role::Tool && !dialect::is_wire_of(message, *options.target) &&
         !message.has_content_blocks({BlockType::ToolResult});
}

// The message has a signature that goes back to its provider.
bool is_signature(const Message& message, const std::optional<Dialect>& target) {
  return std::ranges::any_of(dialect::formats(), [&](const dialect::Format* format) {
    const Dialect origin = format->info.dialect;
    if (format->has_signature == nullptr) return false;
    if (target && *target != origin && *target != dialect::kCanonical) return false;
    const bool is_wire = dialect::is_wire_of(message, origin);
    const auto patch = is_wire ? std::nullopt : dialect::stored_patch(message, origin);
    const auto wire = is_wire ? message.wire() : patch ? patch->get("is") : std::nullopt;
    return wire && format->has_signature(*wire);
  });
}

// Rule 6. `sources` are the places that the messages left have in the conversation.
Repairing repaired_empty(const Conversation& conversation, const RepairOptions& options,
                         std::vector<std::size_t>& sources) {
  Repairing out{conversation, {}};
  const std::span<const Message> messages = conversation.messages();
  const bool is_refused = options.target && dialect::format_of(*options.target).refuses_empty;
  const auto* traits = options.target ? dialect::format_of(*options.target).traits : nullptr;
  const bool keeps_empty = traits != nullptr && traits->keeps_empty_answers;
  std::vector<Message> kept;
  kept.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const bool is_model = messages[i].role() == Role::Assistant;
    const DialectTag tag = Arena::of(messages[i]).dialect();
    const std::string_view origin = to_string(tag == 0 ? dialect::kCanonical : static_cast<Dialect>(tag));
    // The rules of a target decide about its own (settle.h).
    const bool is_own =
        options.target && dialect::is_wire_of(messages[i], *options.target) && (!is_model || keeps_empty);
    const bool is_empty = options.history && !is_own && dialect::says_nothing(messages[i]) &&
                          !is_signature(messages[i], options.target);
    const bool is_lost = options.history && options.target && is_model && !is_empty &&
                         is_lost_to(messages[i], *options.target);
    const bool has_more = is_empty && dialect::says_more(messages[i]);
    const bool has_no_place =
        has_more && options.target && (is_refused || !dialect::is_wire_of(messages[i], *options.target));
    if (is_model && (has_no_place || is_lost)) {
      const Severity severity = is_lost && only_thinks(messages[i]) ? Severity::Minor : Severity::Major;
      out.notes.push_back({"message_dropped", severity, i, std::nullopt, origin, "dropped",
                           "the target cannot carry this message"});
      continue;
    }
    if (is_empty && is_model && !has_more) {
      out.notes.push_back({"empty_dropped", Severity::Info, i, std::nullopt, origin, "dropped",
                           "an assistant's message that says nothing is left out"});
      continue;
    }
    sources.push_back(i);
    if (is_no_result(messages[i], options)) {
      out.notes.push_back({"role_mapped", Severity::Info, i, std::nullopt, origin, "mapped",
                           "a tool message without a result is written as a user message"});
      MessageBuilder builder(Role::User);
      builder.anonymous();
      is_empty ? builder.content(Text("(empty message)")) : builder.same_shape(messages[i].blocks());
      kept.push_back(builder.build().value_or(messages[i]));
      continue;
    }
    if (!is_empty || !is_refused) {
      kept.push_back(messages[i]);
      continue;
    }
    out.notes.push_back({"empty_filled", Severity::Info, i, std::nullopt, origin, "minted",
                         "an empty message gets the text '(empty message)'"});
    kept.push_back(*MessageBuilder::like(messages[i]).content(Text("(empty message)")).build());
  }
  if (!out.notes.empty()) out.conversation.set_messages(std::move(kept));
  return out;
}

// The rules for a target. A message that was left as it is has its place in the source still.
void fit_to_target(Repairing& repairing, const Conversation& source, Dialect target,
                   Repairing (*fit)(const Conversation&, Dialect)) {
  Repairing fitted = fit(repairing.conversation, target);
  if (fitted.notes.empty()) return;
  std::map<std::pair<const Arena*, std::uint32_t>, std::size_t> places;
  const auto key = [](const Message& message) {
    return std::pair(&Arena::of(message), Arena::index_of(message));
  };
  for (std::size_t i = 0; i < source.size(); ++i) places.emplace(key(source.messages()[i]), i);
  for (Note& note : fitted.notes) {
    if (note.message_index) {
      const auto place = places.find(key(repairing.conversation.messages()[*note.message_index]));
      note.message_index = place == places.end() ? std::nullopt : std::optional(place->second);
    }
    repairing.notes.push_back(std::move(note));
  }
  repairing.conversation = std::move(fitted.conversation);
}

}  // namespace

namespace {

Repairing repair_straight(const Conversation& conversation, const RepairOptions& options) {
  std::vector<std::size_t> sources;
  const Repairing filled = repaired_empty(conversation, options, sources);
  Repairing repairing = repaired_history(filled.conversation, options);
  for (Note& note : repairing.notes) {
    if (note.message_index) note.message_index = sources[*note.message_index];
  }
  repairing.notes.insert(repairing.notes.end(), filled.notes.begin(), filled.notes.end());
  // What the repair took results from may have nothing else to say.
  Repairing left = repaired_empty(repairing.conversation, options, sources);
  for (Note& note : left.notes) {
    note.message_index.reset();
    repairing.notes.push_back(std::move(note));
  }
  repairing.conversation = std::move(left.conversation);
  if (options.history && options.target) {
    fit_to_target(repairing, conversation, *options.target, dialect::fit);
    fit_to_target(repairing, conversation, *options.target, dialect::settle);
  }
  return repairing;
}

}  // namespace

namespace {

Repairing repair_once(const Conversation& conversation, const RepairOptions& options) {
  dialect::Straight straight = dialect::straighten(conversation, *options.target);
  Repairing repairing = repair_straight(straight.conversation, options);
  for (Note& note : repairing.notes) {
    if (note.message_index) note.message_index = straight.sources[*note.message_index];
  }
  repairing.notes.insert(repairing.notes.begin(), straight.notes.begin(), straight.notes.end());
  return repairing;
}

}  // namespace

Repairing repair(const Conversation& conversation, const RepairOptions& options) {
  if (!options.history || !options.target || *options.target == dialect::kCanonical) {
    return repair_straight(conversation, options);
  }
  Repairing repairing = repair_once(conversation, options);
  // A message that one rule built anew is not the target's own any more, so that another rule may be about
  // it.
  constexpr int kMostRounds = 4;
  for (int round = 1; round < kMostRounds && !repairing.notes.empty(); ++round) {
    Repairing again = repair_once(repairing.conversation, options);
    if (again.notes.empty()) break;
    for (Note& note : again.notes) {
      note.message_index.reset();
      repairing.notes.push_back(std::move(note));
    }
    repairing.conversation = std::move(again.conversation);
  }
  return repairing;
}

}  // namespace parley
