#include "server/engine/live_turn.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "memory/stored_message.h"
#include "parley/base/clock.h"
#include "parley/base/log.h"
#include "server/engine/checkpoint.h"

namespace parley::server {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// ---- Followers

void LiveTurn::add(const std::shared_ptr<FollowerSlot>& slot) {
  loop_.run([self = shared_from_this(), slot] {
    if (self->refused_) return slot->refused(*self->refused_);
    if (const auto other = self->handed_to_.lock()) return other->add(slot);
    if (self->replayed_) return self->engine_.attach(*self->replayed_, self->loop_, slot, true);
    if (self->phase_ == Phase::Over) return self->engine_.attach(self->key(), self->loop_, slot, true);
    slot->follow(self);
    self->followers_.push_back(slot);
    if (slot->has_left()) return self->leave(slot);
    if (self->prepared_) {
      slot->begun(self->prepared_->state);
      std::shared_ptr<const Journal> copy;
      if (!self->journal_.empty()) slot->progress(self->journal_, copy);
    }
    self->mind_followers();
  });
}

// Not at once: a follower may leave within a call to all of them.
void LiveTurn::leave(const std::shared_ptr<FollowerSlot>& slot) {
  loop_.post([self = shared_from_this(), slot] {
    std::erase(self->followers_, slot);
    self->mind_followers();
  });
}

// When the last one is gone, the rule of the request decides (TURN9).
void LiveTurn::mind_followers() {
  if (phase_ >= Phase::Storing) return;
  check_backlog();
  if (!followers_.empty()) {
    ++departures_;
    return;
  }
  const Disconnect& rule = request_.disconnect;
  if (rule.rule == Disconnect::Rule::Continue) return;
  if (phase_ == Phase::Waiting && engine_.leave_queue(*this)) {
    return refuse(fail(Code::Cancelled, "the client is gone").error());
  }
  if (rule.rule == Disconnect::Rule::Cancel) return stop(TurnStatus::Incomplete, "client_disconnected");
  const std::weak_ptr<LiveTurn> weak = weak_from_this();
  loop_.after(rule.grace, [weak, departure = ++departures_] {
    const auto self = weak.lock();
    if (!self || self->departures_ != departure || !self->followers_.empty()) return;
    self->stop(TurnStatus::Incomplete, "client_disconnected");
  });
}

void LiveTurn::drained() {
  loop_.run([self = shared_from_this()] {
    if (self->phase_ == Phase::Running) self->tell_progress(true);
    self->check_backlog();
  });
}

// A follower that is behind hears more when it has taken what it has: only the journal grows meanwhile
// (TURN12).
void LiveTurn::tell_progress(bool only_behind) {
  std::shared_ptr<const Journal> copy;
  bool is_early = false;
  for (const auto& slot : followers_) {
    if (only_behind && !slot->is_behind) continue;
    const bool waits = slot->copies_too_often(journal_);
    is_early = is_early || waits;
    slot->is_behind = waits || slot->is_busy() || slot->backlog() > engine_.options.pause_backlog;
    if (!slot->is_behind) slot->progress(journal_, copy);
  }
  if (!is_early || std::exchange(is_telling_later_, true)) return;
  loop_.after(FollowerSlot::kCopyPause, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->is_telling_later_ = false;
    if (self->phase_ == Phase::Running) self->tell_progress(true);
  });
}

// The model waits while every follower is behind (TURN12): by what its client has not read, or by what it was
// not told because its loop is busy.
void LiveTurn::check_backlog() {
  if (!call_) return;
  std::size_t least = followers_.empty() ? 0 : static_cast<std::size_t>(-1);
  for (const auto& slot : followers_) {
    least = std::min(least, slot->backlog() + journal_.text_bytes() - slot->told_bytes());
  }
  if (!is_paused_ && least > engine_.options.pause_backlog) {
    is_paused_ = true;
    call_->pause();
  } else if (is_paused_ && least <= engine_.options.pause_backlog / 4) {
    is_paused_ = false;
    call_->resume();
  }
}

// ---- Before the model is asked

milliseconds LiveTurn::waited() const {
  return std::chrono::duration_cast<milliseconds>(prepared_at_ - created_);
}

void LiveTurn::prepare() {
  if (phase_ == Phase::Over) return;
  if (stopped_) return refuse(fail(Code::Cancelled, "the turn was cancelled before it began").error());
  phase_ = Phase::Preparing;
  prepared_at_ = steady_clock::now();
  engine_.pool.post([self = shared_from_this()] {
    auto result = std::make_shared<PrepareResult>(
        self->engine_.prepare(self->request_, self->must_fork, self->waited()));
    self->loop_.post([self, result] { self->take(std::move(*result)); });
  });
}

void LiveTurn::take(PrepareResult result) {
  if (const auto* error = std::get_if<Error>(&result)) return refuse(*error);
  if (const auto* replayed = std::get_if<ReplayOf>(&result)) {
    const TurnKey other = replayed->key;
    close();
    return replay(other);
  }
  if (auto* prepared = std::get_if<Prepared>(&result)) return begin(std::move(*prepared));
  // Another process runs a turn of this session: there is no queue between processes, so this one asks again.
  constexpr milliseconds kPause{100};
  const bool may_wait = request_.on_busy == OnBusy::Queue && !stopped_ &&
                        steady_clock::now() - created_ < engine_.options.queue_wait;
  if (!may_wait) {
    return refuse(fail(Code::Conflict, "another turn of this conversation runs in another process").error());
  }
  engine_.prepare_soon(shared_from_this(), kPause);
}

void LiveTurn::refuse(const Error& error) {
  const std::vector<std::shared_ptr<FollowerSlot>> followers = std::move(followers_);
  refused_ = error;
  close();
  for (const auto& slot : followers) slot->refused(error);
}

void LiveTurn::hand_over(const std::shared_ptr<LiveTurn>& other) {
  phase_ = Phase::Over;
  handed_to_ = other;
  for (const auto& slot : std::exchange(followers_, {})) other->add(slot);
}

void LiveTurn::replay(const TurnKey& other) {
  phase_ = Phase::Over;
  replayed_ = other;
  for (const auto& slot : std::exchange(followers_, {})) {
    if (const auto running = engine_.live(other)) {
      running->add(slot);
    } else {
      engine_.attach(other, loop_, slot, true);
    }
  }
}

// ---- The call

void LiveTurn::begin(Prepared prepared) {
  phase_ = Phase::Running;
  prepared_ = std::move(prepared);
  {
    const std::lock_guard lock(mutex_);
    key_ = prepared_->state.key;
    state_ = prepared_->state;
  }
  engine_.register_live(shared_from_this(), prepared_->state.key);
  // It runs in a fork: the others of its session need not wait for it, those of the fork do.
  if (request_.is_stored && place != map_key(prepared_->state.key.session)) {
    engine_.move(*this, prepared_->state.key.session);
  }
  for (const auto& slot : followers_) slot->begun(prepared_->state);
  checkpointed_ = steady_clock::now();
  if (stopped_) {
    const Failure failure{.kind = FailureKind::Transport, .message = "the turn was cancelled"};
    return finish(
        std::unexpected(CallError{fail(Code::Cancelled, "the turn was cancelled").error(), failure, {}}));
  }
  ask();
}

void LiveTurn::ask() {
  const std::weak_ptr<LiveTurn> weak = weak_from_this();
  CallOptions options;
  options.on_event = [self = this](const StreamEvent& event) { self->hear(event); };  // `done` holds the turn
  options.on_request = [self = this](std::span<const std::string_view> body) {
    self->sent_hash_ = sha256_hex_of(body);
    self->sent_bytes_ = 0;
    for (const std::string_view piece : body) self->sent_bytes_ += piece.size();
  };
  call_ = prepared_->model->start(
      std::move(prepared_->composed.request), std::move(options), loop_,
      [self = shared_from_this()](Called<ModelAnswer> answer) { self->finish(std::move(answer)); });
  if (request_.is_stored) check_in();
}

void LiveTurn::hear(const StreamEvent& event) {
  journal_.add(event);
  if (is_flushing_ || phase_ != Phase::Running) return;
  is_flushing_ = true;
  // Once for all events of this turn of the loop.
  loop_.post([self = shared_from_this()] { self->flush(); });
}

void LiveTurn::flush() {
  is_flushing_ = false;
  if (phase_ >= Phase::Storing) return;
  tell_progress(false);
  check_backlog();
  // A checkpoint has all of the answer. That of a long one is written less often, so that all of them
  // together cost a multiple of the answer, not its square.
  constexpr std::size_t kParts = 8;
  const std::size_t least = std::max(engine_.options.checkpoint_bytes, checkpointed_bytes_ / kParts);
  if (journal_.text_bytes() - checkpointed_bytes_ >= least) checkpoint();
}

void LiveTurn::cancel() {
  loop_.run([self = shared_from_this()] { self->stop(TurnStatus::Cancelled, {}); });
}

void LiveTurn::stop(TurnStatus status, std::string reason) {
  if (phase_ >= Phase::Storing || stopped_) return;
  if (phase_ == Phase::Waiting && engine_.leave_queue(*this)) {
    return refuse(fail(Code::Cancelled, "the turn was cancelled before it began").error());
  }
  stopped_ = status;
  stop_reason_ = std::move(reason);
  engine_.forget_retry(*this);  // an equal request wants an answer, not the rest of this one
  if (is_paused_) call_->resume();
  is_paused_ = false;
  if (call_) call_->stop();
}

// ---- Checkpoints

// Looks every checkpoint_time whether there is something to write, or a lease to renew.
void LiveTurn::check_in() {
  const std::weak_ptr<LiveTurn> weak = weak_from_this();
  loop_.after(engine_.options.checkpoint_time, [weak] {
    const auto self = weak.lock();
    if (!self || self->phase_ != Phase::Running) return;
    const bool has_news = self->journal_.text_bytes() != self->checkpointed_bytes_;
    const bool is_due = self->is_checkpoint_due_ ||
                        steady_clock::now() - self->checkpointed_ > self->engine_.options.lease / 10;
    if (has_news || is_due) self->checkpoint();
    self->check_in();
  });
}

void LiveTurn::checkpoint() {
  if (is_checkpointing_ || !request_.is_stored || phase_ != Phase::Running) return;
  is_checkpointing_ = true;
  checkpointed_bytes_ = journal_.text_bytes();
  checkpointed_ = steady_clock::now();
  const TurnKey key = prepared_->state.key;
  engine_.pool.post([self = shared_from_this(), key, bytes = checkpoint_of(key.id, journal_, sent())] {
    const auto& options = self->engine_.options;
    const store::Lease lease{.token = key.id, .owner = options.owner, .until_ms = 0};
    auto renewed = options.store->checkpoint(key.session, lease, options.lease, bytes);
    bool has_lost = false;
    if (!renewed && renewed.error().code == Code::LimitExceeded) {  // an older one stays
      has_lost = self->engine_.has_lost_lease(key);
    } else if (!renewed && renewed.error().code == Code::Conflict) {
      has_lost = self->engine_.has_lost_lease(key);
      if (!has_lost) renewed = options.store->checkpoint(key.session, lease, options.lease, bytes);
    }
    self->loop_.post([self, has_lost, is_written = renewed.has_value()] {
      self->is_checkpointing_ = false;
      self->is_checkpoint_due_ = !is_written;
      if (has_lost) self->stop(TurnStatus::Failed, "lease_lost");
    });
  });
}

// ---- The end

std::optional<Json> LiveTurn::sent() const {
  return sent_hash_.empty() ? std::nullopt : std::optional(sent_body(sent_hash_, sent_bytes_));
}

EndRecord LiveTurn::end_of(Called<ModelAnswer>& answer, std::optional<Message>& message) {
  EndRecord out{
      .id = prepared_->state.key.id, .status = TurnStatus::Completed, .reason = {}, .completed_ms = now_ms()};
  std::optional<Failure> failure;
  if (answer) {
    if (!answer->message.blocks().empty()) message = answer->message;
    out.outcome = answer->outcome;
    // Ids that the server itself made are no loss.
    out.notes = static_cast<std::size_t>(std::ranges::count_if(
        answer->notes, [](const Note& note) { return note.code != "identity_dropped"; }));
    failure = answer->cut;
    if (answer->outcome.finish == Finish::Length || answer->outcome.finish == Finish::ContextFull) {
      out.status = TurnStatus::Incomplete;
      out.reason = "max_output_tokens";
    } else if (answer->outcome.finish == Finish::Filtered) {
      out.status = TurnStatus::Incomplete;
      out.reason = "content_filter";
    }
  } else {
    failure = answer.error().failure;
  }
  if (stopped_ && (failure || !answer)) {
    out.status = *stopped_;
    out.reason = stop_reason_;
  } else if (failure) {
    out.status = TurnStatus::Failed;
    out.reason.clear();
    out.failure = {.kind = failure->kind,
                   .code = failure->code.str(),
                   .message = answer ? failure->message.str() : answer.error().message};
  }
  return out;
}

void LiveTurn::finish(Called<ModelAnswer> answer) {
  if (phase_ != Phase::Running) return;
  phase_ = Phase::Storing;
  call_.reset();
  std::optional<Message> message;
  EndRecord end = end_of(answer, message);
  // An answer that came at once gets the events that a stream has, so that it can be replayed.
  if (answer && journal_.empty()) {
    to_events(answer->message, answer->outcome, [&](const StreamEvent& event) { journal_.add(event); });
  }
  end.journal = message ? journal_.encode_beside(*message) : journal_.encode();
  end.sent = sent();
  tell_progress(false);
  ending_ = {.record = std::move(end), .message = std::move(message), .stored = store::Position{0}};
  if (!request_.is_stored) return this->end();
  ending_.until = steady_clock::now() + engine_.options.lease;
  memory::SessionFacts& facts = prepared_->history.facts;
  const ModelInfo& model = prepared_->model->info();
  facts.model = model.provider.str() + "/" + model.name.str();
  ++facts.turns;
  const Usage& usage = ending_.record.outcome.usage;
  facts.tokens += usage.input.value_or(0) + usage.output.value_or(0);
  store_end();
}

void LiveTurn::store_end() {
  engine_.pool.post([self = shared_from_this()] {
    Ending& ending = self->ending_;  // the loop leaves it alone meanwhile
    const TurnKey& key = self->prepared_->state.key;
    History& history = self->prepared_->history;
    const auto commit = [&] {
      return self->engine_.commit_end(key, ending.message, ending.record,
                                      {history.facts, history.memory.log_size()}, key.id);
    };
    ending.stored = commit();
    if (!ending.stored && ending.stored.error().code == Code::Conflict &&
        !self->engine_.has_lost_lease(key)) {
      ending.stored = commit();  // the lease had expired
    }
    if (ending.stored) {
      self->update_history(ending.message, ending.record, *ending.stored);
    } else if (is_lost(ending.stored.error())) {
      if (const auto stored = read_turn(*self->engine_.options.store, key); stored && stored->end)
        ending.other = stored->state(key);
    }
    self->loop_.post([self] { self->end_or_try_again(); });
  });
}

// A store that fails for a while must not cost an answer: it is offered again while the lease lasts.
void LiveTurn::end_or_try_again() {
  constexpr milliseconds kLongestPause{1'000};
  const auto& stored = ending_.stored;
  const bool is_unresolved = !stored && stored.error().code == Code::Unresolved;
  ending_.is_unresolved = !stored && (ending_.is_unresolved || is_unresolved);
  const bool may_retry = !stored && (stored.error().retryable() || is_unresolved);
  if (!may_retry || steady_clock::now() > ending_.until) return end();
  loop_.after(ending_.pause, [self = shared_from_this()] { self->store_end(); });
  ending_.pause = std::min(ending_.pause * 2, kLongestPause);
}

// The cache has the session with the answer, so that the next turn reads nothing. On a worker.
void LiveTurn::update_history(const std::optional<Message>& message, const EndRecord& end,
                              store::Position size) {
  const store::SessionKey& session = prepared_->state.key.session;
  if (end.status != TurnStatus::Completed || !message) return engine_.cache.remove(session);
  History& history = prepared_->history;
  const Result<store::Page> page =
      engine_.options.store->read(session, {.first = size - 2, .count = 1});  // as a later process reads it
  const Result<std::vector<Message>> answer =
      page ? to_messages(page->records) : Result<std::vector<Message>>(std::unexpected(page.error()));
  if (!answer || !history.memory.add(*answer)) return engine_.cache.remove(session);
  history.size = size;
  history.last->status = end.status;
  history.last->reason = end.reason;
  history.last->completed_ms = end.completed_ms;
  history.last->after = size;
  engine_.cache.put(session, std::move(history));
}

TurnState LiveTurn::final_state() const {
  if (ending_.other) return *ending_.other;
  TurnState state = prepared_->state;
  const EndRecord& end = ending_.record;
  state.completed_ms = end.completed_ms;
  state.status = end.status;
  state.reason = end.reason;
  state.failure = end.failure;
  state.answer = ending_.message;
  state.outcome = end.outcome;
  state.notes = end.notes;
  if (ending_.stored) {
    state.end = *ending_.stored;
    return state;
  }
  // Nothing was stored, so nothing was completed: the janitor of some engine ends the turn in the store.
  const Error& error = ending_.stored.error();
  log(LogLevel::Error, "cannot store an answer: " + error.message);
  state.status = TurnStatus::Failed;
  state.reason.clear();
  state.failure = {.kind = FailureKind::Server,
                   .code = is_lost(error) ? "lease_lost" : "store_unavailable",
                   .message = "the answer could not be stored: " + error.message};
  return state;
}

void LiveTurn::end() {
  const TurnState state = final_state();
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  if (ending_.stored) {
    engine_.remember(state, request_.retry_key);
  } else if (!is_lost(ending_.stored.error())) {
    engine_.abandon(state.key);
  }
  const std::vector<std::shared_ptr<FollowerSlot>> followers = std::move(followers_);
  const auto waiters = std::move(waiters_);
  close();
  std::shared_ptr<const Journal> copy;
  for (const auto& slot : followers) {
    if (ending_.is_unresolved) {
      // The store may have the answer or not: no status is shown that it could contradict later (TURN4).
      slot->refused(ending_.stored.error());
    } else {
      slot->ended(state, journal_, copy);
    }
  }
  for (const auto& done : waiters) done(state);
}

void LiveTurn::close() {
  phase_ = Phase::Over;
  engine_.end_turn(*this);
}

// ---- Any thread

TurnKey LiveTurn::key() const {
  const std::lock_guard lock(mutex_);
  return key_;
}

std::optional<TurnState> LiveTurn::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void LiveTurn::when_ended(std::function<void(const TurnState&)> done) {
  loop_.run([self = shared_from_this(), done = std::move(done)] {
    if (self->phase_ == Phase::Over && self->state()) return done(*self->state());
    self->waiters_.push_back(done);
  });
}

}  // namespace parley::server
