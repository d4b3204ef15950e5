#include "parley/trace/value.h"

#include <array>
#include <charconv>
#include <cmath>

#include "parley/base/clock.h"
#include "parley/dialect/dialect.h"

namespace parley::trace::value {

void write_text(json::Writer& out, std::string_view bytes) { out.string(Text(bytes)); }

void write_double(json::Writer& out, double number) {
  if (std::isnan(number)) {
    out.string("NaN");
    return;
  }
  if (std::isinf(number)) {
    out.string(number > 0 ? "Infinity" : "-Infinity");
    return;
  }
  std::array<char, 32> buffer;
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string spelled(buffer.data(), end);
  // A reader can see that the type was not an integer.
  if (spelled.find_first_of(".e") == std::string::npos) spelled += ".0";
  out.raw(spelled);
}

void write_time(json::Writer& out, std::chrono::sys_time<std::chrono::milliseconds> time) {
  out.string(utc_timestamp(time.time_since_epoch().count()));
}

void write_message(json::Writer& out, const Message& message) {
  const std::vector<Json> said = to_dicts(message, Dialect::OTel);
  if (said.size() == 1) {
    out.value(said.front());
  } else {
    write(out, said);
  }
}

}  // namespace parley::trace::value
