// `parley sessions list`, `expire` and `sweep`.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/output.h"
#include "cli/session_ids.h"
#include "cli/sessions.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "parley/base/clock.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

struct TimeUnit {
  char letter;
  std::int64_t ms;
};
constexpr TimeUnit kTimeUnits[] = {
    {'s', kSecond}, {'m', kMinute}, {'h', kHour}, {'d', kDay}, {'w', 7 * kDay}};

// "30m", "12h", "7d".
std::optional<std::int64_t> duration_of(std::string_view typed) {
  std::int64_t count = 0;
  const char* end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, count);
  if (error != std::errc() || rest + 1 != end || count < 0) return std::nullopt;
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.letter != *rest) continue;
    constexpr std::int64_t kMost = 100 * 366 * kDay;
    return count > kMost / unit.ms ? std::nullopt : std::optional(count * unit.ms);
  }
  return std::nullopt;
}

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

std::string as_json_line(const store::SessionInfo& info) {
  json::Writer w;
  w.begin_object().key("session").string(Text(info.session));
  w.key("records").number(static_cast<std::int64_t>(info.size));
  w.key("created_at").string(Text(utc(info.created_ms)));
  w.key("updated_at").string(Text(utc(info.updated_ms)));
  if (info.expires_ms) w.key("expires_at").string(Text(utc(*info.expires_ms)));
  w.key("title").string(Text(info.title)).end_object();
  return w.take().text().str() + "\n";
}

// At a terminal: named columns, and titles that give way to its width.
std::string for_terminal(const std::vector<store::SessionInfo>& sessions, bool is_cut) {
  std::vector<std::vector<std::string>> rows;
  std::size_t widest = 4;
  for (const store::SessionInfo& info : sessions) {
    rows.push_back({info.session, info.title, std::to_string(info.size), age(now_ms() - info.updated_ms)});
    widest = std::max(widest, display_width(visible(info.session)));
  }
  constexpr std::size_t kOthers = 2 + 2 + 7 + 2 + 12;  // spaces, records and age
  const std::size_t screen = columns(STDOUT_FILENO);
  const std::size_t title = std::max<std::size_t>(screen - std::min(screen, widest + kOthers), 20);
  return table({{"NAME"}, {"TITLE", false, title}, {"RECORDS", true}, {"ACTIVE"}}, rows) +
         fmt::format("{} session{}{}\n", rows.size(), rows.size() == 1 ? "" : "s",
                     is_cut ? "; there are more" : "");
}

// In a pipe: the same order for programs, and whole titles and times.
std::string for_pipe(const std::vector<store::SessionInfo>& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const store::SessionInfo& info : sessions) {
    rows.push_back({info.session, std::to_string(info.size), utc(info.updated_ms), info.title});
  }
  const std::string out = table({{""}, {"", true}, {""}, {""}}, rows);
  return out.substr(out.find('\n') + 1);  // without titles of columns
}

}  // namespace

ExitCode list_sessions(const SessionsOptions& options) {
  CommandResult<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  std::vector<store::SessionInfo> sessions;
  bool is_cut = false;
  const auto listed =
      each_session(*store, options.store.tenant, [&](const store::SessionInfo& info) -> CommandResult<bool> {
        is_cut = options.most && sessions.size() == *options.most;
        if (!is_cut) sessions.push_back(info);
        return !is_cut;
      });
  if (!listed) return listed.error();
  if (options.json) {
    std::string out;
    for (const store::SessionInfo& info : sessions) out += as_json_line(info);
    return print(out, options.output, ReportFormat::Json);
  }
  const bool is_at_terminal = options.output == "-" && is_terminal(STDOUT_FILENO);
  return print(is_at_terminal ? for_terminal(sessions, is_cut) : for_pipe(sessions), options.output);
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
  if (!options.quiet)
    print_message(fmt::format("erased {} expired session{}", *count, *count == 1 ? "" : "s"));
  return ExitCode::Ok;
}

}  // namespace parley::cli
