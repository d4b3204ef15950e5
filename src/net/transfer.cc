#include "net/transfer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "net/fields.h"
#include "net/traffic_log.h"
#include "parley/base/log.h"

namespace parley::net {
namespace {

// The name that pinned requests connect to. Its addresses are given to libcurl beforehand, and no name server
// knows a name under .invalid, so nothing in a URL decides what is looked up (HTTP1).
constexpr std::string_view kPinned = "pinned.invalid";

void append(List& list, const std::string& line) {
  curl_slist* longer = curl().slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)list.release();
  list.reset(longer);
}

// libcurl keeps copies of the header lines in a list; those that hold keys are overwritten before they are
// freed.
void wipe(curl_slist* list) {
  for (; list != nullptr; list = list->next) explicit_bzero(list->data, std::strlen(list->data));
}

// To libcurl 0 is no limit at all, and more than it can count is an error.
long milliseconds(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
  return static_cast<long>(std::clamp(time, std::chrono::milliseconds(1), kLongest).count());
}

Error made(Code code, std::string sentence) { return fail(code, std::move(sentence)).error(); }

constexpr std::size_t kLongestHost = 255;  // DNS names are not longer, and errors repeat the host

}  // namespace

Result<void> check(const Request& request) {
  if (request.url.scheme != "http" && request.url.scheme != "https") {
    return fail(Code::Invalid, "unsupported URL scheme '" + request.url.scheme + "': expected http or https");
  }
  if (request.url.host.size() > kLongestHost) {
    return fail(Code::Invalid, "the host of the request is longer than 255 bytes");
  }
  if (!is_token(request.method))
    return fail(Code::Invalid, "invalid HTTP method: expected a token such as GET");
  const auto is_good = [](std::string_view name, std::string_view value) {
    return is_token(name) && is_header_value(value);
  };
  const bool good =
      std::ranges::all_of(request.headers, [&](const Header& h) { return is_good(h.name, h.value); }) &&
      std::ranges::all_of(request.secret_headers, [&](const SecretHeader& h) {
        return is_good(h.name, h.prefix) && is_header_value(h.value.reveal());
      });
  constexpr std::array<std::string_view, 4> kProxies = {"http", "https", "socks5", "socks5h"};
  if (request.proxy && std::ranges::find(kProxies, request.proxy->scheme) == kProxies.end()) {
    return fail(Code::Invalid,
                "unsupported proxy scheme '" + request.proxy->scheme + "': expected http, https or socks5");
  }
  if (request.proxy && !request.addresses.empty()) {
    return fail(Code::Invalid, "a request to pinned addresses cannot go through a proxy");
  }
  if (!good)
    return fail(Code::Invalid, "invalid request header: the name or the value has a forbidden character");
  return {};
}

std::string connection_key(const Request& request) {
  std::string key = request.url.scheme + "://" + request.url.host + ':';
  key += std::to_string(request.url.effective_port()) + ' ' + request.ca_file;
  key += '\n' + (request.proxy ? request.proxy->href() : "");
  for (const IpAddress& address : request.addresses) key += '\n' + to_string(address);
  return key;
}

Transfer::Transfer(const Request& request, Options options, Deadline end)
    : request_(request), options_(std::move(options)), end_(end), easy_(curl().easy_init()) {
  if (!easy_) throw std::bad_alloc();
  set_up();
  log_request(request_, upload_.size());
}

Transfer::~Transfer() {
  easy_.reset();
  wipe(headers_.get());
}

void Transfer::fail_with(Error error) { stop_with(std::move(error)); }

void Transfer::fail_by_silence() {
  stop_with(made(Code::Timeout, has_heard_ ? request_.url.host + " stopped in the middle of its response"
                                           : request_.url.host + " did not start to respond in time"));
}

void Transfer::begin_silence_anew() {
  quiet_ = Deadline::in(has_heard_ ? request_.idle_timeout : request_.first_byte_timeout);
}

std::chrono::microseconds Transfer::time_of(CURLINFO what) const {
  curl_off_t time = 0;
  curl().easy_getinfo(easy_.get(), what, &time);
  return std::chrono::microseconds(time);
}

Result<Response> Transfer::finish(CURLcode status) {
  Result<Response> out = response_of(status);
  if (out) {
    log_end(request_, out->wire_bytes, time_of(CURLINFO_TOTAL_TIME_T));
  } else {
    log_failure(out.error(), time_of(CURLINFO_TOTAL_TIME_T));
  }
  return out;
}

Result<Response> Transfer::response_of(CURLcode status) {
  curl_off_t wire = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &wire);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (status == CURLE_OK) take_progress(0, wire);  // the last bytes may have come without a report
  if (error_) return std::unexpected(*std::move(error_));
  if (status != CURLE_OK) return std::unexpected(explain(status));
  if (!is_header_whole_) return std::unexpected(explain(CURLE_PARTIAL_FILE));
  response_.wire_bytes = static_cast<std::size_t>(wire);
  return std::move(response_);
}

// libcurl sends again by itself if it notices before it sends, or while it waits for a response, but not in
// the middle of a long body.
bool Transfer::is_stale(CURLcode status) const {
  const bool is_broken = status == CURLE_SEND_ERROR || status == CURLE_RECV_ERROR;
  long made_anew = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &made_anew);
  return is_broken && made_anew == 0 && !has_heard_;
}

template <typename Value>
void Transfer::set(CURLoption option, Value value) {
  const CURLcode status = curl().easy_setopt(easy_.get(), option, value);
  if (status == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status != CURLE_OK && !error_) {
    error_ = made(Code::Unavailable, "libcurl is too old: it lacks an option that is needed");
  }
}

void Transfer::set_up() {
  Url target = request_.url;
  target.username.clear();
  target.password.clear();
  target.fragment.reset();
  set(CURLOPT_URL, target.href().c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PROXY, request_.proxy ? request_.proxy->href().c_str() : "");  // not the environment's
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // what a proxy says of itself is no part of the response
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  if (!options_.keeps_connection) set(CURLOPT_FORBID_REUSE, 1L);
  if (options_.uses_new_connection) set(CURLOPT_FRESH_CONNECT, 1L);
  if (!request_.ca_file.empty()) set_trust();
  set_method();
  set_headers();
  if (!request_.addresses.empty()) set_addresses();
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  if (!options_.is_timed_by_curl) return;
  set(CURLOPT_TIMEOUT_MS, milliseconds(end_.left()));
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request_.connect_timeout));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  set(CURLOPT_XFERINFODATA, this);
}

void Transfer::set_trust() {
  for (const CURLoption option : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO}) {
    set(option, request_.ca_file.c_str());
  }
  for (const CURLoption option : {CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH}) {
    set(option, static_cast<const char*>(nullptr));
  }
}

void Transfer::set_method() {
  if (request_.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
    return;
  }
  if (upload_.size() > 0 || request_.method == "POST") {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(upload_.size()));
    set(CURLOPT_READFUNCTION, &Transfer::on_read);
    set(CURLOPT_READDATA, this);
    set(CURLOPT_SEEKFUNCTION, &Transfer::on_seek);
    set(CURLOPT_SEEKDATA, this);
  }
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void Transfer::set_headers() {
  append(headers_, "Expect:");        // no waiting for a 100
  append(headers_, "Content-Type:");  // none but the caller's
  const bool has_agent =
      std::ranges::any_of(request_.headers, [](const Header& h) { return same_name(h.name, "User-Agent"); });
  if (!has_agent) append(headers_, "User-Agent: parley");
  for (const Header& header : request_.headers) add_header(header.name, {}, header.value);
  for (const SecretHeader& header : request_.secret_headers) {
    add_header(header.name, header.prefix, header.value.reveal());
  }
  set(CURLOPT_HTTPHEADER, headers_.get());
}

// The value may be a key, so the line is built in one place, and wiped.
void Transfer::add_header(std::string_view name, std::string_view prefix, std::string_view value) {
  std::string line;
  line.reserve(name.size() + prefix.size() + value.size() + 2);
  // libcurl drops a header "name:" without a value; with a semicolon it sends an empty one.
  line.append(name).append(prefix.empty() && value.empty() ? ";" : ": ").append(prefix).append(value);
  append(headers_, line);
  explicit_bzero(line.data(), line.size());
}

void Transfer::set_addresses() {
  const std::string port = std::to_string(request_.url.effective_port());
  append(connect_to_, "::" + std::string(kPinned) + ":" + port);
  std::string line = std::string(kPinned) + ":" + port + ":";
  for (std::size_t i = 0; i < request_.addresses.size(); ++i) {
    if (i > 0) line += ',';
    line += to_string(request_.addresses[i]);
  }
  append(resolve_, line);
  set(CURLOPT_CONNECT_TO, connect_to_.get());
  set(CURLOPT_RESOLVE, resolve_.get());
  // The last word before a connection is made: whatever libcurl thinks it connects to, it must be pinned.
  set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_open_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
}

bool Transfer::is_pinned(const sockaddr& address) const {
  IpAddress peer;
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    peer = IpAddress::v4(ntohl(v4.sin_addr.s_addr));
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    peer.is_v6 = true;
    std::memcpy(peer.bytes.data(), &v6.sin6_addr, peer.bytes.size());
  } else {
    return false;
  }
  return std::ranges::find(request_.addresses, peer) != request_.addresses.end();
}

curl_socket_t Transfer::on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) {
  const auto* transfer = static_cast<Transfer*>(self);
  if (purpose != CURLSOCKTYPE_IPCXN || !transfer->is_pinned(address->addr)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Nothing may be thrown through libcurl, which is C: what is thrown is kept for run().
template <typename Take>
bool Transfer::guarded(Take take) {
  try {
    return take(*this);
  } catch (...) {
    thrown_ = std::current_exception();
    return false;
  }
}

std::size_t Transfer::on_read(char* to, std::size_t, std::size_t size, void* self) {
  return static_cast<Transfer*>(self)->upload_.read(to, size);
}
// libcurl begins anew on another connection (HTTP11); anything else would be a surprise to it, too.
int Transfer::on_seek(void* self, curl_off_t offset, int origin) {
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Transfer*>(self)->upload_.rewind();
  return CURL_SEEKFUNC_OK;
}
std::size_t Transfer::on_header(char* data, std::size_t, std::size_t size, void* self) {
  return static_cast<Transfer*>(self)->guarded([&](Transfer& t) { return t.take_header({data, size}); })
             ? size
             : 0;
}
std::size_t Transfer::on_body(char* data, std::size_t, std::size_t size, void* self) {
  return static_cast<Transfer*>(self)->guarded([&](Transfer& t) { return t.take_body({data, size}); })
             ? size
             : CURL_WRITEFUNC_ERROR;
}
int Transfer::on_progress(void* self, curl_off_t expected, curl_off_t taken, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(self)->guarded([&](Transfer& t) { return t.take_progress(expected, taken); })
             ? 0
             : 1;
}

bool Transfer::stop_with(Error error) {
  if (!error_) error_ = std::move(error);
  return false;
}
bool Transfer::over_limit(std::string_view what, std::size_t limit) {
  return stop_with(
      made(Code::LimitExceeded, std::string(what) + " is larger than " + std::to_string(limit) + " bytes"));
}

// Something came: the time without anything starts anew.
void Transfer::hear() {
  quiet_ = Deadline::in(request_.idle_timeout);
  if (!std::exchange(has_heard_, true) && options_.on_first_byte) options_.on_first_byte();
}

bool Transfer::take_header(std::string_view line) {
  if (has_failed()) return false;  // cancelled by a callback
  hear();
  header_bytes_ += line.size();
  if (header_bytes_ > request_.max_header_bytes) {
    return over_limit("the response header", request_.max_header_bytes);
  }
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    response_.headers.clear();
    is_header_whole_ = false;
    return true;
  }
  // libcurl takes a header that is cut off for one that ends.
  if (line.empty()) return end_header();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  std::string_view value = line.substr(colon + 1);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  response_.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return true;
}

// Of an interim response (100, 103), of the final one, or of the trailers after its body.
bool Transfer::end_header() {
  is_header_whole_ = true;
  long status = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || response_.status != 0) return true;
  response_.status = static_cast<int>(status);
  if (is_logging()) {
    long made_anew = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &made_anew);
    const auto connect = std::max(time_of(CURLINFO_CONNECT_TIME_T), time_of(CURLINFO_APPCONNECT_TIME_T));
    log_start(request_, response_.status, made_anew == 0 ? std::nullopt : std::optional(connect),
              time_of(CURLINFO_STARTTRANSFER_TIME_T));
  }
  if (!request_.on_start) return true;
  Result<void> taken = request_.on_start(response_.status, response_.headers);
  hear();
  return taken ? true : stop_with(std::move(taken).error());
}

bool Transfer::take_body(std::string_view chunk) {
  if (has_failed()) return false;
  hear();
  if (chunk.size() > request_.max_bytes - body_bytes_) {
    return over_limit("the response body", request_.max_bytes);
  }
  body_bytes_ += chunk.size();
  if (!options_.is_timed_by_curl && !check_wire_bytes()) return false;
  if (!request_.on_body) {
    response_.body += chunk;
    return true;
  }
  Result<void> taken = request_.on_body(chunk);
  hear();
  return taken ? true : stop_with(std::move(taken).error());
}

bool Transfer::check_wire_bytes() {
  curl_off_t expected = 0;
  curl_off_t taken = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
  curl().easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &taken);
  return take_progress(expected, taken);
}

bool Transfer::take_progress(curl_off_t expected, curl_off_t taken) {
  if (taken != taken_) hear();
  taken_ = taken;
  const auto limit = request_.max_wire_bytes;
  const bool is_over = (expected > 0 && static_cast<std::uint64_t>(expected) > limit) ||
                       (taken > 0 && static_cast<std::uint64_t>(taken) > limit);
  return is_over ? over_limit("the response body before decompression", limit) : true;
}

// A proxy that refused a tunnel. A 4xx status is final: trying again does not help.
std::optional<Error> Transfer::proxy_refusal() const {
  long said = 0;
  curl().easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &said);
  if (said < 300) return std::nullopt;
  return made(said >= 400 && said < 500 ? Code::Invalid : Code::Unavailable,
              "the proxy refuses to connect to " + request_.url.host + ": status " + std::to_string(said));
}

// What libcurl says in its own words may hold the URL, so only its codes are used.
Error Transfer::explain(CURLcode status) const {
  const std::string host = request_.url.host;
  if (auto refusal = proxy_refusal()) return *std::move(refusal);
  switch (status) {
    case CURLE_OPERATION_TIMEDOUT:
      return made(Code::Timeout, "the response of " + host + " was not complete at its deadline");
    case CURLE_COULDNT_RESOLVE_HOST:
      return made(Code::Unavailable, "cannot resolve the host " + host);
    case CURLE_COULDNT_CONNECT:
      return made(Code::Unavailable, "cannot connect to " + (request_.proxy ? "the proxy" : host));
    case CURLE_COULDNT_RESOLVE_PROXY:
      return made(Code::Unavailable, "cannot resolve the proxy");
    case CURLE_PROXY:
      return made(Code::Unavailable, "the proxy cannot connect to " + host);
    case CURLE_PEER_FAILED_VERIFICATION:
      return made(Code::Unavailable, "the certificate of " + host + " is not trusted");
    case CURLE_SSL_CACERT_BADFILE:
      return made(Code::Invalid, "cannot read the file of trusted certificates");
    case CURLE_SSL_CONNECT_ERROR:
      return made(Code::Unavailable, "cannot make a TLS connection to " + host);
    case CURLE_UNSUPPORTED_PROTOCOL:  // what has no status line would be HTTP/0.9
    case CURLE_WEIRD_SERVER_REPLY:
      return made(Code::Unavailable, "the response of " + host + " is not HTTP");
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return made(Code::Unavailable, "the response of " + host + " ended early");
    case CURLE_BAD_CONTENT_ENCODING:
      return made(Code::Unavailable, "the response of " + host + " does not match its Content-Encoding");
    default:
      return made(Code::Unavailable, "the request to " + host + " failed: " + curl().easy_strerror(status));
  }
}

}  // namespace parley::net
