#include "parley/base/text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parley {
namespace {

std::unexpected<Error> not_utf8(std::size_t offset) {
  return fail(Code::InvalidUtf8, "the byte at offset " + std::to_string(offset) + " is not valid UTF-8");
}

}  // namespace

Result<Text> Text::copy(std::string_view bytes) {
  const std::size_t good = valid_utf8_prefix(bytes);
  if (good != bytes.size()) return not_utf8(good);
  if (bytes.empty()) return Text();
  // The bytes and their reference count share one allocation.
  std::shared_ptr<char[]> owner = std::make_shared_for_overwrite<char[]>(bytes.size());
  std::memcpy(owner.get(), bytes.data(), bytes.size());
  const std::string_view view(owner.get(), bytes.size());
  return Text(std::move(owner), view);
}

Result<Text> Text::adopt(std::string bytes) {
  const std::size_t good = valid_utf8_prefix(bytes);
  if (good != bytes.size()) return not_utf8(good);
  if (bytes.empty()) return Text();
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const std::string_view view = *owner;  // Taken after the move, which may relocate a short string.
  return Text(std::move(owner), view);
}

Text Text::repaired(std::string_view bytes, std::size_t* replaced) {
  if (Result<Text> clean = copy(bytes)) {
    if (replaced != nullptr) *replaced = 0;
    return *std::move(clean);
  }
  auto owner = std::make_shared<const std::string>(repair_utf8(bytes, replaced));
  const std::string_view view = *owner;
  return Text(std::move(owner), view);
}

Text Text::slice(std::size_t offset, std::size_t length) const {
  if (offset >= view_.size()) return Text();
  const std::size_t end = utf8_floor(view_, offset + std::min(length, view_.size() - offset));
  const std::size_t begin = utf8_floor(view_, offset);
  if (begin == end) return Text();
  return Text(owner_, view_.substr(begin, end - begin));
}

}  // namespace parley
