#include "cli/attach.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/media_show.h"
#include "cli/terminal.h"
#include "parley/base/text.h"
#include "parley/guard/request.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostAttachedBytes = std::size_t{16} * 1024 * 1024;

bool is_text(std::string_view bytes) { return is_utf8(bytes) && bytes.find('\0') == std::string_view::npos; }

// What parse_user_request() refuses; "/images/2" is the third of the files.
ExitCode report_refusal(const Error& error, const std::vector<std::string>& files) {
  constexpr std::string_view kImages = "/images/";
  if (error.path.starts_with(kImages)) {
    const auto index = static_cast<std::size_t>(std::atoi(error.path.c_str() + kImages.size()));
    if (index < files.size()) return report_error({error.code, error.message, ""}, {files[index]});
  }
  print_message(error.message);
  return ExitCode::Refused;
}

}  // namespace

CommandResult<Attachments> read_attachments(std::span<const std::string> files) {
  Attachments out;
  std::vector<std::string> names;
  for (const std::string& file : files) {
    Result<json::Buffer> read = json::Buffer::from_file(file.c_str(), kMostAttachedBytes);
    if (!read) return std::unexpected(report_error(read.error(), {file}));
    const std::string_view bytes = read->view();
    if (const ImageCheck check = check_image(bytes, {.level = ImageLevel::Header});
        check.format != ImageFormat::Unknown) {
      out.shown.push_back(
          {image_line(file, check), check, std::make_shared<const json::Buffer>(*std::move(read))});
      names.push_back(file);
    } else if (is_text(bytes)) {
      out.texts += fmt::format("\n\n[file {}]\n{}{}[end of file {}]", file, bytes,
                               bytes.ends_with('\n') ? "" : "\n", file);
    } else {
      return std::unexpected(report_error(
          {Code::Unsupported, "unsupported attachment: expected an image or UTF-8 text", ""}, {file}));
    }
  }
  std::vector<ImageBytes> bytes;
  bytes.reserve(out.shown.size());
  for (const AttachedImage& image : out.shown) bytes.push_back({image.bytes->view()});
  const Result<UserRequest> checked = parse_user_request("-" + out.texts, bytes);
  if (!checked) return std::unexpected(report_refusal(checked.error(), names));
  out.images = checked->message.get_content_blocks({BlockType::Image});
  return out;
}

StyledText attached_images(int fd, std::span<const AttachedImage> images) {
  StyledText out(has_colour(fd));
  for (const AttachedImage& image : images) {
    out.add(drawn_image(fd, image.bytes->view(), image.check));
    out.text("  ").text(image.line, kDimStyle).newline();
  }
  return out;
}

CommandResult<Message> request_of(std::string words, const Attachments& attachments) {
  words += attachments.texts;
  const Result<UserRequest> request = parse_user_request(words);
  if (!request) return std::unexpected(report_refusal(request.error(), {}));
  if (attachments.images.empty()) return request->message;
  std::vector<Block> blocks = request->message.blocks();
  blocks.insert(blocks.end(), attachments.images.begin(), attachments.images.end());
  const Result<Message> message = MessageBuilder(Role::User).blocks(std::move(blocks)).build();
  if (!message) return std::unexpected(report_refusal(message.error(), {}));
  return *message;
}

}  // namespace parley::cli
