// Each filter on 2.5 MB of clean English, Chinese and code: what everybody pays who has nothing to hide.
#pragma once

#include <string>
#include <vector>

#include "harness.h"
#include "parley/base/text.h"

namespace bench::filter_task {

struct Document {
  std::string name;
  ::parley::Text text;
};

std::vector<Contender> parley(const Document& document);

std::vector<Group> groups();

// The names of the contenders, one for each filter, and of the texts.
std::vector<std::string> contenders();
inline constexpr const char* kDocuments[] = {"english", "chinese", "code"};

}  // namespace bench::filter_task
