#include "parley/net/event_loop.h"

#include <exception>
#include <string>
#include <utility>

#include "net/async_client.h"
#include "net/loop.h"

namespace parley::net {
namespace {

thread_local EventLoop* current_loop = nullptr;

}  // namespace

EventLoop::EventLoop() : loop_(std::make_shared<Loop>()) {}
EventLoop::~EventLoop() { finish(); }

Result<std::unique_ptr<EventLoop>> EventLoop::start() {
  try {
    std::unique_ptr<EventLoop> out(new EventLoop());
    out->loop_->post([own = out.get()] { current_loop = own; });  // before anything else runs
    out->loop_->start();
    return out;
  } catch (const std::exception& error) {  // no thread or descriptor is left
    return fail(Code::Unavailable, std::string("cannot start an event loop: ") + error.what());
  }
}

EventLoop* EventLoop::current() { return current_loop; }

void EventLoop::run(std::function<void()> call) { loop_->run(std::move(call)); }
void EventLoop::post(std::function<void()> call) { loop_->post(std::move(call)); }

void EventLoop::after(std::chrono::milliseconds time, std::function<void()> call) {
  run([loop = loop_.get(), time, call = std::move(call)] { loop->after(time, call); });
}

bool EventLoop::is_this_thread() const { return loop_->is_this_thread(); }

AsyncClient& EventLoop::client() {
  if (!client_) client_ = std::make_unique<AsyncClient>(loop_);
  return *client_;
}

void EventLoop::finish() {
  loop_->post([this] { client_.reset(); });
  loop_->finish();
}

}  // namespace parley::net
