#include "parley/json/writer.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "json/kernel.h"

namespace parley::json {

void append_string(std::string& out, std::string_view utf8) {
  out += '"';
  while (!utf8.empty()) {
    const std::size_t chunk = std::min<std::size_t>(utf8.size(), 16 * 1024);
    const std::size_t before = out.size();
    out.resize(before + 6 * chunk + 64);
    const char* end = kernel().escape(utf8.data(), chunk, out.data() + before);
    out.resize(static_cast<std::size_t>(end - out.data()));
    utf8.remove_prefix(chunk);
  }
  out += '"';
}

void Writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

Writer& Writer::begin(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

Writer& Writer::end(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  append_string(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}

Writer& Writer::string(std::string_view utf8) {
  separate();
  append_string(out_, utf8);
  return *this;
}

Writer& Writer::number(std::int64_t value) { return raw(std::to_string(value)); }
Writer& Writer::boolean(bool value) { return raw(value ? "true" : "false"); }
Writer& Writer::null() { return raw("null"); }

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

std::string Writer::take_string() {
  comma_ = false;
  return std::exchange(out_, {});
}

Json Writer::take() {
  assert(Json::parse(out_, {SIZE_MAX, SIZE_MAX, SIZE_MAX}));
  auto owner = std::make_shared<const std::string>(take_string());
  const std::string_view all = *owner;
  return Json::trusted(Text::trusted(std::move(owner), all));
}

}  // namespace parley::json
