// Texts of files as the files tool shows them, in OpenManus' words. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::files {

// Lines as OpenManus counts them: a line end after the last line starts another, empty one.
std::vector<std::string_view> lines_of(std::string_view text);
std::size_t line_ends(std::string_view text);

// As `cat -n` shows it, from line `first`.
std::string numbered(std::span<const std::string_view> lines, std::size_t first, const std::string& what);

// "[1, 2]"
std::string listed(const std::vector<std::int64_t>& numbers);

// The lines on which `part` begins, each once.
std::vector<std::int64_t> places(std::string_view text, std::string_view part);

// The lines around an edit that begins on line `line` (from 0) and has `more` line ends.
std::string snippet(std::string_view text, std::size_t line, std::size_t more, const std::string& what);

}  // namespace parley::files
