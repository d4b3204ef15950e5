// `parley tokens`: how many tokens a text has, or what a conversation costs.
#pragma once

#include <string>

#include "cli/exit.h"
#include "parley/dialect/dialect.h"
#include "parley/token/counter.h"
#include "parley/token/encoding.h"

namespace parley::cli {

struct TokensOptions {
  std::string encoding;  // empty: not said
  std::string model;     // whose rule counts a conversation; empty: not said
  bool ids = false;      // the ids instead of their number
  std::string file;
  std::string output = "-";  // standard output
};

// The number of tokens of the text in the file, or their ids.
Exit tokens(const TokensOptions& options, const Encoding& encoding);
// What the conversation in the file costs.
Exit tokens(const TokensOptions& options, Dialect dialect, const TokenCounter& counter);

}  // namespace parley::cli
