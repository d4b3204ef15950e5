// Rehearsal is the built-in offline model: a server on the loopback address with the wire format of OpenAI's
// Chat Completions. It answers from a script, or by a few built-in patterns. For first steps, tests and
// demonstrations: a client uses it over HTTP like any other model.
//
//   POST .../chat/completions   an answer, streamed or not
//   GET  .../models             one model: "rehearsal"
//   recorded paths              the recorded response (see recorder.h)
//
// Invariants (quoted by tests as REHEARSAL1..REHEARSAL6):
//   REHEARSAL1  Its model is named "rehearsal", and its own answers name it.
//   REHEARSAL2  The same requests in the same order get the same answers, byte for byte.
//   REHEARSAL3  The next turn of a script depends only on the messages of the request, so that a client that
//               was killed can resume. Only faults are counted, from the start of the server.
//   REHEARSAL4  An answer is the same message whether it is streamed or not.
//   REHEARSAL5  It calls only tools of the request, unless a script says otherwise; with the tool choice
//               "none" the patterns call no tool.
//   REHEARSAL6  It makes no outgoing connections.
//
// docs/rehearsal.md has the format of scripts. One thread at a time; it serves many clients concurrently.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parley/base/error.h"

namespace parley {

struct RehearsalOptions {
  std::optional<std::string> script = {};  // its text; nullopt: the built-in patterns
  std::uint16_t port = 0;                  // 0: any that is free
};

class Rehearsal {
 public:
  // Fails with Malformed, Invalid or another parse error, with its path, if the script is invalid; with
  // Unavailable if the port is in use.
  static Result<Rehearsal> start(const RehearsalOptions& options = {});
  Rehearsal(Rehearsal&&) noexcept;
  Rehearsal& operator=(Rehearsal&&) noexcept;
  ~Rehearsal();

  std::string url() const;  // "http://127.0.0.1:PORT/v1", the base URL for a client

 private:
  struct State;
  explicit Rehearsal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley
