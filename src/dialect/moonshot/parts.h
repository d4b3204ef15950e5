// Parts of the row of Moonshot that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_moonshot(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
