#include "cli/media_show.h"

#include <fmt/format.h>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/look.h"
#include "cli/output.h"
#include "cli/sixel_tool.h"
#include "cli/terminal.h"
#include "cli/terminal_query.h"
#include "parley/json/json.h"
#include "parley/media/image.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostImageBytes = std::size_t{10} * 1024 * 1024;

// The protocol that the terminal has for images of this format. A multiplexer does not pass them on.
ImageProtocol protocol_for(ImageFormat format) {
  const std::string term = from_environment("TERM"), program = from_environment("TERM_PROGRAM");
  if (term.starts_with("tmux") || term.starts_with("screen")) return ImageProtocol::None;
  const bool is_kitty = term == "xterm-kitty" || term == "xterm-ghostty" || program == "ghostty" ||
                        program == "WezTerm" || !from_environment("KITTY_WINDOW_ID").empty();
  if (is_kitty && format == ImageFormat::Png) return ImageProtocol::Kitty;
  const bool is_known =
      format == ImageFormat::Png || format == ImageFormat::Jpeg || format == ImageFormat::Gif;
  if (is_known && (program == "iTerm.app" || program == "WezTerm")) return ImageProtocol::Iterm;
  return ImageProtocol::None;
}

std::string short_size(std::size_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  const double kb = static_cast<double>(bytes) / 1000;
  return kb < 999.5 ? fmt::format("{:.0f} KB", kb) : fmt::format("{:.1f} MB", kb / 1000);
}

std::optional<std::string> sixels_for(int fd, std::string_view bytes, std::size_t width) {
  if (!has_sixel_tool() || !draws_sixels(fd)) return std::nullopt;
  return sixels_of(bytes, std::min(width, pixels_across(fd)));
}

ExitCode show_image(const std::string& file, Output& output) {
  const Result<json::Buffer> bytes = json::Buffer::from_file(file.c_str(), kMostImageBytes);
  if (!bytes) return report_error(bytes.error(), {file});
  const ImageCheck check = check_image(bytes->view());
  if (!check.valid()) return report_error({Code::Invalid, check.sentence, ""}, {file});
  const StyledText drawn = drawn_image(output.descriptor(), bytes->view(), check);
  Result<void> written;
  if (!drawn.empty()) written = output.write(drawn);
  if (written) written = output.report(visible(image_line(file, check)) + "\n");
  return written ? ExitCode::Ok : output.end(written.error());
}

}  // namespace

std::string image_line(std::string_view path, const ImageCheck& check) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return fmt::format("[image {} {} {} {}, {}, {}]", name, with_commas(check.width), signs().times,
                     with_commas(check.height), to_string(check.format), short_size(check.bytes));
}

StyledText drawn_image(int fd, std::string_view bytes, const ImageCheck& check) {
  StyledText out(true);
  if (!can_draw(fd) || bytes.size() > kMostImageBytes) return out;
  if (const ImageProtocol protocol = protocol_for(check.format); protocol != ImageProtocol::None) {
    return out.image(protocol, bytes).newline();
  }
  if (const auto sixels = sixels_for(fd, bytes, check.width)) out.sixels(*sixels).newline();
  return out;
}

ExitCode show_media(const MediaOptions& options) {
  Result<Output> output = Output::open(options.output);
  if (!output) return report_error(output.error(), {options.output});
  ExitCode exit = ExitCode::Ok;
  for (const std::string& file : options.files) exit = worse(exit, show_image(file, *output));
  if (auto kept = output->commit(); !kept) return output->end(kept.error());
  return exit;
}

}  // namespace parley::cli
