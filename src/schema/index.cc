#include "schema/index.h"

#include <optional>

#include "json/pointer.h"
#include "parley/base/url.h"
#include "schema/keywords.h"
#include "schema/uri_reference.h"

namespace parley {
namespace {

std::optional<std::string> string_member(const Json& object, std::string_view name) {
  const auto value = object.get(name);
  const auto text = value ? value->as_string() : std::nullopt;
  return text ? std::optional(text->str()) : std::nullopt;
}

}  // namespace

std::unexpected<Error> SchemaIndex::wrong(Code code, std::string message, std::size_t document,
                                          const Json& value) const {
  const auto& [uri, root] = documents_[document];
  if (document > 0) message += " (in the document '" + uri + "')";
  const auto offset = static_cast<std::size_t>(value.text().data() - root.text().data());
  return fail(code, std::move(message), json::pointer_at(root.text(), offset));
}

Result<SchemaPlace> SchemaIndex::add_document(const std::string& uri, const Json& schema) {
  const std::size_t document = documents_.size();
  documents_.emplace_back(uri, schema);
  bytes_ += schema.text().size();
  if (bytes_ > limits_.bytes) {
    return wrong(Code::LimitExceeded,
                 "the schema is larger than the limit of " + std::to_string(limits_.bytes) + " bytes",
                 document, schema);
  }
  SchemaResource resource{uri, {}, {schema, document, resources_.size()}, {}};
  // A document without a $schema is read as the one that refers to it: all of them are, by the first.
  if (document > 0) resource.rules = resources_.front().rules;
  if (const auto metaschema = schema.get("$schema"); metaschema && metaschema->is_string()) {
    auto rules = rules_of(*metaschema->as_string(), given_);
    if (!rules) return wrong(rules.error().code, rules.error().message, document, *metaschema);
    resource.rules = *rules;
  }
  by_uri_.try_emplace(uri, resources_.size());
  by_root_.try_emplace(resource.root.key(), resources_.size());
  resources_.push_back(resource);
  PARLEY_CHECK(scan(resource.root));
  return resource.root;
}

SchemaPlace SchemaIndex::below(const SchemaPlace& place, const Json& schema) const {
  SchemaPlace out{schema, place.document, place.resource};
  if (const auto root = by_root_.find(out.key()); root != by_root_.end()) out.resource = root->second;
  return out;
}

Result<void> SchemaIndex::scan(SchemaPlace start) {
  std::vector<SchemaPlace> unseen = {std::move(start)};
  while (!unseen.empty()) {
    SchemaPlace place = std::move(unseen.back());
    unseen.pop_back();
    if (!seen_.insert(place.key()).second) continue;
    if (seen_.size() > limits_.nodes) {
      return wrong(Code::LimitExceeded,
                   "the schema has more than " + std::to_string(limits_.nodes) + " subschemas",
                   place.document, place.schema);
    }
    if (place.schema.is_object()) PARLEY_CHECK(scan_one(std::move(place), unseen));
  }
  return {};
}

Result<void> SchemaIndex::scan_one(SchemaPlace place, std::vector<SchemaPlace>& unseen) {
  PARLEY_CHECK(read_id(place));
  read_anchors(place);
  const SchemaRules rules = resources_[place.resource].rules;
  for (const Json::Member& member : place.schema.members()) {
    const KeywordRow* const keyword = find_keyword(member.key, rules);
    if (keyword == nullptr || keyword->holds == Holds::Nothing) continue;
    const auto add = [&](const Json& schema) { unseen.push_back({schema, place.document, place.resource}); };
    if (keyword->holds == Holds::Schemas && member.value.is_array()) {
      for (const Json& schema : member.value.elements()) add(schema);
    } else if (keyword->holds == Holds::NamedSchemas) {
      for (const Json::Member& named : member.value.members()) add(named.value);
    } else {
      add(member.value);
    }
  }
  return {};
}

// A schema with an $id begins a resource.
Result<void> SchemaIndex::read_id(SchemaPlace& place) {
  SchemaResource& outer = resources_[place.resource];
  const bool is_root = by_root_.contains(place.key());
  SchemaRules rules = outer.rules;
  const auto metaschema = place.schema.get("$schema");
  if (metaschema && metaschema->is_string() && !is_root) {
    auto own = rules_of(*metaschema->as_string(), given_);
    if (!own) return wrong(own.error().code, own.error().message, place.document, *metaschema);
    rules = *own;
  }
  const auto id = string_member(place.schema, rules.id_keyword());
  if (!id || (rules.is_early() && place.schema.get("$ref"))) return {};
  const auto [name, fragment] = split_fragment(*id);
  if (!name.empty()) {
    const std::string uri = resolve_reference(outer.uri, name);
    if (is_root) {
      outer.uri = uri;
    } else {
      place.resource = resources_.size();
      by_root_.try_emplace(place.key(), place.resource);
      resources_.push_back({uri, rules, place, {}});
    }
    by_uri_.try_emplace(uri, place.resource);
  }
  if (rules.is_early() && !fragment.empty()) add_anchor(place, std::string(fragment), false);
  return {};
}

void SchemaIndex::read_anchors(const SchemaPlace& place) {
  const SchemaResource& resource = resources_[place.resource];
  const SchemaDraft draft = resource.rules.draft;
  if (draft < kDraft2019) return;
  if (auto name = string_member(place.schema, "$anchor")) add_anchor(place, *std::move(name), false);
  if (draft == kDraft2020) {
    if (auto name = string_member(place.schema, "$dynamicAnchor")) add_anchor(place, *std::move(name), true);
  } else if (resource.root.key() == place.key()) {
    const auto flag = place.schema.get("$recursiveAnchor");
    if (flag && flag->as_bool() == true) add_anchor(place, "", true);
  }
}

void SchemaIndex::add_anchor(const SchemaPlace& place, std::string name, bool is_dynamic) {
  SchemaAnchor& anchor =
      resources_[place.resource].anchors.try_emplace(std::move(name), place, is_dynamic).first->second;
  anchor.is_dynamic = anchor.is_dynamic || is_dynamic;
}

Result<std::optional<ResourceIndex>> SchemaIndex::resource_of(const std::string& uri) {
  if (const auto known = by_uri_.find(uri); known != by_uri_.end()) return known->second;
  const Json* const document = find_document(given_, uri);
  if (document == nullptr) return std::nullopt;
  PARLEY_TRY(const SchemaPlace root, add_document(uri, *document));
  return root.resource;
}

// A pointer may pass through parts with their own base URI, and point to a place that no keyword defines.
Result<std::optional<SchemaPlace>> SchemaIndex::follow(SchemaPlace place, std::string_view pointer) {
  while (!pointer.empty()) {
    const std::string step(pointer.substr(0, pointer.find('/', 1)));
    const auto next = place.schema.at(step);
    if (!next) return std::nullopt;
    place = below(place, *next);
    pointer.remove_prefix(step.size());
  }
  PARLEY_CHECK(scan(place));
  return below(place, place.schema);
}

Result<SchemaTarget> SchemaIndex::resolve(const Json& reference, const SchemaPlace& from) {
  const auto lost = [&](Code code, std::string message) {
    return wrong(code, std::move(message), from.document, reference);
  };
  const Text text = *reference.as_string();
  const std::string uri = resolve_reference(resources_[from.resource].uri, text);
  PARLEY_TRY(const auto index, resource_of(uri));
  if (!index) {
    return lost(Code::Unsupported, "unresolved reference to '" + uri +
                                       "': it is neither an $id in this schema nor a document given with it");
  }
  const std::string fragment = percent_decode(split_fragment(text).fragment);
  if (fragment.empty() || fragment[0] == '/') {
    PARLEY_TRY(const auto place, follow(resources_[*index].root, fragment));
    if (!place)
      return lost(Code::NotFound,
                  "unresolved reference to '#" + fragment + "': the document has no such place");
    return SchemaTarget{*place, {}};
  }
  const auto& anchors = resources_[*index].anchors;
  const auto anchor = anchors.find(fragment);
  if (anchor == anchors.end()) {
    return lost(Code::NotFound,
                "unresolved reference to '#" + fragment + "': the document has no such anchor");
  }
  SchemaTarget target{anchor->second.place, {}};
  if (anchor->second.is_dynamic) target.dynamic_anchor = fragment;
  return target;
}

}  // namespace parley
