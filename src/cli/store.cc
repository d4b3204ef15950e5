#include "cli/store.h"

#include <utility>

#include "cli/environment.h"
#include "cli/say.h"

namespace parley::cli {

Result<std::string> default_store() {
  const Result<std::string> file = user_file(Folder::Data, "parley.db");
  if (!file) return fail(Code::Unavailable, "there is no place for a store: set HOME, or say --store URI");
  return "sqlite:" + *file;
}

Outcome<void> resolve(StoreChoice& choice) {
  const Result<Config> config = read_config();
  if (!config) return std::unexpected(complain_of_config(config.error()));
  resolve(choice, *config);
  return {};
}

void resolve(StoreChoice& choice, const Config& config) {
  if (choice.uri.empty() && config.store.is_said()) {
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
  if (!exposure.empty()) say("warning: " + exposure);
}

}  // namespace

Result<store::Store> try_store(const StoreChoice& choice) {
  PARLEY_TRY(const std::string uri, choice.uri.empty() ? default_store() : choice.uri);
  return store::open_store(uri);
}

Outcome<store::Store> open_store(const StoreChoice& choice) {
  warn_of_exposure(choice);
  Result<store::Store> store = try_store(choice);
  if (store) return *std::move(store);
  if (store.error().code == Code::NotFound) {  // a library: nobody's choice
    say(store.error().message);
    return std::unexpected(Exit::Environment);
  }
  return std::unexpected(choice.uri.empty() ? complain_of_store(store.error())
                                            : complain_of_choice(store.error().message, choice.from));
}

Exit complain_of_store(const Error& error) {
  std::string what = error.message;
  if (!error.path.empty() && error.path.front() == '/') what += " (" + error.path + ")";
  say(what);
  switch (error.code) {
    case Code::NotFound:
    case Code::Conflict:
    case Code::Invalid:
    case Code::Damaged:
    case Code::LimitExceeded:
    case Code::BrokenHistory:
    case Code::Lossy:
    case Code::WrongDialect:
      return Exit::Refused;
    default:
      return Exit::Environment;
  }
}

}  // namespace parley::cli
