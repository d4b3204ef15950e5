// Looking into the media of a conversation: whether inline images decode, whether audio and video hold
// together, and whether they are what they are called. What can be said without looking into them (base64,
// sizes, required members) is validate()'s.
//
//   error    bad_image         an inline image is none, is broken, is too large, or does not decode
//   error    bad_clip          inline audio or video is none, is broken, or lasts too long
//   warning  wrong_media_type  an inline file is declared as something its bytes are not
//
// Pure; safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "parley/media/clip.h"
#include "parley/media/image.h"
#include "parley/message/validate.h"

namespace parley {

// All findings, in the order of the messages. Data that is no base64 or has too many bytes is left to
// validate(). URLs are not followed.
struct MediaOptions {
  ImageOptions image = {};
  ClipOptions clip = {};
};
std::vector<Finding> inspect_media(std::span<const Message> messages, const MediaOptions& options = {});

}  // namespace parley
