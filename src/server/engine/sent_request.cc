#include "server/engine/sent_request.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "memory/delta.h"
#include "memory/stored_message.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "parley/memory/memory.h"
#include "server/engine/turn_records.h"

namespace parley::server {
namespace {

bool has_signed_thinking(const Message& message) {
  for (const Block& block : message.get_content_blocks(BlockType::Thinking)) {
    if (!std::get<ThinkingBlock>(block).signature.empty()) return true;
  }
  return false;
}

// Signed thinking is bound to everything before it: behind a cut a provider refuses it. The message stays.
Result<std::vector<Message>> without_thinking(std::vector<Message> messages) {
  for (Message& message : messages) {
    if (!has_signed_thinking(message)) continue;
    std::vector<Block> blocks = message.blocks();
    std::erase_if(blocks, [](const Block& block) { return block.type() == BlockType::Thinking; });
    PARLEY_TRY(message, MessageBuilder::like(message).blocks(std::move(blocks)).build());
  }
  return messages;
}

// Positions as runs: 3, 4, 5, 9 gives [3, 6), [9, 10).
void put_runs(json::Writer& w, const std::vector<std::size_t>& positions) {
  w.begin_array();
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t end = i + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
    w.begin_array().number(static_cast<std::int64_t>(positions[i]));
    w.number(static_cast<std::int64_t>(positions[end - 1] + 1)).end_array();
    i = end;
  }
  w.end_array();
}

Result<std::vector<std::size_t>> runs_in(const Json& list) {
  std::vector<std::size_t> out;
  for (const Json& run : list.elements()) {
    const std::vector<Json> ends = run.elements();
    const std::int64_t first = ends.size() == 2 ? ends[0].as_int64().value_or(-1) : -1;
    const std::int64_t last = ends.size() == 2 ? ends[1].as_int64().value_or(-1) : -1;
    constexpr std::int64_t kMost = 10'000'000;
    if (first < 0 || last < first || last > kMost)
      return fail(Code::Damaged, "the recipe of a request is damaged");
    for (std::int64_t i = first; i < last; ++i) out.push_back(static_cast<std::size_t>(i));
  }
  return out;
}

Result<Json> frame_of(const Conversation& conversation) {
  Conversation frame = conversation;
  frame.set_messages({});
  frame.set_shape(DocumentShape::Envelope);
  PARLEY_TRY(const Writing written, write(frame, Dialect::Parley));
  return Json::parse(written.text);
}

// The messages of a session since the last clear, up to `size` records, and the newest summary among them.
struct Log {
  std::vector<Message> messages;
  std::optional<Message> summary;
};
Result<Log> read_log(store::Store& store, const store::SessionKey& key, store::Position size) {
  Log out;
  for (store::Position at = 0; at < size;) {
    PARLEY_TRY(const store::Page page,
               store.read(key, {.first = at, .count = static_cast<std::size_t>(size - at)}));
    if (page.records.empty()) return fail(Code::Damaged, "the session became shorter while it was read");
    std::size_t first = 0;
    for (std::size_t i = 0; i < page.records.size(); ++i) {
      if (!memory::is_clear(page.records[i])) continue;
      out = {};
      first = i + 1;
    }
    const std::span records = std::span(page.records).subspan(first);
    PARLEY_TRY(std::vector<Message> messages, to_messages(records));
    std::ranges::move(messages, std::back_inserter(out.messages));
    for (const store::StoredRecord& record : records) {
      if (record.kind != store::RecordKind::Summary) continue;
      PARLEY_TRY(const Json body, Json::parse(record.body));
      PARLEY_TRY(out.summary, from_dict(body.get("message").value_or(Json()), Dialect::Parley));
    }
    at += page.records.size();
  }
  return out;
}

}  // namespace

Result<ComposedRequest> compose(const Memory& memory, const TurnRequest& turn, const ModelInfo& model,
                                std::size_t hidden) {
  ComposedRequest out;
  const std::vector<std::size_t> positions = memory.window_positions();
  const std::size_t missing = memory.log_size() - positions.size();
  // No thinking was signed with a hidden message before it.
  const bool is_cut = (missing != 0 && missing != hidden) || memory.summary();
  std::vector<Message> window = memory.window();
  const bool drops = is_cut && std::ranges::any_of(window, has_signed_thinking);
  if (drops) {
    PARLEY_TRY(window, without_thinking(std::move(window)));
  }
  Conversation& conversation = out.request.conversation;
  conversation.set_system(turn.system);
  conversation.set_tools(turn.tools);
  Settings settings;
  for (const auto& [setting, value] : turn.settings.all()) {
    if (setting != Setting::Model && setting != Setting::Stream && setting != Setting::StreamUsage) {
      settings.set(setting, value);
    }
  }
  conversation.set_settings(std::move(settings));
  out.request.stream = turn.is_streamed;
  PARLEY_TRY(const Json frame, frame_of(conversation));
  conversation.set_messages(std::move(window));

  json::Writer w;
  w.begin_object().key("model").string(model.provider.str() + "/" + model.name.str());
  w.key("dialect").string(to_string(model.dialect)).key("stream").boolean(turn.is_streamed).key("messages");
  put_runs(w, positions);
  if (const auto& summary = memory.summary()) {
    w.key("summary").number(static_cast<std::int64_t>(summary->first));
  }
  if (drops) w.key("without_thinking").boolean(true);
  if (memory.token_cost()) w.key("tokens").number(static_cast<std::int64_t>(memory.tokens()));
  out.recipe = w.key("frame").value(frame).end_object().take();
  return out;
}

Json sent_body(std::string_view sha256, std::size_t bytes) {
  json::Writer w;
  w.begin_object().key("sha256").string(sha256).key("bytes").number(static_cast<std::int64_t>(bytes));
  return w.end_object().take();
}

Result<SentRequest> rebuild(store::Store& store, ModelDirectory& models, const TurnKey& key) {
  PARLEY_TRY(const StoredTurn turn, read_turn(store, key));
  SentRequest out{.recipe = turn.begin.recipe};
  const Json& recipe = out.recipe;
  const auto string_of = [](const Json& object, std::string_view name) {
    return object.get(name).value_or(Json()).as_string().value_or(Text()).str();
  };
  if (turn.end && turn.end->sent) out.sha256 = string_of(*turn.end->sent, "sha256");
  out.model = string_of(recipe, "model");
  out.dialect = string_of(recipe, "dialect");
  PARLEY_TRY(const std::shared_ptr<Model> model, models.find(turn.begin.model));
  PARLEY_TRY(Reading frame, read(recipe.get("frame").value_or(Json()).text().view(), Dialect::Parley));
  PARLEY_TRY(const std::vector<std::size_t> positions, runs_in(recipe.get("messages").value_or(Json())));
  PARLEY_TRY(const Log log, read_log(store, key.session, turn.after_input));
  std::vector<Message> window;
  constexpr auto kNowhere = static_cast<std::size_t>(-1);
  const std::optional<Json> at = recipe.get("summary");
  std::size_t summary_at = at ? static_cast<std::size_t>(at->as_int64().value_or(0)) : kNowhere;
  const auto add_summary = [&] {
    if (log.summary) window.push_back(*log.summary);
    summary_at = kNowhere;
  };
  for (const std::size_t position : positions) {
    if (position >= log.messages.size())
      return fail(Code::Damaged, "the recipe names a message that does not exist");
    if (position >= summary_at) add_summary();
    window.push_back(log.messages[position]);
  }
  if (summary_at != kNowhere) add_summary();
  if (recipe.get("without_thinking")) {
    PARLEY_TRY(window, without_thinking(std::move(window)));
  }
  ModelRequest request{.conversation = std::move(frame.conversation)};
  request.conversation.set_messages(std::move(window));
  request.stream = recipe.get("stream").value_or(Json()).as_bool().value_or(true);
  PARLEY_TRY(out.body, model->body_of(request));
  out.is_identical = sha256_hex(out.body) == out.sha256;
  return out;
}

}  // namespace parley::server
