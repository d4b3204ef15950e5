#include "media/image/tiff_directory.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "media/reader.h"

namespace parley::media {
namespace {

using std::string_view_literals::operator""sv;

// Bytes of a value; 0 for types that are not known.
std::size_t size_of(std::uint16_t type) {
  switch (static_cast<TiffType>(type)) {
    case TiffType::Byte:
    case TiffType::Ascii:
    case TiffType::SignedByte:
    case TiffType::Undefined:
      return 1;
    case TiffType::Short:
    case TiffType::SignedShort:
      return 2;
    case TiffType::Long:
    case TiffType::SignedLong:
    case TiffType::Float:
    case TiffType::Ifd:
      return 4;
    case TiffType::Rational:
    case TiffType::SignedRational:
    case TiffType::Double:
    case TiffType::Long8:
      return 8;
  }
  return 0;
}

}  // namespace

bool TiffEntry::is_integer() const {
  switch (type) {
    case TiffType::Short:
    case TiffType::Long:
    case TiffType::SignedByte:
    case TiffType::SignedShort:
    case TiffType::SignedLong:
    case TiffType::Ifd:
    case TiffType::Long8:
      return true;
    default:
      return false;
  }
}

bool TiffEntry::is_number() const {
  return is_integer() || type == TiffType::Float || type == TiffType::Double || type == TiffType::Rational ||
         type == TiffType::SignedRational;
}

std::optional<TiffDirectory> TiffDirectory::read(std::string_view file, std::size_t header_bytes) {
  constexpr std::string_view kStarts[] = {"MM\0*"sv, "II*\0"sv, "MM*\0"sv, "II\0*"sv, "MM\0+"sv, "II+\0"sv};
  const std::string_view header = file.substr(0, header_bytes);
  if (std::ranges::find(kStarts, header.substr(0, 4)) == std::end(kStarts)) return std::nullopt;
  TiffDirectory directory;
  directory.is_big_endian_ = header[0] == 'M';
  // Pillow finds a BigTIFF by its third byte alone, which only the little endian ones have.
  directory.is_big_tiff_ = header[2] == 43;
  const std::size_t end = directory.is_big_tiff_ ? 16 : 8;
  if (header.size() < end) return std::nullopt;
  directory.offset_ =
      directory.is_big_tiff_ ? directory.number(header, 8, 8) : directory.number(header, 4, 4);
  directory.load(file);
  return directory;
}

std::uint64_t TiffDirectory::number(std::string_view data, std::size_t at, std::size_t size) const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | u8_at(data, is_big_endian_ ? at + i : at + size - 1 - i);
  }
  return value;
}

void TiffDirectory::load(std::string_view file) {
  constexpr std::uint64_t kMaxOffset = std::numeric_limits<std::int64_t>::max();
  const std::size_t word = is_big_tiff_ ? 8 : 4;
  const std::size_t entry_size = is_big_tiff_ ? 20 : 12;
  if (offset_ > kMaxOffset) {
    wild_offset_ = true;
    return;
  }
  Reader reader(file, offset_);
  const auto count = reader.all(is_big_tiff_ ? 8 : 2);
  if (!count) return;
  const std::uint64_t entries = number(*count, 0, count->size());
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto entry = reader.all(entry_size);
    if (!entry) return;
    const auto tag = static_cast<std::uint16_t>(number(*entry, 0, 2));
    const auto type = static_cast<std::uint16_t>(number(*entry, 2, 2));
    const std::size_t unit = size_of(type);
    if (unit == 0) continue;
    const std::uint64_t values = number(*entry, 4, word);
    std::string_view data = entry->substr(4 + word);
    if (values > word / unit) {
      const std::uint64_t at = number(data, 0, word);
      if (at > kMaxOffset) {
        wild_offset_ = true;
        return;
      }
      if (values > file.size() / unit) return;
      const auto there = Reader(file, at).all(values * unit);
      if (!there) return;
      data = *there;
    } else {
      data = data.substr(0, values * unit);
    }
    if (!data.empty()) entries_[tag] = {static_cast<TiffType>(type), data};
  }
  if (const auto next = reader.all(word)) next_ = number(*next, 0, word);
}

const TiffEntry* TiffDirectory::find(std::uint16_t tag) const {
  const auto found = entries_.find(tag);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<double> TiffDirectory::numbers(const TiffEntry& entry) const {
  std::vector<double> out;
  if (!entry.is_number()) return out;
  const std::size_t unit = size_of(static_cast<std::uint16_t>(entry.type));
  for (std::size_t at = 0; at + unit <= entry.data.size(); at += unit) {
    const std::uint64_t bits = number(entry.data, at, unit);
    switch (entry.type) {
      case TiffType::SignedByte:
        out.push_back(static_cast<std::int8_t>(bits));
        break;
      case TiffType::SignedShort:
        out.push_back(static_cast<std::int16_t>(bits));
        break;
      case TiffType::SignedLong:
        out.push_back(static_cast<std::int32_t>(bits));
        break;
      case TiffType::Float:
        out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        break;
      case TiffType::Double:
        out.push_back(std::bit_cast<double>(bits));
        break;
      case TiffType::Rational:
      case TiffType::SignedRational: {
        const auto top = static_cast<std::uint32_t>(number(entry.data, at, 4));
        const auto bottom = static_cast<std::uint32_t>(number(entry.data, at + 4, 4));
        const bool is_signed = entry.type == TiffType::SignedRational;
        const double above = is_signed ? static_cast<std::int32_t>(top) : static_cast<double>(top);
        const double below = is_signed ? static_cast<std::int32_t>(bottom) : static_cast<double>(bottom);
        out.push_back(below == 0 ? std::numeric_limits<double>::quiet_NaN() : above / below);
        break;
      }
      default:
        out.push_back(static_cast<double>(bits));
    }
  }
  return out;
}

}  // namespace parley::media
