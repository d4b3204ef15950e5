#include "json/compact.h"

#include <algorithm>
#include <cstring>

#include "json/cursor.h"
#include "json/walk.h"

namespace parley::json {
namespace {

// Moves the tokens of `value` to the start of `text`, in runs without whitespace between them. Returns how
// many bytes they are.
std::size_t compact(char* text, Slice value) {
  const std::string_view all(text, value.end());
  std::size_t kept = 0, moved = value.offset;
  const auto move_until = [&](std::size_t end) {
    if (kept != moved) std::memmove(text + kept, text + moved, end - moved);
    kept += end - moved;
  };
  // What was moved lies before what is still to be looked at.
  for (std::size_t at = value.offset; at < all.size();) {
    const std::size_t next = skip_space(all, at);
    if (next == at) {
      at = token_end(all, at);
      continue;
    }
    move_until(at);
    moved = at = next;
  }
  move_until(all.size());
  return kept;
}

}  // namespace

bool has_space(std::string_view json) {
  constexpr std::string_view kSpaces = " \n\r\t";
  return std::any_of(kSpaces.begin(), kSpaces.end(),
                     [&](char space) { return json.find(space) != std::string_view::npos; });
}

bool compact_object(Out& out, std::size_t start) {
  const std::span<char> tail = out.tail(start);
  Cursor cursor(tail, {});
  Slice all;
  if (!cursor.ok() || cursor.peek() != '{' || !cursor.skip(all) || !cursor.finish()) return false;
  const auto is_lone = [](const Oddity& oddity) { return oddity.code == Code::LoneSurrogate; };
  if (std::any_of(cursor.oddities().begin(), cursor.oddities().end(), is_lone)) return false;
  if (all.length != tail.size() || has_space({tail.data(), tail.size()})) {
    out.shrink_to(start + compact(tail.data(), all));
  }
  return true;
}

}  // namespace parley::json
