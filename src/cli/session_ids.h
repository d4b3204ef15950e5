// The ids of sessions as they are typed: whole, or by a unique prefix.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "parley/store/store.h"

namespace parley::cli {

// Calls `visit` for every session of a tenant, the most recently changed first, until it fails or returns
// false. Reads `page` sessions at a time. Prints errors of the store.
CommandResult<void> each_session(store::Store& store, const std::string& tenant,
                                 const std::function<CommandResult<bool>(const store::SessionInfo&)>& visit,
                                 std::size_t page = 1000);

enum class PrefixOf : std::uint8_t {
  Any,        // of any id: for commands that only read
  Generated,  // of an id that Parley made, at least four characters: "notes" never means "notes-2"
};

// The id that `typed` means: itself if there is such a session, else the only one that begins with it.
// Without one it is returned unchanged, and the store says that there is none. Prints the candidates if there
// are several.
CommandResult<std::string> session_id(store::Store& store, const std::string& tenant,
                                      const std::string& typed, PrefixOf prefix);

// The session whose name is closest to a mistyped one (suggestion.h); ids that Parley made are no names.
// Prints errors of the store.
CommandResult<std::optional<std::string>> similar_session(store::Store& store, const std::string& tenant,
                                                          const std::string& typed);

}  // namespace parley::cli
