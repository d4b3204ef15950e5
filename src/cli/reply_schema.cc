#include "cli/reply_schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/text.h"
#include "parley/json/writer.h"
#include "parley/schema/schema.h"

namespace parley::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

struct TypeName {
  std::string_view typed, schema;
};
constexpr TypeName kTypeNames[] = {
    {"str", "string"}, {"int", "integer"}, {"float", "number"}, {"bool", "boolean"}};

struct Property {
  std::string_view name, type, description;
};

Result<Property> property_of(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = trimmed(text.substr(0, colon));
  const std::size_t space = std::min(head.find_first_of(" \t"), head.size());
  Property out{head.substr(0, space), "string", trimmed(text.substr(std::min(colon + 1, text.size())))};
  if (out.name.empty()) return fail(Code::Invalid, fmt::format("invalid property '{}': expected NAME", text));
  const std::string_view type = trimmed(head.substr(space));
  if (type.empty()) return out;
  const auto* row = std::ranges::find(kTypeNames, type, &TypeName::typed);
  if (row == std::end(kTypeNames)) {
    return fail(Code::Invalid,
                fmt::format("unknown type '{}' of '{}': expected str, int, float or bool", type, out.name));
  }
  out.type = row->schema;
  return out;
}

Result<Json> from_short_form(std::string_view typed) {
  const char separator = typed.contains('\n') ? '\n' : ',';
  std::vector<Property> properties;
  std::set<std::string_view> names;
  while (true) {
    const std::size_t end = std::min(typed.find(separator), typed.size());
    if (const std::string_view part = trimmed(typed.substr(0, end)); !part.empty()) {
      PARLEY_TRY(const Property property, property_of(part));
      if (!names.insert(property.name).second) {
        return fail(Code::Invalid, fmt::format("duplicate property '{}'", property.name));
      }
      properties.push_back(property);
    }
    if (end == typed.size()) break;
    typed.remove_prefix(end + 1);
  }
  if (properties.empty()) return fail(Code::Invalid, "no property: expected e.g. 'name, age int'");
  json::Writer w;
  w.begin_object().key("type").string("object").key("properties").begin_object();
  for (const Property& each : properties) {
    w.key(each.name).begin_object().key("type").string(each.type);
    if (!each.description.empty()) w.key("description").string(each.description);
    w.end_object();
  }
  w.end_object().key("required").begin_array();
  for (const Property& each : properties) w.string(each.name);
  return w.end_array().key("additionalProperties").boolean(false).end_object().take();
}

}  // namespace

Result<Json> read_reply_schema(const std::string& typed) {
  if (!is_utf8(typed)) return fail(Code::InvalidUtf8, "the schema is not UTF-8");
  Result<Json> schema;
  if (::access(typed.c_str(), F_OK) == 0) {
    PARLEY_TRY(json::Buffer file, json::Buffer::from_file(typed.c_str(), SchemaLimits().bytes));
    schema = Json::parse(std::move(file));
  } else if (typed.starts_with('{')) {
    schema = Json::parse(typed);
  } else if (typed.ends_with(".json")) {
    return fail(Code::Unavailable, fmt::format("schema file not found: {}", typed));
  } else {
    schema = from_short_form(typed);
  }
  if (!schema) return schema;
  PARLEY_TRY([[maybe_unused]] const Schema compiled, Schema::of(*schema));
  return schema;
}

}  // namespace parley::cli
