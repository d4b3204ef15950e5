// Parts of the row of OpenTelemetry that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_otel(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
