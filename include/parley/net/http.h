// One HTTP request and its response, blocking, with limits on time and bytes.
//
// Invariants (quoted by tests as HTTP1..HTTP12):
//   HTTP1   With pinned addresses the connection goes to one of them, and no name is looked up.
//   HTTP2   Redirects are not followed: a 3xx is a response like any other.
//   HTTP3   A body of more than max_wire_bytes on the wire, or of more than max_bytes once it is
//           decompressed, is LimitExceeded as soon as that is known; what is over the limit is not kept.
//   HTTP4   The call ends at its deadlines with Timeout, and soon after a stop request with Cancelled;
//           but it waits for the look-up of a name that is not pinned.
//   HTTP5   A body that ends before its announced length is an error, never a short body.
//   HTTP6   Nothing is read from the environment: no proxy, no .netrc, no cookies. http and https only.
//           (The TLS library itself reads OPENSSL_CONF and SSLKEYLOGFILE.)
//   HTTP7   No error repeats a header, a query, a user or a password.
//   HTTP8   on_start is called once, with the status and the headers of the final response, before its
//           body.
//   HTTP9   With a proxy every connection goes to it, and to nothing else.
//   HTTP10  An https server has a trusted certificate for its name, or nothing is sent.
//   HTTP11  A connection is used again only for the same scheme, host, port, proxy, ca_file and
//           addresses, and never after a request on it has failed. One that the server has closed
//           meanwhile is replaced by a new one, and the request is sent again, as long as no byte of a
//           response has arrived.
//   HTTP12  With a log sink (parley/base/log.h), a request, the start and the end of its response, and a
//           failure are a line each: method, URL, status, sizes and times; no header, body, query, user
//           or password.
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
#include "parley/base/secret.h"
#include "parley/base/url.h"

namespace parley::net {

// Resolves names to addresses. An interface, so that a caller can check the addresses before it connects, and
// a test can return any.
//
// A Resolver is called from the thread that makes the request; an implementation says which threads it can
// serve.
class Resolver {
 public:
  Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  virtual ~Resolver() = default;

  // The addresses of a domain in ASCII, best first; never empty. Fails with NotFound if the name has no
  // address, with Unavailable if no name server responds.
  virtual Result<std::vector<IpAddress>> resolve(std::string_view host) = 0;
};

// getaddrinfo(3): the hosts file and the name servers of the machine, with their own time limits
// (resolv.conf), which no deadline of Parley shortens. Safe from any thread; lives as long as the
// program.
Resolver& system_resolver();

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
  std::vector<std::string_view> body_chunks = {};  // follow `body`; the bytes must outlive the request

  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // for all of it
  // From the call to the first byte of the response, and then without any byte; max() means no limit. The
  // time that on_start and on_body take does not count.
  std::chrono::milliseconds first_byte_timeout = std::chrono::milliseconds::max();
  std::chrono::milliseconds idle_timeout = std::chrono::milliseconds::max();
  std::size_t max_wire_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_header_bytes = std::size_t{64} * 1024;

  std::vector<IpAddress> addresses = {};  // where to connect (HTTP1); empty: the name is looked up
  std::optional<Url> proxy = {};          // http, https, socks5 or socks5h; not with addresses
  std::string ca_file = {};               // PEM: trusted certificates (HTTP10); empty: the system's
  std::stop_token stop = {};

  // Called when the response starts (HTTP8), to distinguish a stream from an error. An error that it returns
  // ends the request.
  std::function<Result<void>(int status, const std::vector<Header>& headers)> on_start = {};
  // Receives the body in chunks, as they arrive; Response::body is then empty. An error that it returns ends
  // the request. Many small chunks within milliseconds of each other are coalesced for 12 ms.
  std::function<Result<void>(std::string_view chunk)> on_body = {};
};

struct Response {
  int status = 0;
  std::vector<Header> headers = {};  // in order; of several responses (100, 103) those of the last
  std::string body = {};             // decompressed
  std::size_t wire_bytes = 0;        // of the body, before decompression

  // The value of the first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

// A pool of open connections, for later requests (HTTP11). Uses HTTP/2 where an https server offers it. Safe
// from any thread: concurrent requests have separate connections. Must outlive every send() with it.
class Connections {
 public:
  // `idle`: how many unused connections are kept; the least recently used one is closed first.
  explicit Connections(std::size_t idle = 16);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

 private:
  friend class BlockingTransfer;
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// Fails with Invalid for an invalid request (scheme, method, a header with a line break, ca_file, a tunnel
// that a proxy refuses), with Timeout, LimitExceeded, Cancelled or Unavailable as above. A response of any
// status is a success. The first form opens a connection and closes it.
Result<Response> send(const Request& request);
Result<Response> send(const Request& request, Connections& connections);

// Loads libcurl, which the first request does otherwise and which takes milliseconds. From any thread. Fails
// with NotFound without libcurl.
Result<void> prepare();

}  // namespace parley::net
