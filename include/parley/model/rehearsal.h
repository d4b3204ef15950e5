// Rehearsal is the built-in offline model: a server on the loopback address with the wire format of OpenAI's
// Chat Completions. It answers from a script, or by a few built-in patterns. For first steps, tests and
// demonstrations: a client uses it over HTTP like any other model.
//
//   POST .../chat/completions   an answer, streamed or not
//   GET  .../models             one model: "rehearsal"
//   recorded paths              the recorded response (see Recorder)
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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/url.h"

namespace parley {

class Model;  // parley/model/model.h

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

inline constexpr std::string_view kRehearsalName = "rehearsal";

// The same model without a server, for tests and first steps: it answers in this process. The faults of a
// script, and its recorded responses, need the server. Fails like Rehearsal::start().
Result<std::shared_ptr<Model>> rehearsal_model(const std::optional<std::string>& script = {});

// A Recorder is a proxy on the loopback address between a client and a provider: it forwards requests and
// responses, and records them as a script that a Rehearsal replays (rehearsal.h).
//
// Invariants (quoted by tests as RECORDER1..RECORDER5):
//   RECORDER1  The client gets the response as it arrives: status, headers, body chunk by chunk.
//   RECORDER2  No key is recorded. Only method, path and body of a request and status, body and the few
//              headers that clients use of a response are recorded, all redacted (base/secret.h).
//   RECORDER3  Only complete responses are recorded.
//   RECORDER4  A Rehearsal with the script returns the same bytes for the same requests, unless they were
//              redacted or are not UTF-8.
//   RECORDER5  It connects only to the configured server or proxy; redirects are not followed.
//
// One thread at a time; it serves many clients concurrently.
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
