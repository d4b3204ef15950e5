// One function per family of wire formats: adds what its servers refuse.
#pragma once

#include "dialect/rules/report.h"
#include "parley/dialect/dialect.h"

namespace parley::rules {

void check_chat(Report& report, const Json& document,
                Dialect dialect);  // and the servers that are compatible
void check_responses(Report& report, const Json& document, Dialect dialect);
void check_anthropic(Report& report, const Json& document, Dialect dialect);
void check_gemini(Report& report, const Json& document, Dialect dialect);
void check_ollama(Report& report, const Json& document, Dialect dialect);
void check_converse(Report& report, const Json& document, Dialect dialect);
void check_agentscope(Report& report, const Json& document, Dialect dialect);
void check_otel(Report& report, const Json& document, Dialect dialect);
void check_sharegpt(Report& report, const Json& document, Dialect dialect);

}  // namespace parley::rules
