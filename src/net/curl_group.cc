#include "net/curl_group.h"

#include <utility>

namespace parley::net {

using boost::system::error_code;
using Stream = boost::asio::posix::stream_descriptor;

// A socket of libcurl's, which opens and closes it.
struct CurlGroup::Descriptor : std::enable_shared_from_this<Descriptor> {
  Descriptor(CurlGroup& owner, curl_socket_t number)
      : group(owner), socket(number), stream(owner.loop_->context()) {}

  void wait() {
    if ((wants & CURL_POLL_IN) != 0 && !std::exchange(is_reading, true)) {
      wait_for(Stream::wait_read, is_reading, CURL_CSELECT_IN);
    }
    if ((wants & CURL_POLL_OUT) != 0 && !std::exchange(is_writing, true)) {
      wait_for(Stream::wait_write, is_writing, CURL_CSELECT_OUT);
    }
  }

  // The group is there while `is_gone` is false.
  void wait_for(Stream::wait_type type, bool& is_waiting, int event) {
    stream.async_wait(type, [self = shared_from_this(), &is_waiting, event](const error_code& error) {
      is_waiting = false;
      if (error || self->is_gone) return;
      const int direction = event == CURL_CSELECT_IN ? CURL_POLL_IN : CURL_POLL_OUT;
      if ((self->wants & direction) != 0) self->group.act(self->socket, event);
      if (!self->is_gone) self->wait();
    });
  }

  CurlGroup& group;
  curl_socket_t socket;
  Stream stream;
  int wants = 0;
  bool is_reading = false;
  bool is_writing = false;
  bool is_gone = false;
};

CurlGroup::CurlGroup(std::shared_ptr<Loop> loop, Ended ended)
    : loop_(std::move(loop)),
      ended_(std::move(ended)),
      timer_(loop_->context()),
      multi_(curl().multi_init()) {
  if (!multi_) throw std::bad_alloc();
  curl().multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlGroup::on_socket);
  curl().multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl().multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlGroup::on_timer);
  curl().multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

CurlGroup::~CurlGroup() { close(); }

void CurlGroup::close() {
  if (is_in_curl_) {
    wishes_.push_back([self = shared_from_this()] { self->close(); });
    return;
  }
  if (std::exchange(is_closed_, true)) return;
  timer_.cancel();
  wishes_.clear();
  multi_.reset();  // closes its connections, which takes away their descriptors
  for (const auto& [socket, descriptor] : std::exchange(descriptors_, {})) {
    descriptor->is_gone = true;
    descriptor->stream.release();
  }
}

void CurlGroup::add(CURL* handle) {
  ++size_;
  last_used_ = std::chrono::steady_clock::now();
  curl().multi_add_handle(multi_.get(), handle);
}

void CurlGroup::remove(CURL* handle) {
  --size_;
  curl().multi_remove_handle(multi_.get(), handle);
}

void CurlGroup::when_outside(std::function<void()> call) {
  if (!is_in_curl_) return call();
  wishes_.push_back(std::move(call));
}

// Nothing may be thrown through libcurl.
int CurlGroup::on_socket(CURL*, curl_socket_t socket, int what, void* self, void* descriptor) {
  try {
    return static_cast<CurlGroup*>(self)->watch(socket, what, static_cast<Descriptor*>(descriptor)) ? 0 : -1;
  } catch (...) {
    return -1;
  }
}

bool CurlGroup::watch(curl_socket_t socket, int what, Descriptor* descriptor) {
  if (what == CURL_POLL_REMOVE) {
    if (descriptor == nullptr) return true;
    descriptor->is_gone = true;
    descriptor->stream.release();
    descriptors_.erase(socket);
    return true;
  }
  if (descriptor == nullptr) {
    auto made = std::make_shared<Descriptor>(*this, socket);
    error_code error;
    made->stream.assign(socket, error);
    if (error) return false;
    descriptor = made.get();
    descriptors_.insert_or_assign(socket, std::move(made));
    curl().multi_assign(multi_.get(), socket, descriptor);
  }
  descriptor->wants = what;
  descriptor->wait();
  return true;
}

int CurlGroup::on_timer(CURLM*, long ms, void* self) {
  static_cast<CurlGroup*>(self)->set_timer(ms);
  return 0;
}

// libcurl must not be called from its own callback, so also a timer of no time waits for the loop.
void CurlGroup::set_timer(long ms) {
  if (ms < 0) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::milliseconds(ms));
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->is_closed_) self->act(CURL_SOCKET_TIMEOUT, 0);
  });
}

void CurlGroup::act(curl_socket_t socket, int events) {
  inside([&] {
    int running = 0;
    curl().multi_socket_action(multi_.get(), socket, events, &running);
  });
}

void CurlGroup::inside(const std::function<void()>& call) {
  const auto self = shared_from_this();  // what is called may close the group
  is_in_curl_ = true;
  call();
  is_in_curl_ = false;
  take_messages();
  while (!wishes_.empty()) {
    for (const auto& wish : std::exchange(wishes_, {})) wish();
  }
}

// To remove a handle takes its messages away.
void CurlGroup::take_messages() {
  int left = 0;
  while (!is_closed_) {
    const CURLMsg* message = curl().multi_info_read(multi_.get(), &left);
    if (message == nullptr) return;
    if (message->msg == CURLMSG_DONE) ended_(message->easy_handle, message->data.result);
  }
}

}  // namespace parley::net
