// The user's editor: $VISUAL, else $EDITOR, else vi. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

// Opens a file in the editor and waits for it. While it runs, Ctrl-C is left to it. Returns its exit status.
// Fails with Unavailable.
Result<int> run_editor(const std::string& file);

// Opens `text` in the editor and returns what was saved, without the spaces and line feeds at its end.
// nullopt, which means cancelled, if nothing was saved, nothing is left, or the editor failed. Fails with
// Unavailable, and with Invalid if the text is not UTF-8.
Result<std::optional<std::string>> edit_text(std::string_view text);

}  // namespace parley::cli
