#include "cli/environment.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace parley::cli {
namespace {

struct Place {
  const char* variable;
  const char* at_home;
};

constexpr Place kPlaces[] = {
    {"XDG_CONFIG_HOME", ".config"},
    {"XDG_DATA_HOME", ".local/share"},
    {"XDG_STATE_HOME", ".local/state"},
};

}  // namespace

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return value == nullptr ? std::string() : std::string(value);
}

Result<std::string> user_file(Folder folder, std::string_view name) {
  const Place& place = kPlaces[static_cast<std::size_t>(folder)];
  std::string base = from_environment(place.variable);
  if (!base.starts_with('/')) {  // a relative one is to be ignored, by the standard that made it up
    const std::string home = from_environment("HOME");
    if (home.empty()) return fail(Code::Unavailable, "HOME is not set");
    base = fmt::format("{}/{}", home, place.at_home);
  }
  return fmt::format("{}/parley/{}", base, name);
}

Result<void> make_folder_of(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(Code::Unavailable, fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
    }
  }
  return {};
}

}  // namespace parley::cli
