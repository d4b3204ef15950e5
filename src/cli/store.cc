#include "cli/store.h"

#include <cstdlib>
#include <utility>

#include "cli/say.h"

namespace parley::cli {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<std::string> default_store() {
  std::string folder = from_environment("XDG_DATA_HOME");
  if (!folder.starts_with('/')) {  // a relative one is to be ignored, by the standard that made it up
    const std::string home = from_environment("HOME");
    if (home.empty()) {
      return fail(Code::Unavailable, "there is no place for a store: set HOME, or say --store URI");
    }
    folder = home + "/.local/share";
  }
  return "sqlite:" + folder + "/parley/parley.db";
}

Outcome<store::Store> open_store(const StoreChoice& choice) {
  Result<std::string> uri = choice.uri.empty() ? default_store() : choice.uri;
  if (!uri) return std::unexpected(complain_of_store(uri.error()));
  Result<store::Store> store = store::open_store(*uri);
  if (!store) {
    say("--store: " + store.error().message);
    return std::unexpected(Exit::Usage);
  }
  return *std::move(store);
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
