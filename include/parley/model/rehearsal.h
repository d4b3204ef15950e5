// Rehearsal is a model without a model: a server on the loopback address that speaks the wire of OpenAI's
// Chat Completions and says what a script says, or follows a few patterns if there is none. For first steps,
// tests and demonstrations: a client uses it through the same HTTP and the same streams as any other.
//
//   POST .../chat/completions   an answer, whole or as a stream
//   GET  .../models             one model: "rehearsal"
//   what a recording has        the answer that was recorded (see recorder.h)
//
// Invariants (quoted by tests as REHEARSAL1..REHEARSAL6):
//   REHEARSAL1  It never pretends: its model is "rehearsal", and what it says by itself names it.
//   REHEARSAL2  The same requests in the same order get the same answers, byte for byte.
//   REHEARSAL3  Which turn of a script is next follows from the messages of the request alone, so that a client that
//       was killed goes on where it was. Only faults are counted, from the start of the server.
//   REHEARSAL4  An answer is the same message whether it is asked for as a stream or whole.
//   REHEARSAL5  It calls only tools that the request offers, unless a script says otherwise; with the tool choice
//       "none" it calls none by itself.
//   REHEARSAL6  It connects to nothing.
//
// docs/rehearsal.md has the format of scripts. Used by one thread at a time; it serves many clients at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parley/base/error.h"

namespace parley {

struct RehearsalOptions {
  std::optional<std::string> script = {};  // its text; without one, the built-in patterns
  std::uint16_t port = 0;                  // 0: any that is free
};

class Rehearsal {
 public:
  // Fails with Malformed, Invalid or another code of a reader, and the place, if the script is none; with
  // Unavailable if the port is taken.
  static Result<Rehearsal> start(const RehearsalOptions& options = {});
  Rehearsal(Rehearsal&&) noexcept;
  Rehearsal& operator=(Rehearsal&&) noexcept;
  ~Rehearsal();

  std::string url() const;  // "http://127.0.0.1:PORT/v1", what a client calls its base URL

 private:
  struct State;
  explicit Rehearsal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley
