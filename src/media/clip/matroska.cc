// WEBM and MKV: elements {id, size, ...}. The zeros in front of the first 1 of a number say how many bytes
// more it has; an id keeps that 1, a size does not, and a size of ones only is not known. These elements are
// looked at:
//
//   1A45DFA3                     the head of the file
//     4282                       "webm" or "matroska"
//   18538067                     the segment; a live one has no size
//     1549A966                   2AD7B1 unit of time in ns (a million unless said), 4489 duration
//     1654AE6B AE                a track: 83 kind (1 pictures, 2 sound)
//       E0                       B0 width, BA height
//       86                       the codec; Opus is heard at 48000 Hz whatever its rate says
//       E1                       B5 sample rate (8000 unless said), 9F channels (1 unless said)
//     1F43B675                   sound and pictures
//
// An element is entered only where the table says so: that bounds the depth, and a stack of five levels is
// enough.
#include <algorithm>
#include <array>
#include <bit>

#include "media/clip/format.h"
#include "media/reader.h"

namespace parley::media::clip {
namespace {

enum class Place : std::uint8_t { File, Head, Segment, Info, Tracks, Track, Video, Audio };

constexpr std::uint64_t kSegment = 0x18538067;
constexpr std::uint64_t kCluster = 0x1F43B675;

struct Entry {
  Place parent;
  std::uint64_t id;
  Place child;
};
constexpr Entry kEntries[] = {
    {Place::File, 0x1A45DFA3, Place::Head},    {Place::File, kSegment, Place::Segment},
    {Place::Segment, 0x1549A966, Place::Info}, {Place::Segment, 0x1654AE6B, Place::Tracks},
    {Place::Tracks, 0xAE, Place::Track},       {Place::Track, 0xE0, Place::Video},
    {Place::Track, 0xE1, Place::Audio},
};
constexpr std::size_t kDepth = 5;  // File, Segment, Tracks, Track, Video

struct Number {
  std::uint64_t value = 0;
  std::size_t length = 0;
  bool is_unknown = false;  // ones only
};

// The number at `at`, of at most `most` bytes.
std::optional<Number> number_at(std::string_view bytes, std::size_t at, std::size_t most, bool keeps_mark) {
  if (at >= bytes.size()) return std::nullopt;
  const std::uint32_t first = u8_at(bytes, at);
  const auto length = static_cast<std::size_t>(std::countl_zero(static_cast<std::uint8_t>(first))) + 1;
  if (length > most || length > bytes.size() - at) return std::nullopt;
  const std::uint32_t mark = 0x100U >> length;
  std::uint64_t value = keeps_mark ? first : first - mark;
  for (std::size_t i = 1; i < length; ++i) value = value << 8 | u8_at(bytes, at + i);
  const std::uint64_t ones = (std::uint64_t{1} << (7 * length)) - 1;
  return Number{.value = value, .length = length, .is_unknown = !keeps_mark && value == ones};
}

std::optional<std::uint64_t> integer_of(std::string_view body) {
  if (body.size() > 8) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < body.size(); ++i) value = value << 8 | u8_at(body, i);
  return value;
}
std::optional<double> real_of(std::string_view body) {
  if (body.empty()) return 0;
  if (body.size() == 4) return std::bit_cast<float>(big32_at(body, 0));
  if (body.size() != 8) return std::nullopt;
  return std::bit_cast<double>(std::uint64_t{big32_at(body, 0)} << 32 | big32_at(body, 4));
}

struct Track {
  std::uint64_t kind = 0;
  bool is_opus = false;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  double rate = 8000;
  std::uint64_t channels = 1;
};

class Matroska {
 public:
  explicit Matroska(std::string_view bytes) : bytes_(bytes) {}

  Found read() {
    if (auto walked = walk(); !walked) return std::unexpected(std::move(walked).error());
    if (header_.format == ClipFormat::Unknown) {
      return unsupported("the file is EBML, but neither WEBM nor MKV");
    }
    if (!has_tracks_) return broken("the " + name() + " ends before its tracks");
    if (!has_sound_ && !header_.has_pictures)
      return broken("the " + name() + " has no audio and no video track");
    if (unit_ == 0) return broken("the " + name() + " has a time scale of 0");
    if (duration_ && *duration_ != 0) header_.seconds = *duration_ * static_cast<double>(unit_) / 1e9;
    return header_;
  }

 private:
  using Done = std::expected<void, Refusal>;
  struct Level {
    Place place = Place::File;
    std::size_t end = 0;
  };

  std::string name() const { return header_.format == ClipFormat::Webm ? "WEBM" : "MKV"; }

  Done walk() {
    std::array<Level, kDepth> levels;
    levels[0].end = bytes_.size();
    std::size_t depth = 0;
    std::size_t at = 0;
    for (;;) {
      const Level& level = levels[depth];
      if (at == level.end) {
        if (level.place == Place::Track) {
          if (auto kept = keep_track(); !kept) return kept;
        }
        // What follows the segment is ignored.
        if (depth == 0 || level.place == Place::Segment) return {};
        --depth;
        continue;
      }
      const std::string_view inside = bytes_.substr(0, level.end);
      const auto id = number_at(inside, at, 4, true);
      const auto size = id ? number_at(inside, at + id->length, 8, false) : std::nullopt;
      const bool is_outer = level.place == Place::File || level.place == Place::Segment;
      if (!size) {
        if (!is_outer || !has_tracks_) return broken("the " + name() + " has an invalid element");
        header_.is_cut_off = true;
        return {};
      }
      if (id->value == kCluster && (has_tracks_ || size->is_unknown)) return {};
      const std::size_t body_at = at + id->length + size->length;
      const std::size_t left = level.end - body_at;
      const auto* const entry = std::ranges::find_if(
          kEntries, [&](const Entry& each) { return each.parent == level.place && each.id == id->value; });
      const bool is_segment = level.place == Place::File && id->value == kSegment;
      std::size_t end = level.end;
      if (!size->is_unknown && size->value <= left) {
        end = body_at + static_cast<std::size_t>(size->value);
      } else if (is_segment) {
        header_.is_cut_off = !size->is_unknown;
      } else if (is_outer && entry == std::end(kEntries)) {
        header_.is_cut_off = true;
        return {};
      } else {
        return broken("the " + name() + " has an element that exceeds its parent");
      }
      if (entry == std::end(kEntries)) {
        if (auto read = read_element(level.place, id->value, bytes_.substr(body_at, end - body_at)); !read)
          return read;
        at = end;
        continue;
      }
      if (entry->child == Place::Tracks) has_tracks_ = true;
      if (entry->child == Place::Track) track_ = {};
      ++depth;
      levels[depth] = {entry->child, end};
      at = body_at;
    }
  }

  Done read_element(Place place, std::uint64_t id, std::string_view body) {
    const auto integer = [&](std::uint64_t& out) -> Done {
      const auto value = integer_of(body);
      if (!value) return broken("the " + name() + " has a number of a wrong size");
      out = *value;
      return {};
    };
    const auto real = [&](double& out) -> Done {
      const auto value = real_of(body);
      if (!value) return broken("the " + name() + " has a number of a wrong size");
      out = *value;
      return {};
    };
    switch (place) {
      case Place::Head:
        if (id == 0x4282) read_type(body);
        return {};
      case Place::Info:
        if (id == 0x2AD7B1) return integer(unit_);
        if (id == 0x4489) return real(duration_.emplace());
        return {};
      case Place::Track:
        if (id == 0x83) return integer(track_.kind);
        if (id == 0x86) track_.is_opus = body == "A_OPUS";
        return {};
      case Place::Video:
        if (id == 0xB0) return integer(track_.width);
        if (id == 0xBA) return integer(track_.height);
        return {};
      case Place::Audio:
        if (id == 0xB5) return real(track_.rate);
        if (id == 0x9F) return integer(track_.channels);
        return {};
      case Place::File:
      case Place::Segment:
      case Place::Tracks:
        break;
    }
    return {};
  }

  void read_type(std::string_view body) {
    body = body.substr(0, body.find('\0'));
    header_.format = ClipFormat::Unknown;
    if (body == "webm") header_.format = ClipFormat::Webm;
    if (body == "matroska") header_.format = ClipFormat::Mkv;
  }

  Done keep_track() {
    if (track_.kind == 1 && !header_.has_pictures) {
      if (track_.width == 0 || track_.height == 0)
        return broken("the pictures of the " + name() + " have no size");
      header_.has_pictures = true;
      header_.width = track_.width;
      header_.height = track_.height;
    }
    if (track_.kind == 2 && !has_sound_) {
      if (!(track_.rate >= 1 && track_.rate <= kMaxSampleRate)) {
        return broken("the " + name() + " has an impossible sample rate");
      }
      if (track_.channels == 0) return broken("the " + name() + " has no channels");
      has_sound_ = true;
      header_.sample_rate = track_.is_opus ? 48000 : static_cast<std::uint64_t>(track_.rate);
      header_.channels = track_.channels;
    }
    return {};
  }

  std::string_view bytes_;
  Header header_;
  Track track_;
  std::uint64_t unit_ = 1'000'000;
  std::optional<double> duration_;
  bool has_tracks_ = false;
  bool has_sound_ = false;
};

}  // namespace

Found read_matroska(std::string_view bytes) { return Matroska(bytes).read(); }

}  // namespace parley::media::clip
