// Clips: any bytes get a verdict, its numbers are possible, and base64 of the bytes says the same.
#include "parley/media/clip.h"

#include <cstdint>
#include <string_view>

#include "parley/media/data_url.h"
#include "parley/media/media_type.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const parley::ClipCheck check = parley::check_clip(bytes);
  require(check.valid() == check.sentence.empty(), "a refusal has a sentence");
  require(check.bytes == size, "the size");
  require(check.sample_rate <= parley::kMaxSampleRate, "a rate is possible");
  require(check.channels <= 255, "the channels are possible");
  require(check.width <= 65535 && check.height <= 65535, "the pictures are possible");
  require(!check.seconds || (*check.seconds >= 0 && *check.seconds <= parley::kMaxSeconds),
          "the duration is possible");
  require(!check.valid() || check.kind != parley::ClipKind::Unknown, "a good clip has a kind");
  require(parley::canonical_media_type(check.media_type) == check.media_type, "the media type is canonical");
  require(check.media_type.empty() == (check.format == parley::ClipFormat::Unknown), "a format has a type");
  require(parley::check_base64_clip(parley::base64_encode(bytes)) == check, "the same from base64");
  (void)parley::check_base64_clip(bytes);

  const std::string canonical = parley::canonical_media_type(bytes);
  require(parley::canonical_media_type(canonical) == canonical, "canonical once is canonical twice");

  // The length that tokens are counted by, where it is read: of 64-bit sizes it knows nothing.
  if (check.valid() && check.format == parley::ClipFormat::Wav && bytes.starts_with("RIFF")) {
    const auto seconds = parley::wav_seconds(bytes);
    require(!seconds || bytes.find("ds64") != std::string_view::npos || seconds == check.seconds,
            "the length of a WAV");
  }
  return 0;
}
