#include "media/image/inflate.h"

#include <libdeflate.h>
#include <zlib.h>

namespace parley::media {

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc) {
  if (bytes.empty()) return crc;  // a null pointer asks libdeflate to start again
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

struct Inflate::State {
  z_stream stream{};
  bool is_good = false;
};

Inflate::Inflate() : state_(std::make_unique<State>()) {
  state_->is_good = inflateInit(&state_->stream) == Z_OK;
}
Inflate::~Inflate() {
  if (state_->is_good) inflateEnd(&state_->stream);
}

Inflate::Step Inflate::step(std::string_view& in, std::span<std::uint8_t>& out) {
  if (!state_->is_good) return Step::Damaged;
  z_stream& stream = state_->stream;
  // zlib does not write to its input; its type is older than const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_NO_FLUSH);
  in.remove_prefix(in.size() - stream.avail_in);
  out = out.subspan(out.size() - stream.avail_out);
  if (status == Z_STREAM_END) return Step::End;
  return status == Z_OK || status == Z_BUF_ERROR ? Step::More : Step::Damaged;
}

Unpacking unpack(std::string_view data, std::size_t limit) {
  std::string text(limit, '\0');
  std::span<std::uint8_t> room(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
  Inflate inflate;
  const Inflate::Step step = inflate.step(data, room);
  if (step == Inflate::Step::Damaged) return {};
  text.resize(limit - room.size());
  const bool has_rest = step != Inflate::Step::End && !data.empty();
  return {has_rest ? Unpacked::TooLarge : Unpacked::Whole, std::move(text)};
}

}  // namespace parley::media
