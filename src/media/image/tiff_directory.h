// A TIFF directory as Pillow 11.1.0 reads it. EXIF and the index of MPO have the same form.
//
//   file       "II" (little endian) or "MM", 2A as two bytes in either order, offset of the directory
//   directory  count, {u16 tag, u16 type, u32 count, value or its offset}, offset of the next one
//   BigTIFF    2B instead of 2A; counts and offsets have 8 bytes
//
// An entry of unknown type is left out. A value outside of the file ends the directory, without an error.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace parley::media {

enum class TiffType : std::uint16_t {
  Byte = 1,
  Ascii,
  Short,
  Long,
  Rational,
  SignedByte,
  Undefined,
  SignedShort,
  SignedLong,
  SignedRational,
  Float,
  Double,
  Ifd,
  Long8 = 16,
};

struct TiffEntry {
  TiffType type = TiffType::Byte;
  std::string_view data;  // never empty

  bool is_integer() const;  // a number without a point: Short, Long, SignedByte, ...
  bool is_number() const;   // that, or Float, Double, Rational
};

class TiffDirectory {
 public:
  // The directory that the header of `file` points to. Nothing if there is no such header; `header_bytes` is
  // how much of it is there to be read. `bytes` may be larger than memory: offsets are checked.
  static std::optional<TiffDirectory> read(std::string_view file, std::size_t header_bytes = 16);

  // The last entry of this tag, or null.
  const TiffEntry* find(std::uint16_t tag) const;

  // The values of an entry as numbers; empty for texts and bytes. A value that is not a number at all
  // (0/0) is not a number here either.
  std::vector<double> numbers(const TiffEntry& entry) const;

  bool is_big_endian() const { return is_big_endian_; }
  std::uint64_t offset() const { return offset_; }       // of the directory
  std::uint64_t next() const { return next_; }           // of the next one; 0 if absent
  bool has_wild_offset() const { return wild_offset_; }  // beyond what a file can have

 private:
  std::uint64_t number(std::string_view data, std::size_t at, std::size_t size) const;
  void load(std::string_view file);

  bool is_big_endian_ = false;
  bool is_big_tiff_ = false;
  bool wild_offset_ = false;
  std::uint64_t offset_ = 0;
  std::uint64_t next_ = 0;
  std::map<std::uint16_t, TiffEntry> entries_;
};

}  // namespace parley::media
