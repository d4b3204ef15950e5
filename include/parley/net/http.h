// One HTTP request and its answer, blocking, with limits on time and bytes.
//
// Invariants (quoted by tests as N1..N11):
//   N1  With pinned addresses the connection goes to one of them, and no name is looked up.
//   N2  Redirects are not followed: a 3xx is an answer like any other.
//   N3  A body of more than max_wire_bytes on the wire, or of more than max_bytes once it is decompressed, is
//       LimitExceeded as soon as that is known; what is over the limit is not kept.
//   N4  The call ends at its deadlines with Timeout, and soon after a stop is asked for with Cancelled; but a
//       look-up of a name that is not pinned is waited for.
//   N5  A body that ends before its announced length is an error, never a short body.
//   N6  Nothing is read from the environment: no proxy, no .netrc, no cookies. http and https only. (What the
//       libraries beneath do for people who debug TLS, OPENSSL_CONF and SSLKEYLOGFILE, is theirs.)
//   N7  No error repeats a header, a query, a user or a password.
//   N8  on_start is called once, with the status and the headers of the final answer, before any of its body.
//   N9  With a proxy every connection goes to it, and to nothing else.
//   N10 A server of https shows a certificate for its name from somebody trusted, or nothing is sent.
//   N11 A connection is used again only for the same scheme, host, port, proxy, ca_file and addresses, and
//       never after a request on it has failed. One that the server has closed meanwhile is replaced by a new
//       one, and the request is sent again, as long as nothing of an answer came.
//
// A Request is a value, for one thread at a time; send() is safe from any thread, each with its own Request.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
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
  std::vector<std::string_view> pieces = {};  // what follows of the body; they live as long as the request

  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // for all of it
  // From the call to the first byte of the answer, and then without any byte; max() is no limit of its own.
  // The time that on_start and on_body take does not count.
  std::chrono::milliseconds first_byte_timeout = std::chrono::milliseconds::max();
  std::chrono::milliseconds idle_timeout = std::chrono::milliseconds::max();
  std::size_t max_wire_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_header_bytes = std::size_t{64} * 1024;

  std::vector<IpAddress> addresses = {};  // where to connect (N1); empty: the name is looked up
  std::optional<Url> proxy = {};          // http, https, socks5 or socks5h; not with addresses
  std::string ca_file = {};               // PEM: who is trusted (N10); empty: whom the system trusts
  std::stop_token stop = {};

  // Told when the answer starts (N8), so that a stream can be told from an error. An error ends the request
  // with it.
  std::function<Result<void>(int status, const std::vector<Header>& headers)> on_start = {};
  // Takes the body in pieces, as it comes; Response::body is then empty. An error ends the request with it.
  // When many small pieces have come within milliseconds of each other, they are let gather for 12 ms.
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

// Connections that are kept open, for requests to come (N11). HTTP/2 is spoken where a server of https offers
// it. Safe from any thread: requests at the same time have connections of their own. Outlives every send()
// with it.
class Connections {
 public:
  // The most that are kept while nobody uses them; the one that was used longest ago goes first.
  explicit Connections(std::size_t idle = 16);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

 private:
  friend class Transfer;
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// Fails with Invalid for a request that cannot be (a scheme, a method, a header with a line break, a ca_file
// that is none, a tunnel that a proxy refuses), with Timeout, LimitExceeded, Cancelled or Unavailable as
// above. An answer of any status is a success. The first form has a connection of its own, which ends with
// it.
Result<Response> send(const Request& request);
Result<Response> send(const Request& request, Connections& connections);

// What the first request would do before all others, which takes milliseconds: libcurl and what it needs is
// loaded. For a program that has something else to do meanwhile, from any thread. NotFound without
// libcurl.
Result<void> prepare();

}  // namespace parley::net
