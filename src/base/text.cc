#include "parley/base/text.h"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <utility>

namespace parley {
namespace {

std::unexpected<Error> not_utf8(std::size_t offset) {
  return fail(Code::InvalidUtf8, "the byte at offset " + std::to_string(offset) + " is not valid UTF-8");
}

struct RepairedDelete {
  void operator()(const std::string* bytes) const { delete bytes; }
};

}  // namespace

Result<Text> Text::checked(std::string_view bytes) {
  const std::size_t good = valid_utf8_prefix(bytes);
  if (good != bytes.size()) return not_utf8(good);
  return copied(bytes);
}

Result<Text> Text::adopted(std::string&& bytes) {
  const std::size_t good = valid_utf8_prefix(bytes);
  if (good != bytes.size()) return not_utf8(good);
  return Text(std::move(bytes));
}

Text::Text(std::string_view bytes) : Text(is_utf8(bytes) ? copied(bytes) : repaired(bytes)) {}

Text::Text(std::string&& bytes) {
  if (bytes.empty()) return;
  if (!is_utf8(bytes)) {
    *this = repaired(bytes);
    return;
  }
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  view_ = *owner;  // taken after the move, which may relocate a short string
  owner_ = std::move(owner);
}

// The bytes and their reference count share one allocation.
Text Text::copied(std::string_view utf8) {
  if (utf8.empty()) return Text();
  std::shared_ptr<char[]> owner = std::make_shared_for_overwrite<char[]>(utf8.size());
  std::memcpy(owner.get(), utf8.data(), utf8.size());
  const std::string_view view(owner.get(), utf8.size());
  return Text(std::move(owner), view);
}

// The type of the deleter is the mark of a repaired text: it costs a Text nothing, and slices share it.
Text Text::repaired(std::string_view bytes) {
  const std::shared_ptr<const std::string> owner(new std::string(repair_utf8(bytes)), RepairedDelete());
  return Text(owner, *owner);
}

bool Text::was_repaired() const { return std::get_deleter<RepairedDelete>(owner_) != nullptr; }

std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }

Text Text::slice(std::size_t offset, std::size_t length) const {
  if (offset >= view_.size()) return Text();
  const std::size_t end = utf8_floor(view_, offset + std::min(length, view_.size() - offset));
  const std::size_t begin = utf8_floor(view_, offset);
  if (begin == end) return Text();
  return Text(owner_, view_.substr(begin, end - begin));
}

}  // namespace parley
