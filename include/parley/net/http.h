// One HTTP request and its answer, blocking, with limits on time and bytes.
//
// Invariants (quoted by tests as N1..N7):
//   N1  With pinned addresses the connection goes to one of them, and no name is looked up.
//   N2  Redirects are not followed: a 3xx is an answer like any other.
//   N3  A body of more than max_wire_bytes on the wire, or of more than max_bytes once it is decompressed, is
//       LimitExceeded as soon as that is known; what is over the limit is not kept.
//   N4  The call ends at its deadline with Timeout, and soon after a stop is asked for with Cancelled; but a
//       look-up of a name that is not pinned is waited for.
//   N5  A body that ends before its announced length is an error, never a short body.
//   N6  Nothing is read from the environment: no proxy, no .netrc, no cookies. http and https only.
//   N7  No error repeats a header, a query, a user or a password.
//
// A Request is a value, for one thread at a time; send() is safe from any thread, each with its own Request.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/ip_address.h"
#include "parley/base/secret.h"
#include "parley/base/url.h"

namespace parley::net {

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};

// A header whose value is a key: "Authorization", "x-api-key".
struct SecretHeader {
  std::string name;
  std::string prefix;  // "Bearer ", if any
  Secret value;
};

struct Request {
  std::string method = "GET";
  Url url = {};  // its credentials and its fragment are not sent
  std::vector<Header> headers = {};
  std::vector<SecretHeader> secret_headers = {};
  std::string body = {};

  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // for all of it
  std::size_t max_wire_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_header_bytes = std::size_t{64} * 1024;

  std::vector<IpAddress> addresses = {};  // where to connect (N1); empty: the name is looked up
  std::stop_token stop = {};

  // Takes the body in pieces, as it comes; Response::body is then empty. An error ends the request with it.
  std::function<Result<void>(std::string_view piece)> on_body = {};
};

struct Response {
  int status = 0;
  std::vector<Header> headers = {};  // as they came; of several answers (100, 103) those of the last
  std::string body = {};             // decompressed
  std::size_t wire_bytes = 0;        // of the body, before decompression

  // The value of the first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

// Fails with Invalid for a request that cannot be (a scheme, a method, a header with a line break), with
// Timeout, LimitExceeded, Cancelled or Unavailable as above. An answer of any status is a success.
Result<Response> send(const Request& request);

}  // namespace parley::net
