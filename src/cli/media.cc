#include "cli/media.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/say.h"
#include "parley/base/utf8.h"
#include "parley/json/buffer.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMaxBytes = 0xFFFF'FFFF - json::kPadding;

struct Line {
  ImageCheck check;
  std::string_view reason;  // "" if the image is good
  std::string sentence;
  bool is_known = true;  // whether there was anything to look at
};

std::string text_of(const std::string& file, const Line& line) {
  const ImageCheck& check = line.check;
  if (!line.reason.empty()) return fmt::format("{}: refused ({}): {}", file, line.reason, line.sentence);
  std::string text = fmt::format("{}: {} {}x{}, {} bytes", file, to_string(check.format), check.width,
                                 check.height, check.bytes);
  if (check.frames > 1) text += fmt::format(", {} frames", check.frames);
  if (check.trailing > 0) text += fmt::format(", {} bytes behind the end", check.trailing);
  return text;
}

std::string json_of(const std::string& file, const Line& line) {
  const ImageCheck& check = line.check;
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
  text("format", to_string(check.format));
  text("media_type", media_type(check.format));
  number("width", check.width, check.width != 0);
  number("height", check.height, check.height != 0);
  number("bytes", check.bytes, line.is_known);
  number("frames", check.frames, check.frames != 0);
  number("trailing", check.trailing, check.frames != 0);
  text("reason", line.reason);
  text("sentence", line.sentence);
  w.end_object();
  return w.take_string();
}

}  // namespace

Exit check_media(const MediaOptions& options) {
  Result<Output> output = Output::open(options.output);
  if (!output) return complain(output.error(), {options.output});
  ImageOptions image_options;
  image_options.level = options.level;
  Exit exit = Exit::Ok;
  for (const std::string& file : options.files) {
    Line line;
    const Result<json::Buffer> bytes = json::Buffer::from_file(file.c_str(), kMaxBytes);
    if (bytes) {
      line.check = options.base64 ? check_base64_image(bytes->view(), image_options)
                                  : check_image(bytes->view(), image_options);
      line.reason = to_string(line.check.reason);
      line.sentence = line.check.sentence;
      line.is_known = line.check.bytes != 0 || !options.base64;
      if (!line.check.valid()) exit = worse(exit, Exit::Refused);
    } else {
      line.reason = "unreadable";
      line.sentence = bytes.error().message;
      line.is_known = false;
      exit = worse(exit, complain(bytes.error(), {file}));
    }
    const std::string text = options.json ? json_of(file, line) : visible(text_of(file, line));
    if (auto written = output->write(text + "\n"); !written) return output->end(written.error());
  }
  if (auto kept = output->commit(); !kept) return output->end(kept.error());
  return exit;
}

}  // namespace parley::cli
