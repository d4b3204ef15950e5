#include "cli/session_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/store.h"
#include "cli/suggestion.h"

namespace parley::cli {
namespace {

// As new_ulid() makes them: 26 digits and capital letters.
bool is_generated(const std::string& id) {
  return id.size() == 26 &&
         std::ranges::all_of(id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c & ~0x20 : c; });
  return text;
}

}  // namespace

CommandResult<void> each_session(store::Store& store, const std::string& tenant,
                                 const std::function<CommandResult<bool>(const store::SessionInfo&)>& visit,
                                 std::size_t page_size) {
  store::ListOptions page{.count = page_size};
  do {
    const auto list = store.list(tenant, page);
    if (!list) return std::unexpected(report_store_error(list.error()));
    for (const store::SessionInfo& info : list->sessions) {
      const CommandResult<bool> more = visit(info);
      if (!more) return std::unexpected(more.error());
      if (!*more) return {};
    }
    page.after = list->next;
  } while (!page.after.empty());
  return {};
}

CommandResult<std::string> session_id(store::Store& store, const std::string& tenant,
                                      const std::string& typed, PrefixOf prefix) {
  constexpr std::size_t kShortestPrefix = 4;
  const bool is_short = prefix == PrefixOf::Generated && typed.size() < kShortestPrefix;
  if (typed.empty() || is_short || store.head({tenant, typed})) return typed;
  const std::string generated = upper(typed);
  std::vector<std::string> found;
  const auto listed = each_session(store, tenant, [&](const store::SessionInfo& info) -> CommandResult<bool> {
    const bool fits = is_generated(info.session) ? info.session.starts_with(generated)
                                                 : prefix == PrefixOf::Any && info.session.starts_with(typed);
    if (fits) found.push_back(info.session);
    return true;
  });
  if (!listed) return std::unexpected(listed.error());
  if (found.empty()) return typed;
  if (found.size() == 1) return found[0];
  constexpr std::size_t kShown = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) names += (i == 0 ? "" : ", ") + found[i];
  if (found.size() > kShown) names += ", ...";
  print_message(fmt::format("'{}' is the beginning of {} sessions: {}", typed, found.size(), names));
  return std::unexpected(ExitCode::Refused);
}

CommandResult<std::optional<std::string>> similar_session(store::Store& store, const std::string& tenant,
                                                          const std::string& typed) {
  std::vector<std::string> names;
  const auto listed = each_session(store, tenant, [&](const store::SessionInfo& info) -> CommandResult<bool> {
    if (!is_generated(info.session)) names.push_back(info.session);
    return true;
  });
  if (!listed) return std::unexpected(listed.error());
  return suggestion_for(typed, names);
}

}  // namespace parley::cli
