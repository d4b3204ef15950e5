#include "cli/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <mutex>
#include <utility>

#include "cli/config.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/json_line.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/served_models.h"
#include "net/listener.h"
#include "parley/base/log.h"
#include "parley/net/socket_activation.h"
#include "parley/server/server.h"

namespace parley::cli {
namespace {

// "127.0.0.1:7557", "[::1]:7557", "unix:PATH".
Result<void> take_listen(net::ServerOptions& http, std::string_view listen) {
  constexpr std::string_view kUnix = "unix:";
  const auto wrong = [&] {
    return fail(
        Code::Invalid,
        fmt::format("invalid address '{}': expected ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", listen));
  };
  if (listen.starts_with(kUnix)) {
    http.unix_path = listen.substr(kUnix.size());
    return http.unix_path.empty() ? Result<void>(wrong()) : Result<void>();
  }
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong();
  std::string_view address = listen.substr(0, colon);
  const std::string_view port = listen.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), http.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong();
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.contains(':')) {
    return wrong();
  }
  http.address = address == "localhost" ? "127.0.0.1" : std::string(address);
  return {};
}

// What stays as it is until the server is started again.
struct FixedSettings {
  std::string listen, store, tls_certificate, tls_key;
};

FixedSettings fixed_settings(const ServeOptions& options, const Config& config) {
  StoreChoice store = options.store;
  resolve(store, config);
  return {.listen = options.listen.empty() ? config.serve_listen.value : options.listen,
          .store = store.uri,
          .tls_certificate =
              options.tls_certificate.empty() ? config.serve_tls_cert.value : options.tls_certificate,
          .tls_key = options.tls_key.empty() ? config.serve_tls_key.value : options.tls_key};
}

server::ServerSettings server_settings(const Config& config) {
  server::ServerSettings out{.hosts = config.serve_hosts.value,
                             .origins = config.serve_origins.value,
                             .pass_through = config.serve_pass_through.value};
  for (const auto& [models, rule] : config.serve_disconnect) {
    out.disconnect.push_back({models, server::disconnect_named(rule.value).value_or(server::Disconnect())});
  }
  // The longest pattern says most about a model.
  std::ranges::stable_sort(out.disconnect, std::ranges::greater(),
                           [](const server::ModelDisconnect& each) { return each.models.size(); });
  return out;
}

struct Plan {
  server::ServerConfig server;
  FixedSettings fixed;
  bool has_sockets = false;  // of systemd: serve.listen is not used
  std::shared_ptr<ServedModels> models;
  std::chrono::seconds drain;
};

CommandResult<Plan> plan_of(const ServeOptions& options) {
  // First: a file that is opened must not take the number of a socket.
  Result<std::vector<int>> sockets =
      net::listening_sockets_from(from_environment("LISTEN_PID"), from_environment("LISTEN_FDS"));
  if (!sockets) {
    print_message(sockets.error().message);
    return std::unexpected(ExitCode::Environment);
  }
  Result<Config> config = read_config(options.config);
  if (!config) {
    report_config_error(config.error());
    return std::unexpected(ExitCode::Environment);
  }
  StoreChoice choice = options.store;
  resolve(choice, *config);
  CommandResult<store::Store> store = open_store(choice);
  if (!store)
    return std::unexpected(store.error() == ExitCode::Usage ? ExitCode::Usage : ExitCode::Environment);
  Plan out;
  out.drain = std::chrono::seconds(config->serve_drain.value);
  server::ServerConfig& server = out.server;
  server.http = server::serve_limits();
  out.fixed = fixed_settings(options, *config);
  const std::string from = options.listen.empty() ? config->serve_listen.from : "--listen";
  server.http.sockets = *std::move(sockets);
  out.has_sockets = !server.http.sockets.empty();
  if (server.http.sockets.empty()) {
    if (const auto taken = take_listen(server.http, out.fixed.listen); !taken) {
      return std::unexpected(report_choice_error(taken.error().message, from));
    }
  }
  server.http.tls_certificate = out.fixed.tls_certificate;
  server.http.tls_key = out.fixed.tls_key;
  server.settings = server_settings(*config);
  server.is_insecure = options.is_insecure;
  out.models = std::make_shared<ServedModels>(*std::move(config));
  server.engine.store = std::make_shared<store::Store>(*std::move(store));
  server.engine.models = out.models;
  return out;
}

// That the port or the socket is free is not part of a check: one in use, of this server perhaps, is left
// alone.
Result<void> check_address_only(net::ServerOptions& http) {
  if (!http.sockets.empty()) return {};
  if (!http.unix_path.empty()) PARLEY_CHECK(net::check_unix_path(http.unix_path));
  http.unix_path.clear();
  http.port = 0;
  return {};
}

// Warnings and errors of the server come from any thread.
std::mutex& message_mutex() {
  static std::mutex mutex;
  return mutex;
}

void report_line(std::string_view what) {
  const std::lock_guard lock(message_mutex());
  print_message(what);
}

void print_warnings() {
  set_log_sink([](LogLevel level, std::string_view line) {
    if (level >= LogLevel::Warning) report_line(line);
  });
}

// Where it listens, what to set in a client, where to look.
std::string announcement(const std::string& url, const std::string& model, bool is_tls, bool json) {
  constexpr std::string_view kUnix = "http+unix:";
  if (!url.starts_with(kUnix)) {
    if (json) return json_line({{"url", url}, {"base_url", url + "/v1"}, {"model", model}});
    return fmt::format(
        "listening on {0}\nset OPENAI_BASE_URL={0}/v1 and the model {1}\n"
        "'parley sessions list' shows the conversations, {0}/health the state\n",
        url, model);
  }
  // A URL cannot name a socket: a client is given both.
  const std::string path = url.substr(kUnix.size());
  const std::string base = is_tls ? "https://localhost" : "http://localhost";
  if (json) return json_line({{"url", url}, {"socket", path}, {"base_url", base + "/v1"}, {"model", model}});
  return fmt::format(
      "listening on unix:{0}\nset OPENAI_BASE_URL={1}/v1 and the model {2} in a client that uses this "
      "socket\n"
      "'parley sessions list' shows the conversations, 'curl --unix-socket {0} {1}/health' the state\n",
      path, base, model);
}

void announce(const std::string& text, bool json) {
  Result<Output> out = Output::open("-");
  if (out && out->report(text, json ? ReportFormat::Json : ReportFormat::Lines)) (void)out->flush();
}

void tell_what_stays(const FixedSettings& now, const FixedSettings& wanted) {
  const std::pair<std::string_view, std::string FixedSettings::*> all[] = {
      {"serve.listen", &FixedSettings::listen},
      {"store", &FixedSettings::store},
      {"serve.tls_cert", &FixedSettings::tls_certificate},
      {"serve.tls_key", &FixedSettings::tls_key}};
  for (const auto& [name, value] : all) {
    if (now.*value != wanted.*value)
      report_line(fmt::format("{} changed: start the server again to use it", name));
  }
}

void reload(server::Server& server, Plan& plan, const ServeOptions& options) {
  Result<Config> config = read_config(options.config);
  Result<void> reloaded;
  if (config) {
    FixedSettings wanted = fixed_settings(options, *config);
    if (plan.has_sockets) wanted.listen = plan.fixed.listen;
    tell_what_stays(plan.fixed, wanted);
    plan.drain = std::chrono::seconds(config->serve_drain.value);
    server::ServerSettings settings = server_settings(*config);
    plan.models->reload(*std::move(config));
    reloaded = server.reload(std::move(settings));
  } else {
    {
      const std::lock_guard lock(message_mutex());
      report_config_error(config.error());
    }
    reloaded = server.reload();
  }
  if (!reloaded) report_line(reloaded.error().message);
}

}  // namespace

ExitCode serve(const ServeOptions& options) {
  EndSignals signals(true);
  print_warnings();
  CommandResult<Plan> plan = plan_of(options);
  if (!plan) return plan.error();
  const bool is_tls = !plan->fixed.tls_certificate.empty();
  const Result<void> can_listen =
      options.only_checks ? check_address_only(plan->server.http) : Result<void>();
  Result<server::Server> server = can_listen ? server::Server::start(std::move(plan->server))
                                             : Result<server::Server>(std::unexpected(can_listen.error()));
  if (!server) {
    report_line(server.error().message);
    return ExitCode::Environment;
  }
  if (options.only_checks) {
    return print(options.json ? json_line({{"ok", true}}) : "the server can start\n", "-");
  }
  announce(announcement(server->url(), plan->models->example(), is_tls, options.json), options.json);
  for (;;) {
    const int signal = signals.wait();
    if (signal == SIGHUP) {
      reload(*server, *plan, options);
      continue;
    }
    server->drain(plan->drain);
    return signal == SIGINT ? ExitCode::Interrupted : ExitCode::Ok;
  }
}

}  // namespace parley::cli
