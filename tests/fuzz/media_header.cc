// Headers of pictures and sounds: any bytes are looked at, and base64 of them says the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/media/data_url.h"
#include "parley/media/media_type.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto found = parley::image_size(bytes);
  if (found) require(found->width > 0 && found->height > 0, "a size has two sides");
  const auto seconds = parley::wav_seconds(bytes);
  if (seconds) require(*seconds >= 0, "a sound has a length");
  const std::string text = parley::base64_encode(bytes);
  require(parley::base64_image_size(text) == found, "the size from base64");
  require(parley::base64_wav_seconds(text) == seconds, "the length from base64");
  (void)parley::base64_image_size(bytes);
  (void)parley::base64_wav_seconds(bytes);
  return 0;
}
