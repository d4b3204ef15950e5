#include "parley/net/http.h"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "net/curl.h"
#include "net/fields.h"
#include "net/read_coalescer.h"
#include "net/transfer.h"
#include "parley/base/clock.h"

namespace parley::net {

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

std::optional<std::string_view> Response::header(std::string_view name) const {
  return find_header(headers, name);
}

// One request on its way, and the thread that waits for it.
class BlockingTransfer {
 public:
  // Which connection to begin with: one that was kept, if there is one, or a new one.
  enum class With : std::uint8_t { AnyConnection, NewConnection };

  BlockingTransfer(const Request& request, Connections* connections, With with, Deadline end)
      : request_(request),
        pool_(connections == nullptr ? nullptr : connections->pool_.get()),
        multi_(pool_ != nullptr && with == With::AnyConnection ? pool_->take(connection_key(request))
                                                               : nullptr),
        transfer_(request, {.keeps_connection = pool_ != nullptr}, end) {
    if (!multi_) multi_.reset(curl().multi_init());
    if (!multi_) throw std::bad_alloc();
  }

  Result<Response> run() {
    curl().multi_add_handle(multi_.get(), transfer_.handle());
    const CURLcode status = wait();
    is_stale_ = transfer_.is_stale(status);
    Result<Response> response = transfer_.finish(status);
    curl().multi_remove_handle(multi_.get(), transfer_.handle());
    if (response && pool_ != nullptr) pool_->give(connection_key(request_), std::move(multi_));
    return response;
  }

  bool is_stale() const { return is_stale_; }

 private:
  CURLcode wait() {
    if (transfer_.has_failed()) return CURLE_ABORTED_BY_CALLBACK;
    // curl_multi_wakeup() is the one call that another thread may make.
    const std::stop_callback wake(request_.stop, [this] { curl().multi_wakeup(multi_.get()); });
    ReadCoalescer coalescer;
    std::chrono::steady_clock::duration waited{};
    for (;;) {
      if (request_.stop.stop_requested()) {
        transfer_.fail_with(fail(Code::Cancelled, "the request was cancelled").error());
        return CURLE_ABORTED_BY_CALLBACK;
      }
      const std::size_t bytes_before = transfer_.body_bytes();
      int running = 0;
      if (curl().multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      coalescer.note(waited, transfer_.body_bytes() - bytes_before);
      int left = 0;
      while (const CURLMsg* message = curl().multi_info_read(multi_.get(), &left)) {
        if (message->msg == CURLMSG_DONE) return message->data.result;
      }
      if (running == 0) return CURLE_FAILED_INIT;
      const std::chrono::milliseconds quiet = transfer_.quiet_until().left();
      if (quiet.count() == 0) {
        transfer_.fail_by_silence();
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

  const Request& request_;
  Connections::Pool* pool_;
  Multi multi_;  // outlives the handle that is added to it
  Transfer transfer_;
  bool is_stale_ = false;
};

namespace {

Result<Response> transfer(const Request& request, Connections* connections) {
  PARLEY_CHECK(check(request));
  PARLEY_CHECK(load_curl());
  const Deadline end = Deadline::in(request.timeout);
  BlockingTransfer first(request, connections, BlockingTransfer::With::AnyConnection, end);
  Result<Response> response = first.run();
  if (response || !first.is_stale()) return response;
  return BlockingTransfer(request, connections, BlockingTransfer::With::NewConnection, end).run();
}

}  // namespace

Result<void> prepare() { return load_curl(); }
Result<Response> send(const Request& request) { return transfer(request, nullptr); }
Result<Response> send(const Request& request, Connections& connections) {
  return transfer(request, &connections);
}

}  // namespace parley::net
