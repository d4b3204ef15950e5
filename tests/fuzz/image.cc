// Images: any bytes get a verdict, what decodes has good headers, and base64 of the bytes says the same.
#include "parley/media/image.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "parley/media/data_url.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Small enough to keep an input short, large enough for every path.
  parley::ImageOptions options;
  options.pixels = 1 << 20;
  options.level = parley::ImageLevel::Header;
  const parley::ImageCheck header = parley::check_image(bytes, options);
  require(header.valid() == header.sentence.empty(), "a refusal has a sentence");
  require(!header.valid() || (header.width > 0 && header.height > 0), "an image has a size");
  require(header.trailing <= size, "what is behind the end is inside of the file");
  require(parley::check_base64_image(parley::base64_encode(bytes), options) == header,
          "the same from base64");
  options.level = parley::ImageLevel::Decode;
  const parley::ImageCheck decoded = parley::check_image(bytes, options);
  require(header.valid() || !decoded.valid(), "what decodes has good headers");
  (void)parley::validate_base64_image(bytes);
  return 0;
}
