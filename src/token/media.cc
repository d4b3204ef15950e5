#include <algorithm>
#include <cmath>
#include <variant>

#include "parley/media/data_url.h"
#include "parley/token/counter.h"

namespace parley {
namespace {

constexpr ImageSize kUnknownImage = {1024, 1024};
constexpr double kUnknownSeconds = 60;
constexpr double kAudioBytesASecond = 16'000;   // 128 kbit/s
constexpr double kVideoBytesASecond = 250'000;  // 2 Mbit/s
constexpr std::size_t kTextBytesAToken = 4;
constexpr std::size_t kDocumentBytes = 100'000;  // of a page or so
constexpr std::size_t kDocumentTokens = 1'500;

// Gemini, "Understand and count tokens", as of 2025. Also for models that accept neither audio nor
// video: what is sent to them anyway is not free.
constexpr double kAudio = 32;
constexpr double kVideo = 263;

// OpenAI, "Images and vision", the section on costs, as of 2025-08. Audio: "Realtime costs", one token for
// 100 ms of a user's speech. Video is not accepted.
constexpr MediaRule tiles(std::string_view family, std::uint32_t base, std::uint32_t tile) {
  return {.family = family,
          .method = ImageMethod::Tiles,
          .base = base,
          .each = tile,
          .audio_second = 10,
          .video_second = kVideo};
}
constexpr MediaRule patches(std::string_view family, double factor) {
  return {.family = family,
          .method = ImageMethod::Patches,
          .most = 1536,
          .factor = factor,
          .audio_second = 10,
          .video_second = kVideo};
}
// Anthropic, "Vision", as of 2025: width * height / 750, at most 1568 pixels a side and about 1,600 tokens.
constexpr MediaRule area(std::string_view family, std::uint32_t side, std::uint32_t most) {
  return {.family = family,
          .method = ImageMethod::Area,
          .each = 750,
          .side = side,
          .most = most,
          .audio_second = kAudio,
          .video_second = kVideo};
}
// Qwen, the models' preprocessor and Model Studio, "Visual understanding", as of 2025: cells of 28 x 28
// pixels (32 from Qwen3-VL on), two tokens around an image. Audio: 25 tokens a second.
constexpr MediaRule grid(std::string_view family, std::uint32_t side, std::uint32_t most) {
  return {.family = family,
          .method = ImageMethod::Grid,
          .base = 2,
          .side = side,
          .most = most,
          .audio_second = 25,
          .video_second = kVideo};
}

// Where the start of a family is a family too, the longer one comes first.
constexpr MediaRule kRules[] = {
    patches("gpt-4.1-mini", 1.62),
    patches("gpt-4.1-nano", 2.46),
    patches("gpt-5-mini", 1.62),
    patches("gpt-5-nano", 2.46),
    patches("o4-mini", 1.72),
    // AgentScope means to count this one so, but looks for "4o-mini" and takes the row of gpt-4o.
    tiles("gpt-4o-mini", 2833, 5667),
    tiles("gpt-4", 85, 170),
    tiles("gpt-5", 70, 140),
    tiles("computer-use", 65, 129),
    tiles("o1", 75, 150),
    tiles("o3", 75, 150),
    tiles("o4", 75, 150),  // of these AgentScope refuses all but o4-mini
    area("claude-opus-4-7", 2576, 5000),
    area("claude", 1568, 1600),
    // Gemini, "Media resolution", as of 2025-11: 1,120 tokens unless the request says otherwise; 70 tokens
    // for a frame of a video, one frame and its audio a second.
    {.family = "gemini-3",
     .method = ImageMethod::Flat,
     .base = 1120,
     .audio_second = kAudio,
     .video_second = 70 + kAudio},
    // Gemini before that: "Input file requirements" of Firebase, as of 2025.
    {.family = "gemini",
     .method = ImageMethod::Crops,
     .each = 258,
     .audio_second = kAudio,
     .video_second = kVideo},
    grid("qwen3-vl", 32, 2560),
    grid("qwen", 28, 1280),
    grid("qvq", 28, 1280),
    {.family = "",
     .method = ImageMethod::Tiles,
     .base = 85,
     .each = 170,
     .audio_second = kAudio,
     .video_second = kVideo},
};

std::size_t begun(std::size_t length, std::size_t unit) { return (length + unit - 1) / unit; }

std::size_t rounded_up(double tokens) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(tokens)));
}

struct Sides {
  double width, height;

  explicit Sides(ImageSize size) : width(size.width), height(size.height) {}
  double longer() const { return std::max(width, height); }
  double shorter() const { return std::min(width, height); }
  void scale(double factor) {
    width *= factor;
    height *= factor;
  }
  void truncate() {
    width = std::trunc(width);
    height = std::trunc(height);
  }
  void at_least_one() {
    width = std::max(1.0, width);
    height = std::max(1.0, height);
  }
};

std::size_t patch_tokens(const MediaRule& rule, ImageSize size) {
  const std::size_t count = std::min<std::size_t>(begun(size.width, 32) * begun(size.height, 32), rule.most);
  return rounded_up(static_cast<double>(count) * rule.factor);
}

std::size_t area_tokens(const MediaRule& rule, ImageSize size) {
  Sides sides(size);
  if (sides.longer() > rule.side) sides.scale(rule.side / sides.longer());
  sides.at_least_one();
  return std::min<std::size_t>(rounded_up(sides.width * sides.height / rule.each), rule.most);
}

std::size_t crop_tokens(const MediaRule& rule, ImageSize size) {
  Sides sides(size);
  if (sides.longer() <= 384) return rule.each;
  if (sides.longer() > 3072) sides.scale(3072 / sides.longer());  // as larger ones are before they are cut
  sides.truncate();
  sides.at_least_one();
  const double side = std::clamp(std::floor(sides.shorter() / 1.5), 256.0, 768.0);
  return rounded_up(std::ceil(sides.width / side) * std::ceil(sides.height / side)) * rule.each;
}

std::size_t grid_tokens(const MediaRule& rule, ImageSize size) {
  constexpr double kLeast = 4;
  const double most = rule.most;
  const double side = rule.side;
  const double width = size.width;
  const double height = size.height;
  // To the nearest multiple, of two equally near ones the even: so does the preprocessor.
  double columns = std::nearbyint(width / side);
  double rows = std::nearbyint(height / side);
  if (columns * rows > most) {
    const double scale = std::sqrt(height * width / (most * side * side));
    columns = std::floor(width / scale / side);
    rows = std::floor(height / scale / side);
  } else if (columns * rows < kLeast) {
    const double scale = std::sqrt(kLeast * side * side / (height * width));
    columns = std::ceil(width * scale / side);
    rows = std::ceil(height * scale / side);
  }
  // An image of more than 200 to 1 is refused by the preprocessor; here it is one row of cells.
  const double count = std::max(1.0, columns) * std::max(1.0, rows);
  return rule.base + rounded_up(std::min(count, most));
}

const MediaSource* source_of(const Block& block) {
  if (const auto* image = block.as<ImageBlock>()) return &image->source;
  if (const auto* audio = block.as<AudioBlock>()) return &audio->source;
  if (const auto* video = block.as<VideoBlock>()) return &video->source;
  if (const auto* document = block.as<DocumentBlock>()) return &document->source;
  return nullptr;
}

// What is known of media without fetching anything.
struct Known {
  std::string_view base64;  // empty for a URL
  std::string_view media_type;

  std::size_t bytes() const { return base64.size() / 4 * 3; }
};

Known known_of(const MediaSource& source) {
  if (const auto* data = std::get_if<Base64Source>(&source)) {
    return {base64_of_data_url(data->data), data->media_type};
  }
  const auto& url = std::get<URLSource>(source);
  if (!is_data_url(url.url)) return {{}, url.media_type};
  const DataUrlParts parts = split_data_url(url.url);
  return {parts.data, parts.media_type};
}

double seconds_of(const Known& media, double bytes_a_second) {
  if (media.base64.empty()) return kUnknownSeconds;
  if (const auto seconds = base64_wav_seconds(media.base64)) return *seconds;
  return static_cast<double>(media.bytes()) / bytes_a_second;
}

std::size_t document_tokens(const Known& media) {
  if (media.media_type.starts_with("text/") && !media.base64.empty()) {
    return begun(media.bytes(), kTextBytesAToken);
  }
  return std::max<std::size_t>(1, begun(media.bytes(), kDocumentBytes)) * kDocumentTokens;
}

}  // namespace

const MediaRule& media_rule(std::string_view model) {
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos) {
    model.remove_prefix(slash + 1);
  }
  if (model.starts_with("ft:")) model.remove_prefix(3);  // tuned by its user
  return *std::ranges::find_if(kRules, [&](const MediaRule& rule) { return model.starts_with(rule.family); });
}

std::size_t tile_tokens(ImageSize size, std::uint32_t base, std::uint32_t tile) {
  Sides sides(size);
  if (sides.longer() > 2048) {
    sides.scale(2048 / sides.longer());
    sides.truncate();
  }
  if (sides.shorter() < 1) {
    sides.at_least_one();
  } else {
    sides.scale(768 / sides.shorter());
    sides.truncate();
  }
  const double count = std::ceil(sides.width / 512) * std::ceil(sides.height / 512);
  return static_cast<std::size_t>(count) * tile + base;
}

std::size_t image_tokens(const MediaRule& rule, ImageSize size, ImageDetail detail) {
  if (size.width == 0 || size.height == 0) size = kUnknownImage;
  switch (rule.method) {
    case ImageMethod::Tiles:
      return detail == ImageDetail::Low ? rule.base : tile_tokens(size, rule.base, rule.each);
    case ImageMethod::Patches:
      return patch_tokens(rule, size);
    case ImageMethod::Area:
      return area_tokens(rule, size);
    case ImageMethod::Crops:
      return crop_tokens(rule, size);
    case ImageMethod::Grid:
      return grid_tokens(rule, size);
    case ImageMethod::Flat:
      break;
  }
  return rule.base;
}

std::size_t media_tokens(const MediaRule& rule, const Block& block) {
  const MediaSource* source = source_of(block);
  if (source == nullptr) return 0;
  const Known media = known_of(*source);
  switch (block.type()) {
    case BlockType::Image:
      return image_tokens(rule, base64_image_size(media.base64).value_or(kUnknownImage));
    case BlockType::Audio:
      return rounded_up(seconds_of(media, kAudioBytesASecond) * rule.audio_second);
    case BlockType::Video:
      return rounded_up(seconds_of(media, kVideoBytesASecond) * rule.video_second);
    default:
      return document_tokens(media);
  }
}

}  // namespace parley
