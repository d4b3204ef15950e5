// `parley keys`: the keys of the clients of `parley serve`.
#include "server/http/keys.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/duration.h"
#include "cli/json_line.h"
#include "cli/output.h"
#include "cli/serve.h"
#include "cli/table.h"
#include "parley/base/clock.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

std::string date(std::int64_t ms) {
  return ms == 0 ? "never" : fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

ExitCode report(const Error& error) {
  if (error.code != Code::Invalid && error.code != Code::Conflict) return report_store_error(error);
  print_message(error.message);
  return ExitCode::Refused;
}

// Opens the store and does `work` with it.
template <typename Work>
ExitCode with_store(const KeysOptions& options, Work work) {
  StoreChoice choice = options.store;
  if (const CommandResult<void> resolved = resolve(choice); !resolved) return resolved.error();
  CommandResult<store::Store> store = open_store(choice);
  if (!store) return store.error();
  return work(*store);
}

// The only time that the key is shown: as content, which nothing redacts.
ExitCode print_secret(const server::NewKey& key, const KeysOptions& options) {
  const std::string secret(key.secret.reveal());
  const std::string text =
      options.json ? json_line({{"name", key.info.name}, {"key", secret}, {"tenant", key.info.tenant}})
                   : secret + "\n";
  const ExitCode printed = print_content(text, options.output);
  if (printed == ExitCode::Ok && !options.json) print_message("this key is shown once: store it now");
  return printed;
}

// What restricts a key, for people: "models gpt-*, 60 requests/min"; empty: nothing.
std::string restrictions(const server::KeyInfo& key) {
  std::vector<std::string> all;
  if (!key.models.empty()) all.push_back(fmt::format("models {}", fmt::join(key.models, " ")));
  if (!key.conversations.empty()) {
    all.push_back(fmt::format("conversations {}", fmt::join(key.conversations, " ")));
  }
  if (key.requests_per_minute) all.push_back(fmt::format("{} requests/min", *key.requests_per_minute));
  if (key.tokens_per_minute) all.push_back(fmt::format("{} tokens/min", *key.tokens_per_minute));
  if (key.concurrent) all.push_back(fmt::format("{} at a time", *key.concurrent));
  if (key.budget_per_month) all.push_back(fmt::format("{} USD/month", *key.budget_per_month));
  return fmt::format("{}", fmt::join(all, ", "));
}

void put_names(json::Writer& w, std::string_view key, const std::vector<std::string>& names) {
  w.key(key).begin_array();
  for (const std::string& name : names) w.string(repair_utf8(name));
  w.end_array();
}

void put_limit(json::Writer& w, std::string_view key, const std::optional<std::int64_t>& limit) {
  if (limit) w.key(key).number(*limit);
}

// Limits that a key does not have are left out.
std::string key_line(const server::KeyInfo& key) {
  json::Writer w;
  w.begin_object().key("name").string(repair_utf8(key.name)).key("hint").string(key.hint);
  w.key("tenant").string(repair_utf8(key.tenant)).key("role").string(server::to_string(key.role));
  w.key("created_at").string(date(key.created_ms)).key("expires_at").string(date(key.expires_ms));
  put_names(w, "models", key.models);
  put_names(w, "conversations", key.conversations);
  w.key("limits").begin_object();
  put_limit(w, "requests_per_minute", key.requests_per_minute);
  put_limit(w, "tokens_per_minute", key.tokens_per_minute);
  put_limit(w, "concurrent", key.concurrent);
  if (key.budget_per_month) w.key("budget_per_month").raw(fmt::format("{}", *key.budget_per_month));
  w.end_object();
  if (!key.on_busy.empty()) w.key("on_busy").string(key.on_busy);
  if (!key.disconnect.empty()) w.key("disconnect").string(key.disconnect);
  return w.end_object().take_string() + "\n";
}

// A column of restrictions only if a key has some.
std::string key_table(const std::vector<server::KeyInfo>& keys) {
  std::vector<Column> columns = {{"NAME"}, {"KEY"}, {"TENANT"}, {"ROLE"}, {"CREATED"}, {"EXPIRES"}};
  const bool has_limits =
      std::ranges::any_of(keys, [](const server::KeyInfo& key) { return !restrictions(key).empty(); });
  if (has_limits) columns.push_back({.title = "ONLY", .most = 60});
  std::vector<std::vector<std::string>> rows;
  for (const server::KeyInfo& key : keys) {
    rows.push_back({key.name, "..." + key.hint, key.tenant, std::string(server::to_string(key.role)),
                    date(key.created_ms), date(key.expires_ms)});
    if (has_limits) rows.back().push_back(restrictions(key));
  }
  return table(columns, rows);
}

// Why there is no key to list.
ExitCode print_no_keys(store::Store& store, const KeysOptions& options) {
  server::KeyRing ring(store);
  if (const Result<void> read = ring.reload(); !read) return report(read.error());
  return print(ring.has_keys() ? "no keys left: every request is refused until you create one\n"
                               : "no keys: clients on this machine need none\n",
               options.output);
}

}  // namespace

ExitCode create_key(const KeysOptions& options) {
  server::KeyInfo info{.name = options.name,
                       .tenant = options.tenant,
                       .models = options.models,
                       .conversations = options.conversations,
                       .requests_per_minute = options.requests_per_minute,
                       .tokens_per_minute = options.tokens_per_minute,
                       .concurrent = options.concurrent,
                       .budget_per_month = options.budget,
                       .disconnect = options.disconnect,
                       .on_busy = options.on_busy};
  const auto role = server::role_of_key(options.role);
  if (!role)
    return usage_error(fmt::format("--role: unknown role '{}': expected use, read or admin", options.role),
                       "keys");
  info.role = *role;
  if (!options.expires.empty()) {
    const auto time = duration_of(options.expires);
    if (!time)
      return usage_error(
          fmt::format("--expires: invalid duration '{}': expected 12h, 30d or 4w", options.expires), "keys");
    info.expires_ms = now_ms() + *time;
  }
  return with_store(options, [&](store::Store& store) {
    const Result<server::NewKey> key = server::create_key(store, std::move(info));
    return key ? print_secret(*key, options) : report(key.error());
  });
}

ExitCode rotate_key(const KeysOptions& options) {
  return with_store(options, [&](store::Store& store) {
    const Result<server::NewKey> key = server::rotate_key(store, options.name);
    return key ? print_secret(*key, options) : report(key.error());
  });
}

ExitCode revoke_key(const KeysOptions& options) {
  return with_store(options, [&](store::Store& store) {
    const Result<void> revoked = server::revoke_key(store, options.name);
    if (!revoked) return report(revoked.error());
    if (options.json) return print_json({{"name", options.name}, {"revoked", true}}, options.output);
    return print(fmt::format("revoked '{}'\n", options.name), options.output);
  });
}

ExitCode list_keys(const KeysOptions& options) {
  return with_store(options, [&](store::Store& store) {
    const Result<std::vector<server::KeyInfo>> keys = server::list_keys(store);
    if (!keys) return report(keys.error());
    if (options.json) {
      std::string lines;
      for (const server::KeyInfo& key : *keys) lines += key_line(key);
      return print(lines, options.output, ReportFormat::Json);
    }
    return keys->empty() ? print_no_keys(store, options) : print(key_table(*keys), options.output);
  });
}

}  // namespace parley::cli
