// Following a turn that does not run here: the events of an ended one come at once; of one that another
// process runs, the checkpoints are read until it has ended.
#include <utility>

#include "server/engine/live_turn.h"

namespace parley::server {
namespace {

constexpr std::chrono::milliseconds kPause{250};  // between two looks at another process's turn

class Attachment : public TurnSource, public std::enable_shared_from_this<Attachment> {
 public:
  Attachment(std::shared_ptr<EngineState> engine, TurnKey key, net::EventLoop& loop,
             std::shared_ptr<FollowerSlot> slot, bool is_replay)
      : engine_(std::move(engine)),
        key_(std::move(key)),
        loop_(loop),
        slot_(std::move(slot)),
        is_replay_(is_replay) {}

  void look() {
    engine_->pool.post([self = shared_from_this()] {
      auto journal = std::make_shared<Journal>();
      auto state = std::make_shared<Result<TurnState>>(self->engine_->read(self->key_, journal.get()));
      self->loop_.post([self, journal, state] { self->tell(*state, *journal); });
    });
  }

  TurnKey key() const override { return key_; }
  void leave(const std::shared_ptr<FollowerSlot>& slot) override {
    static_cast<void>(slot);
    loop_.post([self = shared_from_this()] { self->end(); });  // not within a call to the slot
  }
  void drained() override {}
  void cancel() override {
    engine_->pool.post([self = shared_from_this()] {
      static_cast<void>(self->engine_->settle(
          self->key_.session,
          {.status = TurnStatus::Cancelled, .failure = {}, .takes_over = true, .turn = self->key_.id}));
    });
  }

 private:
  void tell(Result<TurnState>& state, const Journal& journal) {
    if (!slot_) return;
    // One that is followed already is looked for again.
    if (!state && has_begun_ && state.error().retryable()) return look_later();
    if (!state) return end()->refused(state.error());
    state->is_replay = is_replay_;
    if (!std::exchange(has_begun_, true)) {
      TurnState begun = *state;
      begun.status = TurnStatus::InProgress;
      begun.completed_ms = 0;
      begun.reason.clear();
      begun.failure.reset();
      begun.answer.reset();
      begun.outcome = {};
      slot_->begun(begun);
    }
    std::shared_ptr<const Journal> copy;
    if (!journal.empty()) slot_->progress(journal, copy);
    if (is_final(state->status)) return end()->ended(*state, journal, copy);
    look_later();
  }

  void look_later() {
    if (refuse_if_stopping()) return;
    loop_.after(kPause, [self = shared_from_this()] {
      if (self->slot_ && !self->refuse_if_stopping()) self->look();
    });
  }

  bool refuse_if_stopping() {
    if (!engine_->is_stopping()) return false;
    end()->refused(fail(Code::Unavailable, "the server is stopping").error());
    return true;
  }

  // The slot holds this while it is followed.
  std::shared_ptr<FollowerSlot> end() { return std::exchange(slot_, nullptr); }

  const std::shared_ptr<EngineState> engine_;
  const TurnKey key_;
  net::EventLoop& loop_;
  std::shared_ptr<FollowerSlot> slot_;  // null: it has left, or got the end
  const bool is_replay_;
  bool has_begun_ = false;
};

}  // namespace

void EngineState::attach(const TurnKey& key, net::EventLoop& loop, const std::shared_ptr<FollowerSlot>& slot,
                         bool is_replay) {
  const auto attachment = std::make_shared<Attachment>(shared_from_this(), key, loop, slot, is_replay);
  slot->follow(attachment);
  if (slot->has_left()) return attachment->leave(slot);
  attachment->look();
}

}  // namespace parley::server
