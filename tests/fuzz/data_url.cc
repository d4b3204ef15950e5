// Data URLs as browsers read them. The first byte is the limit, the rest is the URL. The URL, parsed and
// written again, holds the same bytes (DATA_URL1), the limit holds (DATA_URL2), and media are what their
// bytes show (DATA_URL3, DATA_URL4).
#include "parley/media/data_url.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "parley/base/url.h"
#include "parley/media/media_type.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t limit = data[0];
  const auto read = parley::read_data_url(text);
  const auto limited = parley::read_data_url(text, limit);
  require(!limited || limited->bytes.size() <= limit, "the limit");
  require(limited.has_value() == (read.has_value() && read->bytes.size() <= limit),
          "only the limit makes a difference");

  if (const auto url = parley::parse_url(text)) {
    require(url->scheme == "data" || !read, "only data URLs are read");
    if (url->scheme == "data") {
      const auto again = parley::read_data_url(url->href());
      require(again.has_value() == read.has_value(), "the URL as written has the same verdict");
      require(!read || (again->bytes == read->bytes && again->media_type == read->media_type &&
                        again->parameters == read->parameters),
              "the URL as written holds the same");
    }
  }
  const auto media = parley::read_media_data_url(text);
  require(!media || read.has_value(), "media are data URLs");
  if (media) {
    require(media->media_type == parley::sniff_media_type(media->bytes) && media->bytes == read->bytes,
            "the bytes decide");
    require(media->media_type.starts_with("image/") || media->media_type.starts_with("audio/") ||
                media->media_type.starts_with("video/"),
            "the three kinds");
    if (!media->base64.empty()) {
      require(parley::base64_decode(media->base64).value_or("") == media->bytes, "the base64 is theirs");
      const std::string made = parley::data_url(media->media_type, media->base64);
      require(parley::data_url("x/y", made) == made, "never twice");
      const auto remade = parley::read_media_data_url(made);
      require(remade && remade->bytes == media->bytes && !remade->is_corrected(), "made again");
    }
  }
  return 0;
}
