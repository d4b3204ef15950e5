// Writer builds JSON text directly: the caller writes the structure, the Writer escapes strings.
//
//   json::Writer w;
//   w.begin_object().key("role").string("user").key("n").number(3).end_object();
//   Json value = w.take();
//
// The Writer inserts commas. It does not check that the calls form one value (assertions do in
// debug builds); everything a caller passes in as text is escaped. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"

namespace parley::json {

class Writer {
 public:
  Writer& begin_object() { return begin('{'); }
  Writer& end_object() { return end('}'); }
  Writer& begin_array() { return begin('['); }
  Writer& end_array() { return end(']'); }

  Writer& key(std::string_view name);     // REQUIRES: UTF-8.
  Writer& string(std::string_view utf8);  // REQUIRES: UTF-8. Escapes ", \ and controls, nothing else.
  Writer& number(std::int64_t value);
  Writer& boolean(bool value);
  Writer& null();
  Writer& raw(std::string_view json);  // REQUIRES: one JSON value, written as it is.
  Writer& value(const Json& json) { return raw(json.text()); }

  std::string_view view() const { return out_; }
  std::string take_string();
  Json take();  // REQUIRES: exactly one value was written.

 private:
  Writer& begin(char bracket);
  Writer& end(char bracket);
  void separate();

  std::string out_;
  bool comma_ = false;  // A comma is due before the next key or value.
};

// Appends the JSON spelling of `utf8`, with its quotes, to `out`.
void append_string(std::string& out, std::string_view utf8);

}  // namespace parley::json
