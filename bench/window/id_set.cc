#include <memory>
#include <string>
#include <unordered_set>

#include "window/task.h"

namespace bench::window_task {

std::vector<Contender> id_set(std::size_t messages) {
  auto ids = std::make_shared<std::vector<std::string>>();
  for (std::size_t i = 0; i < messages; ++i) ids->push_back("message_" + std::to_string(i * 7919));
  auto set = std::make_shared<std::unordered_set<std::string>>();
  return {{"a bare set of ids", [=] { *set = {}; },
           [=] {
             for (const std::string& id : *ids) set->insert(id);
             return set->size();
           },
           messages}};
}

}  // namespace bench::window_task
