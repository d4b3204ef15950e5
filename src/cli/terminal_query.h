// Asks a terminal what it can do: DA1, "primary device attributes". A terminal that draws sixels has the
// attribute 4.
//
// One thread at a time.
#pragma once

#include <string_view>

namespace parley::cli {

// Whether the terminal draws sixels. Asks once in a process, and waits at most half a second for the answer;
// what a person types before it is lost. False without asking if standard input and `fd` are not a terminal
// in the foreground.
bool draws_sixels(int fd);

// Whether an answer to DA1, CSI ? attributes c, has the attribute 4. Bytes before the answer are skipped.
bool has_sixel_attribute(std::string_view answer);

}  // namespace parley::cli
