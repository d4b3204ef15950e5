// A turn that this process runs: waiting for its place, preparing, asking the model, storing the answer.
// Everything happens on its loop, but for what says "any thread".
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/engine_state.h"

namespace parley::server {

class LiveTurn : public TurnSource, public std::enable_shared_from_this<LiveTurn> {
 public:
  LiveTurn(std::shared_ptr<EngineState> engine, TurnRequest request, net::EventLoop& loop)
      : held_(std::move(engine)),
        engine_(*held_),
        request_(std::move(request)),
        loop_(loop),
        key_(request_.key) {}

  const TurnRequest& request() const { return request_; }
  TurnRequest& request() { return request_; }  // until it is prepared
  net::EventLoop& loop() { return loop_; }

  void add(const std::shared_ptr<FollowerSlot>& slot);  // any thread; hears of everything from the beginning
  void prepare();                                       // it has its place
  void refuse(const Error& error);
  // Its followers get another turn: one that runs, or an ended one.
  void hand_over(const std::shared_ptr<LiveTurn>& other);
  void replay(const TurnKey& other);
  // Ends it as soon as possible, with what the model said so far.
  void stop(TurnStatus status, std::string reason);

  std::chrono::milliseconds waited() const;
  bool must_fork = false;  // see TurnRequest::after
  // The engine's mutex:
  std::string place = {};   // the queue that it runs or waits in, by map_key()
  bool is_waiting = false;  // for its place

  // Any thread
  std::optional<TurnState> state() const;  // nullopt: not begun
  // `done` is called on the loop when the turn is final.
  void when_ended(std::function<void(const TurnState& state)> done);

  // TurnSource; any thread
  TurnKey key() const override;
  void leave(const std::shared_ptr<FollowerSlot>& slot) override;
  void drained() override;
  void cancel() override;

 private:
  enum class Phase : std::uint8_t { Waiting, Preparing, Running, Storing, Over };

  void take(PrepareResult result);
  void begin(Prepared prepared);
  void ask();
  void hear(const StreamEvent& event);
  void flush();
  void tell_progress(bool only_behind);
  void check_backlog();
  void mind_followers();
  void check_in();
  void checkpoint();
  void finish(Called<ModelAnswer> answer);
  std::optional<Json> sent() const;  // EndRecord::sent
  EndRecord end_of(Called<ModelAnswer>& answer, std::optional<Message>& message);
  void store_end();
  void end_or_try_again();
  TurnState final_state() const;
  void end();
  void update_history(const std::optional<Message>& message, const EndRecord& end, store::Position size);
  void close();

  const std::shared_ptr<EngineState> held_;
  EngineState& engine_;
  TurnRequest request_;
  net::EventLoop& loop_;
  const std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();

  Phase phase_ = Phase::Waiting;
  // What its followers got instead.
  std::weak_ptr<LiveTurn> handed_to_;
  std::optional<TurnKey> replayed_;
  std::vector<std::shared_ptr<FollowerSlot>> followers_;
  std::optional<Prepared> prepared_;
  Journal journal_;
  std::shared_ptr<ModelCall> call_;
  bool is_flushing_ = false, is_paused_ = false, is_telling_later_ = false;
  std::uint64_t departures_ = 0;  // of the last follower
  std::optional<Error> refused_;
  std::optional<TurnStatus> stopped_;
  std::string stop_reason_;

  // The answer on its way to the store.
  struct Ending {
    EndRecord record = {};
    std::optional<Message> message = {};
    Result<store::Position> stored = store::Position{0};
    bool is_unresolved = false;           // a commit of it may have succeeded
    std::optional<TurnState> other = {};  // another process ended the turn: this is what it stored
    std::chrono::steady_clock::time_point until = {};
    std::chrono::milliseconds pause{50};
  };
  Ending ending_;

  bool is_checkpointing_ = false, is_checkpoint_due_ = false;
  std::size_t checkpointed_bytes_ = 0;
  std::chrono::steady_clock::time_point checkpointed_ = {};

  std::string sent_hash_;
  std::size_t sent_bytes_ = 0;
  std::vector<std::function<void(const TurnState&)>> waiters_;
  std::chrono::steady_clock::time_point prepared_at_ = created_;

  mutable std::mutex mutex_;  // of what follows
  TurnKey key_;
  std::optional<TurnState> state_;
};

}  // namespace parley::server
