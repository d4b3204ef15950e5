#include "server/engine/checkpoint.h"

namespace parley::server {

std::string checkpoint_of(const std::string& turn, const Journal& journal, const std::optional<Json>& sent) {
  return turn + "\n" + (sent ? sent->compact().text().str() : "") + "\n" + journal.encode();
}

std::optional<Checkpoint> checkpoint_in(std::string_view bytes, std::string_view turn) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || bytes.substr(0, end) != turn) return std::nullopt;
  const std::size_t end_of_sent = bytes.find('\n', end + 1);
  if (end_of_sent == std::string_view::npos) return std::nullopt;
  Result<Journal> journal = Journal::decode(bytes.substr(end_of_sent + 1));
  if (!journal) return std::nullopt;
  Checkpoint out{.journal = *std::move(journal)};
  if (const auto sent = Json::parse(bytes.substr(end + 1, end_of_sent - end - 1))) out.sent = *sent;
  return out;
}

std::optional<Message> answer_of(const Journal& journal, Dialect dialect) {
  Accumulator accumulator(dialect);
  Journal::Cursor cursor;
  journal.replay(cursor, [&](const StreamEvent& event) { accumulator.add(event); });
  accumulator.add(stream::Truncated{});
  const Accumulated said = accumulator.take();
  return said.message.blocks().empty() ? std::nullopt : std::optional(said.message);
}

}  // namespace parley::server
