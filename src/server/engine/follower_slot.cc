#include "server/engine/follower_slot.h"

#include <utility>

namespace parley::server {

template <typename Call>
void FollowerSlot::tell(Call call) {
  if (loop_.is_this_thread()) {
    if (has_left_) return;
    call(*follower_);
    backlog_ = follower_->backlog();
    return;
  }
  loop_.post([self = shared_from_this(), call = std::move(call)] { self->tell(call); });
}

void FollowerSlot::follow(std::shared_ptr<TurnSource> source) {
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
}

void FollowerSlot::refused(const Error& error) {
  tell([error](TurnFollower& follower) { follower.refused(error); });
  finish(std::unexpected(error));
  drop_source();
}

void FollowerSlot::begun(const TurnState& state) {
  tell([state](TurnFollower& follower) { follower.begun(state); });
}

bool FollowerSlot::copies_too_often(const Journal& journal) const {
  constexpr std::size_t kParts = 16;
  return !loop_.is_this_thread() && journal.text_bytes() - told_bytes_ < told_bytes_ / kParts &&
         std::chrono::steady_clock::now() - told_ < kCopyPause;
}

void FollowerSlot::progress(const Journal& journal, std::shared_ptr<const Journal>& copy) {
  told_bytes_ = journal.text_bytes();
  told_ = std::chrono::steady_clock::now();
  if (loop_.is_this_thread()) {
    return tell([&journal](TurnFollower& follower) { follower.progress(journal); });
  }
  if (!copy) copy = std::make_shared<const Journal>(journal);
  is_busy_ = true;
  loop_.post([self = shared_from_this(), copy] {
    self->tell([&copy](TurnFollower& follower) { follower.progress(*copy); });
    self->is_busy_ = false;
    if (const auto at = self->source()) at->drained();
  });
}

void FollowerSlot::ended(const TurnState& state, const Journal& journal,
                         std::shared_ptr<const Journal>& copy) {
  if (loop_.is_this_thread()) {
    tell([&](TurnFollower& follower) { follower.ended(state, journal); });
  } else {
    if (!copy) copy = std::make_shared<const Journal>(journal);
    tell([state, copy](TurnFollower& follower) { follower.ended(state, *copy); });
  }
  finish(state);
  drop_source();
}

void FollowerSlot::finish(Result<TurnState> result) {
  const std::lock_guard lock(mutex_);
  if (!result_) result_ = std::move(result);
  changed_.notify_all();
}

void FollowerSlot::drop_source() {
  TurnKey last = key();
  std::shared_ptr<TurnSource> dropped;
  const std::lock_guard lock(mutex_);
  if (source_) key_ = std::move(last);
  dropped.swap(source_);
}

std::shared_ptr<TurnSource> FollowerSlot::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

TurnKey FollowerSlot::key() const {
  if (const auto at = source()) return at->key();
  const std::lock_guard lock(mutex_);
  return key_;
}

void FollowerSlot::leave() {
  loop_.run([self = shared_from_this()] {
    if (self->has_left_.exchange(true)) return;
    if (const auto at = self->source()) at->leave(self);
    self->finish(fail(Code::Cancelled, "the follower has left the turn"));
  });
}

void FollowerSlot::drained() {
  loop_.run([self = shared_from_this()] {
    if (self->has_left_) return;
    self->backlog_ = self->follower_->backlog();
    if (const auto at = self->source()) at->drained();
  });
}

void FollowerSlot::cancel() {
  if (const auto at = source()) at->cancel();
}

Result<TurnState> FollowerSlot::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return *result_;
}

}  // namespace parley::server
