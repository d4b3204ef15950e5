// Patterns of JSON Schema, in linear time. Immutable; safe from any thread.
#pragma once

#include <memory>
#include <string_view>

#include "parley/base/error.h"

namespace re2 {
class RE2;
}

namespace parley {

class Pattern {
 public:
  // Fails with Unsupported for what a linear-time engine cannot do (look-ahead, back-references), with
  // Invalid for an invalid pattern.
  static Result<Pattern> of(std::string_view ecma);

  // Whether it matches anywhere in `utf8`.
  bool is_in(std::string_view utf8) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> engine) : engine_(std::move(engine)) {}
  std::shared_ptr<const re2::RE2> engine_;
};

}  // namespace parley
