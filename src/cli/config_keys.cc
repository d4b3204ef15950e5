// `parley config key`: the keys of the providers, in a file for their owner only.
#include <fmt/format.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/config.h"
#include "cli/config_verbs.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/json_line.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/secret_tool.h"
#include "cli/secrets.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "parley/json/writer.h"
#include "parley/model/http_model.h"

namespace parley::cli {
namespace {

// While one lives, the terminal at standard input does not show what is typed; also Ctrl-C restores it.
class NoEcho {
 public:
  NoEcho() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= ECHONL;
    is_changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;
  ~NoEcho() {
    if (is_changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  EditedTerminal terminal_;  // first: it knows how the terminal was
  termios before_ = {};
  bool is_changed_ = false;
};

// The first line of standard input, without the spaces around it.
std::string read_line() {
  std::string line;
  line.reserve(kMostKeyBytes + 1);  // does not move, so that one copy is wiped
  char c = 0;
  while (line.size() <= kMostKeyBytes && ::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') line += c;
  const auto is_space = [](char each) { return each == ' ' || each == '\t' || each == '\r'; };
  while (!line.empty() && is_space(line.back())) line.pop_back();
  line.erase(line.begin(), std::ranges::find_if_not(line, is_space));
  return line;
}

Secret read_key(const std::string& provider) {
  if (!is_terminal(STDIN_FILENO)) return Secret::take(read_line());
  const std::string prompt = fmt::format("Key for {} (not shown): ", provider);
  show(STDERR_FILENO, {prompt});
  const NoEcho silence;
  return Secret::take(read_line());
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kMostKeyBytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

using Keys = std::map<std::string, Secret>;

Result<std::string> key_file_to_change() {
  PARLEY_TRY(std::string file, key_file());
  if (file.empty())
    return fail(Code::Invalid,
                "keys cannot be stored: PARLEY_CONFIG=/dev/null turns configuration files off");
  return file;
}

Result<Keys> stored_keys(const std::string& file) {
  Keys out;
  Result<std::vector<ConfigEntry>> entries = read_config_file(file);
  if (!entries && entries.error().code == Code::NotFound) return out;
  if (!entries) return std::unexpected(entries.error());
  for (ConfigEntry& entry : *entries) {
    auto* key = std::get_if<std::string>(&entry.value);
    if (key == nullptr || entry.path.size() != 1) {
      return fail(Code::Invalid, "expected PROVIDER = \"KEY\"", entry.location);
    }
    out[entry.path[0]] = Secret::take(*key);
  }
  return out;
}

Result<void> store_keys(const std::string& file, const Keys& keys) {
  std::string text = "# Keys of providers, written by 'parley config key'.\n";
  text.reserve(text.size() + keys.size() * (2 * kMostKeyBytes + 64));  // one copy is wiped below
  for (const auto& [provider, key] : keys) {
    text.append(provider).append(" = \"");
    for (const char c : key.reveal()) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\"\n";
  }
  const Result<void> written = write_user_file(file, text);
  ::explicit_bzero(text.data(), text.size());
  return written;
}

// Where new keys go: as it is typed, or configured.
CommandResult<bool> uses_secret_service(const ConfigOptions& options) {
  if (options.secret_service) return true;
  const Result<Config> config = read_config();
  if (!config) return std::unexpected(report_config_error(config.error()));
  return config->keys.value == kInSecretService;
}

ExitCode set_key_of(const std::string& provider, const ConfigOptions& options) {
  const Result<const Provider*> row = provider_named(provider);
  if (!row) return usage_error(row.error().message, "config");
  const Result<std::string> file = key_file_to_change();
  if (!file) return report_file_error(file.error());
  Result<Keys> keys = stored_keys(*file);  // a broken file is reported before anything is typed
  if (!keys) return report_file_error(keys.error());
  const CommandResult<bool> is_service = uses_secret_service(options);
  if (!is_service) return is_service.error();
  const Secret key = read_key(provider);
  if (!is_key(key.reveal())) {
    print_message(key.empty() ? "no key was typed; nothing is changed"
                              : "a key has printable ASCII characters without spaces; nothing is changed");
    return ExitCode::Refused;
  }
  register_secrets("api_key", key.reveal());
  const FolderLock lock(*file);
  keys = stored_keys(*file);
  if (!keys) return report_file_error(keys.error());
  if (*is_service) {
    if (const auto kept = store_in_secret_service(provider, key); !kept)
      return report_file_error(kept.error());
  }
  (*keys)[provider] = *is_service ? Secret(std::string(kInSecretService)) : key;
  if (const Result<void> stored = store_keys(*file, *keys); !stored) return report_file_error(stored.error());
  const std::string place = *is_service ? "the secret service" : *file;
  if (!options.json) {
    print_message(fmt::format("stored the key for {} ({}) in {}", provider, key_hint(key), place));
  }
  for (const std::string_view variable : {(*row)->key_variable, (*row)->other_key_variable}) {
    if (variable.empty() || from_environment(std::string(variable).c_str()).empty()) continue;
    print_message(fmt::format("warning: {} in the environment overrides it", variable));
  }
  return options.json
             ? print_json({{"provider", provider}, {"hint", key_hint(key)}, {"place", place}}, options.output)
             : ExitCode::Ok;
}

ExitCode remove_key_of(const std::string& provider, const ConfigOptions& options) {
  const Result<std::string> file = key_file_to_change();
  if (!file) return report_file_error(file.error());
  const FolderLock lock(*file);
  Result<Keys> keys = stored_keys(*file);
  if (!keys) return report_file_error(keys.error());
  const auto found = keys->find(provider);
  if (found == keys->end()) {
    print_message(fmt::format("no key for '{}' is stored in {}", provider, *file));
    return ExitCode::Refused;
  }
  if (found->second.reveal() == kInSecretService) {
    if (const auto gone = remove_from_secret_service(provider); !gone) return report_file_error(gone.error());
  }
  keys->erase(found);
  const Result<void> stored = store_keys(*file, *keys);
  if (!stored) return report_file_error(stored.error());
  return options.json ? print_json({{"provider", provider}, {"is_removed", true}}, options.output)
                      : ExitCode::Ok;
}

ExitCode list_keys(const ConfigOptions& options) {
  const Result<Config> config = read_config();
  if (!config) return report_config_error(config.error());
  std::vector<std::vector<std::string>> rows;
  json::Writer w;
  w.begin_object().key("schema").string("parley.keys/1").key("keys").begin_array();
  for (const auto& [name, provider] : config->providers) {
    if (!provider.key.is_set()) continue;
    rows.push_back({name, key_hint(provider.key.value), provider.key.from});
    w.begin_object().key("provider").string(name).key("hint").string(Text(rows.back()[1]));
    w.key("from").string(Text(provider.key.from)).end_object();
  }
  if (options.json) {
    return print(w.end_array().end_object().take_string() + "\n", options.output, ReportFormat::Json);
  }
  if (rows.empty()) {
    print_message("no keys; 'parley config key set PROVIDER' stores one");
    return ExitCode::Ok;
  }
  return print(table({{"PROVIDER"}, {"KEY"}, {"FROM"}}, rows), options.output);
}

}  // namespace

ExitCode change_keys(const ConfigOptions& options) {
  const std::vector<std::string>& words = options.arguments;
  if (words.size() == 2 && words[0] == "set") return set_key_of(words[1], options);
  if (words.size() == 2 && words[0] == "rm") return remove_key_of(words[1], options);
  if (words.size() == 1 && words[0] == "list") return list_keys(options);
  return usage_error("expected 'config key set PROVIDER', 'config key rm PROVIDER' or 'config key list'",
                     "config");
}

}  // namespace parley::cli
