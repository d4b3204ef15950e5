#include "json/pointer.h"

#include <algorithm>
#include <vector>

#include "json/escapes.h"
#include "parley/base/text.h"

namespace parley::json {
namespace {

// Where the walk is inside one container.
struct Level {
  bool is_object = false;
  bool has_key = false;
  std::size_t index = 0;
  std::string_view key;  // as spelled
};

// The position after the string that starts at `at`, or npos if it does not close.
std::size_t end_of_string(std::string_view document, std::size_t at) {
  for (++at; at < document.size(); ++at) {
    if (document[at] == '\\') {
      ++at;
    } else if (document[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// A name may itself be where the fault is: only whole escapes are resolved, and what is not text becomes
// U+FFFD, because pointers go into errors.
std::string plain_key(std::string_view spelled) {
  const auto unit_at = [&](std::size_t i) {
    const bool numbered = i + 6 <= spelled.size() && spelled[i] == '\\' && spelled[i + 1] == 'u';
    return numbered ? decode_hex4(spelled.data() + i + 2) : -1;
  };
  std::string key;
  for (std::size_t i = 0; i < spelled.size();) {
    const int unit = unit_at(i);
    const bool lettered =
        spelled[i] == '\\' && i + 1 < spelled.size() && kSpelled[as_byte(spelled[i + 1])] != 0;
    if (unit < 0 && !lettered) {
      key += spelled[i++];
      continue;
    }
    const int next = unit >= 0xD800 && unit <= 0xDBFF ? unit_at(i + 6) : -1;
    const bool is_pair = next >= 0xDC00 && next <= 0xDFFF;
    if (unit >= 0xD800 && unit <= 0xDFFF && !is_pair) {
      key += "\xEF\xBF\xBD";
      i += 6;
      continue;
    }
    const char* in = spelled.data() + i;
    char spelled_out[4];
    char* out = spelled_out;
    unescape_one(in, out);
    key.append(spelled_out, out);
    i = static_cast<std::size_t>(in - spelled.data());
  }
  return repair_utf8(key);
}

// Walks forward only, so that any number of places costs one pass.
class Walk {
 public:
  explicit Walk(std::string_view document) : document_(document) {}

  std::string pointer_at(std::size_t offset) {
    while (at_ < document_.size() && at_ < offset) step();
    std::string pointer;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      Level level = levels_[i];
      // A name that starts exactly at the offset belongs to its member, too.
      const bool at_name = i + 1 == levels_.size() && at_ == offset && is_name();
      if (at_name) level.key = name();
      if (level.is_object && !level.has_key && !at_name) break;
      pointer += '/';
      pointer += level.is_object ? escape_pointer(plain_key(level.key)) : std::to_string(level.index);
    }
    return pointer;
  }

 private:
  // A name without its closing quote is not used: it would be the rest of the document.
  bool is_name() const {
    return at_ < document_.size() && document_[at_] == '"' && !levels_.empty() && levels_.back().is_object &&
           !levels_.back().has_key && end_of_string(document_, at_) != std::string_view::npos;
  }
  std::string_view name() const {
    const std::size_t end = end_of_string(document_, at_);
    return document_.substr(at_ + 1, end - at_ - 2);
  }

  // Takes one string or one other byte.
  void step() {
    const char c = document_[at_];
    if (c == '"') {
      if (is_name()) {
        levels_.back().key = name();
        levels_.back().has_key = true;
      }
      at_ = std::min(end_of_string(document_, at_), document_.size());
      return;
    }
    if (c == '{' || c == '[') levels_.push_back({c == '{', false, 0, {}});
    if ((c == '}' || c == ']') && !levels_.empty()) levels_.pop_back();
    if (c == ',' && !levels_.empty()) {
      levels_.back().has_key = false;
      ++levels_.back().index;
    }
    ++at_;
  }

  std::string_view document_;
  std::size_t at_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

std::string escape_pointer(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string pointer_at(std::string_view document, std::size_t offset) {
  return std::move(pointers_at(document, {&offset, 1}).front());
}

std::vector<std::string> pointers_at(std::string_view document, std::span<const std::size_t> offsets) {
  std::vector<std::string> pointers;
  Walk walk(document);
  for (const std::size_t offset : offsets) pointers.push_back(walk.pointer_at(offset));
  return pointers;
}

}  // namespace parley::json
