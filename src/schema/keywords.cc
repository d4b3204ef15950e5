// Reading the keywords of a schema: one row for each.
#include "schema/keywords.h"

#include <algorithm>
#include <array>

#include "parley/base/text.h"
#include "schema/json_key.h"

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

// `list` is the value of the keyword, or within it.
Result<std::vector<std::string>> strings(const Keyword& k, const Json& list) {
  if (!list.is_array()) return k.wrong("a list of strings", list);
  std::vector<std::string> out;
  for (const Json& element : list.elements()) {
    const auto text = element.as_string();
    if (!text) return k.wrong("a list of strings", list);
    out.push_back(text->str());
  }
  return out;
}

Result<void> read_type(const Keyword& k) {
  std::vector<std::string> names;
  if (const auto name = k.value.as_string()) {
    names.push_back(name->str());
  } else {
    PARLEY_TRY(names, strings(k, k.value));
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
    if (!key) return k.fail_with(Code::LimitExceeded, "a value in a schema is nested too deep", k.value);
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
    k.node.properties.insert_or_assign(member.key.str(), k.node_of(member.value));
  }
  return {};
}

Result<void> read_pattern_properties(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of schemas");
  k.node.pattern_properties.clear();
  for (const Json::Member& member : k.value.members()) {
    auto pattern = Pattern::of(member.key);
    if (!pattern) return k.fail_with(pattern.error().code, pattern.error().message, member.value);
    k.node.pattern_properties.emplace_back(*std::move(pattern), k.node_of(member.value));
  }
  return {};
}

Result<void> read_required(const Keyword& k) {
  PARLEY_TRY(k.node.required, strings(k, k.value));
  return {};
}

Result<void> read_dependent_required(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of lists");
  for (const Json::Member& member : k.value.members()) {
    PARLEY_TRY(auto names, strings(k, member.value));
    k.node.dependent_required.emplace_back(member.key.str(), std::move(names));
  }
  return {};
}

template <std::optional<NodeIndex> SchemaNode::* kField>
Result<void> read_schema(const Keyword& k) {
  k.node.*kField = k.node_of(k.value);
  return {};
}

template <std::vector<NodeIndex> SchemaNode::* kField>
Result<void> read_schemas(const Keyword& k) {
  if (!k.value.is_array()) return k.wrong("a list of schemas");
  std::vector<NodeIndex> nodes;
  for (const Json& schema : k.value.elements()) {
    nodes.push_back(k.node_of(schema));
  }
  k.node.*kField = std::move(nodes);
  return {};
}

// Before draft 2020-12, prefixItems and items were called items and additionalItems.
Result<void> read_items(const Keyword& k) {
  k.node.has_item_list = k.value.is_array();
  return k.value.is_array() ? read_schemas<&SchemaNode::prefix_items>(k) : read_schema<&SchemaNode::items>(k);
}

Result<void> read_contains(const Keyword& k) {
  const SchemaResource& resource = k.compiler.index().resources()[k.place.resource];
  k.node.does_contains_evaluate = resource.rules.draft == kDraft2020;
  return read_schema<&SchemaNode::contains>(k);
}

Result<void> read_dependent_schemas(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of schemas");
  for (const Json::Member& member : k.value.members()) {
    k.node.dependent_schemas.emplace_back(member.key.str(), k.node_of(member.value));
  }
  return {};
}

// Since draft 2019-09, dependentRequired and dependentSchemas.
Result<void> read_dependencies(const Keyword& k) {
  if (!k.value.is_object()) return k.wrong("an object of schemas and lists");
  for (const Json::Member& member : k.value.members()) {
    if (member.value.is_array()) {
      PARLEY_TRY(auto names, strings(k, member.value));
      k.node.dependent_required.emplace_back(member.key.str(), std::move(names));
    } else {
      k.node.dependent_schemas.emplace_back(member.key.str(), k.node_of(member.value));
    }
  }
  return {};
}

template <SizeBounds SchemaNode::* kField, std::optional<std::size_t> SizeBounds::* kSide>
Result<void> read_size(const Keyword& k) {
  if (k.value.type() != Json::Type::Number) return k.wrong("a number");
  const Decimal number = Decimal::of(k.value.text());
  // All numbers above the largest size are equivalent.
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
    return k.fail_with(Code::Unsupported, "multipleOf takes a number of at most 18 digits", k.value);
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
  if (!pattern) return k.fail_with(pattern.error().code, pattern.error().message, k.value);
  k.node.pattern.emplace(*std::move(pattern), text->str());
  return {};
}

Result<SchemaTarget> target_of(const Keyword& k) {
  if (!k.value.is_string()) return k.wrong("a string");
  return k.compiler.index().resolve(k.value, k.place);
}

Result<void> read_ref(const Keyword& k) {
  PARLEY_TRY(const SchemaTarget target, target_of(k));
  k.node.ref = k.compiler.node_at(target.place);
  return {};
}

Result<void> read_dynamic_ref(const Keyword& k) {
  PARLEY_TRY(const SchemaTarget target, target_of(k));
  k.node.dynamic_ref = DynamicRef{k.compiler.node_at(target.place), target.dynamic_anchor};
  return {};
}

// A $dynamicRef to an anchor without a name, which is the root of a resource with a $recursiveAnchor.
Result<void> read_recursive_ref(const Keyword& k) {
  PARLEY_TRY(const SchemaTarget target, target_of(k));
  const SchemaResource& resource = k.compiler.index().resources()[target.place.resource];
  k.node.dynamic_ref = DynamicRef{k.compiler.node_at(target.place), {}};
  if (resource.anchors.contains("")) k.node.dynamic_ref->anchor = "";
  return {};
}

Result<void> refuse_recursive_ref(const Keyword& k) {
  return k.fail_with(Code::Unsupported,
                     "$recursiveRef belongs to draft 2019-09: name that draft in $schema, or use $dynamicRef",
                     k.value);
}

Result<void> read_nothing(const Keyword&) { return {}; }

// The drafts from one on.
constexpr unsigned kAll = kDraft4 | kDraft6 | kDraft7 | kDraft2019 | kDraft2020;
constexpr unsigned kSince6 = kAll & ~unsigned{kDraft4};
constexpr unsigned kSince7 = kSince6 & ~unsigned{kDraft6};
constexpr unsigned kSince2019 = kDraft2019 | kDraft2020;

using Node = SchemaNode;
using Size = SizeBounds;
constexpr auto kNone = Holds::Nothing;
constexpr auto kOne = Holds::Schema;
constexpr auto kList = Holds::Schemas;
constexpr auto kNamed = Holds::NamedSchemas;
constexpr auto kRows = std::to_array<KeywordRow>({
    {"$ref", kAll, kCore, kNone, read_ref},
    {"$dynamicRef", kDraft2020, kCore, kNone, read_dynamic_ref},
    {"$recursiveRef", kDraft2019, kCore, kNone, read_recursive_ref},
    {"$recursiveRef", kDraft2020, kCore, kNone, refuse_recursive_ref},
    {"$defs", kSince2019, kCore, kNamed, read_nothing},
    {"definitions", kAll, kCore, kNamed, read_nothing},

    {"properties", kAll, kApplicator, kNamed, read_properties},
    {"additionalProperties", kAll, kApplicator, kOne, read_schema<&Node::additional_properties>},
    {"patternProperties", kAll, kApplicator, kNamed, read_pattern_properties},
    {"propertyNames", kSince6, kApplicator, kOne, read_schema<&Node::property_names>},
    {"dependentSchemas", kSince2019, kApplicator, kNamed, read_dependent_schemas},
    {"dependencies", kAll, kApplicator, kNamed, read_dependencies},
    {"items", kAll, kApplicator, kList, read_items},
    {"additionalItems", kAll, kApplicator, kOne, read_schema<&Node::additional_items>},
    {"prefixItems", kDraft2020, kApplicator, kList, read_schemas<&Node::prefix_items>},
    {"contains", kSince6, kApplicator, kOne, read_contains},
    {"allOf", kAll, kApplicator, kList, read_schemas<&Node::all_of>},
    {"anyOf", kAll, kApplicator, kList, read_schemas<&Node::any_of>},
    {"oneOf", kAll, kApplicator, kList, read_schemas<&Node::one_of>},
    {"not", kAll, kApplicator, kOne, read_schema<&Node::none_of>},
    {"if", kSince7, kApplicator, kOne, read_schema<&Node::if_>},
    {"then", kSince7, kApplicator, kOne, read_schema<&Node::then_>},
    {"else", kSince7, kApplicator, kOne, read_schema<&Node::else_>},
    {"unevaluatedProperties", kSince2019, kUnevaluated, kOne, read_schema<&Node::unevaluated_properties>},
    {"unevaluatedItems", kSince2019, kUnevaluated, kOne, read_schema<&Node::unevaluated_items>},

    {"type", kAll, kValidation, kNone, read_type},
    {"nullable", kAll, kValidation, kNone, read_flag<&Node::is_nullable>},
    {"enum", kAll, kValidation, kNone, read_enum},
    {"const", kSince6, kValidation, kNone, read_const},
    {"required", kAll, kValidation, kNone, read_required},
    {"minProperties", kAll, kValidation, kNone, read_size<&Node::property_count, &Size::least>},
    {"maxProperties", kAll, kValidation, kNone, read_size<&Node::property_count, &Size::most>},
    {"dependentRequired", kSince2019, kValidation, kNone, read_dependent_required},
    {"minContains", kSince2019, kValidation, kNone, read_size<&Node::contains_count, &Size::least>},
    {"maxContains", kSince2019, kValidation, kNone, read_size<&Node::contains_count, &Size::most>},
    {"minItems", kAll, kValidation, kNone, read_size<&Node::item_count, &Size::least>},
    {"maxItems", kAll, kValidation, kNone, read_size<&Node::item_count, &Size::most>},
    {"uniqueItems", kAll, kValidation, kNone, read_flag<&Node::has_unique_items>},
    {"minimum", kAll, kValidation, kNone, read_number<&Node::minimum>},
    {"maximum", kAll, kValidation, kNone, read_number<&Node::maximum>},
    {"exclusiveMinimum", kDraft4, kValidation, kNone, read_flag<&Node::is_minimum_exclusive>},
    {"exclusiveMaximum", kDraft4, kValidation, kNone, read_flag<&Node::is_maximum_exclusive>},
    {"exclusiveMinimum", kSince6, kValidation, kNone, read_number<&Node::above>},
    {"exclusiveMaximum", kSince6, kValidation, kNone, read_number<&Node::below>},
    {"multipleOf", kAll, kValidation, kNone, read_multiple_of},
    {"minLength", kAll, kValidation, kNone, read_size<&Node::length, &Size::least>},
    {"maxLength", kAll, kValidation, kNone, read_size<&Node::length, &Size::most>},
    {"pattern", kAll, kValidation, kNone, read_pattern},
});

}  // namespace

const KeywordRow* find_keyword(std::string_view name, const SchemaRules& rules) {
  const auto* const row = std::ranges::find_if(kRows, [&](const KeywordRow& r) {
    return r.name == name && (r.drafts & rules.draft) != 0 && (r.vocabulary & rules.vocabularies) != 0;
  });
  return row == kRows.end() ? nullptr : row;
}

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

}  // namespace parley
