#include "parley/json/json.h"

#include <algorithm>
#include <charconv>

#include "json/cursor.h"
#include "json/kernel.h"
#include "json/out.h"
#include "json/pointer.h"
#include "json/walk.h"
#include "parley/json/writer.h"

namespace parley {
namespace {

using json::value_end;

// The text between the quotes of a valid JSON string, unescaped; shared if there is nothing to unescape.
Text unquoted(const Text& string) { return json::unescaped(string.slice(1, string.size() - 2)); }

// Calls on_token for each token of a valid JSON text: a string with its quotes, a number, a literal, or
// one structural character.
template <typename OnToken>
void for_each_token(std::string_view text, OnToken&& on_token) {
  for (std::size_t at = json::skip_space(text, 0); at < text.size(); at = json::skip_space(text, at)) {
    const std::size_t end = json::token_end(text, at);
    on_token(text.substr(at, end - at));
    at = end;
  }
}

// Calls on_member(key, key_end, value, value_end) for each member of a valid JSON object, with places in it.
template <typename OnMember>
void for_each_member(std::string_view text, OnMember&& on_member) {
  for (std::size_t at = json::skip_space(text, 1); text[at] != '}';) {
    const std::size_t key_end = json::token_end(text, at);
    const std::size_t value = json::skip_space(text, json::skip_space(text, key_end) + 1);
    const std::size_t end = value_end(text, value);
    on_member(at, key_end, value, end);
    at = json::skip_space(text, end);
    if (text[at] == ',') at = json::skip_space(text, at + 1);
  }
}

// Calls on_element(begin, end) for each element of a valid JSON array, until it returns false.
template <typename OnElement>
void for_each_element(std::string_view text, OnElement&& on_element) {
  for (std::size_t at = json::skip_space(text, 1); text[at] != ']';) {
    const std::size_t end = value_end(text, at);
    if (!on_element(at, end)) return;
    at = json::skip_space(text, end);
    if (text[at] == ',') at = json::skip_space(text, at + 1);
  }
}

}  // namespace

Result<Json> Json::parse(std::string_view text, const json::Limits& limits) {
  return parse(json::Buffer::copy_of(text), limits);
}

Result<Json> Json::parse(json::Buffer text, const json::Limits& limits) {
  auto buffer = std::make_shared<json::Buffer>(std::move(text));
  json::Cursor cursor(*buffer, {limits, false});
  json::Slice all;
  const bool good = cursor.ok() && cursor.skip(all) && cursor.finish();
  const auto place = [&](std::size_t offset) { return json::pointer_at(buffer->view(), offset); };
  if (!good) {
    const json::Fault& fault = cursor.fault();
    return fail(fault.code, fault.message + " (byte " + std::to_string(fault.at) + ")", place(fault.at));
  }
  for (const json::Oddity& oddity : cursor.oddities()) {
    if (oddity.code == Code::LoneSurrogate) {
      return fail(oddity.code, "unpaired surrogate in a string", place(oddity.at));
    }
  }
  const std::string_view value = cursor.bytes(all);
  return Json(Text::trusted(std::move(buffer), value));
}

Json Json::string(std::string_view utf8) {
  json::Out out(utf8.size() + 2);
  out.raw('"').escaped(utf8).raw('"');
  return Json(out.take());
}

Json Json::number(std::int64_t value) {
  json::Writer writer;
  return writer.number(value).take();
}

Json Json::boolean(bool value) { return value ? Json(Text("true")) : Json(Text("false")); }

Json::Type Json::type() const {
  switch (text_.view().front()) {
    case 'n':
      return Type::Null;
    case 't':
    case 'f':
      return Type::Bool;
    case '"':
      return Type::String;
    case '[':
      return Type::Array;
    case '{':
      return Type::Object;
    default:
      return Type::Number;
  }
}

OptionalText Json::as_string() const {
  if (type() != Type::String) return std::nullopt;
  return unquoted(text_);
}

std::optional<bool> Json::as_bool() const {
  if (type() != Type::Bool) return std::nullopt;
  return text_.view() == "true";
}

std::optional<std::int64_t> Json::as_int64() const {
  std::int64_t value = 0;
  const std::string_view text = text_;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (type() != Type::Number || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> Json::as_double() const {
  double value = 0;
  const std::string_view text = text_;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (type() != Type::Number || error != std::errc()) return std::nullopt;
  return value;
}

std::vector<Json::Member> Json::members() const {
  std::vector<Member> out;
  if (!is_object()) return out;
  for_each_member(text_, [&](std::size_t key, std::size_t key_end, std::size_t value, std::size_t end) {
    out.push_back({unquoted(text_.slice(key, key_end - key)), Json(text_.slice(value, end - value))});
  });
  return out;
}

std::vector<Json> Json::elements() const {
  std::vector<Json> out;
  if (!is_array()) return out;
  for_each_element(text_, [&](std::size_t at, std::size_t end) {
    out.push_back(Json(text_.slice(at, end - at)));
    return true;
  });
  return out;
}

// The last member of the name, as members() has it.
std::optional<Json> Json::get(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  const std::string_view text = text_;
  std::size_t found = 0;
  std::size_t found_end = 0;
  for_each_member(text, [&](std::size_t at, std::size_t key_end, std::size_t value, std::size_t end) {
    const std::string_view spelled = text.substr(at + 1, key_end - at - 2);
    const bool is_plain = spelled.find('\\') == std::string_view::npos;
    if (is_plain ? spelled != key : unquoted(text_.slice(at, key_end - at)).view() != key) return;
    found = value;
    found_end = end;
  });
  if (found == 0) return std::nullopt;
  return Json(text_.slice(found, found_end - found));
}

std::optional<Json> Json::at(std::string_view pointer) const {
  Json here = *this;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string step;
    for (std::size_t i = 1; i < end; ++i) {
      if (pointer[i] != '~') {
        step += pointer[i];
        continue;
      }
      const char which = ++i < end ? pointer[i] : '\0';
      if (which != '0' && which != '1') return std::nullopt;
      step += which == '1' ? '/' : '~';
    }
    pointer.remove_prefix(end);
    std::optional<Json> next;
    if (here.is_object()) {
      next = here.get(step);
    } else {
      std::size_t index = 0;
      const auto [parsed, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      const bool is_index = error == std::errc() && parsed == step.data() + step.size() &&
                            (step.size() == 1 || step.front() != '0');
      if (!is_index || !here.is_array()) return std::nullopt;
      for_each_element(here.text_, [&](std::size_t at, std::size_t element_end) {
        if (index-- > 0) return true;
        next = Json(here.text_.slice(at, element_end - at));
        return false;
      });
    }
    if (!next) return std::nullopt;
    here = *std::move(next);
  }
  return here;
}

Json Json::compact() const {
  json::Out out(text_.size());
  for_each_token(text_, [&](std::string_view token) { out.raw(token); });
  return out.size() == text_.size() ? *this : Json(out.take());
}

std::string Json::pretty() const {
  constexpr std::size_t kMostLevels =
      40;  // beyond them lines go no further in, or depth would cost its square
  std::string out;
  std::size_t depth = 0;
  bool opened = false;  // the last token opened a container
  const auto new_line = [&] {
    out += '\n';
    out.append(2 * std::min(depth, kMostLevels), ' ');
  };
  for_each_token(text_, [&](std::string_view token) {
    const char c = token.front();
    const bool closes = c == '}' || c == ']';
    if (closes) --depth;
    if (closes ? !opened : opened) new_line();
    out += token;
    opened = c == '{' || c == '[';
    if (opened) ++depth;
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  });
  return out;
}

bool Json::equal(const Json& a, const Json& b) {
  if (a.text_ == b.text_) return true;
  const std::string_view left = a.text_;
  const std::string_view right = b.text_;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() && j < right.size()) {
    const std::size_t i_end = json::token_end(left, i);
    const std::size_t j_end = json::token_end(right, j);
    const std::string_view token = left.substr(i, i_end - i);
    const std::string_view other = right.substr(j, j_end - j);
    if (token != other) {
      if (token.front() != '"' || other.front() != '"') return false;
      if (unquoted(a.text_.slice(i, token.size())) != unquoted(b.text_.slice(j, other.size()))) return false;
    }
    i = json::skip_space(left, i_end);
    j = json::skip_space(right, j_end);
  }
  return i == left.size() && j == right.size();
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.text(); }

}  // namespace parley
