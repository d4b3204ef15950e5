// A Schema checks JSON values by JSON Schema, draft 2020-12, 2019-09, 7, 6 or 4: the one that $schema names,
// and 2020-12 without $schema. Its errors are sentences that a model can act on.
//
// All keywords of these drafts are checked, each as its draft has it, but for those that only describe
// (title, format, the content ones), which are ignored. $ref, $dynamicRef and $recursiveRef refer to places
// of the same schema, by pointer, anchor or $id, and to documents that are given to of(). Nothing is fetched.
//
// Beyond the drafts: nullable, as in OpenAPI; and a schema of draft 2020-12 may have items as a list, with
// additionalItems, and dependencies, as in draft 7, because many tools are described so without a $schema.
//
// Refused as Unsupported, because it cannot be checked in full: other drafts, a metaschema that was not given
// or that requires a vocabulary besides the standard ones or format as an assertion, a reference to a
// document that was not given, a pattern that takes more than linear time (look-ahead, back-references), and
// multiples of a number with more than 18 digits.
//
// Invariants (quoted by tests as SCHEMA1..SCHEMA5):
//   SCHEMA1  of() accepts or refuses a schema as a whole; an accepted schema is checked in full.
//   SCHEMA2  Numbers are compared exactly, however they are spelled: 1.0 is the integer 1.
//   SCHEMA3  An error names the place in the value as a JSON Pointer, and what was expected there.
//   SCHEMA4  Schemas that refer to themselves are fine; a check that does not end, or takes too long, is
//            LimitExceeded.
//   SCHEMA5  Nothing recurses deeper than a limit, and a pattern takes linear time.
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"

namespace parley {

struct SchemaLimits {
  std::size_t bytes = std::size_t{512} * 1024;  // of a schema and the documents it refers to
  std::size_t nodes = 10'000;                   // schemas within them
  std::size_t depth = 200;                      // of schemas and values within each other, while checking
  std::size_t work = std::size_t{256} * 1024 * 1024;  // bytes of values that one check looks at
};

// Schemas by their absolute URIs, which $ref and $schema may name.
using SchemaDocuments = std::map<std::string, Json, std::less<>>;

class Schema {
 public:
  // Fails with Invalid if a keyword has a value it cannot have, with NotFound if a $ref has no target, with
  // Unsupported for what cannot be checked (see above), with LimitExceeded. The path of the error is a place
  // in the schema, or in the document that the message names. `documents` is not needed afterwards;
  // documents without a reference to them are not read.
  static Result<Schema> of(const Json& schema, const SchemaLimits& limits = {},
                           const SchemaDocuments& documents = {});

  // The errors of `value`, at most `most`; empty if it matches the schema.
  std::vector<Error> check(const Json& value, std::size_t most = 8) const;

  struct Compiled;

 private:
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace parley
