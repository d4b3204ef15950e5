#include "schema/draft.h"

#include <algorithm>
#include <array>
#include <string>

#include "schema/uri_reference.h"

namespace parley {
namespace {

struct KnownDraft {
  std::string_view uri;  // without its scheme and its fragment: both are spelled in several ways
  SchemaDraft draft;
};
constexpr std::array<KnownDraft, 6> kDrafts = {{
    {"json-schema.org/draft/2020-12/schema", kDraft2020},
    {"json-schema.org/schema", kDraft2020},
    {"json-schema.org/draft/2019-09/schema", kDraft2019},
    {"json-schema.org/draft-07/schema", kDraft7},
    {"json-schema.org/draft-06/schema", kDraft6},
    {"json-schema.org/draft-04/schema", kDraft4},
}};

struct KnownVocabulary {
  std::string_view uri;
  unsigned bits;
};
constexpr std::array<KnownVocabulary, 11> kVocabularies = {{
    {"https://json-schema.org/draft/2020-12/vocab/core", kCore},
    {"https://json-schema.org/draft/2020-12/vocab/applicator", kApplicator},
    {"https://json-schema.org/draft/2020-12/vocab/unevaluated", kUnevaluated},
    {"https://json-schema.org/draft/2020-12/vocab/validation", kValidation},
    {"https://json-schema.org/draft/2020-12/vocab/meta-data", 0},
    {"https://json-schema.org/draft/2020-12/vocab/format-annotation", 0},
    {"https://json-schema.org/draft/2020-12/vocab/content", 0},
    {"https://json-schema.org/draft/2019-09/vocab/core", kCore},
    {"https://json-schema.org/draft/2019-09/vocab/applicator", kApplicator | kUnevaluated},
    {"https://json-schema.org/draft/2019-09/vocab/validation", kValidation},
    {"https://json-schema.org/draft/2019-09/vocab/meta-data", 0},
}};

std::optional<SchemaDraft> known_draft(std::string_view metaschema) {
  std::string_view uri = split_fragment(metaschema).uri;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  }
  const auto* const row = std::ranges::find(kDrafts, uri, &KnownDraft::uri);
  return row == kDrafts.end() ? std::nullopt : std::optional(row->draft);
}

Result<unsigned> vocabularies_of(const Json& metaschema) {
  const auto listed = metaschema.get("$vocabulary");
  if (!listed) return kAllVocabularies;
  unsigned bits = kCore;
  for (const Json::Member& member : listed->members()) {
    const auto* const row = std::ranges::find(kVocabularies, member.key.view(), &KnownVocabulary::uri);
    if (row != kVocabularies.end()) {
      bits |= row->bits;
    } else if (member.value.as_bool() == true) {
      return fail(Code::Unsupported, "the metaschema requires the vocabulary '" + member.key.str() +
                                         "', which is not supported");
    }
  }
  return bits;
}

}  // namespace

Result<SchemaRules> rules_of(std::string_view metaschema, const SchemaDocuments& documents) {
  SchemaRules rules;
  std::string uri(metaschema);
  bool is_first = true;
  constexpr int kMostSteps = 8;  // a metaschema has a metaschema in turn
  for (int i = 0; i < kMostSteps; ++i) {
    if (const auto draft = known_draft(uri)) {
      rules.draft = *draft;
      return rules;
    }
    const Json* const document = find_document(documents, uri);
    if (document == nullptr) break;
    if (is_first) {
      PARLEY_TRY(rules.vocabularies, vocabularies_of(*document));
    }
    is_first = false;
    const auto next = document->get("$schema");
    const auto name = next ? next->as_string() : std::nullopt;
    if (!name) return rules;
    uri = name->str();
  }
  return fail(Code::Unsupported,
              "unknown metaschema '" + uri + "': expected JSON Schema draft 2020-12, 2019-09, 7, 6 or 4");
}

const Json* find_document(const SchemaDocuments& documents, std::string_view uri) {
  const std::string plain(split_fragment(uri).uri);
  for (const std::string& name : {plain, plain + "#"}) {
    if (const auto found = documents.find(name); found != documents.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace parley
