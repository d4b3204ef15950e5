// From what a user sent, a text and images in base64, to a message that may enter a conversation.
//
// Invariants (quoted by tests as Q1..Q4):
//   Q1  What comes out is a good user message: its text is UTF-8 and says something, its images decode.
//   Q2  An image is labelled by what its bytes are, whatever was declared; the correction is told.
//   Q3  An image's data is canonical base64 without a "data:" prefix, however it came.
//   Q4  What is refused says which part it is ("/text", "/images/2") and why; nothing is taken in part.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/media/image.h"
#include "parley/message/message.h"

namespace parley {

struct RequestOptions {
  std::size_t text_bytes = std::size_t{4} * 1024 * 1024;
  std::size_t images = 100;  // As many as Anthropic takes in one request.
  ImageOptions image = {};
};

struct UserRequest {
  Message message;
  std::vector<ImageCheck> images;        // what each image is
  std::vector<std::string> corrections;  // "/images/0: declared as image/jpeg, and the bytes are image/png"
};

// `images`: base64, or data URLs that hold base64. Whitespace and missing padding are forgiven.
//
// Fails with
//   Missing        the text is empty or white space only
//   InvalidUtf8    the text is not UTF-8
//   LimitExceeded  too long a text, too many images, too many bytes or pixels, too long a side
//   Invalid        no base64, a data URL without its comma, a broken image, one that does not decode
//   Unsupported    none of JPEG, PNG, GIF, BMP, WEBP, TIFF
//   Timeout        an image that took too long to decode
Result<UserRequest> parse_user_request(std::string_view text, std::span<const std::string_view> images = {},
                                       const RequestOptions& options = {});
Result<UserRequest> parse_user_request(std::string_view text, std::string_view image,
                                       const RequestOptions& options = {});

}  // namespace parley
