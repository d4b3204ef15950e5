// Where the schemas of a document are, by what a reference can name: the $id of a part of it, an anchor, a
// pointer. Documents are read when something refers to them. Nothing recurses.
//
// One thread at a time; while a schema is compiled.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/schema/schema.h"
#include "schema/draft.h"

namespace parley {

using ResourceIndex = std::size_t;

// A value is known by its first byte: all of a document share one text. Paths, which may be long, are made
// for errors only.
using ValueKey = std::pair<std::size_t, const char*>;

// One schema: where it is, and of which resource.
struct SchemaPlace {
  Json schema;
  std::size_t document = 0;
  ResourceIndex resource = 0;

  ValueKey key() const { return {document, schema.text().data()}; }
};

struct SchemaAnchor {
  SchemaPlace place;
  bool is_dynamic = false;
};

// A document, or a part of one that has an $id: it has a base URI, and the names of anchors are its own.
struct SchemaResource {
  std::string uri;
  SchemaRules rules;
  SchemaPlace root;
  std::map<std::string, SchemaAnchor, std::less<>> anchors;  // "" is $recursiveAnchor
};

// Where a reference leads, and the name of the dynamic anchor by which it was found, if it was.
struct SchemaTarget {
  SchemaPlace place;
  std::optional<std::string> dynamic_anchor;
};

class SchemaIndex {
 public:
  SchemaIndex(const SchemaDocuments& documents, const SchemaLimits& limits)
      : given_(documents), limits_(limits) {}

  // The schema itself; called once, and first.
  Result<SchemaPlace> add_root(const Json& schema) { return add_document("", schema); }

  // The schema `schema`, which is within `place`.
  SchemaPlace below(const SchemaPlace& place, const Json& schema) const;

  // The target of `reference`, a string within `from`. Fails with NotFound or Unsupported.
  Result<SchemaTarget> resolve(const Json& reference, const SchemaPlace& from);

  const std::vector<SchemaResource>& resources() const { return resources_; }
  // An error about `value` in a document: its path is where that is, and the message names any document but
  // the first.
  std::unexpected<Error> wrong(Code code, std::string message, std::size_t document, const Json& value) const;

 private:
  Result<SchemaPlace> add_document(const std::string& uri, const Json& schema);
  Result<void> scan(SchemaPlace start);
  Result<void> scan_one(SchemaPlace place, std::vector<SchemaPlace>& unseen);
  Result<void> read_id(SchemaPlace& place);
  void read_anchors(const SchemaPlace& place);
  void add_anchor(const SchemaPlace& place, std::string name, bool is_dynamic);
  Result<std::optional<ResourceIndex>> resource_of(const std::string& uri);
  Result<std::optional<SchemaPlace>> follow(SchemaPlace place, std::string_view pointer);

  const SchemaDocuments& given_;
  const SchemaLimits& limits_;
  std::vector<std::pair<std::string, Json>> documents_;  // those that were read, by their URIs
  std::size_t bytes_ = 0;
  std::vector<SchemaResource> resources_;
  std::map<std::string, ResourceIndex, std::less<>> by_uri_;
  std::map<ValueKey, ResourceIndex> by_root_;
  std::set<ValueKey> seen_;
};

}  // namespace parley
