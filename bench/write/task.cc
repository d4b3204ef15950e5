#include "write/task.h"

namespace bench::write_task {

std::vector<Group> groups(const std::vector<Document>& documents) {
  std::vector<Group> out;
  for (const Document& document : documents) {
    if (document.name == "tiny") continue;
    const std::string& name = document.name;
    const std::size_t bytes = document.json.size();
    out.push_back({"write", name, bytes,
                   all_of(document, parley_write, rapidjson_write, boost_json_write, nlohmann_write), true});
    out.push_back({"gather", name, bytes, all_of(document, parley_gather)});
    out.push_back({"translate", name, translated_size(document),
                   all_of(document, parley_translate, nlohmann_translate), true});
    if (name == "\\u") continue;  // the same plain texts as "text"
    out.push_back({"build", name, bytes,
                   all_of(document, parley_build, rapidjson_build, boost_json_build, nlohmann_build), true});
  }
  return out;
}

}  // namespace bench::write_task
