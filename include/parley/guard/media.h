// Checks the media of a conversation: whether inline images decode, whether audio and video are valid, and
// whether their media types match their bytes. validate() checks the rest (base64, sizes, required members).
//
//   error    bad_image         an inline image has an unknown format, is broken, too large, or does not
//   decode error    bad_clip          inline audio or video has an unknown format, is broken, or lasts too
//   long warning  wrong_media_type  the declared media type of an inline file differs from its bytes
//
// Pure; safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "parley/media/clip.h"
#include "parley/media/image.h"
#include "parley/message/validate.h"

namespace parley {

// All findings, in the order of the messages. Data that is not base64 or has too many bytes is left to
// validate(). URLs are not fetched.
struct MediaOptions {
  ImageOptions image = {};
  ClipOptions clip = {};
};
std::vector<Finding> inspect_media(std::span<const Message> messages, const MediaOptions& options = {});

}  // namespace parley
