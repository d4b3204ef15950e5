// Files that OpenAI has, named by their ids, in Chat Completions and in Responses.
#pragma once

#include "dialect/rows.h"

namespace parley::dialect::openai {

std::optional<ProviderFile> read_file(const Json& block);

}  // namespace parley::dialect::openai
