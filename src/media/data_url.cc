#include "parley/media/data_url.h"

#include <algorithm>

#include "base/url_encode.h"
#include "media/mime_type.h"
#include "parley/base/text.h"
#include "parley/base/url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

std::unexpected<Error> data_url_too_large(std::size_t max_bytes) {
  return fail(Code::LimitExceeded, "the data URL contains more than " + std::to_string(max_bytes) + " bytes");
}

// What the URL parser would have left of `text`, in two pieces. Only a path that begins with a slash has
// anything that must be resolved, so everything else is cut where it stands.
struct Pieces {
  std::string head;  // percent-encoded, before the comma
  std::string body;  // after it, not decoded; without tabs, line ends and fragment
};

constexpr std::string_view kBreaks = "\t\n\r";  // no part of a URL, wherever they stand

std::string without_breaks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::ranges::copy_if(text, std::back_inserter(out),
                       [](char c) { return kBreaks.find(c) == std::string_view::npos; });
  return out;
}

std::string_view without_blanks_around(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A data URL as the parser writes it, without "data:".
Result<std::string> without_fragment(std::string_view text) {
  PARLEY_TRY(Url url, parse_url(text, SIZE_MAX));
  url.fragment.reset();
  return url.href().substr(5);
}

// The text without what is no part of a URL. The scheme itself may be broken by a line end.
Result<Pieces> pieces_of(std::string_view text) {
  if (!is_utf8(text)) return fail(Code::InvalidUtf8, "invalid data URL: it is not UTF-8");
  text = without_blanks_around(text);
  std::size_t start = 0;
  for (const char expected : std::string_view("data:")) {
    start = text.find_first_not_of(kBreaks, start);
    if (start == std::string_view::npos || url::lower(text[start]) != expected) {
      return fail(Code::Invalid, "invalid data URL: it does not begin with data:");
    }
    ++start;
  }

  std::string resolved;  // lives as long as `text` points into it
  const std::size_t first = text.find_first_not_of(kBreaks, start);
  if (first != std::string_view::npos && text[first] == '/') {
    PARLEY_TRY(resolved, without_fragment(text));
    text = resolved;
  } else {
    text.remove_prefix(start);
    text = text.substr(0, text.find('#'));
  }
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return fail(Code::Invalid, "invalid data URL: it has no comma");
  Pieces out;
  // The comma keeps the blanks before it from being an end that is cut off.
  PARLEY_TRY(out.head, without_fragment("data:" + std::string(text.substr(0, comma + 1))));
  out.head.pop_back();
  out.body = without_breaks(text.substr(comma + 1));
  return out;
}

// How many bytes percent_decode() would give.
std::size_t decoded_size(std::string_view text) {
  const auto is_hex = [](char c) {
    const char l = url::lower(c);
    return url::is_digit(l) || (l >= 'a' && l <= 'f');
  };
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++size) {
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) i += 2;
  }
  return size;
}

// ";", spaces, "base64" at the end of the head. Takes it off if it is there.
bool take_base64_mark(std::string_view& head) {
  constexpr std::string_view kMark = "base64";
  if (head.size() < kMark.size()) return false;
  std::string_view rest = head;
  if (!url::equals_ignoring_case(rest.substr(rest.size() - kMark.size()), kMark)) return false;
  rest.remove_suffix(kMark.size());
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  if (!rest.ends_with(';')) return false;
  head = rest.substr(0, rest.size() - 1);
  return true;
}

struct ParsedUrl {
  DataUrl url;
  bool is_labelled = false;  // it names a type, valid or not
};

Result<ParsedUrl> read(std::string_view text, std::size_t max_bytes) {
  // A byte takes at most four characters: base64 with every digit escaped. Nothing that is longer, with 64
  // KiB for a head, needs to be looked at.
  constexpr std::size_t kLongestHead = std::size_t{64} * 1024;
  const std::size_t least = text.size() / 4;
  if (least > max_bytes && least - max_bytes > kLongestHead) return data_url_too_large(max_bytes);
  PARLEY_TRY(Pieces pieces, pieces_of(text));
  std::string_view head = without_blanks_around(pieces.head);
  ParsedUrl out;
  out.url.is_base64 = take_base64_mark(head);
  const std::size_t size = decoded_size(pieces.body);
  if (out.url.is_base64) {
    if (size != pieces.body.size()) pieces.body = percent_decode(pieces.body);
    Result<std::string> bytes = base64_decode(pieces.body, Base64Mode::Forgiving, max_bytes);
    if (!bytes && bytes.error().code == Code::LimitExceeded) return data_url_too_large(max_bytes);
    if (!bytes) return fail(Code::Invalid, "invalid data URL: its data is not base64");
    out.url.bytes = *std::move(bytes);
  } else {
    if (size > max_bytes) return data_url_too_large(max_bytes);
    out.url.bytes = percent_decode(pieces.body);
  }
  out.is_labelled = !head.empty() && !head.starts_with(';');
  const std::string type = (head.starts_with(';') ? "text/plain" : "") + std::string(head);
  if (auto parsed = media::parse_mime_type(type)) {
    out.url.media_type = std::move(parsed->essence);
    out.url.parameters = std::move(parsed->parameters);
  } else {
    out.url.media_type = "text/plain";
    out.url.parameters = {{"charset", "US-ASCII"}};
  }
  return out;
}

}  // namespace

Result<DataUrl> read_data_url(std::string_view text, std::size_t max_bytes) {
  PARLEY_TRY(ParsedUrl out, read(text, max_bytes));
  return std::move(out.url);
}

Result<DataUrlMedia> read_media_data_url(std::string_view text, std::size_t max_bytes) {
  PARLEY_TRY(ParsedUrl in, read(text, max_bytes));
  const std::string& label = in.url.media_type;
  if (in.is_labelled && label != "application/octet-stream" && !media::is_media(label)) {
    return fail(Code::Unsupported, "the data URL is not labelled as an image, audio or video");
  }
  DataUrlMedia out;
  out.media_type = sniff_media_type(in.url.bytes);
  if (!media::is_media(out.media_type)) {
    return fail(Code::Unsupported,
                "the data URL does not contain an image, audio or video of a known format");
  }
  if (in.is_labelled) out.declared = canonical_media_type(label);
  const DataUrlParts parts = split_data_url(text);
  if (parts.is_base64 && base64_check(parts.data)) out.base64 = parts.data;
  out.bytes = std::move(in.url.bytes);
  return out;
}

std::string data_url(std::string_view media_type, std::string_view base64) {
  if (is_data_url(base64)) return std::string(base64);
  std::string out = "data:";
  out.reserve(out.size() + media_type.size() + base64.size() + 8);
  return out.append(media_type).append(";base64,").append(base64);
}

}  // namespace parley
