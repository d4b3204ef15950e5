// Compiling a schema: a list of places that are still to be read.
#include "parley/schema/schema.h"

#include "schema/keywords.h"
#include "schema/nodes.h"

namespace parley {
namespace {

class Compiler final : public SchemaCompiler {
 public:
  Compiler(const SchemaLimits& limits, const SchemaDocuments& documents)
      : limits_(limits), index_(documents, limits), compiled_(std::make_shared<Schema::Compiled>()) {
    compiled_->limits = limits;
  }

  Result<std::shared_ptr<const Schema::Compiled>> run(const Json& schema) {
    PARLEY_TRY(const SchemaPlace root, index_.add_root(schema));
    node_at(root);
    while (!unread_.empty()) {
      const auto [index, place] = std::move(unread_.back());
      unread_.pop_back();
      PARLEY_CHECK(read(compiled_->nodes[index], place));
      if (compiled_->nodes.size() > limits_.nodes) {
        return index_.wrong(Code::LimitExceeded,
                            "the schema has more than " + std::to_string(limits_.nodes) + " subschemas",
                            place.document, place.schema);
      }
      if (unread_.empty() && has_dynamic_refs_) name_dynamic_anchors();
    }
    return compiled_;
  }

  NodeIndex node_at(const SchemaPlace& place) override {
    const auto [entry, is_new] = known_.try_emplace(place.key(), compiled_->nodes.size());
    if (is_new) {
      compiled_->nodes.emplace_back().resource = place.resource;
      unread_.emplace_back(entry->second, place);
    }
    return entry->second;
  }

  SchemaIndex& index() override { return index_; }
  const SchemaLimits& limits() const override { return limits_; }

 private:
  Result<void> read(SchemaNode& node, const SchemaPlace& place);

  // Of the resources found since it was called last.
  void name_dynamic_anchors() {
    while (compiled_->dynamic_anchors.size() < index_.resources().size()) {
      const SchemaResource& resource = index_.resources()[compiled_->dynamic_anchors.size()];
      auto& named = compiled_->dynamic_anchors.emplace_back();
      for (const auto& [name, anchor] : resource.anchors) {
        if (anchor.is_dynamic) named.emplace(name, node_at(anchor.place));
      }
    }
  }

  const SchemaLimits& limits_;
  SchemaIndex index_;
  std::shared_ptr<Schema::Compiled> compiled_;
  std::map<ValueKey, NodeIndex> known_;
  std::vector<std::pair<NodeIndex, SchemaPlace>> unread_;
  bool has_dynamic_refs_ = false;
};

// What keywords mean together, whatever their order.
void combine_keywords(SchemaNode& node) {
  if (node.has_item_list) node.items = node.additional_items;
  if (node.is_minimum_exclusive) node.above = std::exchange(node.minimum, std::nullopt);
  if (node.is_maximum_exclusive) node.below = std::exchange(node.maximum, std::nullopt);
}

Result<void> Compiler::read(SchemaNode& node, const SchemaPlace& place) {
  if (const auto flag = place.schema.as_bool()) {
    node.is_false = !*flag;
    return {};
  }
  if (!place.schema.is_object()) {
    return index_.wrong(Code::Invalid, "expected a schema: an object, true or false", place.document,
                        place.schema);
  }
  const SchemaRules rules = index_.resources()[place.resource].rules;
  const bool has_only_ref = rules.is_early() && place.schema.get("$ref");
  for (const Json::Member& member : place.schema.members()) {
    const KeywordRow* const row = find_keyword(member.key, rules);
    if (row == nullptr || (has_only_ref && row->name != "$ref")) continue;
    PARLEY_CHECK(row->read(Keyword{*this, node, place, member.value}));
  }
  combine_keywords(node);
  has_dynamic_refs_ = has_dynamic_refs_ || node.dynamic_ref;
  return {};
}

}  // namespace

Result<Schema> Schema::of(const Json& schema, const SchemaLimits& limits, const SchemaDocuments& documents) {
  PARLEY_TRY(auto compiled, Compiler(limits, documents).run(schema));
  return Schema(std::move(compiled));
}

}  // namespace parley
