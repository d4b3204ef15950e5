// C++ types as JSON: the JSON Schema of a type, its values read and written.
//
//   struct Weather { std::string city; int days = 1; };
//   PARLEY_FIELDS(Weather, city, days)         // after the type, in its namespace
//
//   enum class Unit { Celsius, Fahrenheit };
//   PARLEY_NAMES(Unit, Celsius, Fahrenheit)
//
//   Result<Weather> weather = from_json<Weather>(json);
//   Json json = to_json(weather);
//   Json schema = schema_of<Weather>();
//
// Types: bool, integers, floating point, std::string, Text, Json (any value), enumerations with PARLEY_NAMES,
// std::optional, std::vector, maps with string keys, structs with PARLEY_FIELDS, and all these nested.
//
// Invariants (quoted by tests as TYPED1..TYPED5):
//   TYPED1  from_json(to_json(value)) is the value; numbers that are not finite are written as null.
//   TYPED2  to_json(value) matches schema_of<T>(), and what matches the schema can be read.
//   TYPED3  A member is required unless it is a std::optional or has a default that is not T{}. A missing
//           member keeps its default.
//   TYPED4  An integer that its type cannot hold is an error, and so is a number that is too large for its
//           floating-point type; a fraction is the nearest number of the type.
//   TYPED5  A struct that holds itself, through a vector or a map, does not compile: its schema has no end.
//           Declare the inner part as Json.
//
// Pure functions; safe from any thread.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley {

namespace typed {

template <typename Owner, typename T>
struct Field {
  std::string_view name;
  T Owner::* member;
};

template <typename Owner, typename T>
constexpr Field<Owner, T> field(std::string_view name, T Owner::* member) {
  return {name, member};
}

template <typename T>
concept Struct = requires(const T* t) { parley_fields(t); };
template <typename T>
concept Named = std::is_enum_v<T> && requires(T value) { parley_names(value); };
template <typename T>
concept String = std::same_as<T, std::string> || std::same_as<T, Text>;
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
concept Map = requires {
  typename T::mapped_type;
  requires std::same_as<typename T::key_type, std::string>;
};

template <typename T>
concept Typed = std::same_as<T, bool> || Integer<T> || std::floating_point<T> || String<T> ||
                std::same_as<T, Json> || Struct<T> || Named<T> || kIsOptional<T> || kIsVector<T> || Map<T>;

void write_double(json::Writer& out, double number);
// 1.0 and 1e2 are integers too. nullopt if the number is not an integer, or not within the limits.
std::optional<std::int64_t> integer_in(const Json& json, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> unsigned_in(const Json& json, std::uint64_t most);
std::unexpected<Error> wrong_type(std::string_view expected, const std::string& path);
std::unexpected<Error> wrong_name(std::string_view name, const std::vector<std::string_view>& names,
                                  const std::string& path);
std::unexpected<Error> missing(std::string_view name, const std::string& path);
std::string member_path(const std::string& path, std::string_view name);
std::string element_path(const std::string& path, std::size_t index);
void write_range(json::Writer& out, bool is_signed, std::size_t bytes);  // "minimum" and "maximum"

// ---- Writing

template <Typed T>
void write(json::Writer& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out.boolean(value);
  } else if constexpr (Integer<T>) {
    out.raw(std::to_string(value));
  } else if constexpr (std::floating_point<T>) {
    write_double(out, static_cast<double>(value));
  } else if constexpr (String<T>) {
    out.string(Text(value));
  } else if constexpr (std::same_as<T, Json>) {
    out.value(value);
  } else if constexpr (Named<T>) {
    for (const auto& [name, each] : parley_names(value)) {
      if (each == value) {
        out.string(name);
        return;
      }
    }
    out.null();
  } else if constexpr (kIsOptional<T>) {
    if (value) {
      write(out, *value);
    } else {
      out.null();
    }
  } else if constexpr (kIsVector<T>) {
    out.begin_array();
    for (const typename T::value_type& each : value) write(out, each);
    out.end_array();
  } else if constexpr (Map<T>) {
    out.begin_object();
    for (const auto& [key, each] : value) write(out.key(Text(key)), each);
    out.end_object();
  } else {
    out.begin_object();
    std::apply([&](const auto&... fields) { (write(out.key(fields.name), value.*fields.member), ...); },
               parley_fields(&value));
    out.end_object();
  }
}

template <Typed T>
Json written(const T& value) {
  json::Writer out;
  write(out, value);
  return out.take();
}

// ---- Schemas

// TYPED3. `value` is that of a default-constructed struct.
template <typename T>
bool is_required(const T& value) {
  return !kIsOptional<T> && written(value) == written(T{});
}

inline constexpr int kMostNested = 32;  // of types within each other (TYPED5)

template <Typed T, int Depth = 0>
void write_schema(json::Writer& out);

// The keywords of the schema, without the braces around them.
template <Typed T, int Depth>
void write_keywords(json::Writer& out) {
  static_assert(Depth < kMostNested,
                "a struct that holds itself has no schema here: declare the inner part as Json");
  if constexpr (std::same_as<T, bool>) {
    out.key("type").string("boolean");
  } else if constexpr (Integer<T>) {
    out.key("type").string("integer");
    write_range(out, std::is_signed_v<T>, sizeof(T));
  } else if constexpr (std::floating_point<T>) {
    out.key("type").string("number");
  } else if constexpr (String<T>) {
    out.key("type").string("string");
  } else if constexpr (Named<T>) {
    out.key("type").string("string").key("enum").begin_array();
    for (const auto& [name, each] : parley_names(T{})) out.string(name);
    out.end_array();
  } else if constexpr (kIsOptional<T>) {
    out.key("anyOf").begin_array();
    write_schema<typename T::value_type, Depth + 1>(out);
    out.begin_object().key("type").string("null").end_object().end_array();
  } else if constexpr (kIsVector<T>) {
    out.key("type").string("array").key("items");
    write_schema<typename T::value_type, Depth + 1>(out);
  } else if constexpr (Map<T>) {
    out.key("type").string("object").key("additionalProperties");
    write_schema<typename T::mapped_type, Depth + 1>(out);
  } else if constexpr (Struct<T>) {
    const T defaults{};
    const auto property = [&]<typename Member>(const Field<T, Member>& field) {
      const Member& value = defaults.*field.member;
      out.key(field.name).begin_object();
      write_keywords<Member, Depth + 1>(out);
      if (!kIsOptional<Member> && !is_required(value)) write(out.key("default"), value);
      out.end_object();
    };
    const auto require = [&](const auto& field) {
      if (is_required(defaults.*field.member)) out.string(field.name);
    };
    out.key("type").string("object").key("properties").begin_object();
    std::apply([&](const auto&... fields) { (property(fields), ...); }, parley_fields(&defaults));
    out.end_object().key("required").begin_array();
    std::apply([&](const auto&... fields) { (require(fields), ...); }, parley_fields(&defaults));
    out.end_array().key("additionalProperties").boolean(false);
  }
}

template <Typed T, int Depth>
void write_schema(json::Writer& out) {
  out.begin_object();
  write_keywords<T, Depth>(out);
  out.end_object();
}

// ---- Reading

template <Typed T>
Result<void> read(const Json& json, T& out, const std::string& path);

template <typename Owner, typename T>
Result<void> read_member(const Json& json, const Field<Owner, T>& field, Owner& out,
                         const std::string& path) {
  const std::optional<Json> value = json.get(field.name);
  if (!value) {
    if (is_required(out.*field.member)) return missing(field.name, path);
    return {};
  }
  return read(*value, out.*field.member, member_path(path, field.name));
}

// `out` is default-constructed.
template <Typed T>
Result<void> read(const Json& json, T& out, const std::string& path) {
  if constexpr (std::same_as<T, bool>) {
    const auto value = json.as_bool();
    if (!value) return wrong_type("true or false", path);
    out = *value;
  } else if constexpr (Integer<T> && std::is_signed_v<T>) {
    const auto value = integer_in(json, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    if (!value) return wrong_type("an integer that fits its type", path);
    out = static_cast<T>(*value);
  } else if constexpr (Integer<T>) {
    const auto value = unsigned_in(json, std::numeric_limits<T>::max());
    if (!value) return wrong_type("a positive integer that fits its type", path);
    out = static_cast<T>(*value);
  } else if constexpr (std::floating_point<T>) {
    const auto value = json.as_double();
    if (!value || *value < std::numeric_limits<T>::lowest() || *value > std::numeric_limits<T>::max()) {
      return wrong_type("a number that fits its type", path);
    }
    out = static_cast<T>(*value);
  } else if constexpr (String<T>) {
    const auto value = json.as_string();
    if (!value) return wrong_type("a string", path);
    out = T(value->view());
  } else if constexpr (std::same_as<T, Json>) {
    out = json;
  } else if constexpr (Named<T>) {
    const auto value = json.as_string();
    if (!value) return wrong_type("a string", path);
    std::vector<std::string_view> names;
    for (const auto& [name, each] : parley_names(T{})) {
      if (*value == name) {
        out = each;
        return {};
      }
      names.push_back(name);
    }
    return wrong_name(value->view(), names, path);
  } else if constexpr (kIsOptional<T>) {
    if (!json.is_null()) return read(json, out.emplace(), path);
  } else if constexpr (kIsVector<T>) {
    if (!json.is_array()) return wrong_type("an array", path);
    for (const Json& element : json.elements()) {
      typename T::value_type value{};
      PARLEY_CHECK(read(element, value, element_path(path, out.size())));
      out.push_back(std::move(value));
    }
  } else if constexpr (Map<T>) {
    if (!json.is_object()) return wrong_type("an object", path);
    for (const Json::Member& member : json.members()) {
      typename T::mapped_type value{};  // the last of duplicate keys counts, alone
      PARLEY_CHECK(read(member.value, value, member_path(path, member.key)));
      out[member.key.str()] = std::move(value);
    }
  } else {
    if (!json.is_object()) return wrong_type("an object", path);
    Result<void> result;
    std::apply(
        [&](const auto&... fields) {
          (void)((result = read_member(json, fields, out, path), result) && ...);
        },
        parley_fields(&out));
    return result;
  }
  return {};
}

}  // namespace typed

template <typename T>
  requires typed::Typed<T>
Json schema_of() {
  json::Writer out;
  typed::write_schema<T>(out);
  return out.take();
}

template <typename T>
  requires typed::Typed<T>
Json to_json(const T& value) {
  return typed::written(value);
}

// Ignores members that the struct does not have. Fails with WrongType, Missing or Invalid, with the path.
template <typename T>
  requires typed::Typed<T>
Result<T> from_json(const Json& json) {
  T out{};
  PARLEY_CHECK(typed::read(json, out, {}));
  return out;
}

}  // namespace parley

// PARLEY_EACH_(macro, Type, a, b, ...) is macro(Type, a), macro(Type, b), ... for up to 80 names.
#define PARLEY_PARENS_ ()
#define PARLEY_AGAIN_(...) PARLEY_AGAIN1_(PARLEY_AGAIN1_(PARLEY_AGAIN1_(__VA_ARGS__)))
#define PARLEY_AGAIN1_(...) PARLEY_AGAIN2_(PARLEY_AGAIN2_(PARLEY_AGAIN2_(__VA_ARGS__)))
#define PARLEY_AGAIN2_(...) PARLEY_AGAIN3_(PARLEY_AGAIN3_(PARLEY_AGAIN3_(__VA_ARGS__)))
#define PARLEY_AGAIN3_(...) PARLEY_AGAIN4_(PARLEY_AGAIN4_(PARLEY_AGAIN4_(__VA_ARGS__)))
#define PARLEY_AGAIN4_(...) __VA_ARGS__
#define PARLEY_EACH_(macro, Type, ...) PARLEY_AGAIN_(PARLEY_STEP_(macro, Type, __VA_ARGS__))
#define PARLEY_STEP_(macro, Type, first, ...) \
  macro(Type, first) __VA_OPT__(, PARLEY_STEP_AGAIN_ PARLEY_PARENS_(macro, Type, __VA_ARGS__))
#define PARLEY_STEP_AGAIN_() PARLEY_STEP_

// Names the members of a struct that are in its JSON. Follows the struct, in the same namespace.
#define PARLEY_FIELDS(Type, ...)                                       \
  [[maybe_unused]] constexpr auto parley_fields(const Type*) {         \
    return std::tuple(PARLEY_EACH_(PARLEY_FIELD_, Type, __VA_ARGS__)); \
  }
#define PARLEY_FIELD_(Type, name) ::parley::typed::field(#name, &Type::name)

// Names the enumerators of an enumeration; each is the string of its name. Follows it, in the same namespace.
#define PARLEY_NAMES(Type, ...)                                       \
  [[maybe_unused]] constexpr auto parley_names(Type) {                \
    return std::array{PARLEY_EACH_(PARLEY_NAME_, Type, __VA_ARGS__)}; \
  }
#define PARLEY_NAME_(Type, name) std::pair<std::string_view, Type>(#name, Type::name)
