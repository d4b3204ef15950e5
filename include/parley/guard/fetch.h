// Fetching media that a conversation names by URL, by a policy. Whoever writes a URL into a conversation must
// not be able to make this machine ask its own network for something, read its files, or wait for ever.
//
// Invariants (quoted by tests as U1..U12):
//   U1   A policy that was only default-constructed fetches nothing and reads nothing.
//   U2   A URL is read once, by the rules of browsers (base/url.h), and what was read is what is used.
//   U3   A literal address of a range that is not for the public, however it is spelled, is refused without
//        a look-up; so are names of the machine and its network, and the names of metadata services.
//   U4   A name is looked up once a hop. If one of its addresses is refused, so is the name.
//   U5   The connection goes to one of the addresses that were checked, whatever a later look-up would say.
//   U6   Every redirect is checked like the first URL: scheme, credentials, host, port, addresses. There are
//        at most max_redirects, and none from https to http or to another scheme.
//   U7   Credentials in a URL are refused, and none are sent.
//   U8   Bytes are limited on the wire and after decompression, time by one deadline for all hops; but a
//        look-up of the system's resolver has limits of its own (resolv.conf).
//   U9   What comes out is an image, a sound or a film by its bytes; a label that differs is reported.
//   U10  allow_private opens private and loopback addresses and local names, and nothing else: not link-local
//        addresses, not metadata services, not multicast.
//   U11  file: reads regular files beneath the root and nothing else, whatever the path or its links say.
//   U12  No error repeats a path, a query or credentials.
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
#include "parley/base/ip_address.h"
#include "parley/base/url.h"
#include "parley/media/media_type.h"
#include "parley/net/http.h"
#include "parley/net/resolver.h"

namespace parley {

struct FetchOptions {
  bool allow_https = true;
  bool allow_http = false;
  std::string root = {};  // the folder that file: may read beneath; empty: file: is off

  // "example.com" is that host, ".example.com" every name below it; addresses as in a URL. Empty: every host
  // that is not denied. The first list wins over the second.
  std::vector<std::string> denied_hosts = {};
  std::vector<std::string> allowed_hosts = {};
  std::vector<std::uint16_t> ports = {};  // beside the scheme's own
  bool allow_private = false;             // U10

  unsigned max_redirects = 3;
  std::size_t max_wire_bytes = std::size_t{20} * 1024 * 1024;
  std::size_t max_bytes = std::size_t{20} * 1024 * 1024;  // decompressed; of a file too
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // for all hops together
};

class FetchPolicy {
 public:
  FetchPolicy() = default;  // U1

  // Fails with Invalid for a host that is none, or a root that is not absolute.
  static Result<FetchPolicy> of(FetchOptions options);

  // Null for a policy that fetches nothing. The hosts are as they stand in URLs: lower case, in ASCII.
  const FetchOptions* options() const { return options_.get(); }

 private:
  std::shared_ptr<const FetchOptions> options_;
};

// Why a URL is refused.
enum class UrlReason : std::uint8_t {
  None,         // It is not.
  Off,          // The policy fetches nothing.
  Malformed,    // It is no URL.
  Scheme,       // Not one that the policy allows.
  Credentials,  // A user or a password in it.
  Name,         // No name that can be looked up: empty labels, odd characters, too long.
  Local,        // A name of this machine or its network.
  Metadata,     // A metadata service.
  Address,      // An address that is not for the public.
  Port,         // Not the scheme's own, and not listed.
  Denied,       // The policy names its host.
  NotListed,    // The policy names other hosts.
  Root,         // A file that is not beneath the root.
};

// "off", "malformed", "scheme", ...; "" for None.
std::string_view to_string(UrlReason reason);

struct UrlVerdict {
  UrlReason reason = UrlReason::None;
  std::string sentence;  // Lower case, one sentence; empty if the URL is good.

  bool allowed() const { return reason == UrlReason::None; }
};

// What can be said without looking up a name. An allowed host may still have addresses that are refused.
UrlVerdict check_url(std::string_view url, const FetchPolicy& policy);
UrlVerdict check_url(const Url& url, const FetchPolicy& policy);

// Judges an address that a name has, or that stands in a URL.
UrlVerdict check_address(const IpAddress& address, const FetchPolicy& policy);

// The name of the range that keeps an address from the public ("loopback", "private use", ...), or "" if none
// does. By the registries of IANA for special purposes; an address inside an IPv6 address (::ffff:0:0/96) is
// judged itself.
std::string_view special_range(const IpAddress& address);

struct FetchTools {
  net::Resolver* resolver = nullptr;                                            // null: the system's
  std::function<Result<net::Response>(const net::Request& request)> send = {};  // empty: net::send
  std::stop_token stop = {};
};

struct Fetched {
  Url url;  // where it was in the end
  std::string bytes;
  std::string_view media_type;  // by the bytes; static
  std::string declared;         // what the server said; empty for files and where it said nothing
  unsigned redirects = 0;

  bool is_corrected() const { return !declared.empty() && !is_shown_as(declared, media_type); }
};

// Fails with Invalid for a URL that is refused (check_url() says why) and for a status that is no answer,
// with NotFound, with LimitExceeded for bytes and hops, with Unsupported for what is no media, with Timeout,
// Cancelled, Unavailable.
Result<Fetched> fetch(std::string_view url, const FetchPolicy& policy, const FetchTools& tools = {});

}  // namespace parley
