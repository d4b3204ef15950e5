// `parley sessions list`, `ids`, `expire` and `sweep`.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/duration.h"
#include "cli/json_line.h"
#include "cli/look.h"
#include "cli/output.h"
#include "cli/session_ids.h"
#include "cli/sessions.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "memory/session_facts.h"
#include "parley/base/clock.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

std::string utc(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

std::string age(std::int64_t ms) {
  if (ms < kMinute) return "now";
  if (ms < kHour) return fmt::format("{} min ago", ms / kMinute);
  if (ms < kDay) return fmt::format("{} h ago", ms / kHour);
  if (ms < 14 * kDay) return fmt::format("{} d ago", ms / kDay);
  return fmt::format("{} weeks ago", ms / (7 * kDay));
}

// A session, and what its last records say about it.
struct ListedSession {
  store::SessionInfo info;
  std::optional<memory::SessionFacts> facts = {};  // nullopt: unknown

  bool has_model() const { return facts && !facts->model.empty(); }
  const std::string& title() const { return facts && !facts->title.empty() ? facts->title : info.title; }
  // Without the provider.
  std::string model() const { return has_model() ? facts->model.substr(facts->model.find('/') + 1) : "-"; }
  std::string turns() const { return facts ? with_commas(facts->turns) : "-"; }
  std::string tokens() const { return has_model() ? with_commas(facts->tokens) : "-"; }
};

struct SessionRows {
  std::vector<ListedSession> sessions;
  bool is_cut = false;           // there are more
  ExitCode exit = ExitCode::Ok;  // of reading them
};

std::string as_json_line(const ListedSession& session) {
  const store::SessionInfo& info = session.info;
  json::Writer w;
  w.begin_object().key("session").string(Text(info.session));
  w.key("records").number(static_cast<std::int64_t>(info.size));
  w.key("created_at").string(Text(utc(info.created_ms)));
  w.key("updated_at").string(Text(utc(info.updated_ms)));
  if (info.expires_ms) w.key("expires_at").string(Text(utc(*info.expires_ms)));
  w.key("title").string(Text(session.title()));
  if (session.has_model()) {
    w.key("model").string(Text(session.facts->model));
    w.key("tokens").number(static_cast<std::int64_t>(session.facts->tokens));
  }
  if (session.facts) w.key("turns").number(static_cast<std::int64_t>(session.facts->turns));
  w.end_object();
  return w.take().text().str() + "\n";
}

// At a terminal: named columns, and titles that give way to its width.
std::string for_terminal(const SessionRows& list) {
  enum : std::size_t { Name, Title, Model, Turns, Tokens, Active, Count };
  std::vector<Column> titles = {{"NAME"},        {"TITLE"},        {"MODEL"},
                                {"TURNS", true}, {"TOKENS", true}, {"ACTIVE"}};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(list.sessions.size());
  for (const ListedSession& each : list.sessions) {
    rows.push_back({each.info.session, each.title(), each.model(), each.turns(), each.tokens(),
                    age(now_ms() - each.info.updated_ms)});
  }
  std::size_t others = 2 * (Count - 1);  // the spaces between columns, and all columns but the title
  for (std::size_t i = 0; i < Count; ++i) {
    std::size_t widest = titles[i].title.size();
    for (const auto& row : rows) widest = std::max(widest, display_width(visible(row[i])));
    if (i != Title) others += widest;
  }
  constexpr std::size_t kShortestTitle = 12;
  const std::size_t screen = columns(STDOUT_FILENO);
  titles[Title].most = std::max(screen - std::min(screen, others), kShortestTitle);
  return table(titles, rows) +
         fmt::format("{}{}\n", counted(rows.size(), "session"), list.is_cut ? "; there are more" : "");
}

// In a pipe: the same order for programs, and whole titles and times.
std::string for_pipe(const std::vector<ListedSession>& sessions) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(sessions.size());
  for (const ListedSession& each : sessions) {
    rows.push_back(
        {each.info.session, std::to_string(each.info.size), utc(each.info.updated_ms), each.title()});
  }
  const std::string out = table({{""}, {"", true}, {""}, {""}}, rows);
  return out.substr(out.find('\n') + 1);  // without titles of columns
}

// Reads the last records of each session. One that cannot be read stays in the list.
ExitCode read_facts(store::Store& store, const std::string& tenant, std::vector<ListedSession>& sessions) {
  constexpr store::Position kMostRecords = 16;
  ExitCode exit = ExitCode::Ok;
  for (ListedSession& each : sessions) {
    auto facts = memory::read_facts(store, {tenant, each.info.session}, each.info.size, kMostRecords);
    if (facts) {
      each.facts = *std::move(facts);
    } else if (facts.error().code != Code::NotFound) {  // not removed meanwhile
      exit = worse(exit, report_store_error(facts.error()));
    }
  }
  return exit;
}

CommandResult<SessionRows> listed_sessions(const SessionsOptions& options, std::optional<std::size_t> most) {
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return std::unexpected(store.error());
  constexpr std::size_t kPage = 1000;
  SessionRows out;
  const auto add = [&](const store::SessionInfo& info) -> CommandResult<bool> {
    out.is_cut = most && out.sessions.size() == *most;
    if (!out.is_cut) out.sessions.push_back({info});
    return !out.is_cut;
  };
  const auto listed =
      each_session(*store, options.store.tenant, add, most ? std::min(*most + 1, kPage) : kPage);
  if (!listed) return std::unexpected(listed.error());
  out.exit = read_facts(*store, options.store.tenant, out.sessions);
  return out;
}

}  // namespace

ExitCode list_sessions(const SessionsOptions& options) {
  const auto list = listed_sessions(options, options.most);
  if (!list) return list.error();
  if (options.json) {
    std::string out;
    for (const ListedSession& each : list->sessions) out += as_json_line(each);
    return worse(list->exit, print(out, options.output, ReportFormat::Json));
  }
  const bool is_at_terminal = options.output == "-" && is_terminal(STDOUT_FILENO);
  return worse(list->exit,
               print(is_at_terminal ? for_terminal(*list) : for_pipe(list->sessions), options.output));
}

ExitCode list_session_ids(const SessionsOptions& options) {
  constexpr std::size_t kMostCompletions = 1000;
  const auto list = listed_sessions(options, options.most.value_or(kMostCompletions));
  if (!list) return list.error();
  std::string out;
  for (const ListedSession& each : list->sessions) {
    if (!options.json) {
      out += fmt::format("{}\t{}\n", visible(each.info.session), visible(each.title()));
      continue;
    }
    json::Writer w;
    w.begin_object().key("session").string(Text(each.info.session)).key("title").string(Text(each.title()));
    out += w.end_object().take_string() + "\n";
  }
  return worse(list->exit,
               print(out, options.output, options.json ? ReportFormat::Json : ReportFormat::Lines));
}

ExitCode expire_session(const SessionsOptions& options) {
  const std::string& typed = options.arguments[1];
  const std::optional<std::int64_t> duration = duration_of(typed);
  if (!duration && typed != "never") {
    return usage_error(fmt::format("invalid duration '{}': expected e.g. 30m, 12h, 7d, 4w or never", typed),
                       "sessions");
  }
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto id = session_id(*store, options.store.tenant, options.arguments[0], PrefixOf::Generated);
  if (!id) return id.error();
  const std::optional<std::int64_t> at = duration ? std::optional(now_ms() + *duration) : std::nullopt;
  if (const auto expired = store->expire({options.store.tenant, *id}, at); !expired) {
    return report_store_error(expired.error());
  }
  if (options.json) {
    return at ? print_json({{"session", *id}, {"expires_at", utc(*at)}}, options.output)
              : print_json({{"session", *id}}, options.output);
  }
  if (!options.quiet) {
    print_message(at ? fmt::format("session {} expires at {}", *id, utc(*at))
                     : fmt::format("session {} does not expire", *id));
  }
  return ExitCode::Ok;
}

ExitCode sweep_sessions(const SessionsOptions& options) {
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  const auto count = store->sweep();
  if (!count) return report_store_error(count.error());
  if (options.json) return print_json({{"erased", static_cast<std::int64_t>(*count)}}, options.output);
  if (!options.quiet) print_message(fmt::format("erased {}", counted(*count, "expired session")));
  return ExitCode::Ok;
}

}  // namespace parley::cli
