#include "net/async_client.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/curl_group.h"
#include "net/loop.h"
#include "net/name_cache.h"
#include "net/transfer.h"

namespace parley::net {
namespace {

using Clock = std::chrono::steady_clock;
using boost::system::error_code;

// To set up a transfer takes libcurl longer the more its multi handle has.
constexpr std::size_t kMostInGroup = 1000;
// Groups that keep connections for later requests, and have none now.
constexpr std::size_t kMostIdleGroups = 16;

bool needs_lookup(const Request& request) {
  return request.addresses.empty() && !request.proxy && request.url.host_kind == HostKind::Domain;
}

}  // namespace

struct AsyncClient::State : std::enable_shared_from_this<State> {
  class Running;

  State(std::shared_ptr<Loop> own, Resolver& resolver) : loop(std::move(own)), names(loop, resolver) {}

  // A group with room for one more transfer of this key. Groups have one key each: their connections are
  // never mixed (HTTP11).
  std::shared_ptr<CurlGroup> group_for(const std::string& key) {
    std::vector<std::shared_ptr<CurlGroup>>& groups = groups_by_key[key];
    for (const auto& group : groups) {
      if (group->size() < kMostInGroup) return group;
    }
    auto group =
        std::make_shared<CurlGroup>(loop, [this](CURL* handle, CURLcode status) { ended(handle, status); });
    groups.push_back(group);
    close_idle_groups(group);
    return group;
  }

  // The oldest by their last request, while there are too many.
  void close_idle_groups(const std::shared_ptr<CurlGroup>& made) {
    std::vector<std::shared_ptr<CurlGroup>> idle;
    for (const auto& [key, groups] : groups_by_key) {
      for (const auto& group : groups) {
        if (group->size() == 0 && group != made) idle.push_back(group);
      }
    }
    if (idle.size() <= kMostIdleGroups) return;
    std::ranges::sort(idle, {}, &CurlGroup::last_used);
    idle.resize(idle.size() - kMostIdleGroups);
    for (const auto& group : idle) {
      group->close();
      for (auto& [key, groups] : groups_by_key) std::erase(groups, group);
    }
    std::erase_if(groups_by_key, [](const auto& each) { return each.second.empty(); });
  }

  void ended(CURL* handle, CURLcode status);
  void close();

  std::shared_ptr<Loop> loop;
  NameCache names;
  std::unordered_map<std::string, std::vector<std::shared_ptr<CurlGroup>>> groups_by_key;
  std::unordered_map<CURL*, std::shared_ptr<Running>> running;
  std::unordered_set<std::shared_ptr<Running>> requests;  // from send() to their end
  bool is_closed = false;
};

// One request. It is in `running` while libcurl has it.
class AsyncClient::State::Running final : public AsyncRequest, public std::enable_shared_from_this<Running> {
 public:
  Running(std::shared_ptr<State> state, Request request, Done done)
      : state_(std::move(state)),
        request_(std::move(request)),
        done_(std::move(done)),
        end_(Deadline::in(request_.timeout)),
        key_(connection_key(request_)),
        timer_(state_->loop->context()) {}

  // Not within send(): the caller has no handle yet.
  void start() {
    if (!done_) return;  // cancelled
    const auto checked = check(request_);
    if (!checked) return finish(std::unexpected(checked.error()));
    if (const auto loaded = load_curl(); !loaded) return finish(std::unexpected(loaded.error()));
    on_stop_.emplace(request_.stop, [weak = weak_from_this(), loop = state_->loop] {
      loop->post([weak] {  // not at once: a stop may be there already
        if (const auto self = weak.lock()) self->stop();
      });
    });
    if (!needs_lookup(request_)) return begin({});
    set_deadline(time_after(end_.left()));
    state_->names.find(request_.url.host, [self = shared_from_this()](const NameCache::Addresses& found) {
      if (!self->done_) return;
      if (!found) {
        return self->finish(fail(Code::Unavailable, "cannot resolve the host " + self->request_.url.host));
      }
      self->request_.addresses = *found;
      self->begin({});
    });
  }

  void begin(Transfer::Options options) {
    options.is_timed_by_curl = false;
    options.on_first_byte = [this] {
      group_->when_outside([self = shared_from_this()] {
        if (!self->transfer_) return;
        if (self->is_paused_) self->apply_pause();  // libcurl takes none before there is a connection
        self->look_at_clock();
      });
    };
    transfer_ = std::make_unique<Transfer>(request_, options, end_);
    if (transfer_->has_failed()) return finish(result(CURLE_FAILED_INIT));
    group_ = state_->group_for(key_);
    connect_by_ = time_after(request_.connect_timeout);
    state_->running.emplace(transfer_->handle(), shared_from_this());
    group_->add(transfer_->handle());
    look_at_clock();
  }

  void ended(CURLcode status) {
    const bool is_stale = transfer_->is_stale(status) && !has_begun_anew_;
    Result<Response> response = result(status);
    remove();
    if (response || !is_stale) return finish(std::move(response));
    has_begun_anew_ = true;
    begin({.uses_new_connection = true});
  }

  void cancel() override {
    done_ = {};
    if (transfer_) transfer_->fail_with(fail(Code::Cancelled, "the request was cancelled").error());
    end_outside([](Running& self) { self.finish(std::unexpected(Error{})); });
  }
  void pause() override { set_paused(true); }
  void resume() override { set_paused(false); }

 private:
  Result<Response> result(CURLcode status) {
    try {
      return transfer_->finish(status);
    } catch (...) {
      return fail(Code::Invalid, "a callback of the request has thrown an exception");
    }
  }

  // Takes the handle from libcurl, which closes the connection of an unfinished transfer.
  void remove() {
    if (transfer_ && group_) {
      state_->running.erase(transfer_->handle());
      group_->remove(transfer_->handle());
    }
    transfer_.reset();
    group_.reset();
  }

  void finish(Result<Response> response) {
    const auto self = shared_from_this();  // `requests` may have held the last pointer
    state_->requests.erase(self);
    on_stop_.reset();
    timer_.cancel();
    remove();
    if (const Done done = std::exchange(done_, {})) done(std::move(response));
  }

  // Ends the request by `call` when libcurl is not at work.
  void end_outside(void (*call)(Running&)) {
    const auto run = [self = shared_from_this(), call] { call(*self); };
    group_ ? group_->when_outside(run) : run();
  }

  void stop() {
    if (!done_) return;
    if (transfer_) transfer_->fail_with(fail(Code::Cancelled, "the request was cancelled").error());
    end_outside([](Running& self) {
      if (!self.transfer_) return self.finish(fail(Code::Cancelled, "the request was cancelled"));
      self.finish(self.result(CURLE_ABORTED_BY_CALLBACK));
    });
  }

  void set_paused(bool is_paused) {
    if (is_paused_ == is_paused) return;
    is_paused_ = is_paused;
    if (!group_) return;
    group_->when_outside([self = shared_from_this()] {
      if (!self->transfer_) return;
      self->transfer_->begin_silence_anew();
      self->apply_pause();
      if (self->transfer_) self->look_at_clock();
    });
  }

  // To resume may deliver what libcurl has read.
  void apply_pause() {
    const auto group = group_;
    group->inside([self = shared_from_this()] {
      curl().easy_pause(self->transfer_->handle(), self->is_paused_ ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    });
  }

  // ---- Deadlines: of the whole, of the connection, of silence. The timer is set anew only if it would be
  // late.

  void set_deadline(Clock::time_point deadline) {
    if (deadline >= armed_for_) return;
    armed_for_ = deadline;
    timer_.expires_at(deadline);
    timer_.async_wait([weak = weak_from_this()](const error_code& error) {
      const auto self = weak.lock();
      if (error || !self || !self->done_) return;
      self->armed_for_ = Clock::time_point::max();
      self->look_at_clock();
    });
  }

  void look_at_clock() {
    if (end_.left().count() == 0) {
      if (transfer_) return finish(result(CURLE_OPERATION_TIMEDOUT));
      return finish(fail(Code::Timeout, "the host was not resolved at the deadline"));
    }
    if (!transfer_) return set_deadline(time_after(end_.left()));
    if (!is_paused_ && transfer_->quiet_until().left().count() == 0) {
      transfer_->fail_by_silence();
      return finish(result(CURLE_ABORTED_BY_CALLBACK));
    }
    const bool is_connected = has_connected();
    if (!is_connected && Clock::now() >= connect_by_) return finish(result(CURLE_OPERATION_TIMEDOUT));
    Clock::time_point next = time_after(end_.left());
    if (!is_paused_) next = std::min(next, time_after(transfer_->quiet_until().left()));
    if (!is_connected) next = std::min(next, connect_by_);
    set_deadline(next);
  }

  bool has_connected() const {
    curl_off_t time = 0;
    curl().easy_getinfo(transfer_->handle(), CURLINFO_PRETRANSFER_TIME_T, &time);
    return time > 0 || transfer_->body_bytes() > 0;
  }

  std::shared_ptr<State> state_;
  Request request_;
  Done done_;
  Deadline end_;
  std::string key_;  // of the request as it was given: an address that was looked up is no part of it
  Clock::time_point connect_by_ = Clock::time_point::max();
  Clock::time_point armed_for_ = Clock::time_point::max();
  boost::asio::steady_timer timer_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  std::unique_ptr<Transfer> transfer_;
  std::shared_ptr<CurlGroup> group_;
  bool is_paused_ = false;
  bool has_begun_anew_ = false;
};

void AsyncClient::State::ended(CURL* handle, CURLcode status) {
  const auto found = running.find(handle);
  if (found == running.end()) return;
  const std::shared_ptr<Running> request = found->second;
  request->ended(status);
}

void AsyncClient::State::close() {
  is_closed = true;
  for (const auto& request : std::unordered_set(requests)) request->cancel();
  names.clear();
  for (const auto& [key, groups] : groups_by_key) {
    for (const auto& group : groups) group->close();
  }
  groups_by_key.clear();
}

AsyncClient::AsyncClient(std::shared_ptr<Loop> loop, Resolver& resolver)
    : state_(std::make_shared<State>(std::move(loop), resolver)) {}

AsyncClient::~AsyncClient() { state_->close(); }

std::shared_ptr<AsyncRequest> AsyncClient::send(Request request, Done done) {
  auto running = std::make_shared<State::Running>(state_, std::move(request), std::move(done));
  state_->requests.insert(running);
  boost::asio::post(state_->loop->context(), [running] { running->start(); });
  return running;
}

}  // namespace parley::net
