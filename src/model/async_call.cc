#include "model/async_call.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "net/async_client.h"

namespace parley {
namespace model {
namespace {

// Stops when either token does.
class JoinedStop {
 public:
  explicit JoinedStop(const std::stop_token& other) : forward_(other, [this] { own_.request_stop(); }) {}
  std::stop_token token() const { return own_.get_token(); }
  void stop() { own_.request_stop(); }

 private:
  std::stop_source own_;
  std::stop_callback<std::function<void()>> forward_;
};

// Holds itself while it runs.
class LoopCall final : public ModelCall, public std::enable_shared_from_this<LoopCall> {
 public:
  LoopCall(Client& client, ModelRequest request, CallOptions options, net::EventLoop& loop, Model::Done done)
      : timer_(*client.config.timer),
        stop_(options.stop),
        asked_(std::move(request)),
        options_(with_stop(std::move(options), stop_.token())),
        loop_(loop),
        done_(std::move(done)),
        call_(client, asked_, options_) {}

  void begin() {
    on_stop_.emplace(stop_.token(), [weak = weak_from_this(), &loop = loop_] {
      loop.post([weak] {
        if (const auto self = weak.lock()) self->end_wait(true);
      });
    });
    perform(call_.begin());
  }

  void stop() override { stop_.stop(); }
  void pause() override {
    is_paused_ = true;
    if (request_) request_->pause();
  }
  void resume() override {
    is_paused_ = false;
    if (request_) request_->resume();
  }

 private:
  static CallOptions with_stop(CallOptions options, std::stop_token stop) {
    options.stop = std::move(stop);
    return options;
  }

  void perform(const Call::Step& step) {
    if (const auto* send = std::get_if<Call::Send>(&step)) {
      request_ = loop_.client().send(*send->request,
                                     [self = shared_from_this()](const Result<net::Response>& response) {
                                       self->request_.reset();
                                       self->perform(self->call_.sent(response));
                                     });
      if (is_paused_) request_->pause();
    } else if (const auto* wait = std::get_if<Call::Wait>(&step)) {
      const std::uint64_t number = ++waits_;
      is_waiting_ = true;
      if (stop_.token().stop_requested()) return end_wait(true);
      auto then = [self = shared_from_this(), number] {
        if (number == self->waits_) self->end_wait(false);
      };
      timer_.wait_on(loop_, wait->time, std::move(then));
    } else {
      on_stop_.reset();
      if (const Model::Done done = std::exchange(done_, {})) done(call_.result());
    }
  }

  void end_wait(bool was_stopped) {
    if (!std::exchange(is_waiting_, false)) return;
    perform(call_.waited(was_stopped || stop_.token().stop_requested()));
  }

  Timer& timer_;
  JoinedStop stop_;
  const ModelRequest asked_;
  const CallOptions options_;
  net::EventLoop& loop_;
  Model::Done done_;
  Call call_;
  std::shared_ptr<net::AsyncRequest> request_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  std::uint64_t waits_ = 0;
  bool is_waiting_ = false;
  bool is_paused_ = false;
};

class ThreadCall final : public ModelCall, public std::enable_shared_from_this<ThreadCall> {
 public:
  ThreadCall(Model& model, ModelRequest request, CallOptions options, net::EventLoop& loop, Model::Done done)
      : model_(model),
        stop_(options.stop),
        asked_(std::move(request)),
        options_(std::move(options)),
        loop_(loop),
        done_(std::move(done)) {}

  void begin() {
    try {
      std::thread([self = shared_from_this()] { self->work(); }).detach();
    } catch (const std::system_error&) {
      const Failure failure{
          .kind = FailureKind::Transport, .retryable = true, .message = "no thread is left"};
      finish(std::unexpected(CallError{fail(Code::Unavailable, "no thread is left").error(), failure, {}}));
    }
  }

  void stop() override { stop_.stop(); }
  void pause() override { set_paused(true); }
  void resume() override { set_paused(false); }

 private:
  void set_paused(bool is_paused) {
    const std::lock_guard lock(mutex_);
    is_paused_ = is_paused;
    changed_.notify_all();
  }

  void work() {
    CallOptions options = options_;
    options.stop = stop_.token();
    // The thread waits for the loop: an event holds texts that are gone when its callback returns.
    options.on_event = [this](const StreamEvent& event) {
      if (!options_.on_event) return;
      std::promise<void> delivered;
      loop_.post([&] {
        options_.on_event(event);
        delivered.set_value();
      });
      delivered.get_future().wait();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop_.token(), [&] { return !is_paused_; });
    };
    finish(model_.complete(asked_, options));
  }

  void finish(Called<ModelAnswer> answer) {
    loop_.post([self = shared_from_this(), answer = std::move(answer)]() mutable {
      if (const Model::Done done = std::exchange(self->done_, {})) done(std::move(answer));
    });
  }

  Model& model_;
  JoinedStop stop_;
  const ModelRequest asked_;
  const CallOptions options_;
  net::EventLoop& loop_;
  Model::Done done_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_paused_ = false;
};

}  // namespace

std::shared_ptr<ModelCall> start_on_loop(Client& client, ModelRequest request, CallOptions options,
                                         net::EventLoop& loop, Model::Done done) {
  auto call =
      std::make_shared<LoopCall>(client, std::move(request), std::move(options), loop, std::move(done));
  loop.post([call] { call->begin(); });
  return call;
}

std::shared_ptr<ModelCall> start_on_thread(Model& model, ModelRequest request, CallOptions options,
                                           net::EventLoop& loop, Model::Done done) {
  auto call =
      std::make_shared<ThreadCall>(model, std::move(request), std::move(options), loop, std::move(done));
  call->begin();
  return call;
}

}  // namespace model

Result<std::string> Model::body_of(const ModelRequest& request) const {
  static_cast<void>(request);
  return fail(Code::Unsupported, "the model is not asked over HTTP");
}

Result<net::Request> Model::request_to(std::string_view path) const {
  return fail(Code::Unsupported, "the model is not asked over HTTP: no server has " + std::string(path));
}

std::shared_ptr<ModelCall> Model::start(ModelRequest request, CallOptions options, net::EventLoop& loop,
                                        Done done) {
  return model::start_on_thread(*this, std::move(request), std::move(options), loop, std::move(done));
}

}  // namespace parley
