// MP4, M4A and MOV: boxes {u32 size with these eight bytes, type, ...}, big endian. A size of 1 means that a
// u64 size follows the type, 0 that the box extends to the end. These boxes are read:
//
//   moov                                  in front of the sound and the pictures (mdat), or after
//     mvhd                                the unit of time, the duration
//     mvex mehd                           the duration of a film in fragments
//     trak tkhd                           width and height as shown, a matrix that may turn them
//     trak mdia mdhd, hdlr                the unit of time, the duration; "soun" or "vide"
//     trak mdia minf stbl stsd            the codec; rate and channels, or width and height as stored
//
// A box is entered only where the table says so: that bounds the depth, and a stack of six levels is enough.
#include <algorithm>
#include <array>
#include <bit>

#include "media/clip/format.h"
#include "media/reader.h"
#include "parley/media/media_type.h"

namespace parley::media::clip {
namespace {

std::uint64_t big64_at(std::string_view s, std::size_t at) {
  return std::uint64_t{big32_at(s, at)} << 32 | big32_at(s, at + 4);
}

enum class Place : std::uint8_t { File, Moov, Mvex, Trak, Mdia, Minf, Stbl };

struct Entry {
  Place parent;
  std::string_view type;
  Place child;
};
constexpr Entry kEntries[] = {
    {Place::File, "moov", Place::Moov}, {Place::Moov, "mvex", Place::Mvex},
    {Place::Moov, "trak", Place::Trak}, {Place::Trak, "mdia", Place::Mdia},
    {Place::Mdia, "minf", Place::Minf}, {Place::Minf, "stbl", Place::Stbl},
};
constexpr std::size_t kDepth = 6;  // File, Moov, Trak, Mdia, Minf, Stbl

struct Times {
  std::uint32_t unit = 0;  // parts of a second
  std::uint64_t duration = 0;

  // Nothing if it is not known: a fragmented video has 0, a stream the largest number.
  std::optional<double> seconds() const {
    if (unit == 0 || duration == 0) return std::nullopt;
    return static_cast<double>(duration) / unit;
  }
};

// mvhd and mdhd begin alike.
std::optional<Times> times_of(std::string_view body) {
  if (body.empty()) return std::nullopt;
  Times times;
  if (u8_at(body, 0) == 1) {
    if (body.size() < 32) return std::nullopt;
    times = {big32_at(body, 20), big64_at(body, 24)};
    if (times.duration == UINT64_MAX) times.duration = 0;
  } else {
    if (body.size() < 20) return std::nullopt;
    times = {big32_at(body, 12), big32_at(body, 16)};
    if (times.duration == UINT32_MAX) times.duration = 0;
  }
  return times;
}

struct Track {
  std::string_view handler;
  Times times;
  std::string_view sample;  // the first entry of stsd, with its size and type
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// How a track of pictures is shown. Phones store films as the sensor lies, and a matrix that turns them.
void read_tkhd(std::string_view body, Track& track) {
  const std::size_t matrix = !body.empty() && u8_at(body, 0) == 1 ? 52 : 40;
  if (body.size() < matrix + 44) return;
  track.width = big32_at(body, matrix + 36) >> 16;
  track.height = big32_at(body, matrix + 40) >> 16;
  const bool is_turned = big32_at(body, matrix) == 0 && big32_at(body, matrix + 4) != 0;
  if (is_turned) std::swap(track.width, track.height);
}

// The size of the first entry may lie, so all that is there is kept.
void read_stsd(std::string_view body, Track& track) {
  if (body.size() > 8) track.sample = body.substr(8);
}

class Mp4 {
 public:
  explicit Mp4(std::string_view bytes) : bytes_(bytes) {}

  Found read() {
    if (auto walked = walk(); !walked) return std::unexpected(std::move(walked).error());
    if (!has_moov_)
      return broken("the " + name() + " has no index (moov): it is cut off or was not finished");
    if (!times_) return broken("the index of the " + name() + " has no header");
    if (times_->unit == 0) return broken("the " + name() + " has a time scale of 0");
    if (!has_sound_ && !header_.has_pictures)
      return broken("the " + name() + " has no audio and no video track");
    header_.seconds = times_->seconds();
    if (!header_.seconds) header_.seconds = Times{times_->unit, fragments_}.seconds();
    if (!header_.seconds) header_.seconds = longest_;
    const bool is_mov = sniff_media_type(bytes_) == "video/quicktime";
    header_.format = is_mov ? ClipFormat::Mov : header_.has_pictures ? ClipFormat::Mp4 : ClipFormat::M4a;
    return header_;
  }

 private:
  using Done = std::expected<void, Refusal>;
  struct Level {
    Place place = Place::File;
    std::size_t end = 0;
  };

  std::string name() const { return sniff_media_type(bytes_) == "video/quicktime" ? "MOV" : "MP4"; }

  Done walk() {
    std::array<Level, kDepth> levels;
    levels[0].end = bytes_.size();
    std::size_t depth = 0;
    std::size_t at = 0;
    for (;;) {
      const Level& level = levels[depth];
      // Fewer than eight bytes are padding: QuickTime ends some boxes with four zeros.
      if (level.end - at < 8) {
        if (level.place == Place::Trak) {
          if (auto kept = keep_track(); !kept) return kept;
        }
        at = level.end;
        if (depth == 0) return {};
        --depth;
        continue;
      }
      const std::string_view type = bytes_.substr(at + 4, 4);
      std::uint64_t size = big32_at(bytes_, at);
      std::size_t head = 8;
      if (size == 1) {
        head = 16;
        size = level.end - at < head ? 0 : big64_at(bytes_, at + 8);
        if (size < head) return broken("the " + name() + " has a box that is smaller than its header");
      } else if (size == 0) {
        size = level.end - at;
      } else if (size < head) {
        return broken("the " + name() + " has a box that is smaller than its header");
      }
      if (size > level.end - at) {
        if (level.place != Place::File) return broken("the " + name() + " has a box that exceeds its parent");
        if (type == "moov") return broken("the index of the " + name() + " is cut off");
        header_.is_cut_off = true;
        return {};
      }
      const auto* const entry = std::ranges::find_if(
          kEntries, [&](const Entry& each) { return each.parent == level.place && each.type == type; });
      if (entry == std::end(kEntries)) {
        const std::string_view body = bytes_.substr(at + head, size - head);
        if (auto read = read_box(level.place, type, body); !read) return read;
        at += size;
        continue;
      }
      if (entry->child == Place::Moov) {
        if (has_moov_) return broken("the " + name() + " has two indexes");
        has_moov_ = true;
      }
      if (entry->child == Place::Trak) track_ = {};
      ++depth;
      levels[depth] = {entry->child, at + size};
      at += head;
    }
  }

  Done read_box(Place place, std::string_view type, std::string_view body) {
    if (place == Place::Moov && type == "mvhd") {
      times_ = times_of(body);
    } else if (place == Place::Mvex && type == "mehd") {
      if (body.size() >= 12 && u8_at(body, 0) == 1) {
        fragments_ = big64_at(body, 4);
      } else if (body.size() >= 8) {
        fragments_ = big32_at(body, 4);
      }
    } else if (place == Place::Trak && type == "tkhd") {
      read_tkhd(body, track_);
    } else if (place == Place::Mdia && type == "mdhd") {
      const auto times = times_of(body);
      if (!times || times->unit == 0) return broken("a track of the " + name() + " has no time scale");
      track_.times = *times;
    } else if (place == Place::Mdia && type == "hdlr") {
      if (body.size() >= 12) track_.handler = body.substr(8, 4);
    } else if (place == Place::Stbl && type == "stsd") {
      read_stsd(body, track_);
    }
    return {};
  }

  Done keep_track() {
    const bool is_sound = track_.handler == "soun";
    const bool is_picture = track_.handler == "vide";
    if (!is_sound && !is_picture) return {};
    const std::string_view sample = track_.sample;
    const std::string_view codec = sample.size() >= 8 ? sample.substr(4, 4) : std::string_view();
    constexpr std::string_view kEncrypted[] = {"enca", "encv", "drms", "drmi"};
    if (std::ranges::find(kEncrypted, codec) != std::end(kEncrypted)) {
      return unsupported("the " + name() + " is encrypted");
    }
    if (const auto seconds = track_.times.seconds()) longest_ = std::max(longest_.value_or(0), *seconds);
    if (is_sound && !has_sound_) return keep_sound();
    if (is_picture && !header_.has_pictures) {
      header_.has_pictures = true;
      header_.width = track_.width;
      header_.height = track_.height;
      if ((header_.width == 0 || header_.height == 0) && sample.size() >= 36) {
        header_.width = big16_at(sample, 32);
        header_.height = big16_at(sample, 34);
      }
    }
    return {};
  }

  Done keep_sound() {
    has_sound_ = true;
    const std::string_view sample = track_.sample;
    if (sample.size() < 36) return {};
    header_.channels = big16_at(sample, 24);
    header_.sample_rate = big16_at(sample, 32);  // of 16.16 bits
    // QuickTime's second version has wider numbers after fixed ones.
    if (big16_at(sample, 16) == 2 && sample.size() >= 52) {
      const auto rate = std::bit_cast<double>(big64_at(sample, 40));
      if (!(rate >= 1 && rate <= kMaxSampleRate))
        return broken("the " + name() + " has an impossible sample rate");
      header_.sample_rate = static_cast<std::uint64_t>(rate);
      header_.channels = big32_at(sample, 48);
    }
    // A rate that does not fit is left out; the time scale of the track is the rate then.
    if (header_.sample_rate == 0) header_.sample_rate = track_.times.unit;
    return {};
  }

  std::string_view bytes_;
  Header header_;
  Track track_;
  std::optional<Times> times_;
  std::uint64_t fragments_ = 0;
  std::optional<double> longest_;
  bool has_moov_ = false;
  bool has_sound_ = false;
};

}  // namespace

Found read_mp4(std::string_view bytes) { return Mp4(bytes).read(); }

}  // namespace parley::media::clip
