#include "guard/fetch/fetch.h"

#include <algorithm>

#include "media/mime_type.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using Clock = std::chrono::steady_clock;

// No sum with the time of day may overflow.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);

std::unexpected<Error> refused(const UrlVerdict& verdict) { return fail(Code::Invalid, verdict.sentence); }

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Result<void> check_status(int status) {
  if (status == 200) return {};
  const std::string sentence = "the host responded with status " + std::to_string(status);
  if (status == 404 || status == 410) return fail(Code::NotFound, sentence);
  const bool may_pass = status >= 500 || status == 408 || status == 425 || status == 429;
  return fail(may_pass ? Code::Unavailable : Code::Invalid, sentence);
}

Result<Fetched> judged(Fetched out, std::string bytes) {
  out.media_type = sniff_media_type(bytes);
  if (!media::is_media(out.media_type)) {
    return fail(Code::Unsupported, "the URL does not lead to an image, audio or video of a known format");
  }
  out.bytes = std::move(bytes);
  return out;
}

class Fetch {
 public:
  Fetch(const FetchPolicy& policy, const FetchTools& tools)
      : policy_(policy),
        options_(*policy.options()),
        tools_(tools),
        deadline_(Clock::now() + std::min(options_.timeout, kLongest)) {}

  Result<Fetched> run(Url url) {
    for (unsigned redirects = 0;; ++redirects) {
      PARLEY_TRY(net::Response response, get(url));
      if (!is_redirect(response.status)) return finished(std::move(url), std::move(response), redirects);
      if (redirects == options_.max_redirects) {
        return fail(Code::LimitExceeded,
                    "the URL redirects more than " + std::to_string(options_.max_redirects) + " times");
      }
      PARLEY_TRY(url, next(url, response));
    }
  }

 private:
  // One hop. The URL has been checked; its addresses are checked here.
  Result<net::Response> get(const Url& url) {
    net::Request request;
    PARLEY_TRY(request.addresses, addresses_of(url));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (left.count() <= 0) return fail(Code::Timeout, "the URL was not fetched before its deadline");
    request.url = url;
    request.headers = {{"Accept", "image/*, audio/*, video/*"}};
    request.timeout = left;
    request.connect_timeout = std::min(options_.connect_timeout, left);
    request.max_wire_bytes = options_.max_wire_bytes;
    request.max_bytes = options_.max_bytes;
    request.stop = tools_.stop;
    return tools_.send ? tools_.send(request) : net::send(request);
  }

  Result<std::vector<IpAddress>> addresses_of(const Url& url) {
    if (url.address) return std::vector{*url.address};  // checked with the URL
    net::Resolver& resolver = tools_.resolver != nullptr ? *tools_.resolver : net::system_resolver();
    PARLEY_TRY(std::vector<IpAddress> addresses, resolver.resolve(url.host));
    // An empty list would leave the look-up to the client.
    if (addresses.empty()) return fail(Code::NotFound, "the host of the URL has no address");
    for (const IpAddress& address : addresses) {
      if (const UrlVerdict verdict = check_address(address, policy_); !verdict.allowed())
        return refused(verdict);
    }
    return addresses;
  }

  // The target of a redirect, checked.
  Result<Url> next(const Url& from, const net::Response& response) {
    const auto location = response.header("Location");
    if (!location) return fail(Code::Invalid, "the URL redirects without a Location");
    PARLEY_TRY(Url to, resolve_url(*location, from));
    to.fragment.reset();
    if (to.scheme != "https" && to.scheme != "http") {
      return fail(Code::Invalid, "the URL redirects to a scheme other than https and http");
    }
    if (from.scheme == "https" && to.scheme != "https") {
      return fail(Code::Invalid, "the URL redirects from https to http");
    }
    if (const UrlVerdict verdict = check_url(to, policy_); !verdict.allowed()) return refused(verdict);
    return to;
  }

  static Result<Fetched> finished(Url url, net::Response response, unsigned redirects) {
    PARLEY_CHECK(check_status(response.status));
    Fetched out;
    if (const auto header = response.header("Content-Type")) {
      const auto type = media::parse_mime_type(*header);
      out.declared = type ? canonical_media_type(type->essence) : "application/octet-stream";
    }
    out.url = std::move(url);
    out.redirects = redirects;
    return judged(std::move(out), std::move(response.body));
  }

  const FetchPolicy& policy_;
  const FetchOptions& options_;
  const FetchTools& tools_;
  Clock::time_point deadline_;
};

}  // namespace

Result<Fetched> fetch(std::string_view text, const FetchPolicy& policy, const FetchTools& tools) {
  if (policy.options() == nullptr) return fail(Code::Invalid, "fetching is off: no fetch policy allows it");
  PARLEY_TRY(Url url, parse_url(text));
  if (const UrlVerdict verdict = check_url(url, policy); !verdict.allowed()) return refused(verdict);
  url.fragment.reset();
  if (url.scheme != "file") return Fetch(policy, tools).run(std::move(url));
  const FetchOptions& options = *policy.options();
  PARLEY_TRY(std::string bytes,
             read_beneath(options.root, path_beneath(url, options.root).value_or(""), options.max_bytes));
  Fetched out;
  out.url = std::move(url);
  return judged(std::move(out), std::move(bytes));
}

}  // namespace parley
