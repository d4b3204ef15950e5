#include "parley/json/typed.h"

#include <charconv>
#include <cmath>

#include "json/pointer.h"

namespace parley::typed {
namespace {

// An integer that is spelled with a fraction or an exponent, if a double holds it exactly.
std::optional<double> spelled_as_double(const Json& json) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  const std::optional<double> value = json.as_double();
  if (!value || std::trunc(*value) != *value || std::abs(*value) > kMostExact) return std::nullopt;
  return value;
}

}  // namespace

void write_double(json::Writer& out, double number) {
  if (!std::isfinite(number)) {
    out.null();
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.raw(std::string_view(digits.data(), end));
}

std::optional<std::int64_t> integer_in(const Json& json, std::int64_t least, std::int64_t most) {
  std::optional<std::int64_t> value = json.as_int64();
  if (!value) {
    const std::optional<double> spelled = spelled_as_double(json);
    if (!spelled) return std::nullopt;
    value = static_cast<std::int64_t>(*spelled);
  }
  return *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<std::uint64_t> unsigned_in(const Json& json, std::uint64_t most) {
  std::uint64_t value = 0;
  const std::string_view text = json.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (json.type() != Json::Type::Number) return std::nullopt;
  if (error != std::errc() || end != text.data() + text.size()) {
    const std::optional<double> spelled = spelled_as_double(json);
    if (!spelled || *spelled < 0) return std::nullopt;
    value = static_cast<std::uint64_t>(*spelled);
  }
  return value <= most ? std::optional(value) : std::nullopt;
}

std::unexpected<Error> wrong_type(std::string_view expected, const std::string& path) {
  return fail(Code::WrongType, "expected " + std::string(expected), path);
}

std::unexpected<Error> wrong_name(std::string_view name, const std::vector<std::string_view>& names,
                                  const std::string& path) {
  std::string known;
  for (const std::string_view each : names) known.append(known.empty() ? "" : ", ").append(each);
  return fail(Code::Invalid, "'" + std::string(name) + "' is not one of: " + known, path);
}

std::unexpected<Error> missing(std::string_view name, const std::string& path) {
  return fail(Code::Missing, "the member '" + std::string(name) + "' is missing", path);
}

std::string member_path(const std::string& path, std::string_view name) {
  return path + "/" + json::escape_pointer(name);
}

std::string element_path(const std::string& path, std::size_t index) {
  return path + "/" + std::to_string(index);
}

void write_range(json::Writer& out, bool is_signed, std::size_t bytes) {
  if (!is_signed) out.key("minimum").number(0);
  if (bytes >= sizeof(std::int64_t)) return;
  const std::int64_t most = (std::int64_t{1} << (bytes * 8 - (is_signed ? 1U : 0U))) - 1;
  if (is_signed) out.key("minimum").number(-most - 1);
  out.key("maximum").number(most);
}

}  // namespace parley::typed
