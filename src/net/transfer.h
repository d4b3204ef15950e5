// One request and its response as a handle of libcurl: options, headers, limits, errors. Who waits for it is
// not its business: http.cc blocks, async_client.cc runs many on a loop.
//
// One thread at a time. libcurl holds a pointer to it: it neither moves nor is copied.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/curl.h"
#include "net/upload.h"
#include "parley/base/clock.h"
#include "parley/net/http.h"

namespace parley::net {

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

// Fails with Invalid for an invalid request.
Result<void> check(const Request& request);

// What two requests must have in common to use one connection (HTTP11).
std::string connection_key(const Request& request);

class Transfer {
 public:
  struct Options {
    bool keeps_connection = true;
    bool uses_new_connection = false;
    // libcurl watches the request's timeouts and reports progress, which costs time for each chunk. Otherwise
    // the caller does, by quiet_until().
    bool is_timed_by_curl = true;
    // Called with the first byte of the response: quiet_until() may be nearer then. Later it only moves on.
    std::function<void()> on_first_byte = {};
  };

  // `request` outlives it. REQUIRES: check(request) succeeded.
  Transfer(const Request& request, Options options, Deadline end);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  CURL* handle() { return easy_.get(); }
  // Set once something has failed: the transfer is to be ended then.
  bool has_failed() const { return error_ || thrown_; }
  void fail_with(Error error);
  void fail_by_silence();  // with Timeout: nothing came until quiet_until()

  // The response, once libcurl has ended the transfer with `status` and while its handle is still added.
  // Throws what a callback of the request has thrown.
  Result<Response> finish(CURLcode status);
  // Whether it failed because a connection that was kept is one no longer: nothing of a response came
  // (HTTP11).
  bool is_stale(CURLcode status) const;

  Deadline quiet_until() const { return quiet_; }
  void begin_silence_anew();  // after a pause
  std::size_t body_bytes() const { return body_bytes_; }

 private:
  Result<Response> response_of(CURLcode status);
  std::chrono::microseconds time_of(CURLINFO what) const;

  template <typename Value>
  void set(CURLoption option, Value value);
  void set_up();
  void set_trust();
  void set_method();
  void set_headers();
  void add_header(std::string_view name, std::string_view prefix, std::string_view value);
  void set_addresses();
  bool is_pinned(const sockaddr& address) const;

  template <typename Take>
  bool guarded(Take take);
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static std::size_t on_read(char* to, std::size_t, std::size_t size, void* self);
  static int on_seek(void* self, curl_off_t offset, int origin);
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  static int on_progress(void* self, curl_off_t expected, curl_off_t taken, curl_off_t, curl_off_t);

  bool stop_with(Error error);
  bool over_limit(std::string_view what, std::size_t limit);
  void hear();
  bool take_header(std::string_view line);
  bool end_header();
  bool take_body(std::string_view chunk);
  bool check_wire_bytes();
  bool take_progress(curl_off_t expected, curl_off_t taken);
  std::optional<Error> proxy_refusal() const;
  Error explain(CURLcode status) const;

  const Request& request_;
  const Options options_;
  Upload upload_{request_};
  Deadline end_;
  Deadline quiet_ = Deadline::in(request_.first_byte_timeout);
  // Lists outlive the handle that points to them.
  List headers_;
  List connect_to_;
  List resolve_;
  Easy easy_;
  Response response_;
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  bool has_heard_ = false, is_header_whole_ = false;
  curl_off_t taken_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
};

}  // namespace parley::net
