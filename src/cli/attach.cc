#include "cli/attach.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "cli/diagnostics.h"
#include "parley/base/utf8.h"
#include "parley/guard/request.h"
#include "parley/json/buffer.h"
#include "parley/media/base64.h"
#include "parley/media/image.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostAttachedBytes = std::size_t{16} * 1024 * 1024;

bool is_text(std::string_view bytes) { return is_utf8(bytes) && bytes.find('\0') == std::string_view::npos; }

}  // namespace

CommandResult<Attachments> read_attachments(std::span<const std::string> files) {
  Attachments out;
  for (const std::string& file : files) {
    const Result<json::Buffer> read = json::Buffer::from_file(file.c_str(), kMostAttachedBytes);
    if (!read) return std::unexpected(report_error(read.error(), {file}));
    const std::string_view bytes = read->view();
    if (check_image(bytes, {.level = ImageLevel::Header}).format != ImageFormat::Unknown) {
      out.images.push_back(base64_encode(bytes));
      out.names.push_back(file);
    } else if (is_text(bytes)) {
      out.texts += fmt::format("\n\n[file {}]\n{}{}[end of file {}]", file, bytes,
                               bytes.ends_with('\n') ? "" : "\n", file);
    } else {
      return std::unexpected(report_error(
          {Code::Unsupported, "unsupported attachment: expected an image or UTF-8 text", ""}, {file}));
    }
  }
  return out;
}

CommandResult<Message> request_of(std::string words, const Attachments& attachments) {
  const std::vector<std::string>& names = attachments.names;
  const std::vector<std::string_view> views(attachments.images.begin(), attachments.images.end());
  words += attachments.texts;
  Result<UserRequest> request = parse_user_request(words, views);
  if (request) return std::move(request->message);
  // "/images/2" is the third of them.
  constexpr std::string_view kImages = "/images/";
  if (request.error().path.starts_with(kImages)) {
    const auto index = static_cast<std::size_t>(std::atoi(request.error().path.c_str() + kImages.size()));
    if (index < names.size()) {
      return std::unexpected(
          report_error({request.error().code, request.error().message, ""}, {names[index]}));
    }
  }
  print_message(request.error().message);
  return std::unexpected(ExitCode::Refused);
}

}  // namespace parley::cli
