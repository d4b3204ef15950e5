// Where vocabularies come from: the program itself, or a .tiktoken file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "token/vocabulary.h"

namespace parley::token {

// Unpacked at the first call, once; safe from any thread.
std::shared_ptr<const Vocabulary> cl100k_base();
std::shared_ptr<const Vocabulary> o200k_base();

// See Encoding::from_tiktoken.
Result<std::shared_ptr<const Vocabulary>> read_tiktoken(std::string_view file, SplitPattern pattern,
                                                        std::string name);

}  // namespace parley::token
