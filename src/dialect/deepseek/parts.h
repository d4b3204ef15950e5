// Parts of the row of DeepSeek that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_deepseek(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
