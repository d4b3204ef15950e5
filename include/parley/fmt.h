// Formatters of {fmt} for Parley's types, for programs that use it: fmt::print("{}\n", message). Not part of
// parley.h. Enumerations print their names; errors, messages, findings and notes print as to_line() does;
// JSON prints its text.
#pragma once

#include <fmt/format.h>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/message/block.h"
#include "parley/message/message.h"
#include "parley/message/validate.h"

namespace parley::formatting {

template <typename T>
struct Name : fmt::formatter<std::string_view> {
  auto format(const T& value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(to_string(value), context);
  }
};

template <typename T>
struct Line : fmt::formatter<std::string_view> {
  auto format(const T& value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(to_line(value), context);
  }
};

}  // namespace parley::formatting

template <>
struct fmt::formatter<parley::Text> : fmt::formatter<std::string_view> {};
template <>
struct fmt::formatter<parley::Json> : fmt::formatter<std::string_view> {
  auto format(const parley::Json& json, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(json.text().view(), context);
  }
};
template <>
struct fmt::formatter<parley::Code> : parley::formatting::Name<parley::Code> {};
template <>
struct fmt::formatter<parley::Role> : parley::formatting::Name<parley::Role> {};
template <>
struct fmt::formatter<parley::Dialect> : parley::formatting::Name<parley::Dialect> {};
template <>
struct fmt::formatter<parley::BlockType> : parley::formatting::Name<parley::BlockType> {};
template <>
struct fmt::formatter<parley::Error> : parley::formatting::Line<parley::Error> {};
template <>
struct fmt::formatter<parley::Message> : parley::formatting::Line<parley::Message> {};
template <>
struct fmt::formatter<parley::Finding> : parley::formatting::Line<parley::Finding> {};
template <>
struct fmt::formatter<parley::Note> : parley::formatting::Line<parley::Note> {};
