// Writing to a terminal: nothing else in the command does that.
//
// Text comes from models, tools, files and servers. On a terminal its control characters and writing
// direction marks are shown as \uXXXX, which in JSON is the same string. What the terminal is made to do is a
// Control. tests/cli/sinks_test.sh looks for other ways.
//
// One thread at a time for each stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <variant>

#include "cli/styled_text.h"

namespace parley::cli {

bool is_terminal(int fd);

// A terminal that can erase a line.
bool can_draw(int fd);

// --color wins over NO_COLOR, that over CLICOLOR_FORCE, that over CLICOLOR, that over the configuration, that
// over what the stream is.
bool has_colour(int fd);

enum class ColourChoice : std::uint8_t { Auto, Always, Never };
std::optional<ColourChoice> colour_choice_named(std::string_view name);  // "auto", "always", "never"
void set_typed_colour(ColourChoice choice);                              // by --color
void set_configured_colour(ColourChoice choice);                         // by the configuration

std::size_t columns(int fd);        // 80 if unknown
std::size_t pixels_across(int fd);  // 8 for each column if unknown

// Writes all of the text: to a terminal as visible_lines() spells it, elsewhere byte for byte. False, with
// errno, if that fails.
bool put(int fd, std::string_view text);
// The same for a text with styles, which is for a terminal.
bool put(int fd, const StyledText& text);

// What the command does to a terminal itself.
enum class Control : std::uint8_t {
  None,
  EraseLine,  // the one that the cursor is in
  Dim,
  Red,
  Green,
  Plain,
  PasteOn,  // bracketed paste
  PasteOff,
  AskAttributes,  // DA1: the terminal answers as if it were typed
};

// Writes the pieces at once, so that lines of several processes do not mix; texts as visible_lines() spells
// them, wherever they go. Failures are ignored.
using Segment = std::variant<Control, std::string_view>;
void show(int fd, std::initializer_list<Segment> pieces);

}  // namespace parley::cli
