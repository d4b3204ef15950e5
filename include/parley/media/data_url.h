// Data URLs: media inside a URL, "data:[<media type>][;<parameter>...][;base64],<data>". Split in place, or
// read as browsers read them and checked before they enter a conversation.
//
// Invariants (quoted by tests as D1..D6):
//   D1  read_data_url() is the data: URL processor of the WHATWG Fetch standard: tabs and line ends are no
//       part of a URL, a fragment is cut off, "base64" may have spaces before it and be in any case, escapes
//       are decoded, and base64 is forgiving.
//   D2  More bytes than the limit are refused before anything is decoded.
//   D3  The type of media is what their bytes show, never what the URL says; a label that differs is told.
//   D4  Only images, sounds and films pass. What is labelled anything else, SVG and HTML included, is
//       refused, even if its bytes are an image; parameters have no part in anything.
//   D5  data_url() never puts "data:" in front of a data URL.
//   D6  No error repeats the data.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/media/media_type.h"

namespace parley {

inline constexpr std::size_t kMaxDataUrlBytes = std::size_t{20} * 1024 * 1024;  // decoded

// ---- In place: nothing is decoded or copied, so escapes stay as they are

struct DataUrlParts {
  std::string_view media_type;  // as written, without parameters; may be empty
  std::string_view data;        // behind the first comma
  bool is_base64 = false;
};

// "data:" in any case, at the very start.
bool is_data_url(std::string_view text);

// Everything is empty for a text that is no data URL, or one without a comma.
DataUrlParts split_data_url(std::string_view text);

// ---- As browsers read them

struct DataUrl {
  std::string media_type;  // "image/png", lower case; "text/plain" if the URL says none, or none that can be
  std::vector<std::pair<std::string, std::string>> parameters;  // the first 32, names in lower case
  bool is_base64 = false;
  std::string bytes;
};

// Fails with Invalid for what is no data URL, with InvalidUtf8, with LimitExceeded (D2).
Result<DataUrl> read_data_url(std::string_view text, std::size_t max_bytes = kMaxDataUrlBytes);

// Media as their bytes show them.
struct DataUrlMedia {
  std::string_view media_type;  // of the bytes; static
  std::string declared;         // what the URL said; empty if nothing
  std::string bytes;
  // The base64 as it stands in the text that was read, if it is the one canonical spelling; else empty.
  std::string_view base64;

  // The URL named another type: the one to use is media_type (D3).
  bool is_corrected() const { return !declared.empty() && !is_shown_as(declared, media_type); }
};

// Fails with Unsupported for a label or bytes that are none of the three kinds (D4), and as read_data_url().
Result<DataUrlMedia> read_media_data_url(std::string_view text, std::size_t max_bytes = kMaxDataUrlBytes);

// "data:<media type>;base64,<base64>", or `base64` itself if it is a data URL already (D5).
std::string data_url(std::string_view media_type, std::string_view base64);

}  // namespace parley
