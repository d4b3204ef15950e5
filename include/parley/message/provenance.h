// Provenance: where a block came from, and how far its words may be trusted. A page that a tool fetched is
// data, whatever it says; filters and policies can treat it by other rules than what a user typed.
//
// Invariants (quoted by tests as P1..P4):
//   P1  Every block has a provenance. What nobody said follows from the role: "system", "user", "model", and
//       "tool:NAME" for a result.
//   P2  What was said is kept in the metadata of the message ("provenance": [{"block", "source", "trust"}]):
//       it is stored with the message, and never enters a prompt.
//   P3  A provenance that cannot be read makes a block untrusted; it never makes it more trusted.
//   P4  Saying it changes nothing else about the message.
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

// The message, with the same id and time, and this said about one of its blocks; what was said about it
// before is replaced. Fails with Invalid if there is no such block or the metadata has another use for the
// name "provenance", and with Lossy if the wire of the message holds members that a new message cannot have.
Result<Message> with_provenance(const Message& message, std::size_t block, const Provenance& provenance);

}  // namespace parley
