// `parley convert`: reads a conversation, writes it in another dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/formatter.h"

namespace parley::cli {

struct ConvertOptions {
  std::optional<Dialect> from;  // nothing: each document's is detected
  Dialect to = Dialect::Parley;
  bool repair = false;            // make a broken history whole
  bool complete_pending = false;  // answer the calls of the last step
  bool strict = false;
  std::optional<Formatter> policy;  // another program's formatter in place of Parley's writer
  bool lines = false;               // JSON Lines: each line is a document
  bool pretty = false;              // REQUIRES: not `lines`
  bool quiet = false;
  std::string model;                     // of the request that is written; as it was if empty
  std::optional<std::int64_t> now = {};  // for messages without a time; the present if not set
  std::string input = "-";               // standard input
  std::string output = "-";              // standard output
  std::optional<std::string> notes;
};

ExitCode convert(const ConvertOptions& options);

}  // namespace parley::cli
