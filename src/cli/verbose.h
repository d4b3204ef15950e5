// `-v`: the log of the library on stderr, as messages (diagnostics.h), so secrets are redacted.
//
// At a terminal a response may end in the middle of a line of the answer. That line of the log is held until
// the next one comes, or print_held_log_lines() is called.
//
// Safe from any thread.
#pragma once

namespace parley::cli {

// From now on prints every line that the library logs.
void print_log_lines();

// REQUIRES: the cursor is at the beginning of a line.
void print_held_log_lines();

}  // namespace parley::cli
