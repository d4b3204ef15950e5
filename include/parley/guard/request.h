// Turns a user's input, a text and images, into a message that may enter a conversation.
//
// Invariants (quoted by tests as USER_REQUEST1..USER_REQUEST4):
//   USER_REQUEST1  The result is a valid user message: its text is UTF-8 and not blank, its images decode.
//   USER_REQUEST2  An image has the media type of its bytes, whatever was declared; a correction is reported.
//   USER_REQUEST3  An image's data is canonical base64 without a "data:" prefix, whatever the input form.
//   USER_REQUEST4  An error names the refused part ("/text", "/images/2") and the reason; there is no partial
//                  result.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/media/clip.h"
#include "parley/media/image.h"
#include "parley/message/message.h"
#include "parley/message/validate.h"

namespace parley {

struct RequestOptions {
  std::size_t text_bytes = std::size_t{4} * 1024 * 1024;
  std::size_t images = 100;  // As many as Anthropic takes in one request.
  ImageOptions image = {};
};

struct UserRequest {
  Message message;
  std::vector<ImageCheck> images;        // what each image is
  std::vector<std::string> corrections;  // "/images/0: declared as image/jpeg, but the bytes are image/png"
};

// `images`: base64, or data URLs that hold base64. Whitespace and missing padding are allowed.
//
// Fails with
//   Missing        the text is empty or white space only
//   InvalidUtf8    the text is not UTF-8
//   LimitExceeded  too long a text, too many images, too many bytes or pixels, too long a side
//   Invalid        not base64, a data URL without its comma, a broken image, one that does not decode
//   Unsupported    none of JPEG, PNG, GIF, BMP, WEBP, TIFF
//   Timeout        an image that took too long to decode
Result<UserRequest> parse_user_request(std::string_view text, std::span<const std::string_view> images = {},
                                       const RequestOptions& options = {});
Result<UserRequest> parse_user_request(std::string_view text, std::string_view image,
                                       const RequestOptions& options = {});

// The bytes of an image file.
struct ImageBytes {
  std::string_view bytes;
};
// The same for images that are not in base64: each is encoded once.
Result<UserRequest> parse_user_request(std::string_view text, std::span<const ImageBytes> images,
                                       const RequestOptions& options = {});

// Checks the media of a conversation: whether inline images decode, whether audio and video are valid, and
// whether their media types match their bytes. validate() checks the rest (base64, sizes, required members).
//
//   bad_image         error: an inline image has an unknown format, is broken, too large, or does not decode
//   bad_clip          error: inline audio or video has an unknown format, is broken, or lasts too long
//   wrong_media_type  warning: the declared media type of an inline file differs from its bytes
//
// Pure; safe from any thread.

// All findings, in the order of the messages. Data that is not base64 or has too many bytes is left to
// validate(). URLs are not fetched.
struct MediaOptions {
  ImageOptions image = {};
  ClipOptions clip = {};
};
std::vector<Finding> inspect_media(std::span<const Message> messages, const MediaOptions& options = {});

}  // namespace parley
