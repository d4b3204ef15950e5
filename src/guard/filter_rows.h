// The functions of the table in filter.cc, one file each. `steps`, where there is one, grows with the work
// done: tests compare it with the length of the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "parley/guard/filter.h"

namespace parley::guard {

void browser(std::string_view text, const FilterOptions& options, Edits& edits);
void browser_agentscope(std::string_view text, const FilterOptions& options, Edits& edits);
void invisible(std::string_view text, Edits& edits, std::uint64_t& steps);
void control_tokens(std::string_view text, Edits& edits, std::uint64_t& steps);

}  // namespace parley::guard
