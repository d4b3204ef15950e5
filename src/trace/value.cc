#include "parley/trace/value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "parley/dialect/dialect.h"

namespace parley::trace::value {

void write_text(json::Writer& out, std::string_view bytes) { out.string(Text::repaired(bytes)); }

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
  // Whoever reads it can tell that it was no whole number's type.
  if (spelled.find_first_of(".e") == std::string::npos) spelled += ".0";
  out.raw(spelled);
}

void write_time(json::Writer& out, std::chrono::sys_time<std::chrono::milliseconds> time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 40> buffer;
  const int size = std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  out.string(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
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
