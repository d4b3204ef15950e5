#include "construct/task.h"

namespace bench::construct_task {

std::vector<Group> groups() { return {{"construct", "one message", 0, parley}}; }

}  // namespace bench::construct_task
