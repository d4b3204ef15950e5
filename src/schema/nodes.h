// A schema as it is checked: one node for each schema within it, which name each other by their index.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/schema/schema.h"
#include "schema/decimal.h"
#include "schema/index.h"
#include "schema/pattern.h"

namespace parley {

using NodeIndex = std::size_t;

// The types of JSON Schema, as bits.
enum SchemaType : unsigned {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
};

struct SizeBounds {
  std::optional<std::size_t> least, most;
};

struct NumberBound {
  Decimal limit;
  std::string spelling;
};

// Values that are allowed, by their keys (json_key.h), and as a model reads them.
struct ValueSet {
  std::vector<std::string> keys;
  std::string text;
};

// A reference that leads to the outermost resource being checked that has a dynamic anchor of this name; to
// `target` if there is no name.
struct DynamicRef {
  NodeIndex target;
  std::optional<std::string> anchor;
};

struct SchemaNode {
  ResourceIndex resource = 0;
  bool is_false = false;  // allows nothing
  unsigned types = 0;     // 0: any
  bool is_nullable = false;
  std::optional<ValueSet> values;    // enum
  std::optional<ValueSet> constant;  // const

  std::map<std::string, NodeIndex, std::less<>> properties;
  std::vector<std::string> required;
  std::vector<std::pair<Pattern, NodeIndex>> pattern_properties;
  std::optional<NodeIndex> additional_properties, property_names;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, NodeIndex>> dependent_schemas;
  std::optional<NodeIndex> unevaluated_properties;
  SizeBounds property_count;

  std::vector<NodeIndex> prefix_items;
  std::optional<NodeIndex> items, additional_items, contains, unevaluated_items;
  bool has_item_list = false;           // as in the drafts before 2020-12
  bool does_contains_evaluate = false;  // for unevaluatedItems: since draft 2020-12
  SizeBounds item_count, contains_count;
  bool has_unique_items = false;

  std::optional<NumberBound> minimum, maximum, above, below, multiple_of;
  bool is_minimum_exclusive = false, is_maximum_exclusive = false;  // draft 4
  SizeBounds length;                                                // in code points
  std::optional<std::pair<Pattern, std::string>> pattern;

  std::vector<NodeIndex> all_of, any_of, one_of;
  std::optional<NodeIndex> none_of, if_, then_, else_, ref;
  std::optional<DynamicRef> dynamic_ref;
};

struct Schema::Compiled {
  SchemaLimits limits;
  std::deque<SchemaNode> nodes;  // the first is the schema itself
  // By resource: the nodes that its dynamic anchors name.
  std::vector<std::map<std::string, NodeIndex, std::less<>>> dynamic_anchors;
};

// "a string", "a string or null".
std::string named_types(unsigned types);

}  // namespace parley
