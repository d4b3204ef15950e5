// Checking a value: one function for each group of keywords, called for each schema that a value must fit.
#include <algorithm>

#include "json/pointer.h"
#include "parley/base/text.h"
#include "parley/schema/schema.h"
#include "schema/json_key.h"
#include "schema/nodes.h"

namespace parley {
namespace {

// Where a value stands: a chain up to the root, which becomes a pointer only if there is something to say.
struct Place {
  const Place* above = nullptr;
  std::string_view key = {};
  std::optional<std::size_t> index = {};

  std::string pointer() const {
    std::vector<std::string> parts;
    for (const Place* p = this; p->above != nullptr; p = p->above) {
      parts.push_back(p->index ? std::to_string(*p->index) : json::escape_pointer(p->key));
    }
    std::string out;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) out += "/" + *part;
    return out;
  }
};

struct Findings {
  std::size_t most;
  std::vector<Error> list = {};

  bool is_full() const { return list.size() >= most; }
  // Returns false, so that a check can end with it.
  bool add(Code code, std::string message, const Place& place) {
    if (!is_full()) list.push_back(fail(code, std::move(message), place.pointer()).error());
    return false;
  }
};

unsigned type_of(const Json& value) {
  switch (value.type()) {
    case Json::Type::Null:
      return kNull;
    case Json::Type::Bool:
      return kBoolean;
    case Json::Type::Number:
      return Decimal::of(value.text()).is_integer() ? kNumber | kInteger : kNumber;
    case Json::Type::String:
      return kString;
    case Json::Type::Array:
      return kArray;
    default:
      return kObject;
  }
}

// A short value, so that a model sees what it wrote.
std::string got(const Json& value) {
  constexpr std::size_t kMostBytes = 60;
  if (value.text().size() <= kMostBytes) return ", got " + value.text().str();
  return ", got another value";
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ", ";
    out += "'" + name + "'";
  }
  return out;
}

// The resources being checked, from the innermost: what a dynamic reference means depends on them.
struct Scope {
  const Scope* outer = nullptr;
  ResourceIndex resource = 0;
};

// The members (sorted) or elements of one value that keywords have looked at, for unevaluatedProperties and
// unevaluatedItems.
struct Evaluated {
  std::vector<bool> parts = {};

  void mark(std::size_t index) {
    if (parts.size() <= index) parts.resize(index + 1);
    parts[index] = true;
  }
  bool has(std::size_t index) const { return index < parts.size() && parts[index]; }
  void mark_all(const Evaluated& other) {
    for (std::size_t i = 0; i < other.parts.size(); ++i) {
      if (other.parts[i]) mark(i);
    }
  }
};

class Checker {
 public:
  explicit Checker(const Schema::Compiled& schema) : schema_(schema), work_left_(schema.limits.work) {}

  // Whether `value` fits the schema itself; what does not goes to `findings`.
  bool fits_root(const Json& value, Findings& findings) {
    return fits(0, value, {Place{}, 0, nullptr, findings, nullptr});
  }

  bool has_met_limit() const { return limit_; }

 private:
  struct Context {
    const Place& place;
    std::size_t depth;
    const Scope* scope;
    Findings& findings;
    Evaluated* evaluated;  // null if not needed
  };

  struct At {
    const SchemaNode& node;
    const Json& value;
    const Place& place;
    std::size_t depth;
    const Scope* scope;
    Findings& findings;
    Evaluated* evaluated;

    bool wrong(std::string message) const { return findings.add(Code::Invalid, std::move(message), place); }
    void mark(std::size_t part) const {
      if (evaluated != nullptr) evaluated->mark(part);
    }
  };

  // Recurses at most limits.depth times.
  bool fits(NodeIndex index, const Json& value, const Context& context) {
    const std::size_t cost = value.text().size() + 1;
    if (limit_ || context.depth >= schema_.limits.depth || cost > work_left_) {
      limit_ = true;
      return false;
    }
    work_left_ -= cost;
    const SchemaNode& node = schema_.nodes[index];
    const auto& [place, depth, scope, findings, evaluated] = context;
    if (node.is_false) return findings.add(Code::Invalid, "no value is allowed here", place);
    const unsigned type = type_of(value);
    if (node.types != 0 && (node.types & type) == 0 && !(node.is_nullable && type == kNull)) {
      return findings.add(Code::WrongType,
                          "expected " + named_types(node.types) + ", got " + named_types(type), place);
    }
    const Scope inner{scope, node.resource};
    const bool is_same_resource = scope != nullptr && scope->resource == node.resource;
    // Properties that other schemas evaluated do not count here.
    Evaluated own;
    const bool needs_own = node.unevaluated_properties || node.unevaluated_items;
    const At at{node,
                value,
                place,
                depth + 1,
                is_same_resource ? scope : &inner,
                findings,
                needs_own ? &own : evaluated};
    const bool good = check_keywords(at, type);
    if (needs_own && evaluated != nullptr) evaluated->mark_all(own);
    return good;
  }

  bool check_keywords(const At& at, unsigned type) {
    bool good = check_values(at);
    if ((type & kNumber) != 0) good = check_number(at) && good;
    if (type == kString) good = check_string(at) && good;
    if (type == kArray) good = check_array(at) && good;
    if (type == kObject) good = check_object(at) && good;
    good = check_references(at) && good;
    good = check_combined(at) && good;
    if (type == kArray && at.node.unevaluated_items) good = check_unevaluated_items(at) && good;
    if (type == kObject && at.node.unevaluated_properties) good = check_unevaluated_properties(at) && good;
    return good;
  }

  // The same value by another schema.
  bool fits_at(NodeIndex index, const At& at) {
    return fits(index, at.value, {at.place, at.depth, at.scope, at.findings, at.evaluated});
  }

  // A part of the value.
  bool fits_part(NodeIndex index, const Json& part, const Place& place, const At& at) {
    return fits(index, part, {place, at.depth, at.scope, at.findings, nullptr});
  }

  // Without findings.
  bool fits_quietly(NodeIndex index, const Json& value, const At& at) {
    Findings none{0};
    return fits(index, value, {at.place, at.depth, at.scope, none, nullptr});
  }

  // The same value, without findings; its evaluated parts count only if it fits.
  bool fits_as_choice(NodeIndex index, const At& at, Evaluated& evaluated) {
    Findings none{0};
    const bool collects = at.evaluated != nullptr;
    return fits(index, at.value, {at.place, at.depth, at.scope, none, collects ? &evaluated : nullptr});
  }

  std::optional<std::string> key_of(const Json& value) {
    auto key = json_key(value, schema_.limits.depth);
    if (!key) limit_ = true;
    return key;
  }

  bool check_values(const At& at) {
    if (!at.node.values && !at.node.constant) return true;
    const auto key = key_of(at.value);
    if (!key) return false;
    const auto has = [&](const std::optional<ValueSet>& set) {
      return !set || std::ranges::binary_search(set->keys, *key);
    };
    bool good = true;
    if (!has(at.node.values)) {
      good = at.wrong("expected one of " + at.node.values->text + got(at.value));
    }
    if (!has(at.node.constant)) {
      good = at.wrong("expected " + at.node.constant->text + got(at.value));
    }
    return good;
  }

  static bool check_number(const At& at) {
    const SchemaNode& node = at.node;
    if (!node.minimum && !node.maximum && !node.above && !node.below && !node.multiple_of) return true;
    const Decimal number = Decimal::of(at.value.text());
    bool good = true;
    const auto check = [&](const std::optional<NumberBound>& bound, bool holds, std::string_view words) {
      if (bound && !holds) {
        good = at.wrong("expected " + std::string(words) + bound->spelling + got(at.value));
      }
    };
    check(node.minimum, node.minimum && number >= node.minimum->limit, "at least ");
    check(node.maximum, node.maximum && number <= node.maximum->limit, "at most ");
    check(node.above, node.above && number > node.above->limit, "more than ");
    check(node.below, node.below && number < node.below->limit, "less than ");
    check(node.multiple_of, node.multiple_of && number.is_multiple_of(node.multiple_of->limit),
          "a multiple of ");
    return good;
  }

  static bool check_size(const At& at, const SizeBounds& bounds, std::size_t size, std::string_view one,
                         std::string_view many) {
    if (bounds.least && size < *bounds.least) {
      return at.wrong("expected at least " + counted(*bounds.least, one, many) + ", got " +
                      std::to_string(size));
    }
    if (bounds.most && size > *bounds.most) {
      return at.wrong("expected at most " + counted(*bounds.most, one, many) + ", got " +
                      std::to_string(size));
    }
    return true;
  }

  static bool check_string(const At& at) {
    const SchemaNode& node = at.node;
    if (!node.length.least && !node.length.most && !node.pattern) return true;
    const Text text = *at.value.as_string();
    bool good = check_size(at, node.length, utf8_length(text), "character", "characters");
    if (node.pattern && !node.pattern->first.is_in(text)) {
      good = at.wrong("expected a text that matches the pattern " + node.pattern->second);
    }
    return good;
  }

  bool check_array(const At& at) {
    const SchemaNode& node = at.node;
    const std::vector<Json> elements = at.value.elements();
    bool good = check_size(at, node.item_count, elements.size(), "element", "elements");
    for (std::size_t i = 0; i < elements.size() && (good || !at.findings.is_full()); ++i) {
      const Place place{&at.place, {}, i};
      const auto schema = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
      if (!schema) break;
      at.mark(i);
      good = fits_part(*schema, elements[i], place, at) && good;
    }
    good = check_contains(at, elements) && good;
    if (node.has_unique_items) good = check_unique(at, elements) && good;
    return good;
  }

  bool check_contains(const At& at, const std::vector<Json>& elements) {
    if (!at.node.contains) return true;
    std::size_t count = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!fits_quietly(*at.node.contains, elements[i], at)) continue;
      ++count;
      if (at.node.does_contains_evaluate) at.mark(i);
    }
    SizeBounds bounds = at.node.contains_count;
    if (!bounds.least) bounds.least = 1;
    return check_size(at, bounds, count, "matching element", "matching elements");
  }

  bool check_unique(const At& at, const std::vector<Json>& elements) {
    std::vector<std::string> keys;
    for (const Json& element : elements) {
      auto key = key_of(element);
      if (!key) return false;
      keys.push_back(*std::move(key));
    }
    std::ranges::sort(keys);
    if (std::ranges::adjacent_find(keys) == keys.end()) return true;
    return at.wrong("expected unique elements, but some are equal");
  }

  bool check_object(const At& at) {
    const std::vector<Json::Member> members = sorted_members(at.value);
    bool good = check_size(at, at.node.property_count, members.size(), "member", "members");
    good = check_required(at, members) && good;
    for (std::size_t i = 0; i < members.size(); ++i) {
      good = check_member(at, members[i], i) && good;
      if (!good && at.findings.is_full()) return false;
    }
    for (const auto& [name, schema] : at.node.dependent_schemas) {
      if (has_member(members, name)) good = fits_at(schema, at) && good;
    }
    return good;
  }

  static bool has_member(const std::vector<Json::Member>& members, std::string_view name) {
    const auto at =
        std::ranges::lower_bound(members, name, {}, [](const Json::Member& m) { return m.key.view(); });
    return at != members.end() && at->key.view() == name;
  }

  static bool check_required(const At& at, const std::vector<Json::Member>& members) {
    bool good = true;
    const auto require = [&](const std::vector<std::string>& names, const std::string& why) {
      for (const std::string& name : names) {
        if (has_member(members, name)) continue;
        const std::string problem =
            std::string("the member '").append(name).append("' is missing").append(why);
        good = at.findings.add(Code::Missing, problem, at.place);
      }
    };
    require(at.node.required, "");
    for (const auto& [name, names] : at.node.dependent_required) {
      if (has_member(members, name)) require(names, ", which '" + name + "' needs");
    }
    return good;
  }

  bool check_member(const At& at, const Json::Member& member, std::size_t index) {
    const SchemaNode& node = at.node;
    const Place place{&at.place, member.key, {}};
    bool good = true;
    if (node.property_names) {
      good = fits_part(*node.property_names, Json::string(member.key), place, at);
    }
    bool is_known = false;
    if (const auto known = node.properties.find(member.key.view()); known != node.properties.end()) {
      is_known = true;
      good = fits_part(known->second, member.value, place, at) && good;
    }
    for (const auto& [pattern, schema] : node.pattern_properties) {
      if (!pattern.is_in(member.key)) continue;
      is_known = true;
      good = fits_part(schema, member.value, place, at) && good;
    }
    if (is_known || node.additional_properties) at.mark(index);
    if (is_known || !node.additional_properties) return good;
    return check_extra_member(at, *node.additional_properties, member.value, place) && good;
  }

  // A member that the schema does not name.
  bool check_extra_member(const At& at, NodeIndex schema, const Json& value, const Place& place) {
    if (!schema_.nodes[schema].is_false) return fits_part(schema, value, place, at);
    return at.findings.add(Code::Invalid, "unknown member" + known_names(at.node), place);
  }

  bool check_unevaluated_properties(const At& at) {
    const std::vector<Json::Member> members = sorted_members(at.value);
    bool good = true;
    for (std::size_t i = 0; i < members.size() && (good || !at.findings.is_full()); ++i) {
      if (at.evaluated->has(i)) continue;
      at.mark(i);
      const Place place{&at.place, members[i].key, {}};
      good = check_extra_member(at, *at.node.unevaluated_properties, members[i].value, place) && good;
    }
    return good;
  }

  bool check_unevaluated_items(const At& at) {
    const std::vector<Json> elements = at.value.elements();
    bool good = true;
    for (std::size_t i = 0; i < elements.size() && (good || !at.findings.is_full()); ++i) {
      if (at.evaluated->has(i)) continue;
      at.mark(i);
      good = fits_part(*at.node.unevaluated_items, elements[i], Place{&at.place, {}, i}, at) && good;
    }
    return good;
  }

  static std::string known_names(const SchemaNode& node) {
    constexpr std::size_t kMost = 30;
    if (node.properties.empty() || node.properties.size() > kMost) return "";
    std::vector<std::string> names;
    names.reserve(node.properties.size());
    for (const auto& [name, schema] : node.properties) names.push_back(name);
    return "; known members: " + quoted_list(names);
  }

  bool check_references(const At& at) {
    const bool good = !at.node.ref || fits_at(*at.node.ref, at);
    return (!at.node.dynamic_ref || fits_at(target_of(*at.node.dynamic_ref, at.scope), at)) && good;
  }

  NodeIndex target_of(const DynamicRef& ref, const Scope* scope) const {
    NodeIndex target = ref.target;
    for (; ref.anchor && scope != nullptr; scope = scope->outer) {
      const auto& named = schema_.dynamic_anchors[scope->resource];
      if (const auto found = named.find(*ref.anchor); found != named.end()) target = found->second;
    }
    return target;
  }

  bool check_combined(const At& at) {
    const SchemaNode& node = at.node;
    bool good = true;
    for (const NodeIndex schema : node.all_of) good = fits_at(schema, at) && good;
    if (!node.any_of.empty()) good = check_any(at) && good;
    if (!node.one_of.empty()) good = check_one(at) && good;
    if (node.none_of && fits_quietly(*node.none_of, at.value, at)) {
      good = at.wrong("the value matches a schema that is not allowed");
    }
    if (node.if_) good = check_if(at) && good;
    return good;
  }

  bool check_if(const At& at) {
    Evaluated evaluated;
    const bool holds = fits_as_choice(*at.node.if_, at, evaluated);
    if (holds && at.evaluated != nullptr) at.evaluated->mark_all(evaluated);
    const auto& then = holds ? at.node.then_ : at.node.else_;
    return !then || fits_at(*then, at);
  }

  // How many of the schemas the value fits; after `enough`, the rest is checked only for the parts it
  // evaluates.
  std::size_t count_fitting(const std::vector<NodeIndex>& schemas, std::size_t enough, const At& at) {
    std::size_t count = 0;
    Evaluated all;
    for (const NodeIndex schema : schemas) {
      if (count >= enough && at.evaluated == nullptr) break;
      Evaluated evaluated;
      if (!fits_as_choice(schema, at, evaluated)) continue;
      ++count;
      all.mark_all(evaluated);
    }
    if (at.evaluated != nullptr) at.evaluated->mark_all(all);
    return count;
  }

  bool check_any(const At& at) {
    return count_fitting(at.node.any_of, 1, at) > 0 || say_why_none(at, at.node.any_of);
  }

  bool check_one(const At& at) {
    const std::size_t count = count_fitting(at.node.one_of, at.node.one_of.size(), at);
    if (count == 1) return true;
    if (count == 0) return say_why_none(at, at.node.one_of);
    return at.wrong("the value matches " + std::to_string(count) +
                    " of the allowed schemas, expected exactly one");
  }

  // The first error of each schema: one of them is what the model meant.
  bool say_why_none(const At& at, const std::vector<NodeIndex>& forms) {
    if (at.findings.is_full()) return false;
    constexpr std::size_t kMost = 4;
    std::string why;
    for (std::size_t i = 0; i < std::min(forms.size(), kMost); ++i) {
      Findings first{1};
      fits(forms[i], at.value, {at.place, at.depth, at.scope, first, nullptr});
      if (first.list.empty()) continue;
      const Error& error = first.list.front();
      why += (why.empty() ? ": " : "; or ") + (error.path.empty() ? "" : error.path + " ") + error.message;
    }
    return at.wrong("the value matches none of the " + std::to_string(forms.size()) + " allowed schemas" +
                    why);
  }

  const Schema::Compiled& schema_;
  std::size_t work_left_;
  bool limit_ = false;
};

}  // namespace

std::vector<Error> Schema::check(const Json& value, std::size_t most) const {
  Checker checker(*compiled_);
  Findings findings{std::max<std::size_t>(most, 1)};
  checker.fits_root(value, findings);
  if (checker.has_met_limit()) {
    return {
        fail(Code::LimitExceeded, "the value is too deep or too large to be checked by this schema").error()};
  }
  return std::move(findings.list);
}

}  // namespace parley
