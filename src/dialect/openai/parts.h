// Parts of the row of OpenAI's Chat Completions that have their own files.
#pragma once

#include <memory>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_openai(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules

namespace parley::dialect {
class Decoder;
class Encoder;
struct FileBlocks;

std::unique_ptr<Decoder> openai_decoder(Dialect dialect, const json::Limits& limits);  // stream_decoder.cc
std::unique_ptr<Encoder> openai_encoder(Dialect dialect, Dialect source);              // stream_encoder.cc
namespace openai {
extern const FileBlocks kFiles;  // files.cc
}  // namespace openai

}  // namespace parley::dialect
