// A Recorder stands between a client and a server of a provider, on the loopback address: it passes requests
// and answers on, and keeps them as a script that a Rehearsal replays (rehearsal.h).
//
// Invariants (quoted by tests as RECORDER1..RECORDER5):
//   RECORDER1  The client gets the answer as it comes: its status, its headers, its body piece by piece.
//   RECORDER2  No key is recorded. Of a request only its method, path and body are kept, of an answer its status,
//       its body and the few headers that clients go by; all of it is redacted (base/redact.h).
//   RECORDER3  Only answers that came whole are recorded.
//   RECORDER4  A Rehearsal with the script answers the same requests with the same bytes, as far as nothing was
//       redacted and they are UTF-8.
//   RECORDER5  It connects to the server it was given, or to the proxy, and to nothing else: redirects are answers.
//
// Used by one thread at a time; it serves many clients at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parley/base/error.h"
#include "parley/base/url.h"

namespace parley {

struct RecorderOptions {
  // The base URL of the provider, as its clients know it. A path that begins as the URL's own does stays as
  // it is; otherwise the URL stands for "/v1".
  Url target = {};
  std::optional<Url> proxy = {};  // on the way to it, as net::Request has it, and so is this:
  std::string ca_file = {};
  std::uint16_t port = 0;                                  // 0: any that is free
  std::size_t max_bytes = std::size_t{256} * 1024 * 1024;  // of what is kept; the rest is passed on only
};

class Recorder {
 public:
  // Fails with Invalid if the URL is not http or https, with Unavailable if the port is taken.
  static Result<Recorder> start(const RecorderOptions& options);
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  std::string url() const;  // "http://127.0.0.1:PORT/v1"

  struct Tally {
    std::size_t recorded = 0;
    std::size_t left_out = 0;  // not whole (RECORDER3), or over max_bytes
  };
  Tally tally() const;
  // What was recorded so far, in the order in which the answers ended.
  std::string script() const;

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley
