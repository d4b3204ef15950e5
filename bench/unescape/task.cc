#include "unescape/task.h"

namespace bench::unescape_task {

std::vector<Group> groups(const std::vector<Document>& documents) {
  std::vector<Group> out;
  for (const Document& document : documents) {
    out.push_back({"unescape", document.name, document.json.size(), all_of(document, parley, simdjson)});
  }
  return out;
}

}  // namespace bench::unescape_task
