#include "parley/net/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <new>

#include "net/curl.h"
#include "net/fields.h"
#include "net/read_coalescer.h"
#include "net/traffic_log.h"
#include "net/upload.h"
#include "parley/base/clock.h"
#include "parley/base/log.h"

namespace parley::net {
namespace {

// The name that pinned requests connect to. Its addresses are given to libcurl beforehand, and no name server
// knows a name under .invalid, so nothing in a URL decides what is looked up (HTTP1).
constexpr std::string_view kPinned = "pinned.invalid";

struct EasyDeleter {
  void operator()(CURL* easy) const { curl().easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

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

// What two requests must have in common to use one connection (HTTP11).
std::string key_of(const Request& request) {
  std::string key = request.url.scheme + "://" + request.url.host + ':';
  key += std::to_string(request.url.effective_port()) + ' ' + request.ca_file;
  key += '\n' + (request.proxy ? request.proxy->href() : "");
  for (const IpAddress& address : request.addresses) key += '\n' + to_string(address);
  return key;
}

}  // namespace

// A connection is kept by a multi handle, which one transfer has at a time.
struct Connections::Pool {
  struct Idle {
    std::string key;
    Multi multi;
  };
  explicit Pool(std::size_t limit) : limit_(limit) {}

  // The one used last, or nothing.
  Multi take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, key, &Idle::key);
    if (found == idle_.end()) return nullptr;
    Multi multi = std::move(found->multi);
    idle_.erase(found);
    return multi;
  }
  void give(std::string key, Multi multi) {
    Multi oldest;  // closed without the lock
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) return;
    idle_.emplace_front(std::move(key), std::move(multi));
    if (idle_.size() <= limit_) return;
    oldest = std::move(idle_.back().multi);
    idle_.pop_back();
  }

 private:
  std::size_t limit_;
  std::mutex mutex_;
  std::list<Idle> idle_;  // the one used last comes first
};

Connections::Connections(std::size_t idle) : pool_(std::make_unique<Pool>(idle)) {}
Connections::~Connections() = default;

// One request on its way. libcurl holds a pointer to it while it runs.
class Transfer {
 public:
  // Which connection to begin with: one that was kept, if there is one, or a new one.
  enum class With : std::uint8_t { AnyConnection, NewConnection };

  Transfer(const Request& request, Connections* connections, With with, Deadline end)
      : request_(request),
        pool_(connections == nullptr ? nullptr : connections->pool_.get()),
        end_(end),
        easy_(curl().easy_init()),
        multi_(pool_ != nullptr && with == With::AnyConnection ? pool_->take(key_of(request)) : nullptr) {
    if (!multi_) multi_.reset(curl().multi_init());
    if (!easy_ || !multi_) throw std::bad_alloc();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    easy_.reset();
    wipe(headers_.get());
  }

  Result<Response> run() {
    log_request(request_, upload_.size());
    Result<Response> out = perform();
    if (out) {
      log_end(request_, out->wire_bytes, total_);
    } else {
      log_failure(out.error(), total_);
    }
    return out;
  }

  // Whether it failed because a connection that was kept is one no longer: nothing of a response came
  // (HTTP11).
  bool is_stale() const { return is_stale_; }

 private:
  Result<Response> perform() {
    set_up();
    curl().multi_add_handle(multi_.get(), easy_.get());
    const CURLcode status = wait();
    curl_off_t wire = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &wire);
    total_ = time_of(CURLINFO_TOTAL_TIME_T);
    curl().multi_remove_handle(multi_.get(), easy_.get());
    is_stale_ = is_stale(status);
    if (thrown_) std::rethrow_exception(thrown_);
    if (status == CURLE_OK) take_progress(0, wire);  // the last bytes may have come without a report
    if (error_) return std::unexpected(*std::move(error_));
    if (status != CURLE_OK) return std::unexpected(explain(status));
    if (!is_header_whole_) return std::unexpected(explain(CURLE_PARTIAL_FILE));
    response_.wire_bytes = static_cast<std::size_t>(wire);
    if (pool_ != nullptr) pool_->give(key_of(request_), std::move(multi_));
    return std::move(response_);
  }

  std::chrono::microseconds time_of(CURLINFO what) const {
    curl_off_t time = 0;
    curl().easy_getinfo(easy_.get(), what, &time);
    return std::chrono::microseconds(time);
  }

  // libcurl sends again by itself if it notices before it sends, or while it waits for a response, but not in
  // the middle of a long body.
  bool is_stale(CURLcode status) const {
    const bool is_broken = status == CURLE_SEND_ERROR || status == CURLE_RECV_ERROR;
    long made = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &made);
    return is_broken && made == 0 && !has_heard_;
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode status = curl().easy_setopt(easy_.get(), option, value);
    if (status == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != CURLE_OK && !error_) {
      error_ = made(Code::Unavailable, "libcurl is too old: it lacks an option that is needed");
    }
  }

  void set_up() {
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
    set(CURLOPT_TIMEOUT_MS, milliseconds(end_.left()));
    set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request_.connect_timeout));
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    if (pool_ == nullptr) set(CURLOPT_FORBID_REUSE, 1L);
    if (!request_.ca_file.empty()) set_trust();
    set_method();
    set_headers();
    if (!request_.addresses.empty()) set_addresses();
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
  }

  void set_trust() {
    for (const CURLoption option : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO}) {
      set(option, request_.ca_file.c_str());
    }
    for (const CURLoption option : {CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH}) {
      set(option, static_cast<const char*>(nullptr));
    }
  }

  void set_method() {
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

  void set_headers() {
    append(headers_, "Expect:");        // no waiting for a 100
    append(headers_, "Content-Type:");  // none but the caller's
    const bool has_agent = std::ranges::any_of(
        request_.headers, [](const Header& h) { return same_name(h.name, "User-Agent"); });
    if (!has_agent) append(headers_, "User-Agent: parley");
    for (const Header& header : request_.headers) add_header(header.name, {}, header.value);
    for (const SecretHeader& header : request_.secret_headers) {
      add_header(header.name, header.prefix, header.value.reveal());
    }
    set(CURLOPT_HTTPHEADER, headers_.get());
  }

  // The value may be a key, so the line is built in one place, and wiped.
  void add_header(std::string_view name, std::string_view prefix, std::string_view value) {
    std::string line;
    line.reserve(name.size() + prefix.size() + value.size() + 2);
    // libcurl drops a header "name:" without a value; with a semicolon it sends an empty one.
    line.append(name).append(prefix.empty() && value.empty() ? ";" : ": ").append(prefix).append(value);
    append(headers_, line);
    explicit_bzero(line.data(), line.size());
  }

  void set_addresses() {
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

  CURLcode wait() {
    if (error_) return CURLE_ABORTED_BY_CALLBACK;
    // curl_multi_wakeup() is the one call that another thread may make.
    const std::stop_callback wake(request_.stop, [this] { curl().multi_wakeup(multi_.get()); });
    ReadCoalescer coalescer;
    std::chrono::steady_clock::duration waited{};
    for (;;) {
      if (request_.stop.stop_requested()) {
        error_ = made(Code::Cancelled, "the request was cancelled");
        return CURLE_ABORTED_BY_CALLBACK;
      }
      const std::size_t bytes_before = body_bytes_;
      int running = 0;
      if (curl().multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      coalescer.note(waited, body_bytes_ - bytes_before);
      int left = 0;
      while (const CURLMsg* message = curl().multi_info_read(multi_.get(), &left)) {
        if (message->msg == CURLMSG_DONE) return message->data.result;
      }
      if (running == 0) return CURLE_FAILED_INIT;
      const std::chrono::milliseconds quiet = quiet_.left();
      if (quiet.count() == 0) {
        error_ = made(Code::Timeout, has_heard_ ? request_.url.host + " stopped in the middle of its response"
                                                : request_.url.host + " did not start to respond in time");
        return CURLE_ABORTED_BY_CALLBACK;
      }
      constexpr std::chrono::milliseconds kLongestWait{1000};  // libcurl shortens it to its own next deadline
      const int time = static_cast<int>(std::min(quiet, kLongestWait).count());
      coalescer.pause();
      const auto began = std::chrono::steady_clock::now();
      if (curl().multi_poll(multi_.get(), nullptr, 0, time, nullptr) != CURLM_OK) return CURLE_FAILED_INIT;
      waited = std::chrono::steady_clock::now() - began;
    }
  }

  bool is_pinned(const sockaddr& address) const {
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

  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) {
    const auto* transfer = static_cast<Transfer*>(self);
    if (purpose != CURLSOCKTYPE_IPCXN || !transfer->is_pinned(address->addr)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  // Nothing may be thrown through libcurl, which is C: what is thrown is kept for run().
  template <typename Take>
  bool guarded(Take take) {
    try {
      return take(*this);
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
  }

  static std::size_t on_read(char* to, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->upload_.read(to, size);
  }
  // libcurl begins anew on another connection (HTTP11); anything else would be a surprise to it, too.
  static int on_seek(void* self, curl_off_t offset, int origin) {
    if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
    static_cast<Transfer*>(self)->upload_.rewind();
    return CURL_SEEKFUNC_OK;
  }
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->guarded([&](Transfer& t) { return t.take_header({data, size}); })
               ? size
               : 0;
  }
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Transfer*>(self)->guarded([&](Transfer& t) { return t.take_body({data, size}); })
               ? size
               : CURL_WRITEFUNC_ERROR;
  }
  static int on_progress(void* self, curl_off_t expected, curl_off_t taken, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(self)->guarded(
               [&](Transfer& t) { return t.take_progress(expected, taken); })
               ? 0
               : 1;
  }

  bool stop_with(Error error) {
    if (!error_) error_ = std::move(error);
    return false;
  }
  bool over_limit(std::string_view what, std::size_t limit) {
    return stop_with(
        made(Code::LimitExceeded, std::string(what) + " is larger than " + std::to_string(limit) + " bytes"));
  }

  // Something came: the time without anything starts anew.
  void hear() {
    has_heard_ = true;
    quiet_ = Deadline::in(request_.idle_timeout);
  }

  bool take_header(std::string_view line) {
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
  bool end_header() {
    is_header_whole_ = true;
    long status = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || response_.status != 0) return true;
    response_.status = static_cast<int>(status);
    if (is_logging()) {
      long made = 0;
      curl().easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &made);
      const auto connect = std::max(time_of(CURLINFO_CONNECT_TIME_T), time_of(CURLINFO_APPCONNECT_TIME_T));
      log_start(request_, response_.status, made == 0 ? std::nullopt : std::optional(connect),
                time_of(CURLINFO_STARTTRANSFER_TIME_T));
    }
    if (!request_.on_start) return true;
    Result<void> taken = request_.on_start(response_.status, response_.headers);
    hear();
    return taken ? true : stop_with(std::move(taken).error());
  }

  bool take_body(std::string_view chunk) {
    if (chunk.size() > request_.max_bytes - body_bytes_) {
      return over_limit("the response body", request_.max_bytes);
    }
    body_bytes_ += chunk.size();
    if (!request_.on_body) {
      response_.body += chunk;
      return true;
    }
    Result<void> taken = request_.on_body(chunk);
    hear();
    return taken ? true : stop_with(std::move(taken).error());
  }

  bool take_progress(curl_off_t expected, curl_off_t taken) {
    if (taken != taken_) hear();
    taken_ = taken;
    const auto limit = request_.max_wire_bytes;
    const bool is_over = (expected > 0 && static_cast<std::uint64_t>(expected) > limit) ||
                         (taken > 0 && static_cast<std::uint64_t>(taken) > limit);
    return is_over ? over_limit("the response body before decompression", limit) : true;
  }

  // A proxy that refused a tunnel. A 4xx status is final: trying again does not help.
  std::optional<Error> proxy_refusal() const {
    long said = 0;
    curl().easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &said);
    if (said < 300) return std::nullopt;
    return made(said >= 400 && said < 500 ? Code::Invalid : Code::Unavailable,
                "the proxy refuses to connect to " + request_.url.host + ": status " + std::to_string(said));
  }

  // What libcurl says in its own words may hold the URL, so only its codes are used.
  Error explain(CURLcode status) const {
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

  const Request& request_;
  Upload upload_{request_};
  Connections::Pool* pool_;
  Deadline end_;
  Deadline quiet_ = Deadline::in(request_.first_byte_timeout);
  // Lists outlive the handle that points to them.
  List headers_;
  List connect_to_;
  List resolve_;
  Easy easy_;
  Multi multi_;
  Response response_;
  std::chrono::microseconds total_{0};
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  bool has_heard_ = false, is_header_whole_ = false, is_stale_ = false;
  curl_off_t taken_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
};

std::optional<std::string_view> Response::header(std::string_view name) const {
  return find_header(headers, name);
}

namespace {

Result<Response> transfer(const Request& request, Connections* connections) {
  PARLEY_CHECK(check(request));
  PARLEY_CHECK(load_curl());
  const Deadline end = Deadline::in(request.timeout);
  Transfer first(request, connections, Transfer::With::AnyConnection, end);
  Result<Response> response = first.run();
  if (response || !first.is_stale()) return response;
  return Transfer(request, connections, Transfer::With::NewConnection, end).run();
}

}  // namespace

Result<void> prepare() { return load_curl(); }
Result<Response> send(const Request& request) { return transfer(request, nullptr); }
Result<Response> send(const Request& request, Connections& connections) {
  return transfer(request, &connections);
}

}  // namespace parley::net
