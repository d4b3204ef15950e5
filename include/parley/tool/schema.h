// A Schema checks JSON values: the part of JSON Schema (draft 2020-12) that the arguments of tools are
// described with. What a model got wrong is said in sentences that it can act on.
//
// Checked: true and false, type, nullable, enum, const, properties, required, additionalProperties,
// patternProperties, propertyNames, minProperties, maxProperties, dependentRequired, items, prefixItems
// (items as a list means the same), contains, minContains, maxContains, minItems, maxItems, uniqueItems,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, allOf,
// anyOf, oneOf, not, if, then, else, and $ref to a place in the same schema. Any other keyword says
// something, and checks nothing, as the draft has it; but $dynamicRef, unevaluatedItems and
// unevaluatedProperties would check something, so they are refused.
//
// Invariants (quoted by tests as S1..S5):
//   S1  of() takes or refuses a schema as a whole; what it takes is checked in full.
//   S2  Numbers are compared exactly, however they are spelled: 1.0 is the integer 1.
//   S3  An error names the place in the value as a JSON Pointer, and what was expected there.
//   S4  Schemas that refer to themselves are fine; a check that would not end, or that would take too long,
//       is an error (LimitExceeded).
//   S5  Nothing recurses deeper than a limit, and a pattern takes linear time.
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"

namespace parley {

struct SchemaLimits {
  std::size_t bytes = std::size_t{512} * 1024;  // of a schema
  std::size_t nodes = 10'000;                   // schemas within it
  std::size_t depth = 200;                      // of schemas and values within each other, while checking
  std::size_t work = std::size_t{256} * 1024 * 1024;  // bytes of values that one check looks at
};

class Schema {
 public:
  // Fails with Invalid if a keyword has a value it cannot have, with NotFound if a $ref leads nowhere, with
  // Unsupported for what cannot be checked (a $ref to elsewhere, a pattern with look-ahead), with
  // LimitExceeded; the path of the error is a place in the schema.
  static Result<Schema> of(const Json& schema, const SchemaLimits& limits = {});

  // What is wrong with `value`, at most `most` findings; nothing if it is as the schema says.
  std::vector<Error> check(const Json& value, std::size_t most = 8) const;

  struct Compiled;

 private:
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace parley
