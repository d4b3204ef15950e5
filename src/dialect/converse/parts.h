// Parts of the row of Bedrock's Converse that have their own files.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/message.h"

namespace parley::rules {
class Report;
void check_converse(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules

namespace parley::dialect {
class Decoder;

std::unique_ptr<Decoder> converse_decoder(Dialect dialect, const json::Limits& limits);  // stream_decoder.cc
namespace converse {
// server_tools.cc: see ProviderTraits.
std::set<std::string> server_tools(std::span<const Message> messages);
std::optional<Json> with_server_tools(const Json& request, const Json& natural,
                                      const std::set<std::string>& names);
}  // namespace converse

}  // namespace parley::dialect
