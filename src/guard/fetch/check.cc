// What can be said of a URL without looking up a name.
#include <algorithm>

#include "guard/fetch/fetch.h"
#include "parley/base/text.h"

namespace parley {
namespace {

UrlVerdict refuse(UrlReason reason, std::string sentence) { return {reason, std::move(sentence)}; }

// The services that give credentials to any process on a cloud machine, by name.
constexpr std::string_view kMetadataNames[] = {
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "rancher-metadata",
};

// Names that are never for the public: RFC 6761, 6762, 8375, the private top level of ICANN, and what routers
// and companies use although it was never assigned.
constexpr std::string_view kLocalEndings[] = {
    ".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".intranet",
    ".private",   ".corp",  ".home",     ".lan",         ".onion",
};
constexpr std::string_view kLocalNames[] = {"localhost", "home.arpa"};

bool is_label(std::string_view label) {
  constexpr std::size_t kLongest = 63;
  return !label.empty() && label.size() <= kLongest && std::ranges::all_of(label, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

bool is_name(std::string_view name) {
  constexpr std::size_t kLongest = 253;
  if (name.size() > kLongest) return false;
  for (;;) {
    const std::size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

// A name that ends with a dot is the same name.
std::string_view without_dot(std::string_view name) {
  return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
}

bool is_listed(std::string_view host, const std::vector<std::string>& list) {
  return std::ranges::any_of(list, [&](std::string_view entry) {
    return entry.starts_with('.') ? host.size() > entry.size() && host.ends_with(entry) : host == entry;
  });
}

UrlVerdict check_name(std::string_view name, const FetchOptions& options) {
  if (!is_name(name)) return refuse(UrlReason::Name, "the host of the URL is not a valid name");
  if (std::ranges::find(kMetadataNames, name) != std::end(kMetadataNames)) {
    return refuse(UrlReason::Metadata, "the host of the URL is a metadata service");
  }
  const bool is_local =
      name.find('.') == std::string_view::npos ||
      std::ranges::find(kLocalNames, name) != std::end(kLocalNames) ||
      std::ranges::any_of(kLocalEndings, [&](std::string_view e) { return name.ends_with(e); });
  if (is_local && !options.allow_private) {
    return refuse(UrlReason::Local, "the host of the URL is a local name");
  }
  return {};
}

UrlVerdict check_lists(std::string_view host, const FetchOptions& options) {
  if (is_listed(host, options.denied_hosts)) {
    return refuse(UrlReason::Denied, "the fetch policy denies the host of the URL");
  }
  if (!options.allowed_hosts.empty() && !is_listed(host, options.allowed_hosts)) {
    return refuse(UrlReason::NotListed, "the host of the URL is not one that the fetch policy allows");
  }
  return {};
}

UrlVerdict check_scheme(const Url& url, const FetchOptions& options) {
  const bool allowed = (url.scheme == "https" && options.allow_https) ||
                       (url.scheme == "http" && options.allow_http) ||
                       (url.scheme == "file" && !options.root.empty());
  if (allowed) return {};
  if (url.scheme == "data") {
    return refuse(UrlReason::Scheme, "a data URL contains its bytes: it cannot be fetched");
  }
  return refuse(UrlReason::Scheme, "the fetch policy does not allow the scheme of the URL");
}

UrlVerdict check_file(const Url& url, const FetchOptions& options) {
  if (url.host_kind != HostKind::Empty || !path_beneath(url, options.root)) {
    return refuse(UrlReason::Root, "the file is outside the root of the fetch policy");
  }
  return {};
}

Result<std::string> host_entry(const std::string& entry) {
  const bool is_ending = entry.starts_with('.');
  const bool has_port =
      entry.find(':') != std::string::npos && !(entry.starts_with('[') && entry.ends_with(']'));
  const Result<Url> url = parse_url("http://" + entry.substr(is_ending ? 1 : 0) + "/");
  const bool is_host = url && url->path == "/" && !has_port && !url->query && !url->fragment &&
                       !url->has_credentials() && !(is_ending && url->address);
  if (!is_host) {
    // What may hold credentials or a path is not repeated (FETCH12).
    const bool is_shown = entry.find_first_of("@/?#\\") == std::string::npos && is_utf8(entry);
    return fail(Code::Invalid, "invalid host" + (is_shown ? " '" + entry + "'" : std::string()) +
                                   " in fetch policy: expected a DNS name or an IP address");
  }
  return (is_ending ? "." : "") + std::string(without_dot(url->host));
}

}  // namespace

std::string_view to_string(UrlReason reason) {
  switch (reason) {
    case UrlReason::None:
      return "";
    case UrlReason::Off:
      return "off";
    case UrlReason::Malformed:
      return "malformed";
    case UrlReason::Scheme:
      return "scheme";
    case UrlReason::Credentials:
      return "credentials";
    case UrlReason::Name:
      return "name";
    case UrlReason::Local:
      return "local";
    case UrlReason::Metadata:
      return "metadata";
    case UrlReason::Address:
      return "address";
    case UrlReason::Port:
      return "port";
    case UrlReason::Denied:
      return "denied";
    case UrlReason::NotListed:
      return "not_listed";
    case UrlReason::Root:
      return "root";
  }
  return "";
}

Result<FetchPolicy> FetchPolicy::of(FetchOptions options) {
  for (std::vector<std::string>* list : {&options.denied_hosts, &options.allowed_hosts}) {
    for (std::string& entry : *list) {
      PARLEY_TRY(entry, host_entry(entry));
    }
  }
  if (!options.root.empty()) {
    const bool is_plain =
        options.root.starts_with('/') && (options.root + '/').find("/../") == std::string::npos &&
        (options.root + '/').find("/./") == std::string::npos &&
        options.root.find("//") == std::string::npos && options.root.find('\0') == std::string::npos;
    if (!is_plain)
      return fail(Code::Invalid, "invalid root in fetch policy: expected an absolute path without . and ..");
    if (options.root.size() > 1 && options.root.ends_with('/')) options.root.pop_back();
  }
  FetchPolicy policy;
  policy.options_ = std::make_shared<const FetchOptions>(std::move(options));
  return policy;
}

UrlVerdict check_url(std::string_view url, const FetchPolicy& policy) {
  if (policy.options() == nullptr)
    return refuse(UrlReason::Off, "fetching is off: no fetch policy allows it");
  const Result<Url> parsed = parse_url(url);
  return parsed ? check_url(*parsed, policy) : refuse(UrlReason::Malformed, parsed.error().message);
}

UrlVerdict check_url(const Url& url, const FetchPolicy& policy) {
  const FetchOptions* options = policy.options();
  if (options == nullptr) return refuse(UrlReason::Off, "fetching is off: no fetch policy allows it");
  if (UrlVerdict verdict = check_scheme(url, *options); !verdict.allowed()) return verdict;
  if (url.scheme == "file") return check_file(url, *options);
  if (url.has_credentials())
    return refuse(UrlReason::Credentials, "the URL contains a user name or a password");
  const std::string_view host = without_dot(url.host);
  UrlVerdict verdict = url.address ? check_address(*url.address, policy) : check_name(host, *options);
  if (!verdict.allowed()) return verdict;
  if (url.port && std::ranges::find(options->ports, *url.port) == options->ports.end()) {
    return refuse(UrlReason::Port,
                  "the fetch policy does not allow port " + std::to_string(*url.port) + " of the URL");
  }
  return check_lists(host, *options);
}

UrlVerdict check_address(const IpAddress& address, const FetchPolicy& policy) {
  const FetchOptions* options = policy.options();
  if (options == nullptr) return refuse(UrlReason::Off, "fetching is off: no fetch policy allows it");
  const IpAddress inner = unmapped(address);
  const std::string text = to_string(inner);
  if (is_listed(inner.is_v6 ? '[' + text + ']' : text, options->denied_hosts)) {
    return refuse(UrlReason::Denied, "the fetch policy denies the address of the host");
  }
  if (is_metadata_service(inner)) {
    return refuse(UrlReason::Metadata, "the address belongs to a metadata service");
  }
  const auto range = range_of(address);
  if (!range || (range->is_private && options->allow_private)) return {};
  return refuse(UrlReason::Address, "the address is not public (" + std::string(range->name) + ")");
}

}  // namespace parley
