// A Recorder is a proxy on the loopback address between a client and a provider: it forwards requests and
// responses, and records them as a script that a Rehearsal replays (rehearsal.h).
//
// Invariants (quoted by tests as RECORDER1..RECORDER5):
//   RECORDER1  The client gets the response as it arrives: status, headers, body chunk by chunk.
//   RECORDER2  No key is recorded. Only method, path and body of a request and status, body and the few
//              headers that clients use of a response are recorded, all redacted (base/redact.h).
//   RECORDER3  Only complete responses are recorded.
//   RECORDER4  A Rehearsal with the script returns the same bytes for the same requests, unless they were
//              redacted or are not UTF-8.
//   RECORDER5  It connects only to the configured server or proxy; redirects are not followed.
//
// One thread at a time; it serves many clients concurrently.
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
  // The base URL of the provider, as its clients use it. A request path that starts with the path of the URL
  // is kept; otherwise the URL replaces "/v1".
  Url target = {};
  std::optional<Url> proxy = {};  // proxy and ca_file: see net::Request
  std::string ca_file = {};
  std::uint16_t port = 0;  // 0: any free port
  std::size_t max_bytes =
      std::size_t{256} * 1024 * 1024;  // of the script; the rest is forwarded but not recorded
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
    std::size_t left_out = 0;  // incomplete (RECORDER3), or over max_bytes
  };
  Tally tally() const;
  // The recording so far, in the order in which the responses ended.
  std::string script() const;

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley
