// The place of one follower at a turn: it hears on its own loop, and leaves.
//
// Safe from any thread, but what says "on the loop".
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "parley/net/event_loop.h"
#include "parley/server/turn.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

class FollowerSlot;

// What a follower follows: a turn that runs here, or one that is read from the store.
class TurnSource {
 public:
  TurnSource() = default;
  TurnSource(const TurnSource&) = delete;
  TurnSource& operator=(const TurnSource&) = delete;
  virtual ~TurnSource() = default;

  virtual TurnKey key() const = 0;
  virtual void leave(const std::shared_ptr<FollowerSlot>& slot) = 0;
  virtual void drained() = 0;  // a slot takes more again
  virtual void cancel() = 0;
};

class FollowerSlot : public Turn, public std::enable_shared_from_this<FollowerSlot> {
 public:
  FollowerSlot(std::shared_ptr<TurnFollower> follower, net::EventLoop& loop)
      : follower_(std::move(follower)), loop_(loop) {}

  // What it follows; may change until the turn begins. Who sets it looks at has_left() afterwards: the
  // follower may have left the source before.
  void follow(std::shared_ptr<TurnSource> source);
  bool has_left() const { return has_left_; }

  // Tell the follower, on its loop, in the order of the calls; those of the same loop at once.
  void refused(const Error& error);
  void begun(const TurnState& state);
  void progress(const Journal& journal,
                std::shared_ptr<const Journal>& copy);  // a copy is made for another loop
  void ended(const TurnState& state, const Journal& journal, std::shared_ptr<const Journal>& copy);

  // Bytes that waited for the follower's client when it was last told something, or had read.
  std::size_t backlog() const { return backlog_; }
  // Another loop has not told it the last progress yet: the next one waits, so that copies do not pile up.
  bool is_busy() const { return is_busy_; }
  bool is_behind = false;  // progress was left out; for the source
  // For another loop the whole journal is copied: not for every delta, or a long answer would cost its square.
  static constexpr std::chrono::milliseconds kCopyPause{30};
  bool copies_too_often(const Journal& journal) const;
  // Of the journal's text, as of the last progress(); for the source.
  std::size_t told_bytes() const { return told_bytes_; }

  // Turn
  TurnKey key() const override;
  void leave() override;
  void drained() override;
  void cancel() override;
  Result<TurnState> wait() override;

 private:
  std::shared_ptr<TurnSource> source() const;
  void finish(Result<TurnState> result);
  void drop_source();  // a source holds its slots, and is not needed after the last call
  // Runs `call(follower)` on the loop, unless it has left.
  template <typename Call>
  void tell(Call call);

  const std::shared_ptr<TurnFollower> follower_;
  net::EventLoop& loop_;
  std::atomic<bool> has_left_ = false;  // set on the loop
  std::atomic<std::size_t> backlog_ = 0;
  std::atomic<bool> is_busy_ = false;
  std::size_t told_bytes_ = 0;
  std::chrono::steady_clock::time_point told_ = {};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<TurnSource> source_;
  TurnKey key_;  // when there is no source any more
  std::optional<Result<TurnState>> result_;
};

}  // namespace parley::server
