#include "cli/llm_log.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "store/sqlite_db.h"

namespace parley::cli {
namespace {

Text as_text(std::string_view bytes) { return Text::repaired(bytes); }

// A message without an id or a time of its own, so that the same log always gives the same records.
Result<Message> said(Role role, std::string_view text) {
  return MessageBuilder(role).anonymous().content(as_text(text)).build();
}

}  // namespace

bool is_sqlite_file(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  // Whoever looks into a pipe takes what is in it.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::string head(kMagic.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kMagic;
}

Result<void> each_llm_talk(const std::string& path,
                           const std::function<Result<void>(const LlmTalk&)>& visit) {
  PARLEY_TRY(store::Db db, store::Db::open(path, store::Db::Mode::Read));
  PARLEY_TRY(const std::int64_t tables,
             db.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'responses'"));
  if (tables == 0) return fail(Code::Invalid, "the database has no logs of llm", path);
  PARLEY_TRY(store::Query q, db.query("SELECT coalesce(conversation_id, id), coalesce(system, ''), "
                                      "coalesce(prompt, ''), coalesce(response, '') FROM responses "
                                      "ORDER BY coalesce(conversation_id, id), datetime_utc, id"));
  LlmTalk talk;
  std::string system;
  const auto end_talk = [&]() -> Result<void> {
    if (!talk.messages.empty()) PARLEY_CHECK(visit(talk));
    talk.messages.clear();
    system.clear();
    return {};
  };
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return end_talk();
    if (q.text(0) != talk.id) {
      PARLEY_CHECK(end_talk());
      talk.id = q.text(0);
    }
    if (!q.text(1).empty() && q.text(1) != system) {
      system = q.text(1);
      PARLEY_TRY(Message message, said(Role::System, system));
      talk.messages.push_back(std::move(message));
    }
    PARLEY_TRY(Message asked, said(Role::User, q.text(2)));
    talk.messages.push_back(std::move(asked));
    PARLEY_TRY(Message answered, said(Role::Assistant, q.text(3)));
    talk.messages.push_back(std::move(answered));
  }
}

}  // namespace parley::cli
