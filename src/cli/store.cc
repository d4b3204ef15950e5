#include "cli/store.h"

#include <utility>

#include "cli/diagnostics.h"
#include "cli/environment.h"

namespace parley::cli {

Result<std::string> default_store() {
  const Result<std::string> file = user_file(Folder::Data, "parley.db");
  if (!file) return fail(Code::Unavailable, "no default store: set HOME or use --store URI");
  return "sqlite:" + *file;
}

CommandResult<void> resolve(StoreChoice& choice) {
  const Result<Config> config = read_config();
  if (!config) return std::unexpected(report_config_error(config.error()));
  resolve(choice, *config);
  return {};
}

void resolve(StoreChoice& choice, const Config& config) {
  if (choice.uri.empty() && config.store.is_set()) {
    choice.uri = config.store.value;
    choice.from = config.store.from;
  }
  if (choice.tenant.empty()) choice.tenant = config.tenant.value;
}

namespace {

// Warns of a database that other users can open.
void warn_of_exposure(const StoreChoice& choice) {
  constexpr std::string_view kScheme = "sqlite:";
  const std::string uri = choice.uri.empty() ? default_store().value_or("") : choice.uri;
  if (!uri.starts_with(kScheme)) return;
  const std::string path = uri.substr(kScheme.size());
  const std::string exposure = exposure_of(path.substr(0, path.find('?')), "conversations");
  if (!exposure.empty()) print_message("warning: " + exposure);
}

}  // namespace

Result<store::Store> try_store(const StoreChoice& choice) {
  PARLEY_TRY(const std::string uri, choice.uri.empty() ? default_store() : choice.uri);
  return store::open_store(uri);
}

CommandResult<store::Store> open_store(const StoreChoice& choice) {
  warn_of_exposure(choice);
  Result<store::Store> store = try_store(choice);
  if (store) return *std::move(store);
  if (store.error().code == Code::NotFound) {  // a missing library, not a wrong choice
    print_message(store.error().message);
    return std::unexpected(ExitCode::Environment);
  }
  return std::unexpected(choice.uri.empty() ? report_store_error(store.error())
                                            : report_choice_error(store.error().message, choice.from));
}

ExitCode report_store_error(const Error& error) {
  std::string what = error.message;
  if (!error.path.empty() && error.path.front() == '/') what += " (" + error.path + ")";
  print_message(what);
  switch (error.code) {
    case Code::NotFound:
    case Code::Conflict:
    case Code::Invalid:
    case Code::Damaged:
    case Code::LimitExceeded:
    case Code::BrokenHistory:
    case Code::Lossy:
    case Code::WrongDialect:
      return ExitCode::Refused;
    default:
      return ExitCode::Environment;
  }
}

}  // namespace parley::cli
