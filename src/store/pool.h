// Connections to a server that are kept for the next call, and a circuit that spares a server which is down.
//
// Invariants (quoted by tests as POOL1..POOL6):
//   POOL1  At most `connections` are open at once; a call that needs one more waits until its deadline.
//   POOL2  A connection returns to the pool only by keep(). A call that ends with an error closes it, so that
//          a connection in an unknown state is never reused.
//   POOL3  A connection that was idle or open for too long, or that is dead, is closed and not reused.
//   POOL4  After a failed connect, no call connects until a pause is over; then one call tries. Meanwhile
//          calls fail at once if no connection is open or connecting. The pause doubles with every failure up
//          to kLongestPause, and is random, so that clients do not reconnect at the same time. A connect that
//          its caller's deadline ended does not count as a failure of the server.
//   POOL5  The lock is not held during connects and closes.
//   POOL6  A server may allow fewer than `connections`: while another one is open or connecting, a failed
//          connect does not fail the call, which waits for one of those. While one is open, the circuit is
//          closed.
//
// A Connection has `bool is_alive()`: false if its peer has closed it, checked without waiting. Its
// destructor closes it.
//
// Nothing runs in the background: an idle connection that is too old goes with the next call. Safe from any
// thread; not to be carried through fork().
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/base/ids.h"
#include "parley/store/record.h"
#include "parley/store/store.h"

namespace parley::store {

// Whether a server is worth trying. Time and chance come from outside. One thread at a time.
class Breaker {
 public:
  using Time = Deadline::Clock::time_point;
  static constexpr std::chrono::milliseconds kFirstPause{50};
  static constexpr std::chrono::milliseconds kLongestPause{5000};

  Time until() const { return until_; }  // the end of the last pause

  Circuit state(Time now) const {
    if (failures_ == 0) return Circuit::Closed;
    return now < until_ ? Circuit::Open : Circuit::HalfOpen;
  }

  // True if the caller may connect, which must be followed by succeeded(), failed() or gave_up().
  bool may_try(Time now) {
    const Circuit circuit = state(now);
    if (circuit == Circuit::Closed) return true;
    if (circuit == Circuit::Open || is_trying_) return false;
    return is_trying_ = true;
  }

  void succeeded() {
    failures_ = 0;
    is_trying_ = false;
  }

  void gave_up() { is_trying_ = false; }

  // `chance` is any number; the pause is a part of the longest one that is due.
  void failed(Time now, std::uint64_t chance) {
    const auto most = std::min(kFirstPause * (1 << std::min(failures_, 10)), kLongestPause);
    until_ = now + std::chrono::milliseconds(1 + chance % static_cast<std::uint64_t>(most.count()));
    failures_ = std::min(failures_ + 1, 1000);
    is_trying_ = false;
  }

 private:
  int failures_ = 0;  // in a row
  Time until_ = {};
  bool is_trying_ = false;
};

template <typename Connection>
class Pool {
 public:
  using Connect = std::function<Result<std::unique_ptr<Connection>>(Deadline)>;

  Pool(Connect connect, const StoreOptions& options) : connect_(std::move(connect)), options_(options) {}

  // A connection for one call. One thread at a time.
  class Lent {
   public:
    Lent(Lent&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), opened_(std::move(other.opened_)) {}
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
      if (pool_ == nullptr) return;
      opened_.connection.reset();
      pool_->closed();
    }

    Connection* operator->() const { return opened_.connection.get(); }
    Connection& operator*() const { return *opened_.connection; }

    // Returns it for the next call. REQUIRES: it has no call in progress.
    void keep() && { std::exchange(pool_, nullptr)->keep(std::move(opened_)); }

   private:
    friend class Pool;
    struct Opened {
      std::unique_ptr<Connection> connection;
      Breaker::Time since = {};
      Breaker::Time idle_since = {};
    };
    Lent(Pool* pool, Opened opened) : pool_(pool), opened_(std::move(opened)) {}
    Pool* pool_;
    Opened opened_;
  };

  // Fails with Timeout if none becomes free, with Unavailable while the circuit is open, or like connect.
  Result<Lent> take(Deadline deadline) {
    std::vector<Opened> old;  // closed after the lock is released (POOL5)
    std::unique_lock lock(mutex_);
    while (true) {
      if (deadline.has_passed())
        return fail(Code::Timeout, "the deadline passed before the request was sent");
      drop_old(old);
      if (std::optional<Opened> opened = last_alive(old)) return Lent(this, *std::move(opened));
      if (open_ >= most()) {
        freed_.wait_until(lock, deadline.at());
      } else if (breaker_.may_try(Deadline::Clock::now())) {
        ++open_;
        ++connecting_;
        lock.unlock();
        old.clear();
        Result<Opened> opened = connected(deadline);
        lock.lock();
        if (opened) return Lent(this, *std::move(opened));
        if (open_ == 0 || !is_for_the_server(opened.error())) return std::unexpected(opened.error());
      } else if (open_ > 0) {
        // Another call may be trying: what comes of it is looked at a little later.
        const Breaker::Time next = std::max(breaker_.until(), Deadline::Clock::now() + kGlance);
        freed_.wait_until(lock, std::min(deadline.at(), next));
      } else {
        return fail(Code::Unavailable,
                    "the store is unavailable, next attempt after a pause; last error: " + why_);
      }
    }
  }

  Circuit circuit() const {
    const std::lock_guard lock(mutex_);
    return has_live() ? Circuit::Closed : breaker_.state(Deadline::Clock::now());
  }

 private:
  using Opened = typename Lent::Opened;
  static constexpr std::chrono::milliseconds kGlance{10};
  static constexpr std::chrono::milliseconds kFairTime{1000};  // in which a server that is well is reached

  std::size_t most() const { return std::max<std::size_t>(options_.connections, 1); }

  // Whether one is open, idle or lent.
  bool has_live() const { return open_ > connecting_; }

  // Whether a connect failed for want of a connection, and not for what the server holds.
  static bool is_for_the_server(const Error& error) {
    return error.code == Code::Unavailable || error.code == Code::Timeout;
  }

  // Removes connections that have been idle or open for too long (POOL3).
  void drop_old(std::vector<Opened>& old) {
    const Breaker::Time now = Deadline::Clock::now();
    std::vector<Opened> good;
    for (Opened& opened : idle_) {
      const bool is_good =
          now - opened.since < options_.life_limit && now - opened.idle_since < options_.idle_limit;
      (is_good ? good : old).push_back(std::move(opened));
    }
    dropped(idle_.size() - good.size());
    idle_ = std::move(good);
  }

  // The last used one, so that unneeded ones grow old; removes dead ones (POOL3).
  std::optional<Opened> last_alive(std::vector<Opened>& old) {
    while (!idle_.empty()) {
      Opened last = std::move(idle_.back());
      idle_.pop_back();
      if (last.connection->is_alive()) return last;
      old.push_back(std::move(last));
      dropped(1);
    }
    return {};
  }

  void dropped(std::size_t count) {
    open_ -= count;
    for (std::size_t i = 0; i < count; ++i) freed_.notify_one();
  }

  Result<Opened> connected(Deadline deadline) {
    const Breaker::Time start = Deadline::Clock::now();
    Result<std::unique_ptr<Connection>> made = connect_(deadline);
    const Breaker::Time now = Deadline::Clock::now();
    const std::uint64_t chance = random_uuid()[1];
    const std::lock_guard lock(mutex_);
    --connecting_;
    if (made) {
      breaker_.succeeded();
      return Opened{*std::move(made), now, now};
    }
    if (made.error().code == Code::Timeout && now - start < kFairTime) {
      breaker_.gave_up();
    } else {
      breaker_.failed(now, chance);
      why_ = made.error().message;
    }
    dropped(1);
    return std::unexpected(std::move(made).error());
  }

  void keep(Opened opened) {
    const std::lock_guard lock(mutex_);
    opened.idle_since = Deadline::Clock::now();
    idle_.push_back(std::move(opened));
    freed_.notify_one();
  }

  void closed() {
    const std::lock_guard lock(mutex_);
    dropped(1);
  }

  const Connect connect_;
  const StoreOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Opened> idle_;    // the one that was used last is the last
  std::size_t open_ = 0;        // idle, lent or being made
  std::size_t connecting_ = 0;  // of these, being made
  Breaker breaker_;
  std::string why_;  // connecting failed the last time
};

}  // namespace parley::store
