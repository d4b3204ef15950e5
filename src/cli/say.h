// What the command tells a person: lines on stderr that start with "parley: ".
//
// Names and pointers come from outside, so nothing is printed before visible() took the power over the
// terminal out of it, and say() takes out what is a secret (secrets.h). One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/exit.h"
#include "parley/base/error.h"

namespace parley::cli {

// The same text with control characters, line separators and writing direction marks as \uXXXX, and with
// U+FFFD for bytes that are no UTF-8.
std::string visible(std::string_view text);

// The same for a text of many lines: tabs and the ends of lines stay.
std::string visible_lines(std::string_view text);

// A place in a document, for people: "file:pointer", or "file:line:pointer" for JSON Lines. A pointer of
// more than about 200 characters is shortened in its middle.
struct Place {
  std::string file;      // as it was typed; "-" is standard input
  std::size_t line = 0;  // from 1; 0 is a document that is not JSON Lines
};
std::string to_string(const Place& place);
std::string shortened(std::string_view pointer);

// "parley: <what>", in place of a progress bar if there is one.
void say(std::string_view what);

// "parley: <what> (see 'parley COMMAND --help')".
Exit usage(std::string_view what, std::string_view command = "");

// "parley: <what> (<place>:<pointer>)". Returns how the command ends because of it.
Exit complain(const Error& error, const Place& place);

}  // namespace parley::cli
