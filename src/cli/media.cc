#include "cli/media.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/output.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/media/clip.h"
#include "parley/media/media_type.h"

namespace parley::cli {
namespace {

// More than any limit: the rest of a file that is too large anyway is not read.
constexpr std::size_t kMaxMediaBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxBase64Bytes = 2 * kMaxMediaBytes;

// The properties of one file. Empty, 0 and nothing mean unknown.
struct MediaLine {
  std::string_view kind;
  std::string_view format;
  std::string_view media_type;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::optional<double> seconds = {};
  std::uint32_t sample_rate = 0;
  std::uint32_t channels = 0;
  std::optional<std::size_t> bytes = {};
  std::uint32_t frames = 0;
  std::size_t trailing = 0;
  bool is_estimate = false;
  bool is_cut_off = false;
  std::string_view reason;  // empty if the file is valid
  std::string sentence;
};

MediaLine line_of(ImageCheck check) {
  MediaLine line;
  if (check.format != ImageFormat::Unknown) line.kind = "image";
  line.format = to_string(check.format);
  line.media_type = media_type(check.format);
  line.width = check.width;
  line.height = check.height;
  line.bytes = check.bytes;
  line.frames = check.frames;
  line.trailing = check.trailing;
  line.reason = to_string(check.reason);
  line.sentence = std::move(check.sentence);
  if (check.reason == ImageReason::Unidentified && check.format == ImageFormat::Unknown) {
    line.sentence = "unknown format: expected an image, audio or video";
  }
  return line;
}

// Like the other line_of(): the checks of images and of clips are types of their own, with few equal members.
MediaLine line_of(ClipCheck check) {
  MediaLine line;
  line.kind = to_string(check.kind);
  line.format = to_string(check.format);
  line.media_type = check.media_type;
  line.width = check.width;
  line.height = check.height;
  line.seconds = check.seconds;
  line.sample_rate = check.sample_rate;
  line.channels = check.channels;
  line.bytes = check.bytes;
  line.is_estimate = check.is_estimate;
  line.is_cut_off = check.is_cut_off;
  line.reason = to_string(check.reason);
  line.sentence = std::move(check.sentence);
  return line;
}

MediaLine checked(std::string_view bytes, const MediaOptions& options) {
  const std::string_view type =
      options.base64 ? sniff_base64_media_type(base64_of_data_url(bytes)) : sniff_media_type(bytes);
  MediaLine line;
  if (type.starts_with("audio/") || type.starts_with("video/")) {
    line = line_of(options.base64 ? check_base64_clip(bytes) : check_clip(bytes));
  } else {
    const ImageOptions image{.level = options.level};
    line = line_of(options.base64 ? check_base64_image(bytes, image) : check_image(bytes, image));
  }
  // The decoded size of invalid base64 is unknown.
  if (options.base64 && line.bytes == 0) line.bytes.reset();
  return line;
}

// To the millisecond: "2.5".
std::string shown(double seconds) { return fmt::format("{}", std::round(seconds * 1000) / 1000); }

std::string text_of(const std::string& file, const MediaLine& line) {
  if (!line.reason.empty()) return fmt::format("{}: refused ({}): {}", file, line.reason, line.sentence);
  std::string text = fmt::format("{}: {}", file, line.format);
  if (line.width != 0) text += fmt::format(" {}x{}", line.width, line.height);
  if (line.sample_rate != 0) text += fmt::format(" {} Hz", line.sample_rate);
  if (line.seconds) text += fmt::format(" {}{} s", line.is_estimate ? "about " : "", shown(*line.seconds));
  text += fmt::format(", {} bytes", line.bytes.value_or(0));
  if (line.frames > 1) text += fmt::format(", {} frames", line.frames);
  if (line.trailing > 0) text += fmt::format(", {} bytes after the end", line.trailing);
  if (line.is_cut_off) text += ", cut off";
  return text;
}

std::string json_of(const std::string& file, const MediaLine& line) {
  json::Writer w;
  const auto text = [&](std::string_view key, std::string_view value) {
    w.key(key);
    value.empty() ? w.null() : w.string(value);
  };
  const auto number = [&](std::string_view key, std::uint64_t value, bool is_known) {
    w.key(key);
    is_known ? w.number(static_cast<std::int64_t>(value)) : w.null();
  };
  w.begin_object().key("file").string(repair_utf8(file));
  w.key("valid").boolean(line.reason.empty());
  text("kind", line.kind);
  text("format", line.format);
  text("media_type", line.media_type);
  number("width", line.width, line.width != 0);
  number("height", line.height, line.height != 0);
  w.key("duration");
  line.seconds ? w.raw(shown(*line.seconds)) : w.null();
  number("sample_rate", line.sample_rate, line.sample_rate != 0);
  number("channels", line.channels, line.channels != 0);
  number("bytes", line.bytes.value_or(0), line.bytes.has_value());
  number("frames", line.frames, line.frames != 0);
  number("trailing", line.trailing, line.frames != 0);
  w.key("is_estimate").boolean(line.is_estimate);
  w.key("is_cut_off").boolean(line.is_cut_off);
  text("reason", line.reason);
  text("sentence", line.sentence);
  w.end_object();
  return w.take_string();
}

}  // namespace

ExitCode check_media(const MediaOptions& options) {
  Result<Output> output = Output::open(options.output);
  if (!output) return report_error(output.error(), {options.output});
  ExitCode exit = ExitCode::Ok;
  for (const std::string& file : options.files) {
    MediaLine line;
    const Result<json::Buffer> bytes =
        json::Buffer::from_file(file.c_str(), options.base64 ? kMaxBase64Bytes : kMaxMediaBytes);
    if (!bytes && bytes.error().code == Code::LimitExceeded) {
      line.reason = "bytes";
      line.sentence = "the file exceeds every size limit";
      exit = worse(exit, ExitCode::Refused);
    } else if (bytes) {
      line = checked(bytes->view(), options);
      if (!line.reason.empty()) exit = worse(exit, ExitCode::Refused);
    } else {
      line.reason = "unreadable";
      line.sentence = bytes.error().message;
      exit = worse(exit, report_error(bytes.error(), {file}));
    }
    const std::string text = options.json ? json_of(file, line) : visible(text_of(file, line));
    const ReportFormat form = options.json ? ReportFormat::Json : ReportFormat::Lines;
    if (auto written = output->report(text + "\n", form); !written) return output->end(written.error());
  }
  if (auto kept = output->commit(); !kept) return output->end(kept.error());
  return exit;
}

}  // namespace parley::cli
