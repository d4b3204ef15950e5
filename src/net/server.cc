#include "parley/net/server.h"

#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "net/response_head.h"

namespace parley::net {
namespace {

using Milliseconds = std::chrono::milliseconds;

// What a handler waits for: that the client has taken what was sent, or is gone.
class Progress {
 public:
  void set_gone() {
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    changed_.notify_all();
  }
  void set_drained() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  bool is_gone() {
    const std::lock_guard lock(mutex_);
    return is_gone_;
  }
  // False if the client is gone.
  template <typename Holds>
  bool wait_until(Holds holds) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_gone_ || holds(); });
    return !is_gone_;
  }
  bool wait_for(Milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return is_gone_; });
    return !is_gone_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_gone_ = false;
};

class BlockingResponse final : public ServerResponse {
 public:
  BlockingResponse(std::shared_ptr<Responder> responder, std::shared_ptr<Progress> progress)
      : responder_(std::move(responder)), progress_(std::move(progress)) {}

  void whole(int status, const std::vector<Header>& headers, std::string_view body) override {
    assert(state_ == State::Nothing || state_ == State::Broken);
    if (state_ != State::Nothing || !are_headers(headers)) return;
    responder_->whole(status, headers, std::string(body));
    state_ = State::Ended;
  }
  void start(int status, const std::vector<Header>& headers) override {
    assert(state_ == State::Nothing || state_ == State::Broken);
    if (state_ != State::Nothing || !are_headers(headers)) return;
    responder_->start(status, headers);
    state_ = State::Started;
  }
  bool send(std::string_view chunk) override {
    assert(state_ == State::Started || state_ == State::Broken);
    if (state_ != State::Started || progress_->is_gone()) return false;
    if (chunk.empty()) return true;
    responder_->send(std::string(chunk));
    return progress_->wait_until([&] { return responder_->backlog() == 0; });
  }
  void cut() override {
    state_ = State::Broken;
    responder_->cut();
    progress_->set_gone();
  }
  bool wait(Milliseconds time) override { return progress_->wait_for(time); }

  void finish(bool has_thrown) {
    if (state_ == State::Started) has_thrown ? responder_->cut() : responder_->end();
  }

 private:
  enum class State { Nothing, Started, Ended, Broken };

  std::shared_ptr<Responder> responder_;
  std::shared_ptr<Progress> progress_;
  State state_ = State::Nothing;
};

struct Job {
  ServerRequest request;
  std::shared_ptr<Responder> responder;
  std::shared_ptr<Progress> progress;
};

// Threads for jobs that block: as many as there are jobs at a time. A thread that has none waits for one.
class Workers {
 public:
  explicit Workers(Server::Handler handler) : handler_(std::move(handler)) {}

  void add(Job job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (idle_ >= jobs_.size()) return changed_.notify_one();
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system has no thread left: a thread that becomes free takes the job.
      if (threads_.empty()) jobs_.pop_back();  // its client gets 500
    }
  }

  // Waits for the handlers that run.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      for (const auto& progress : running_) progress->set_gone();
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    jobs_.clear();
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      ++idle_;
      changed_.wait(lock, [this] { return is_stopped_ || !jobs_.empty(); });
      --idle_;
      if (is_stopped_) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      const auto progress = *running_.insert(job.progress).first;
      lock.unlock();
      run(std::move(job));
      lock.lock();
      running_.erase(progress);
    }
  }

  void run(Job job) {
    BlockingResponse response(std::move(job.responder), std::move(job.progress));
    bool has_thrown = false;
    try {
      handler_(job.request, response);
    } catch (...) {
      has_thrown = true;
    }
    response.finish(has_thrown);
  }

  Server::Handler handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::set<std::shared_ptr<Progress>> running_;
  std::size_t idle_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

struct Server::State {
  Workers workers;
  std::optional<AsyncServer> server;

  explicit State(Handler handler) : workers(std::move(handler)) {}

  void serve(ServerRequest request, std::shared_ptr<Responder> responder) {
    auto progress = std::make_shared<Progress>();
    responder->on_gone([progress] { progress->set_gone(); });
    responder->on_drained([progress] { progress->set_drained(); });
    workers.add({std::move(request), std::move(responder), std::move(progress)});
  }
};

Result<Server> Server::listen(const ServerOptions& options, Handler handler) {
  auto state = std::make_unique<State>(std::move(handler));
  PARLEY_TRY(state->server,
             AsyncServer::listen(
                 options, [own = state.get()](ServerRequest request, std::shared_ptr<Responder> responder) {
                   own->serve(std::move(request), std::move(responder));
                 }));
  return Server(std::move(state));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&& other) noexcept {
  if (this == &other) return *this;
  stop();
  state_ = std::move(other.state_);
  return *this;
}
Server::~Server() { stop(); }

std::uint16_t Server::port() const { return state_->server->port(); }
std::string Server::url(std::string_view path) const { return state_->server->url(path); }

// The connections end first, so that handlers that wait for a client return.
void Server::stop() {
  if (!state_) return;
  state_->server->stop();
  state_->workers.stop();
}

}  // namespace parley::net
