#include "cli/llm_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "parley/media/data_url.h"
#include "store/sqlite/db.h"

namespace parley::cli {
namespace {

using Visit = std::function<Result<void>(const LlmConversation&)>;

Note left_out(Severity severity, std::string_view code, std::string_view what) {
  return {.code = code,
          .severity = severity,
          .message_index = {},
          .block_index = {},
          .dialect = "parley",
          .action = "dropped",
          .detail = Text(what)};
}

Result<bool> has_table(store::Db& db, std::string_view name) {
  PARLEY_TRY(store::Query q, db.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1"));
  return q.bind_text(1, name).step();
}

// ---- Threads, from 0.36

// Reads the messages of one thread.
class Thread {
 public:
  Thread(store::Db& db, LlmConversation& conversation) : db_(db), conversation_(conversation) {}

  Result<void> read(std::string tip) {
    struct Row {
      std::string hash, role;
    };
    std::vector<Row> rows;
    std::set<std::string> seen;
    while (!tip.empty()) {
      if (!seen.insert(tip).second) return damaged("its messages form a cycle", tip);
      PARLEY_TRY(store::Query q,
                 db_.query("SELECT role, coalesce(parent_hash, '') FROM messages WHERE hash = ?1"));
      PARLEY_TRY(const bool has_row, q.bind_text(1, tip).step());
      if (!has_row) return damaged("message not found", tip);
      rows.push_back({tip, std::string(q.text(0))});
      tip = q.text(1);
    }
    PARLEY_CHECK(note_other_branches(seen));
    for (auto row = rows.rbegin(); row != rows.rend(); ++row)
      PARLEY_CHECK(read_message(row->hash, row->role));
    if (metadata_ > 0) {
      conversation_.notes.push_back(
          left_out(Severity::Minor, "metadata_dropped",
                   fmt::format("provider metadata of {} parts is left out", metadata_)));
    }
    return {};
  }

 private:
  std::unexpected<Error> damaged(std::string_view what, std::string_view where) const {
    return fail(Code::Damaged,
                fmt::format("thread {} cannot be read: {} ({})", conversation_.id, what, where));
  }

  // A regenerated answer is not among the messages of the thread.
  Result<void> note_other_branches(const std::set<std::string>& seen) {
    PARLEY_TRY(store::Query q,
               db_.query("SELECT coalesce(tip_message_hash, '') FROM turns WHERE thread_id = ?1"));
    q.bind_text(1, conversation_.id);
    std::set<std::string> others;
    while (true) {
      PARLEY_TRY(const bool has_row, q.step());
      if (!has_row) break;
      if (!q.text(0).empty() && !seen.contains(std::string(q.text(0)))) others.emplace(q.text(0));
    }
    if (others.empty()) return {};
    conversation_.notes.push_back(left_out(
        Severity::Major, "branch_dropped",
        fmt::format("{} abandoned answers of thread {} are left out", others.size(), conversation_.id)));
    return {};
  }

  // A message without an id and a time, so that the same log always gives the same records.
  Result<void> read_message(const std::string& hash, const std::string& role) {
    Result<MessageBuilder> message = MessageBuilder::with_role(role);
    if (!message) return damaged(message.error().message, hash);
    std::vector<Block> blocks;
    PARLEY_TRY(store::Query q,
               db_.query("SELECT type, text, payload FROM parts WHERE message_hash = ?1 ORDER BY position"));
    q.bind_text(1, hash);
    while (true) {
      PARLEY_TRY(const bool has_row, q.step());
      if (!has_row) break;
      const Result<Json> payload = Json::parse(q.is_null(2) ? "{}" : q.text(2));
      if (!payload || !payload->is_object())
        return damaged("the payload of a part is not a JSON object", hash);
      PARLEY_CHECK(read_part(q.text(0), q.is_null(1) ? std::nullopt : std::optional(Text(q.text(1))),
                             *payload, hash, blocks));
    }
    message->anonymous();
    const auto* text = blocks.size() == 1 ? blocks[0].as<TextBlock>() : nullptr;
    text != nullptr ? message->content(text->text) : message->blocks(std::move(blocks));
    PARLEY_TRY(Message built, message->build());
    conversation_.messages.push_back(std::move(built));
    return {};
  }

  Result<void> read_part(std::string_view type, std::optional<Text> text, const Json& payload,
                         const std::string& hash, std::vector<Block>& out) {
    if (payload.get("provider_metadata")) ++metadata_;
    if (!text) {
      PARLEY_TRY(text, text_of(payload, hash));
    }
    if (type == "text") {
      out.emplace_back(TextBlock{*text});
    } else if (type == "reasoning") {
      // Without a text it only records that the model thought.
      if (!text->view().empty()) out.emplace_back(ThinkingBlock{*text});
    } else if (type == "tool_call") {
      out.emplace_back(tool_use(payload));
    } else if (type == "tool_result") {
      PARLEY_TRY(Block result, tool_result(payload, hash));
      out.push_back(std::move(result));
    } else if (type == "attachment") {
      const std::optional<Json> reference = payload.get("attachment");
      if (reference) PARLEY_CHECK(read_attachment(*reference, hash, out));
    } else {
      return damaged(fmt::format("unknown part type '{}'", type), hash);
    }
    return {};
  }

  // {"text_ref": [{"literal": "..."}, {"fragment": 1}]}
  Result<Text> text_of(const Json& payload, const std::string& hash) {
    std::string out;
    const std::optional<Json> pieces = payload.get("text_ref");
    for (const Json& piece : pieces ? pieces->elements() : std::vector<Json>()) {
      if (const auto literal = piece.get("literal")) {
        out += literal->as_string().value_or(Text()).view();
        continue;
      }
      const auto fragment = piece.get("fragment");
      PARLEY_TRY(store::Query q, db_.query("SELECT content FROM fragments WHERE id = ?1"));
      PARLEY_TRY(const bool has_row, q.bind(1, fragment ? fragment->as_int64().value_or(-1) : -1).step());
      if (!has_row) return damaged("a text fragment is missing", hash);
      out += q.text(0);
    }
    return Text(out);
  }

  static Text string_in(const Json& object, std::string_view key) {
    const std::optional<Json> value = object.get(key);
    return value ? value->as_string().value_or(Text()) : Text();
  }

  // Some models send no id. A result then answers the first waiting call of its tool.
  Block tool_use(const Json& payload) {
    const Text name = string_in(payload, "name");
    Text id = string_in(payload, "tool_call_id");
    if (id.view().empty()) {
      id = Text(fmt::format("call-{}", ++calls_));
      waiting_.emplace_back(name, id);
    }
    const std::optional<Json> arguments = payload.get("arguments");
    return ToolUseBlock{id, name, arguments ? arguments->text() : Text("{}")};
  }

  Result<Block> tool_result(const Json& payload, const std::string& hash) {
    ToolResultBlock result{string_in(payload, "tool_call_id"), string_in(payload, "name"),
                           string_in(payload, "output")};
    if (result.id.view().empty()) {
      const auto call = std::ranges::find(waiting_, result.name, &std::pair<Text, Text>::first);
      if (call != waiting_.end()) {
        result.id = call->second;
        waiting_.erase(call);
      }
    }
    const std::optional<Json> exception = payload.get("exception");
    if (exception && exception->as_string()) {
      result.is_error = true;
      if (string_in(payload, "output").view().empty()) result.output = *exception->as_string();
    }
    const std::optional<Json> attachments = payload.get("attachments");
    if (!attachments) return result;
    std::vector<Block> parts = {TextBlock{string_in(payload, "output")}};
    for (const Json& reference : attachments->elements())
      PARLEY_CHECK(read_attachment(reference, hash, parts));
    result.output = std::move(parts);
    return result;
  }

  // {"id": "..."}: the bytes, a URL, or a path, whose file is not in the log.
  Result<void> read_attachment(const Json& reference, const std::string& hash, std::vector<Block>& out) {
    const Text id = string_in(reference, "id");
    PARLEY_TRY(store::Query q,
               db_.query("SELECT coalesce(type, ''), coalesce(path, ''), coalesce(url, ''), content "
                         "FROM attachments WHERE id = ?1"));
    PARLEY_TRY(const bool has_row, q.bind_text(1, id.view()).step());
    if (!has_row) return damaged("an attachment is missing", hash);
    const Text type = Text(q.text(0));
    MediaSource source;
    if (!q.blob(3).empty()) {
      source = Base64Source{type, Text(base64_encode(q.blob(3)))};
    } else if (!q.text(2).empty()) {
      source = URLSource{Text(q.text(2)), type};
    } else {
      conversation_.notes.push_back(
          left_out(Severity::Major, "attachment_dropped",
                   fmt::format("the log has only the name of the attached file {}", q.text(1))));
      return {};
    }
    const std::string_view kind = type.view().substr(0, type.view().find('/'));
    if (kind == "image") {
      out.emplace_back(ImageBlock{std::move(source)});
    } else if (kind == "audio") {
      out.emplace_back(AudioBlock{std::move(source)});
    } else if (kind == "video") {
      out.emplace_back(VideoBlock{std::move(source)});
    } else {
      out.emplace_back(DocumentBlock{std::move(source)});
    }
    return {};
  }

  store::Db& db_;
  LlmConversation& conversation_;
  std::size_t metadata_ = 0;                    // parts with metadata
  std::size_t calls_ = 0;                       // without an id
  std::vector<std::pair<Text, Text>> waiting_;  // calls without an id that have no result yet
};

Result<void> each_thread(store::Db& db, const Visit& visit) {
  PARLEY_TRY(store::Query q,
             db.query("SELECT id, tip_message_hash FROM threads WHERE tip_message_hash IS NOT NULL "
                      "ORDER BY id"));
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return {};
    LlmConversation conversation{.id = std::string(q.text(0)), .messages = {}, .notes = {}};
    PARLEY_CHECK(Thread(db, conversation).read(std::string(q.text(1))));
    PARLEY_CHECK(visit(conversation));
  }
}

// ---- Responses, up to 0.35

Result<Message> text_message(Role role, std::string_view text) {
  return MessageBuilder(role).anonymous().content(Text(text)).build();
}

// The other content of the older tables.
struct Beside {
  std::string_view table, what;
  const char* count;
};
constexpr Beside kBeside[] = {
    {"tool_calls", "tool calls", "SELECT count(*) FROM tool_calls"},
    {"tool_results", "tool results", "SELECT count(*) FROM tool_results"},
    {"prompt_attachments", "attachments", "SELECT count(*) FROM prompt_attachments"},
    {"prompt_fragments", "fragments of prompts", "SELECT count(*) FROM prompt_fragments"},
    {"system_fragments", "fragments of system prompts", "SELECT count(*) FROM system_fragments"},
};

Result<void> note_left_out(store::Db& db, LlmConversation& conversation) {
  for (const Beside& each : kBeside) {
    PARLEY_TRY(const bool is_there, has_table(db, each.table));
    if (!is_there) continue;
    PARLEY_TRY(const std::int64_t count, db.number(each.count));
    if (count == 0) continue;
    conversation.notes.push_back(
        left_out(Severity::Major, "content_dropped",
                 fmt::format("{} {} of the older tables are left out", count, each.what)));
  }
  return {};
}

Result<void> each_response_conversation(store::Db& db, bool has_threads, const Visit& visit) {
  // A conversation that 0.36 continued is a thread, which has all of it.
  PARLEY_TRY(store::Query q,
             has_threads
                 ? db.query("SELECT coalesce(conversation_id, id), coalesce(system, ''), "
                            "coalesce(prompt, ''), coalesce(response, '') FROM responses "
                            "WHERE coalesce(conversation_id, id) NOT IN (SELECT id FROM threads WHERE "
                            "tip_message_hash IS NOT NULL) AND id NOT IN (SELECT id FROM turns) "
                            "ORDER BY coalesce(conversation_id, id), datetime_utc, id")
                 : db.query("SELECT coalesce(conversation_id, id), coalesce(system, ''), "
                            "coalesce(prompt, ''), coalesce(response, '') FROM responses "
                            "ORDER BY coalesce(conversation_id, id), datetime_utc, id"));
  LlmConversation conversation;
  PARLEY_CHECK(note_left_out(db, conversation));
  std::string system;
  const auto end_conversation = [&]() -> Result<void> {
    if (conversation.messages.empty()) return {};
    PARLEY_CHECK(visit(conversation));
    conversation.messages.clear();
    conversation.notes.clear();
    system.clear();
    return {};
  };
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return end_conversation();
    if (q.text(0) != conversation.id) {
      PARLEY_CHECK(end_conversation());
      conversation.id = q.text(0);
    }
    if (!q.text(1).empty() && q.text(1) != system) {
      system = q.text(1);
      PARLEY_TRY(Message message, text_message(Role::System, system));
      conversation.messages.push_back(std::move(message));
    }
    PARLEY_TRY(Message asked, text_message(Role::User, q.text(2)));
    conversation.messages.push_back(std::move(asked));
    PARLEY_TRY(Message answered, text_message(Role::Assistant, q.text(3)));
    conversation.messages.push_back(std::move(answered));
  }
}

}  // namespace

bool is_sqlite_file(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  // Reading from a pipe would consume its data.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::string head(kMagic.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kMagic;
}

Result<void> for_each_llm_conversation(const std::string& path, const Visit& visit) {
  // The file belongs to another program: it is not changed, and nothing is created beside it unless it has a
  // write-ahead log.
  std::error_code ignored;
  const bool has_log = std::filesystem::file_size(path + "-wal", ignored) > 0 && !ignored;
  const auto mode = has_log ? store::Db::Mode::ReadOnly : store::Db::Mode::Immutable;
  PARLEY_TRY(store::Db db, store::Db::open(path, mode));
  PARLEY_TRY(const bool has_responses, has_table(db, "responses"));
  PARLEY_TRY(const bool has_threads, has_table(db, "threads"));
  if (!has_responses && !has_threads) return fail(Code::Invalid, "the database has no tables of llm");
  std::size_t count = 0;
  const Visit counting = [&](const LlmConversation& conversation) {
    ++count;
    return visit(conversation);
  };
  if (has_responses) PARLEY_CHECK(each_response_conversation(db, has_threads, counting));
  if (has_threads) PARLEY_CHECK(each_thread(db, counting));
  if (count == 0) return fail(Code::Invalid, "the logs of llm contain no conversation");
  return {};
}

}  // namespace parley::cli
