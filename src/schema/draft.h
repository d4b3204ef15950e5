// The drafts of JSON Schema that can be checked, and which keywords a schema has by its $schema.
#pragma once

#include <optional>
#include <string_view>

#include "parley/base/error.h"
#include "parley/schema/schema.h"

namespace parley {

// As bits, so that a keyword can name all it belongs to.
enum SchemaDraft : unsigned {
  kDraft4 = 1,
  kDraft6 = 2,
  kDraft7 = 4,
  kDraft2019 = 8,
  kDraft2020 = 16,
};

// What a metaschema can switch off, since draft 2019-09.
enum SchemaVocabulary : unsigned {
  kCore = 1,
  kApplicator = 2,
  kUnevaluated = 4,
  kValidation = 8,
  kAllVocabularies = 15,
};

struct SchemaRules {
  SchemaDraft draft = kDraft2020;
  unsigned vocabularies = kAllVocabularies;

  // In drafts 4 to 7, a $ref hides its sibling keywords, and the fragment of an id is an anchor.
  bool is_early() const { return draft < kDraft2019; }
  std::string_view id_keyword() const { return draft == kDraft4 ? "id" : "$id"; }
};

// The rules that $schema, the URI of a metaschema, stands for. Those of the drafts are known; any other must
// be in `documents`. Fails with Unsupported if it is not, or if it requires an unknown vocabulary.
Result<SchemaRules> rules_of(std::string_view metaschema, const SchemaDocuments& documents);

// The document of this URI, whether or not either ends in an empty fragment; null if absent.
const Json* find_document(const SchemaDocuments& documents, std::string_view uri);

}  // namespace parley
