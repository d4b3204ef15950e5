// Fetches media that a conversation names by URL, by a policy. The author of a URL in a conversation must not
// be able to make this machine query its own network, read its files, or wait for ever.
//
// Invariants (quoted by tests as FETCH1..FETCH12):
//   FETCH1   A policy that was only default-constructed fetches nothing and reads nothing.
//   FETCH2   A URL is parsed once, by the rules of browsers (base/url.h), and only the parsed URL is used.
//   FETCH3   A literal address of a range that is not public, however it is spelled, is refused without a
//            look-up; so are local names, and the names of metadata services.
//   FETCH4   A name is looked up once per hop. If one of its addresses is refused, so is the name.
//   FETCH5   The connection goes to one of the checked addresses, whatever a later look-up would return.
//   FETCH6   Every redirect is checked like the first URL: scheme, credentials, host, port, addresses.
//            There are at most max_redirects, and none from https to http or to another scheme.
//   FETCH7   Credentials in a URL are refused, and none are sent.
//   FETCH8   Bytes are limited on the wire and after decompression, time by one deadline for all hops; but
//            the system's resolver has its own time limits (resolv.conf).
//   FETCH9   The result is an image, audio or video by its bytes; a declared type that differs is reported.
//   FETCH10  allow_private opens private and loopback addresses and local names, and nothing else: not
//            link-local addresses, not metadata services, not multicast.
//   FETCH11  file: reads regular files below the root and nothing else, whatever the path or its links are.
//   FETCH12  No error repeats a path, a query or credentials.
//
// FetchPolicy is immutable, and safe from any thread. fetch() is as safe as the resolver it is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/url.h"
#include "parley/media/media_type.h"
#include "parley/net/http.h"

namespace parley {

struct FetchOptions {
  bool allow_https = true;
  bool allow_http = false;
  std::string root = {};  // the folder that file: may read from; empty: file: is off

  // "example.com" is that host, ".example.com" every name below it; addresses as in a URL. Empty: every host
  // that is not denied. The first list wins over the second.
  std::vector<std::string> denied_hosts = {};
  std::vector<std::string> allowed_hosts = {};
  std::vector<std::uint16_t> ports = {};  // beside the scheme's default
  bool allow_private = false;             // FETCH10

  unsigned max_redirects = 3;
  std::size_t max_wire_bytes = std::size_t{20} * 1024 * 1024;
  std::size_t max_bytes = std::size_t{20} * 1024 * 1024;  // decompressed; of a file too
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // for all hops together
};

class FetchPolicy {
 public:
  FetchPolicy() = default;  // FETCH1

  // Fails with Invalid for an invalid host, or a root that is not absolute.
  static Result<FetchPolicy> of(FetchOptions options);

  // Null for a policy that fetches nothing. The hosts are as they stand in URLs: lower case, in ASCII.
  const FetchOptions* options() const { return options_.get(); }

 private:
  std::shared_ptr<const FetchOptions> options_;
};

// Why a URL is refused.
enum class UrlReason : std::uint8_t {
  None,         // It is accepted.
  Off,          // The policy fetches nothing.
  Malformed,    // An invalid URL.
  Scheme,       // The policy does not allow its scheme.
  Credentials,  // It contains a user name or a password.
  Name,         // An invalid name: empty labels, forbidden characters, too long.
  Local,        // A name of this machine or its network.
  Metadata,     // A metadata service.
  Address,      // An address that is not public.
  Port,         // Neither the scheme's default nor in the policy.
  Denied,       // The policy denies its host.
  NotListed,    // The policy allows other hosts only.
  Root,         // A file outside the root.
};

// "off", "malformed", "scheme", ...; "" for None.
std::string_view to_string(UrlReason reason);

struct UrlVerdict {
  UrlReason reason = UrlReason::None;
  std::string sentence;  // Lower case, one sentence; empty if the URL is good.

  bool allowed() const { return reason == UrlReason::None; }
};

// Checks a URL without looking up a name. An allowed host may still have addresses that are refused.
UrlVerdict check_url(std::string_view url, const FetchPolicy& policy);
UrlVerdict check_url(const Url& url, const FetchPolicy& policy);

// Checks an address of a name, or in a URL.
UrlVerdict check_address(const IpAddress& address, const FetchPolicy& policy);

// The special range of an address that is not public ("loopback", "private use", ...), or "". By IANA's
// registries of special-purpose addresses; an IPv4 address inside an IPv6 address (::ffff:0:0/96) is checked
// itself.
std::string_view special_range(const IpAddress& address);

struct FetchTools {
  net::Resolver* resolver = nullptr;                                            // null: the system's
  std::function<Result<net::Response>(const net::Request& request)> send = {};  // empty: net::send
  std::stop_token stop = {};
};

struct Fetched {
  Url url;  // after redirects
  std::string bytes;
  std::string_view media_type;  // by the bytes; static
  std::string declared;         // the server's Content-Type; empty for files or if absent
  unsigned redirects = 0;

  bool is_corrected() const { return !declared.empty() && !is_shown_as(declared, media_type); }
};

// Fails with Invalid for a URL that is refused (check_url() says why) and for an error status, with NotFound,
// with LimitExceeded for bytes and hops, with Unsupported for other formats, with Timeout, Cancelled,
// Unavailable.
Result<Fetched> fetch(std::string_view url, const FetchPolicy& policy, const FetchTools& tools = {});

}  // namespace parley
