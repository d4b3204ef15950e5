// Unescaping every text of every message: after Parley's reading, which leaves them as slices, against
// simdjson, which unescapes while it goes through the document.
#pragma once

#include <vector>

#include "generate.h"
#include "harness.h"

namespace bench::unescape_task {

std::vector<Contender> parley(const Document& document);
std::vector<Contender> simdjson(const Document& document);

std::vector<Group> groups(const std::vector<Document>& documents);

}  // namespace bench::unescape_task
