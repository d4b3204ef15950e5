// Messages to the user: lines on stderr that start with "parley: ".
//
// Names and pointers come from outside, so visible() escapes
// control characters before anything is printed, and print_message() redacts secrets (secrets.h). One thread
// at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "parley/base/error.h"

namespace parley::cli {

// The same text with control characters, line separators and writing direction marks as \uXXXX, and with
// U+FFFD for bytes that are no UTF-8.
std::string visible(std::string_view text);

// The same for a text of many lines: tabs and the ends of lines stay.
std::string visible_lines(std::string_view text);

// A location in a document, for people: "file:pointer", or "file:line:pointer" for JSON Lines. A pointer of
// more than about 200 characters is shortened in its middle.
struct Location {
  std::string file;      // as it was typed; "-" is standard input
  std::size_t line = 0;  // from 1; 0 is a document that is not JSON Lines
};
std::string to_string(const Location& location);
std::string shortened(std::string_view pointer);

// "parley: <what>", in place of a progress bar if there is one.
void print_message(std::string_view what);

// "parley: <what> (see 'parley COMMAND --help')".
ExitCode usage_error(std::string_view what, std::string_view command = "");

// "parley: <what> (<location>:<pointer>)". Returns the exit code for the error.
ExitCode report_error(const Error& error, const Location& location);

}  // namespace parley::cli
