#include "cli/sixel_tool.h"

#include <unistd.h>

#include <stop_token>

#include "cli/environment.h"
#include "cli/styled_text.h"
#include "tool/subprocess.h"

namespace parley::cli {
namespace {

constexpr const char* kSixelProgram = "img2sixel";
constexpr std::chrono::seconds kLongestConversion{10};
constexpr std::size_t kMostSixelBytes = std::size_t{32} * 1024 * 1024;

}  // namespace

bool has_sixel_tool() {
  const std::string path = from_environment("PATH");
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    if (!folder.empty() && ::access((folder + "/" + kSixelProgram).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

std::optional<std::string> sixels_of(std::string_view file, std::size_t width) {
  SubprocessOptions options;
  options.arguments = {kSixelProgram, "--static", "--width", std::to_string(width)};
  options.environment = {"PATH=" + from_environment("PATH")};
  options.has_input = true;
  Result<SubprocessRun> run =
      run_subprocess(options, file, kMostSixelBytes, Deadline::in(kLongestConversion), {});
  const bool is_good = run && run->ending == SubprocessRun::Ending::Itself && run->end.is_good();
  if (!is_good || !is_sixel_image(run->output)) return std::nullopt;
  return std::move(run->output);
}

}  // namespace parley::cli
