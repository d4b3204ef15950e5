// Parts of the row of DashScope that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_dashscope(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
