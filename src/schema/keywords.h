// The keywords of JSON Schema: which drafts have them, what schemas they hold, how they are read.
#pragma once

#include <string>
#include <string_view>

#include "schema/index.h"
#include "schema/nodes.h"

namespace parley {

// What a keyword needs while a schema is compiled.
class SchemaCompiler {
 public:
  SchemaCompiler(const SchemaCompiler&) = delete;
  SchemaCompiler& operator=(const SchemaCompiler&) = delete;
  virtual ~SchemaCompiler() = default;

  // The node of the schema at `place`, which is read later if it was not yet.
  virtual NodeIndex node_at(const SchemaPlace& place) = 0;
  virtual SchemaIndex& index() = 0;
  virtual const SchemaLimits& limits() const = 0;

 protected:
  SchemaCompiler() = default;
};

// One keyword of one schema.
struct Keyword {
  SchemaCompiler& compiler;
  SchemaNode& node;
  const SchemaPlace& place;  // of the schema
  const Json& value;

  // An error about `where`, which is the value or within it.
  std::unexpected<Error> fail_with(Code code, std::string message, const Json& where) const {
    return compiler.index().wrong(code, std::move(message), place.document, where);
  }
  std::unexpected<Error> wrong(std::string_view expected, const Json& where) const {
    return fail_with(Code::Invalid, "expected " + std::string(expected) + " in a schema", where);
  }
  std::unexpected<Error> wrong(std::string_view expected) const { return wrong(expected, value); }
  NodeIndex node_of(const Json& schema) const {
    return compiler.node_at(compiler.index().below(place, schema));
  }
};

enum class Holds {
  Nothing,
  Schema,
  Schemas,       // a list of them, or one
  NamedSchemas,  // an object of them
};

struct KeywordRow {
  std::string_view name;
  unsigned drafts;
  SchemaVocabulary vocabulary;
  Holds holds;
  Result<void> (*read)(const Keyword& keyword);
};

// The keyword of this name by these rules; null if unknown.
const KeywordRow* find_keyword(std::string_view name, const SchemaRules& rules);

}  // namespace parley
