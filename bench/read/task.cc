#include "read/task.h"

namespace bench::read_task {

std::vector<Group> groups(const std::vector<Document>& documents) {
  std::vector<Group> out;
  for (const Document& document : documents) {
    out.push_back({"read", document.name, document.json.size(),
                   all_of(document, parley, simdjson, rapidjson, boost_json, nlohmann)});
  }
  return out;
}

}  // namespace bench::read_task
