// The binary event stream of AWS. CRC-32 is libdeflate's: the library is linked already, and it sums at the
// speed of memory, which zlib's does not.
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <limits>

#include "parley/base/framing.h"

namespace parley {
namespace {

constexpr std::size_t kPrelude = 12;
constexpr std::size_t kSmallest = kPrelude + 4;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size = 4) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void append_number(std::string& out, std::size_t value, std::size_t size = 4) {
  for (std::size_t i = size; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

std::uint32_t crc32(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

// The size of a header's value, by its type: true, false, byte, short, integer, long, bytes, string,
// timestamp, uuid. Bytes and strings start with their size in two bytes.
constexpr std::size_t kCounted = std::numeric_limits<std::size_t>::max();
constexpr std::array<std::size_t, 10> kValueSizes = {0, 0, 1, 2, 4, 8, kCounted, kCounted, 8, 16};
constexpr std::size_t kString = 7;

std::unexpected<Error> malformed(std::string what) {
  return fail(Code::Malformed, "invalid event stream message: " + std::move(what));
}

}  // namespace

std::string_view EventStreamFrame::header(std::string_view name) const {
  const auto found =
      std::find_if(headers.begin(), headers.end(), [&](const Header& each) { return each.name == name; });
  return found != headers.end() ? found->value : std::string_view();
}

// Checks the lengths of a message before anything of it is held. REQUIRES: kPrelude bytes.
Result<void> EventStreamFramer::prelude(std::string_view bytes) {
  const std::size_t total = number_at(bytes, 0);
  const std::size_t headers_length = number_at(bytes, 4);
  if (crc32(bytes.substr(0, 8)) != number_at(bytes, 8))
    return malformed("the checksum of the prelude does not match");
  if (total < kSmallest || headers_length > total - kSmallest) {
    return malformed("its lengths contradict each other");
  }
  if (total > limit_) {
    return fail(Code::LimitExceeded, "a message of the event stream is larger than the limit of " +
                                         std::to_string(limit_) + " bytes");
  }
  total_ = total;
  return {};
}

Result<void> EventStreamFramer::headers(std::string_view bytes) {
  headers_.clear();
  std::size_t at = 0;
  // The next `size` bytes; nothing if there are fewer.
  const auto take = [&](std::size_t size) -> std::optional<std::string_view> {
    if (size > bytes.size() - at) return std::nullopt;
    at += size;
    return bytes.substr(at - size, size);
  };
  while (at < bytes.size()) {
    const auto name_size = take(1);
    const auto name = take(number_at(*name_size, 0, 1));
    const auto type = take(1);
    if (!name || !type) return malformed("a header is cut off");
    const std::size_t kind = number_at(*type, 0, 1);
    if (kind >= kValueSizes.size()) return malformed("a header has an unknown type");
    std::size_t size = kValueSizes[kind];
    if (size == kCounted) {
      const auto counted = take(2);
      if (!counted) return malformed("a header is cut off");
      size = number_at(*counted, 0, 2);
    }
    const auto value = take(size);
    if (!value) return malformed("a header is cut off");
    if (kind == kString) headers_.push_back({*name, *value});
  }
  return {};
}

// REQUIRES: `bytes` is one whole message whose prelude is good.
Result<void> EventStreamFramer::message(std::string_view bytes, const OnFrame& on_frame) {
  if (crc32(bytes.substr(0, bytes.size() - 4)) != number_at(bytes, bytes.size() - 4)) {
    return malformed("the checksum does not match");
  }
  const std::size_t headers_length = number_at(bytes, 4);
  PARLEY_CHECK(headers(bytes.substr(kPrelude, headers_length)));
  const std::size_t payload = kPrelude + headers_length;
  on_frame({headers_, bytes.substr(payload, bytes.size() - payload - 4)});
  return {};
}

Result<void> EventStreamFramer::feed(std::string_view bytes, const OnFrame& on_frame) {
  const auto failed = [&](Result<void> result) {
    error_ = std::move(result).error();
    return std::unexpected(*error_);
  };
  while (!error_ && !bytes.empty()) {
    // A message that lies whole in `bytes` stays there; else the missing bytes are added to what is held.
    const std::size_t wanted = total_ != 0 ? total_ : kPrelude;
    std::string_view whole;
    if (held_.empty() && bytes.size() >= wanted) {
      whole = bytes.substr(0, wanted);
    } else {
      const std::size_t missing = std::min(wanted - held_.size(), bytes.size());
      held_.append(bytes.substr(0, missing));
      bytes.remove_prefix(missing);
      if (held_.size() < wanted) break;
      whole = held_;
    }
    if (total_ == 0) {
      if (auto good = prelude(whole); !good) return failed(std::move(good));
      continue;
    }
    const bool is_held = whole.data() == held_.data();
    if (auto good = message(whole, on_frame); !good) return failed(std::move(good));
    if (is_held) {
      held_.clear();
    } else {
      bytes.remove_prefix(total_);
    }
    total_ = 0;
  }
  if (error_) return std::unexpected(*error_);
  return {};
}

std::string EventStreamFramer::encode(std::span<const EventStreamFrame::Header> headers,
                                      std::string_view payload) {
  std::string encoded;
  for (const EventStreamFrame::Header& header : headers) {
    append_number(encoded, header.name.size(), 1);
    encoded.append(header.name);
    append_number(encoded, kString, 1);
    append_number(encoded, header.value.size(), 2);
    encoded.append(header.value);
  }
  std::string out;
  append_number(out, kSmallest + encoded.size() + payload.size());
  append_number(out, encoded.size());
  append_number(out, crc32(out));
  out.append(encoded).append(payload);
  append_number(out, crc32(out));
  return out;
}

}  // namespace parley
