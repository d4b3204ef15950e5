// Parts of the row of Ollama that have their own files.
#pragma once

#include <memory>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_ollama(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules

namespace parley::dialect {
class Decoder;
class Encoder;

std::unique_ptr<Decoder> ollama_decoder(Dialect dialect, const json::Limits& limits);  // stream_decoder.cc
std::unique_ptr<Encoder> ollama_encoder(Dialect dialect, Dialect source);              // stream_encoder.cc

}  // namespace parley::dialect
