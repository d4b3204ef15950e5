// The script of a rehearsal. docs/rehearsal.md is the grammar.
//
// The turn for a request is found by walking its messages: an assistant message advances to the next turn,
// and a user text that contains the `when` of a turn jumps to that turn.
//
// Plain values and pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/net/http.h"

namespace parley::rehearsal {

struct Call {
  Text name;
  Text arguments;  // the exact text
  Text id = {};    // empty: one is minted
};

struct Answer {
  Text think = {}, text = {};
  std::vector<Call> calls = {};
  Finish finish = Finish::Unknown;  // Unknown: by what the answer holds
  Usage usage = {};                 // what it does not say is reckoned from the bytes
};

// An answer goes wrong: it has another status, or breaks after so many bytes of its body.
struct Fault {
  enum class Kind : std::uint8_t { Status, Cut, Stall, Garbage };
  Kind kind = Kind::Status;
  std::size_t after = 0;
  int status = 500;
  std::vector<net::Header> headers = {};
  std::string body = {};
  std::uint64_t times = 1;  // how often, before the turn is as if it had none
};

struct Turn {
  std::optional<Text> when = {};
  std::optional<Answer> answer = {};  // none: the turn is a fault alone
  std::optional<Fault> fault = {};
};

// A request of a client and what a server answered, as a recorder wrote it.
struct Recorded {
  std::string method, path;
  std::string body;  // redacted; JSON without its white space, if it is JSON
  int status = 200;
  std::vector<net::Header> headers = {};
  std::string answer = {};
};

struct Script {
  std::vector<Turn> turns = {};
  std::vector<Recorded> recorded = {};
};

// Fails as Json::parse() does, and with Invalid at the place of a member that is unknown, missing or wrong.
Result<Script> parse_script(std::string_view text);
std::string write_script(std::span<const Recorded> recorded);

// How a body is compared and recorded: redacted, and JSON without its white space.
std::string comparable(std::string_view body);

// The turns that may answer these messages, in order: turns that are faults alone, and the first one with an
// answer. Empty if the script has no turn for them.
std::span<const Turn> next_turns(std::span<const Turn> turns, std::span<const Message> messages);

}  // namespace parley::rehearsal
