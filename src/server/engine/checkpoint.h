// The progress of a running turn, as the store keeps it with the lease, in three lines: the id of the turn,
// what is known of the body that was sent (JSON, or nothing), and the journal, which may have line breaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/server/journal.h"

namespace parley::server {

struct Checkpoint {
  Journal journal = {};
  std::optional<Json> sent = {};  // EndRecord::sent
};

std::string checkpoint_of(const std::string& turn, const Journal& journal, const std::optional<Json>& sent);
// nullopt: of another turn, or damaged.
std::optional<Checkpoint> checkpoint_in(std::string_view bytes, std::string_view turn);

// The message that a model said so far; nullopt: nothing.
std::optional<Message> answer_of(const Journal& journal, Dialect dialect);

}  // namespace parley::server
