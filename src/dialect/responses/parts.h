// Parts of the row of OpenAI's Responses that have their own files.
#pragma once

#include <memory>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_responses(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules

namespace parley::dialect {
class Decoder;
class Encoder;
struct FileBlocks;

std::unique_ptr<Decoder> responses_decoder(Dialect dialect, const json::Limits& limits);  // stream_decoder.cc
std::unique_ptr<Encoder> responses_encoder(Dialect dialect, Dialect source);              // stream_encoder.cc
namespace responses {
extern const FileBlocks kFiles;  // files.cc
}  // namespace responses

}  // namespace parley::dialect
