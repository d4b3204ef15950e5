#include "json/cursor.h"

#include <algorithm>
#include <compare>
#include <cstring>

#include "json/escapes.h"

namespace parley::json {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Cursor::Cursor(std::span<char> bytes, const CursorOptions& options)
    : byte_limit_(options.limits.bytes),
      depth_limit_(options.limits.depth),
      string_limit_(options.limits.string),
      short_limit_(std::min(kShort, string_limit_)),
      kernel_(&kernel()),
      strict_(options.strict) {
  restart(bytes);
}

void Cursor::restart(std::span<char> bytes, std::size_t depth) {
  base_ = bytes.data();
  p_ = base_;
  end_ = base_ + bytes.size();
  depth_ = depth;
  failed_ = false;
  oddities_.clear();
  keys_.clear();
  levels_.clear();
  constexpr std::size_t kLargest = 0xFFFFFFF0;  // so that every offset fits a Slice
  if (bytes.size() > std::min(byte_limit_, kLargest)) {
    fail(Code::LimitExceeded, p_,
         "the document is larger than the limit of " + std::to_string(byte_limit_) + " bytes");
    return;
  }
  if (std::string_view(base_, bytes.size()).starts_with(kByteOrderMark)) p_ += kByteOrderMark.size();
}

bool Cursor::fail(Code code, const char* at, std::string message) {
  if (!failed_) {
    failed_ = true;
    fault_ = {code, static_cast<std::size_t>(at - base_), std::move(message)};
  }
  return false;
}

bool Cursor::unexpected(std::string_view expected) {
  std::string message(expected);
  if (p_ == end_) message += ", but the document ends here";
  return fail(Code::Malformed, p_, std::move(message));
}

bool Cursor::too_deep() {
  return fail(Code::LimitExceeded, p_,
              "nested deeper than the limit of " + std::to_string(depth_limit_) + " levels");
}

bool Cursor::long_string(const char* first, Slice& out) {
  const char* quote = kernel_->scan(first);
  if (quote == nullptr) return odd_string(first, out);
  const auto length = static_cast<std::size_t>(quote - first);
  if (length > string_limit_) {
    return fail(Code::LimitExceeded, first,
                "a string is longer than the limit of " + std::to_string(string_limit_) + " bytes");
  }
  out = {offset(first), static_cast<std::uint32_t>(length)};
  p_ = quote + 1;
  return true;
}

// A string with a fault, or with lone surrogates: these are replaced where they stand, six bytes by six.
bool Cursor::odd_string(const char* first, Slice& out) {
  const char* from = first;
  for (;;) {
    const StringReport report = examine_string(from, end_);
    switch (report.fault) {
      case StringFault::None: {
        const auto length = static_cast<std::size_t>(report.at - first);
        if (length > string_limit_) {
          return fail(Code::LimitExceeded, first,
                      "a string is longer than the limit of " + std::to_string(string_limit_) + " bytes");
        }
        out = {offset(first), static_cast<std::uint32_t>(length)};
        p_ = report.at + 1;
        return true;
      }
      case StringFault::LoneSurrogate:
        if (strict_) return fail(Code::LoneSurrogate, report.at, "unpaired surrogate in a string");
        oddities_.push_back({Code::LoneSurrogate, offset(report.at)});
        std::memcpy(base_ + (report.at - base_), "\\ufffd", 6);
        from = report.at + 6;
        break;
      case StringFault::Unterminated:
        return fail(Code::Malformed, end_, "unterminated string: expected a closing quote");
      case StringFault::Control:
        return fail(Code::Malformed, report.at, "a control character in a string must be escaped");
      case StringFault::BadEscape:
        return fail(Code::Malformed, report.at, "invalid escape in a string");
      case StringFault::BadUtf8:
        return fail(Code::InvalidUtf8, report.at, "the bytes are not valid UTF-8");
    }
  }
}

std::string_view Cursor::unescaped_key(Slice name, std::string& scratch) const {
  const std::string_view spelled = bytes(name);
  if (spelled.find('\\') == std::string_view::npos) return spelled;
  scratch.resize(spelled.size() + kPadding);  // stays that long: hash_key() reads after a short key
  const char* key_end = kernel_->unescape(spelled.data(), spelled.size(), scratch.data());
  return {scratch.data(), static_cast<std::size_t>(key_end - scratch.data())};
}

// Looks for equal names among keys_[first_key..]: a sort, so that a hostile object costs n log n.
bool Cursor::find_duplicates(std::size_t first_key) {
  std::string scratch_a;
  std::string scratch_b;
  const auto compare = [&](const Key& a, const Key& b) {
    if (a.hash != b.hash) return a.hash <=> b.hash;
    return unescaped_key(a.name, scratch_a) <=> unescaped_key(b.name, scratch_b);
  };
  const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first_key);
  std::sort(begin, keys_.end(), [&](const Key& a, const Key& b) {
    const auto order = compare(a, b);
    return order != 0 ? order < 0 : a.name.offset < b.name.offset;
  });
  const std::size_t first_oddity = oddities_.size();
  for (auto key = begin; key != keys_.end() && key + 1 != keys_.end(); ++key) {
    const Key& next = *(key + 1);
    if (compare(*key, next) == 0) oddities_.push_back({Code::DuplicateKey, next.name.offset});
  }
  const auto found = oddities_.begin() + static_cast<std::ptrdiff_t>(first_oddity);
  std::sort(found, oddities_.end(), [](const Oddity& a, const Oddity& b) { return a.at < b.at; });
  if (strict_ && found != oddities_.end()) {
    return fail(Code::DuplicateKey, base_ + found->at, "duplicate member name in one object");
  }
  return true;
}

bool Cursor::skip(Slice& out) {
  const char first = peek();
  const char* const start = p_;
  if (first != '{' && first != '[') return scalar(out);
  const std::size_t outer = levels_.size();
  for (;;) {
    // At a value: enter containers, take scalars.
    const char c = peek();
    if (c == '{' || c == '[') {
      if (!open()) return false;
      levels_.push_back({static_cast<std::uint32_t>(keys_.size()), c == '{', false, 0});
      const char after = peek();
      if (after != '}' && after != ']') {
        if (c == '{') {
          std::string_view key;
          if (!member_name(key, levels_.back().seen, levels_.back().repeated)) return false;
        }
        continue;
      }
      if ((after == '}') != (c == '{')) return unexpected("mismatched closing bracket");
    } else {
      Slice ignored;
      if (!scalar(ignored)) return false;
    }
    // After a value: close containers until another value follows.
    for (;;) {
      if (levels_.size() == outer) {
        out = {offset(start), static_cast<std::uint32_t>(p_ - start)};
        return true;
      }
      Level& level = levels_.back();
      const char next = peek();
      if (next == (level.is_object ? '}' : ']')) {
        if (level.repeated && !find_duplicates(level.first_key)) return false;
        keys_.resize(level.first_key);
        levels_.pop_back();
        close();
        continue;
      }
      if (next != ',') {
        return unexpected(level.is_object ? "expected ',' or '}' after a member"
                                          : "expected ',' or ']' after an element");
      }
      ++p_;
      if (level.is_object) {
        std::string_view key;
        if (!member_name(key, level.seen, level.repeated)) return false;
      }
      break;
    }
  }
}

bool Cursor::look_ahead(std::string_view name, Slice& value) {
  const Mark mark = marked();
  value = Slice::absent();
  ++p_;
  Slice first;
  if (peek() == '"' && string(first) && bytes(first) == name && peek() == ':') {
    ++p_;
    if (peek() == '"' && scalar(value)) {
      p_ = mark.p;
      return true;
    }
  }
  if (failed_) return false;
  p_ = mark.p;
  const bool good = object([&](std::string_view key) {
    Slice ignored;
    return skip(key == name ? value : ignored);
  });
  back_to(mark);
  return good;
}

void Cursor::back_to(const Mark& mark) {
  p_ = mark.p;
  depth_ = mark.depth;
  keys_.resize(mark.keys);
  // Duplicate keys will be met again when the object is read; lone surrogates are gone from it by now.
  const auto first_new = oddities_.begin() + static_cast<std::ptrdiff_t>(mark.oddities);
  oddities_.erase(std::remove_if(first_new, oddities_.end(),
                                 [](const Oddity& oddity) { return oddity.code == Code::DuplicateKey; }),
                  oddities_.end());
}

bool Cursor::scalar(Slice& out) {
  const char* const start = p_;
  bool good = false;
  switch (*p_) {
    case '"': {
      Slice ignored;
      good = string(ignored);
      break;
    }
    case 't':
      good = literal("true");
      break;
    case 'f':
      good = literal("false");
      break;
    case 'n':
      good = literal("null");
      break;
    default:
      good = number();
      break;
  }
  if (good) out = {offset(start), static_cast<std::uint32_t>(p_ - start)};
  return good;
}

bool Cursor::literal(std::string_view word) {
  if (std::string_view(p_, std::min<std::size_t>(word.size(), static_cast<std::size_t>(end_ - p_))) != word) {
    return unexpected("expected a JSON value");
  }
  p_ += word.size();
  return true;
}

// number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ("e" / "E") [ "+" / "-" ] 1*digit ]
bool Cursor::number() {
  const char* p = p_;
  if (*p == '-') ++p;
  if (!is_digit(*p)) return unexpected(p == p_ ? "expected a JSON value" : "expected a digit after '-'");
  if (*p == '0') {
    ++p;
  } else {
    while (is_digit(*p)) ++p;
  }
  if (*p == '.') {
    if (!is_digit(*++p)) return fail(Code::Malformed, p, "expected a digit after '.'");
    while (is_digit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!is_digit(*p)) return fail(Code::Malformed, p, "expected a digit in an exponent");
    while (is_digit(*p)) ++p;
  }
  p_ = p;
  return true;
}

bool Cursor::finish() {
  peek();
  if (failed_) return false;
  if (p_ != end_) return fail(Code::Malformed, p_, "unexpected text after the end of the JSON value");
  return true;
}

}  // namespace parley::json
