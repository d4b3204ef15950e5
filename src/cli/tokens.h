// `parley tokens`: how many tokens a text has, or what a conversation costs.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "parley/dialect/dialect.h"
#include "parley/token/counter.h"
#include "parley/token/encoding.h"

namespace parley::cli {

struct TokensOptions {
  std::string encoding;  // empty: not set
  std::string model;     // whose rules count a conversation; empty: not set
  bool json = false;     // one object
  bool ids = false;      // the ids instead of their number
  std::string file;
  std::string output = "-";  // standard output
};

// The number of tokens of the text in the file, or their ids.
ExitCode tokens(const TokensOptions& options, const Encoding& encoding);
// What the conversation in the file costs.
ExitCode tokens(const TokensOptions& options, Dialect dialect, const TokenCounter& counter);

}  // namespace parley::cli
