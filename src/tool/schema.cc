// Reading a schema: a list of places that are still to be read, and one row for each keyword.
#include "parley/tool/schema.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "parley/base/utf8.h"
#include "parley/json/pointer.h"
#include "tool/json_key.h"
#include "tool/schema_nodes.h"

namespace parley {
namespace {

struct TypeName {
  std::string_view name;
  SchemaType bit;
  std::string_view phrase;
};
constexpr std::array<TypeName, 7> kTypes = {{
    {"null", kNull, "null"},
    {"boolean", kBoolean, "true or false"},
    {"integer", kInteger, "an integer"},
    {"number", kNumber, "a number"},
    {"string", kString, "a string"},
    {"array", kArray, "an array"},
    {"object", kObject, "an object"},
}};

class Compiler {
 public:
  Compiler(const Json& root, const SchemaLimits& limits)
      : root_(root), compiled_(std::make_shared<Schema::Compiled>()) {
    compiled_->limits = limits;
  }

  Result<std::shared_ptr<const Schema::Compiled>> run() {
    if (root_.text().size() > limits().bytes) {
      return fail(Code::LimitExceeded, "a schema has at most " + std::to_string(limits().bytes) + " bytes");
    }
    node_at("", root_);
    while (!unread_.empty()) {
      const Unread next = std::move(unread_.back());
      unread_.pop_back();
      PARLEY_CHECK(read(next));
      if (compiled_->nodes.size() > limits().nodes) {
        return fail(Code::LimitExceeded,
                    "a schema has at most " + std::to_string(limits().nodes) + " schemas", next.path);
      }
    }
    return compiled_;
  }

  const SchemaLimits& limits() const { return compiled_->limits; }

  // The node of the schema at `path`, which is read later if it was not yet.
  NodeIndex node_at(const std::string& path, const Json& schema) {
    const auto [entry, is_new] = known_.try_emplace(path, compiled_->nodes.size());
    if (is_new) {
      compiled_->nodes.emplace_back();
      unread_.push_back({entry->second, path, schema});
    }
    return entry->second;
  }

  const Json& root() const { return root_; }

 private:
  struct Unread {
    NodeIndex index;
    std::string path;
    Json schema;
  };

  Result<void> read(const Unread& place);

  Json root_;
  std::shared_ptr<Schema::Compiled> compiled_;
  std::map<std::string, NodeIndex> known_;
  std::vector<Unread> unread_;
};

// One keyword of one schema.
struct Keyword {
  Compiler& compiler;
  SchemaNode& node;
  const Json& value;
  std::string path;  // of the value

  std::unexpected<Error> wrong(std::string_view expected) const {
    return fail(Code::Invalid, "expected " + std::string(expected) + " in a schema", path);
  }
};

std::string below(const std::string& path, std::string_view key) {
  return path + "/" + json::escape_pointer(key);
}

Result<std::vector<std::string>> strings(const Keyword& k, const Json& list, const std::string& path) {
  std::vector<std::string> out;
  for (const Json& element : list.elements()) {
    const auto text = element.as_string();
    if (!text) return fail(Code::Invalid, "expected a list of strings in a schema", path);
    out.push_back(text->str());
  }
  if (!list.is_array()) return k.wrong("a list of strings");
  return out;
}

Result<void> read_type(const Keyword& k) {
  std::vector<std::string> names;
  if (const auto name = k.value.as_string()) {
    names.push_back(name->str());
  } else {
    PARLEY_TRY(names, strings(k, k.value, k.path));
  }
  k.node.types = 0;
  for (const std::string& name : names) {
    const auto* const type = std::ranges::find(kTypes, name, &TypeName::name);
    if (type == kTypes.end()) return k.wrong("the name of a type");
    k.node.types |= type->bit;
  }
  if (k.node.types == 0) return k.wrong("at least one type");
  return {};
}

// As a model should read it: short, with the first of many.
std::string shown(const std::vector<Json>& values) {
  constexpr std::size_t kMost = 20;
  constexpr std::size_t kMostBytes = 60;
  std::string out;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i) {
    if (i > 0) out += ", ";
    const std::string_view text = values[i].text();
    out += text.size() <= kMostBytes ? text : text.substr(0, utf8_floor(text, kMostBytes));
    if (text.size() > kMostBytes) out += "...";
  }
  if (values.size() > kMost) out += " and " + std::to_string(values.size() - kMost) + " more";
  return out;
}

Result<ValueSet> value_set(const Keyword& k, const std::vector<Json>& values) {
  ValueSet set;
  for (const Json& value : values) {
    auto key = json_key(value, k.compiler.limits().depth);
    if (!key) return fail(Code::LimitExceeded, "a value in a schema is nested too deep", k.path);
    set.keys.push_back(*std::move(key));
  }
  std::ranges::sort(set.keys);
  set.text = shown(values);
  return set;
}

Result<void> read_enum(const Keyword& k) {
  if (!k.value.is_array()) return k.wrong("a list of values");
  PARLEY_TRY(k.node.values, value_set(k, k.value.elements()));
  return {};
}

Result<void> read_const(const Keyword& k) {
  PARLEY_TRY(k.node.constant, value_set(k, {k.value}));
  return {};
}

Result<void> read_properties(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of schemas");
  k.node.properties.clear();
  for (const Json::Member& member : k.value.members()) {
    k.node.properties.insert_or_assign(member.key.str(),
                                       k.compiler.node_at(below(k.path, member.key), member.value));
  }
  return {};
}

Result<void> read_pattern_properties(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of schemas");
  k.node.pattern_properties.clear();
  for (const Json::Member& member : k.value.members()) {
    const std::string path = below(k.path, member.key);
    auto pattern = Pattern::of(member.key);
    if (!pattern) return fail(pattern.error().code, pattern.error().message, path);
    k.node.pattern_properties.emplace_back(*std::move(pattern), k.compiler.node_at(path, member.value));
  }
  return {};
}

Result<void> read_required(const Keyword& k) {
  PARLEY_TRY(k.node.required, strings(k, k.value, k.path));
  return {};
}

Result<void> read_dependent_required(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of lists");
  k.node.dependent_required.clear();
  for (const Json::Member& member : k.value.members()) {
    PARLEY_TRY(auto names, strings(k, member.value, below(k.path, member.key)));
    k.node.dependent_required.emplace_back(member.key.str(), std::move(names));
  }
  return {};
}

template <std::optional<NodeIndex> SchemaNode::* kField>
Result<void> read_schema(const Keyword& k) {
  k.node.*kField = k.compiler.node_at(k.path, k.value);
  return {};
}

template <std::vector<NodeIndex> SchemaNode::* kField>
Result<void> read_schemas(const Keyword& k) {
  if (!k.value.is_array()) return k.wrong("a list of schemas");
  std::vector<NodeIndex> nodes;
  for (const Json& schema : k.value.elements()) {
    nodes.push_back(k.compiler.node_at(k.path + "/" + std::to_string(nodes.size()), schema));
  }
  k.node.*kField = std::move(nodes);
  return {};
}

// Before draft 2020-12 a list of schemas was called items, too.
Result<void> read_items(const Keyword& k) {
  return k.value.is_array() ? read_schemas<&SchemaNode::prefix_items>(k) : read_schema<&SchemaNode::items>(k);
}

template <SizeBounds SchemaNode::* kField, std::optional<std::size_t> SizeBounds::* kSide>
Result<void> read_size(const Keyword& k) {
  if (k.value.type() != Json::Type::Number) return k.wrong("a number");
  const Decimal number = Decimal::of(k.value.text());
  // A number that no size can reach is as good as any other of them.
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (number.is_negative || !number.is_integer()) return k.wrong("an integer that is not negative");
  std::int64_t size = 0;
  for (const char digit : number.digits) size = std::min(size * 10 + (digit - '0'), kMost);
  for (std::int64_t i = 0; i < number.exponent && size < kMost && size > 0; ++i) {
    size = std::min(size * 10, kMost);
  }
  k.node.*kField.*kSide = static_cast<std::size_t>(size);
  return {};
}

template <std::optional<NumberBound> SchemaNode::* kField>
Result<void> read_number(const Keyword& k) {
  if (k.value.type() != Json::Type::Number) return k.wrong("a number");
  k.node.*kField = NumberBound{Decimal::of(k.value.text()), k.value.text().str()};
  return {};
}

Result<void> read_multiple_of(const Keyword& k) {
  PARLEY_CHECK(read_number<&SchemaNode::multiple_of>(k));
  const Decimal& unit = k.node.multiple_of->limit;
  if (unit.is_zero() || unit.is_negative) return k.wrong("a positive number");
  constexpr std::size_t kMostDigits = 18;
  if (unit.digits.size() > kMostDigits) {
    return fail(Code::Unsupported, "multiples of a number with more than 18 digits are not checked", k.path);
  }
  return {};
}

template <bool SchemaNode::* kField>
Result<void> read_flag(const Keyword& k) {
  const auto flag = k.value.as_bool();
  if (!flag) return k.wrong("true or false");
  k.node.*kField = *flag;
  return {};
}

Result<void> read_pattern(const Keyword& k) {
  const auto text = k.value.as_string();
  if (!text) return k.wrong("a string");
  auto pattern = Pattern::of(*text);
  if (!pattern) return fail(pattern.error().code, pattern.error().message, k.path);
  k.node.pattern.emplace(*std::move(pattern), text->str());
  return {};
}

int hex_digit(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t at = kDigits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

// The fragment of a URL is percent-encoded.
std::string decoded(std::string_view fragment) {
  std::string out;
  for (std::size_t i = 0; i < fragment.size(); ++i) {
    if (fragment[i] == '%' && i + 2 < fragment.size() && hex_digit(fragment[i + 1]) >= 0 &&
        hex_digit(fragment[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(fragment[i + 1]) * 16 + hex_digit(fragment[i + 2]));
      i += 2;
    } else {
      out += fragment[i];
    }
  }
  return out;
}

Result<void> read_ref(const Keyword& k) {
  const auto text = k.value.as_string();
  if (!text) return k.wrong("a string");
  const std::string pointer = text->view().starts_with('#') ? decoded(text->view().substr(1)) : "elsewhere";
  if (!pointer.empty() && pointer[0] != '/') {
    return fail(Code::Unsupported, "a $ref leads only to a place in the same schema, as in #/$defs/name",
                k.path);
  }
  const auto target = k.compiler.root().at(pointer);
  if (!target) return fail(Code::NotFound, "a $ref leads to a place that is not there", k.path);
  k.node.ref = k.compiler.node_at(pointer, *target);
  return {};
}

Result<void> refuse(const Keyword& k) {
  return fail(Code::Unsupported, "this keyword of a schema is not supported", k.path);
}

struct Row {
  std::string_view name;
  Result<void> (*read)(const Keyword& keyword);
};
using Node = SchemaNode;
using Size = SizeBounds;
constexpr std::array kKeywords = {
    Row{"type", read_type},
    Row{"nullable", read_flag<&Node::is_nullable>},
    Row{"enum", read_enum},
    Row{"const", read_const},
    Row{"properties", read_properties},
    Row{"required", read_required},
    Row{"additionalProperties", read_schema<&Node::additional_properties>},
    Row{"patternProperties", read_pattern_properties},
    Row{"propertyNames", read_schema<&Node::property_names>},
    Row{"minProperties", read_size<&Node::property_count, &Size::least>},
    Row{"maxProperties", read_size<&Node::property_count, &Size::most>},
    Row{"dependentRequired", read_dependent_required},
    Row{"items", read_items},
    Row{"prefixItems", read_schemas<&Node::prefix_items>},
    Row{"contains", read_schema<&Node::contains>},
    Row{"minContains", read_size<&Node::contains_count, &Size::least>},
    Row{"maxContains", read_size<&Node::contains_count, &Size::most>},
    Row{"minItems", read_size<&Node::item_count, &Size::least>},
    Row{"maxItems", read_size<&Node::item_count, &Size::most>},
    Row{"uniqueItems", read_flag<&Node::has_unique_items>},
    Row{"minimum", read_number<&Node::minimum>},
    Row{"maximum", read_number<&Node::maximum>},
    Row{"exclusiveMinimum", read_number<&Node::above>},
    Row{"exclusiveMaximum", read_number<&Node::below>},
    Row{"multipleOf", read_multiple_of},
    Row{"minLength", read_size<&Node::length, &Size::least>},
    Row{"maxLength", read_size<&Node::length, &Size::most>},
    Row{"pattern", read_pattern},
    Row{"allOf", read_schemas<&Node::all_of>},
    Row{"anyOf", read_schemas<&Node::any_of>},
    Row{"oneOf", read_schemas<&Node::one_of>},
    Row{"not", read_schema<&Node::none_of>},
    Row{"if", read_schema<&Node::if_>},
    Row{"then", read_schema<&Node::then_>},
    Row{"else", read_schema<&Node::else_>},
    Row{"$ref", read_ref},
    Row{"$dynamicRef", refuse},
    Row{"unevaluatedItems", refuse},
    Row{"unevaluatedProperties", refuse},
};

Result<void> Compiler::read(const Unread& place) {
  SchemaNode& node = compiled_->nodes[place.index];
  if (const auto flag = place.schema.as_bool()) {
    node.is_false = !*flag;
    return {};
  }
  if (!place.schema.is_object()) {
    return fail(Code::Invalid, "a schema is an object, true or false", place.path);
  }
  for (const Json::Member& member : place.schema.members()) {
    const auto* const row = std::ranges::find(kKeywords, member.key.view(), &Row::name);
    if (row == kKeywords.end()) continue;
    PARLEY_CHECK(row->read(Keyword{*this, node, member.value, below(place.path, member.key)}));
  }
  return {};
}

}  // namespace

std::string named_types(unsigned types) {
  std::vector<std::string_view> phrases;
  for (const TypeName& type : kTypes) {
    // A number may be an integer anyway.
    if ((types & type.bit) != 0 && !(type.bit == kInteger && (types & kNumber) != 0)) {
      phrases.push_back(type.phrase);
    }
  }
  std::string out;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    if (i > 0) out += i + 1 == phrases.size() ? " or " : ", ";
    out += phrases[i];
  }
  return out;
}

Result<Schema> Schema::of(const Json& schema, const SchemaLimits& limits) {
  PARLEY_TRY(auto compiled, Compiler(schema, limits).run());
  return Schema(std::move(compiled));
}

}  // namespace parley
