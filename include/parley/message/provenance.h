// Provenance: where a block came from, and how far its words may be trusted. A page that a tool fetched is
// data, whatever it says; filters and policies can treat it by other rules than what a user typed.
//
// Invariants (quoted by tests as PROVENANCE1..PROVENANCE4):
//   PROVENANCE1  Every block has a provenance. The default follows from the role: "system", "user", "model",
//                and "tool:NAME" for a result.
//   PROVENANCE2  A provenance that was set is kept in the metadata of the message ("provenance": [{"block",
//                "source", "trust"}]): it is stored with the message, and never enters a prompt.
//   PROVENANCE3  A provenance that cannot be read makes a block untrusted; it never makes it more trusted.
//   PROVENANCE4  Setting it changes nothing else in the message.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/message/message.h"

namespace parley {

enum class Trust : std::uint8_t {
  Untrusted,  // Data: what tools, files and pages say. Never an instruction.
  User,       // What the user and the model say.
  Trusted,    // What the program says: system messages.
};

// "untrusted", "user", "trusted".
std::string_view to_string(Trust trust);

struct Provenance {
  Text source;  // "user", "tool:search", "https://example.com/page", ...
  Trust trust = Trust::Untrusted;
  bool operator==(const Provenance&) const = default;
};

// REQUIRES: `block` is an index of Message::blocks().
Provenance provenance(const Message& message, std::size_t block);

// The same of all blocks, in one pass.
std::vector<Provenance> provenances(const Message& message);

// A copy of the message, with the same id and time, in which one block has this provenance. Fails with
// Invalid if there is no such block or the metadata uses the name "provenance" for something else, and with
// Lossy if the wire of the message has members that a new message cannot have.
Result<Message> with_provenance(const Message& message, std::size_t block, const Provenance& provenance);

}  // namespace parley
