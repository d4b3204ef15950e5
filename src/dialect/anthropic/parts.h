// Parts of the row of Anthropic's Messages that have their own files.
#pragma once

#include <memory>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_anthropic(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules

namespace parley::dialect {
class Decoder;
class Encoder;
struct FileBlocks;

std::unique_ptr<Decoder> anthropic_decoder(Dialect dialect, const json::Limits& limits);  // stream_decoder.cc
std::unique_ptr<Encoder> anthropic_encoder(Dialect dialect, Dialect source);              // stream_encoder.cc
namespace anthropic {
extern const FileBlocks kFiles;  // files.cc
}  // namespace anthropic

}  // namespace parley::dialect
