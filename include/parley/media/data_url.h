// Data URLs: media inside a URL, "data:[<media type>][;<parameter>...][;base64],<data>". Split in place, or
// read as browsers read them and checked before they enter a conversation.
//
// Invariants (quoted by tests as DATA_URL1..DATA_URL6):
//   DATA_URL1  read_data_url() is the data: URL processor of the WHATWG Fetch standard: tabs and line ends
//              are removed, a fragment is cut off, "base64" may have spaces before it and be in any case,
//              escapes are decoded, and base64 is forgiving.
//   DATA_URL2  More bytes than the limit are refused before anything is decoded.
//   DATA_URL3  The media type is what the bytes show, never what the URL declares; a difference is reported.
//   DATA_URL4  Only images, audio and video are accepted. Anything declared otherwise, SVG and HTML included,
//              is refused, even if its bytes are an image; parameters are ignored.
//   DATA_URL5  data_url() never puts "data:" in front of a data URL.
//   DATA_URL6  No error repeats the data.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/media/media_type.h"

namespace parley {

// Base64 (RFC 4648, standard alphabet) in three modes. Pure functions; safe from any thread.
enum class Base64Mode : std::uint8_t {
  Canonical,  // Padded, no spare bits set, no whitespace: exactly one spelling per byte string.
  OpenManus,  // The verdict of OpenManus' image check: at least 10 characters; "data:...," cut at the
              // first comma whatever it says; alphabet with up to two '='; length a multiple of four;
              // spare bits ignored; at most 10 MiB decoded.
  Forgiving,  // The WHATWG rules for data URLs: ASCII whitespace stripped, padding optional, spare
              // bits ignored.
};

inline constexpr std::size_t kOpenManusImageBytes = std::size_t{10} * 1024 * 1024;

// Decodes `text`. Fails with Invalid, naming the offset of the first bad character, or with
// LimitExceeded, before decoding anything, if the result would be larger than `max_bytes`.
Result<std::string> base64_decode(std::string_view text, Base64Mode mode = Base64Mode::Canonical,
                                  std::size_t max_bytes = SIZE_MAX);

// The verdict of base64_decode without its result; nothing is allocated on success.
Result<void> base64_check(std::string_view text, Base64Mode mode = Base64Mode::Canonical,
                          std::size_t max_bytes = SIZE_MAX);

// The canonical spelling.
std::string base64_encode(std::string_view bytes);

inline constexpr std::size_t kMaxDataUrlBytes = std::size_t{20} * 1024 * 1024;  // decoded

// ---- In place: nothing is decoded or copied, so escapes stay as they are

struct DataUrlParts {
  std::string_view media_type;  // as written, without parameters; may be empty
  std::string_view data;        // after the first comma
  bool is_base64 = false;
};

// "data:" in any case, at the very start.
bool is_data_url(std::string_view text);

// Everything is empty for a text that is not a data URL, or has no comma.
DataUrlParts split_data_url(std::string_view text);

// ---- As browsers read them

struct DataUrl {
  std::string media_type;  // "image/png", lower case; "text/plain" if absent or invalid
  std::vector<std::pair<std::string, std::string>> parameters;  // the first 32, names in lower case
  bool is_base64 = false;
  std::string bytes;
};

// Fails with Invalid for an invalid data URL, with InvalidUtf8, with LimitExceeded (DATA_URL2).
Result<DataUrl> read_data_url(std::string_view text, std::size_t max_bytes = kMaxDataUrlBytes);

// Media with the type that their bytes show.
struct DataUrlMedia {
  std::string_view media_type;  // of the bytes; static
  std::string declared;         // the URL's media type; empty if absent
  std::string bytes;
  // The base64 as it stands in the text that was read, if it is the one canonical spelling; else empty.
  std::string_view base64;

  // True if the URL declares another type: use media_type (DATA_URL3).
  bool is_corrected() const { return !declared.empty() && !is_shown_as(declared, media_type); }
};

// Fails with Unsupported for a type or bytes of another kind (DATA_URL4), and as read_data_url() does.
Result<DataUrlMedia> read_media_data_url(std::string_view text, std::size_t max_bytes = kMaxDataUrlBytes);

// "data:<media type>;base64,<base64>", or `base64` itself if it is a data URL already (DATA_URL5).
std::string data_url(std::string_view media_type, std::string_view base64);

}  // namespace parley
