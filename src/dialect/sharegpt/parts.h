// Parts of the row of ShareGPT that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_sharegpt(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
