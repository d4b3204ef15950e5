// The input of 'parley chat': lines from a terminal, with editing and history, or from a pipe.
// libedit is included by line_editor.cc only. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/complete_line.h"
#include "parley/base/error.h"

namespace parley::cli {

struct Line {
  enum class End { Whole, Interrupted, Closed, TooLong };  // more than a request may have
  End end = End::Closed;
  std::string text = {};  // without its line feed
};

class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  virtual ~LineReader() = default;

  // The prompt is shown at a terminal only. Pasted text is one line, with its line feeds.
  virtual Line read(const std::string& prompt) = 0;
  // Adds the text to the input history.
  virtual void remember(const std::string& text) = 0;
  virtual bool is_interactive() const = 0;
};

// Standard input. `history` is the file of the input history; empty: no history. A tab completes `words`
// and their files (complete_line.h). Alt-Enter adds a line feed to the line.
std::unique_ptr<LineReader> open_line_reader(const std::string& history, std::vector<LineWord> words);

// Uses libedit; null without a terminal.
std::unique_ptr<LineReader> open_line_editor(const std::string& history, std::vector<LineWord> words);

}  // namespace parley::cli
