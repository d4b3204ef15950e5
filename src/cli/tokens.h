// `parley tokens`: how many tokens a text has.
#pragma once

#include <string>

#include "cli/exit.h"
#include "parley/token/encoding.h"

namespace parley::cli {

struct TokensOptions {
  std::string encoding = "o200k_base";
  bool ids = false;  // the ids instead of their number
  std::string file;
  std::string output = "-";  // standard output
};

Exit tokens(const TokensOptions& options, const Encoding& encoding);

}  // namespace parley::cli
