#include "parley/guard/request.h"

#include <utility>

#include "parley/media/data_url.h"

namespace parley {
namespace {

Code code_of(ImageReason reason) {
  switch (reason) {
    case ImageReason::Bytes:
    case ImageReason::Pixels:
    case ImageReason::Sides:
      return Code::LimitExceeded;
    case ImageReason::Unidentified:
    case ImageReason::Unsupported:
      return Code::Unsupported;
    case ImageReason::Time:
      return Code::Timeout;
    default:
      return Code::Invalid;
  }
}

Result<Text> read_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    return fail(Code::LimitExceeded,
                "the text has " + std::to_string(text.size()) + " bytes, more than the " +
                    std::to_string(most_bytes) + " allowed",
                "/text");
  }
  Result<Text> out = Text::checked(text);
  if (!out) return fail(out.error().code, out.error().message, "/text");
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) {
    return fail(Code::Missing, "the text of the request is empty", "/text");
  }
  return out;
}

class Images {
 public:
  explicit Images(const ImageOptions& options) : options_(options) {}

  Result<void> add(std::string_view text) {
    const std::string path = "/images/" + std::to_string(checks.size());
    Result<std::string> bytes = is_data_url(text)
                                    ? from_data_url(text, path)
                                    : base64_decode(text, Base64Mode::Forgiving, options_.bytes);
    if (!bytes) return fail(bytes.error().code, bytes.error().message, path);
    return add(ImageBytes{*bytes});
  }

  Result<void> add(const ImageBytes& image) {
    const std::string path = "/images/" + std::to_string(checks.size());
    if (image.bytes.empty()) return fail(Code::Invalid, "the image is empty", path);
    ImageCheck check = check_image(image.bytes, options_);
    if (!check.valid()) return fail(code_of(check.reason), check.sentence, path);
    blocks.emplace_back(
        ImageBlock{Base64Source{Text(media_type(check.format)), Text(base64_encode(image.bytes))}});
    checks.push_back(std::move(check));
    return {};
  }

  Result<std::string> from_data_url(std::string_view text, const std::string& path) {
    PARLEY_TRY(DataUrlMedia media, read_media_data_url(text, options_.bytes));
    if (media.is_corrected()) {
      corrections.push_back(path + ": declared as " + media.declared + ", but the bytes are " +
                            std::string(media.media_type));
    }
    return std::move(media.bytes);
  }

  std::vector<Block> blocks;
  std::vector<ImageCheck> checks;
  std::vector<std::string> corrections;

 private:
  const ImageOptions& options_;
};

template <typename Image>
Result<UserRequest> parse(std::string_view text, std::span<const Image> images,
                          const RequestOptions& options) {
  PARLEY_TRY(Text said, read_text(text, options.text_bytes));
  if (images.size() > options.images) {
    return fail(Code::LimitExceeded,
                "the request has " + std::to_string(images.size()) + " images, more than the " +
                    std::to_string(options.images) + " allowed",
                "/images");
  }
  Images taken(options.image);
  for (const Image& image : images) PARLEY_CHECK(taken.add(image));
  MessageBuilder builder(Role::User);
  if (images.empty()) {
    builder.content(std::move(said));
  } else {
    builder.text(std::move(said));
    for (Block& block : taken.blocks) builder.block(std::move(block));
  }
  PARLEY_TRY(Message message, builder.build());
  return UserRequest{std::move(message), std::move(taken.checks), std::move(taken.corrections)};
}

}  // namespace

Result<UserRequest> parse_user_request(std::string_view text, std::span<const std::string_view> images,
                                       const RequestOptions& options) {
  return parse(text, images, options);
}

Result<UserRequest> parse_user_request(std::string_view text, std::span<const ImageBytes> images,
                                       const RequestOptions& options) {
  return parse(text, images, options);
}

Result<UserRequest> parse_user_request(std::string_view text, std::string_view image,
                                       const RequestOptions& options) {
  return parse_user_request(text, {&image, 1}, options);
}

}  // namespace parley
