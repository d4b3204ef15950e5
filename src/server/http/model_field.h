// The model that the body of a request names, in JSON or in a form with parts (multipart/form-data), as it is
// in the bytes: so that another name can take its place and everything else stays.
//
// A pure function in linear time; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::server {

struct ModelField {
  std::string name = {};               // the model
  std::size_t offset = 0, length = 0;  // of its spelling in the body, quotes included
  bool is_json = true;

  // The body with another name in its place.
  std::string replaced(std::string_view body, std::string_view other) const;
};

// nullopt: the body names none. Fails with Invalid if another reader could find another model: the body names
// two, or is not what its type says.
Result<std::optional<ModelField>> model_field(std::string_view body, std::string_view content_type);

}  // namespace parley::server
