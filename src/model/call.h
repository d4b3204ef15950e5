// One call of a model as a state machine without I/O: its attempts, the waits between them, its record. A
// driver does what each step says: http_model.cc blocks, async_call.cc runs many on an event loop.
//
//   begin() --> Wait --> waited() --> Send --> sent() --> Wait ... --> End: result()
//
// MODEL1 to MODEL7 (model.h) hold whatever drives it. One thread at a time; not while a step is done.
#pragma once

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "model/attempt.h"
#include "model/rate_limiter.h"
#include "model/request.h"
#include "parley/model/http_model.h"

namespace parley::model {

// What all calls of a model share.
struct Client {
  Client(ModelConfig given, const ModelName& name);

  ModelConfig config;
  const Provider& provider;
  ModelInfo info;
  RateLimiter limiter;
};

class Call {
 public:
  // Send the request; its callbacks are the call's. The pointer is good until sent().
  struct Send {
    net::Request* request;
  };
  // Wait, or until a stop.
  struct Wait {
    std::chrono::milliseconds time;
  };
  struct End {};
  using Step = std::variant<Send, Wait, End>;

  // All of them outlive the call.
  Call(Client& client, const ModelRequest& asked, const CallOptions& options);

  Step begin();
  Step sent(const Result<net::Response>& response);
  Step waited(bool was_stopped);
  Called<ModelAnswer> result() { return *std::move(result_); }  // REQUIRES: End

 private:
  enum class Reason { Turn, Retry };  // of a wait

  std::chrono::milliseconds time_left() const;
  Step take_turn();
  Step send();
  Step take(Attempted attempted);
  void log_retry(const Failure& failure, std::chrono::milliseconds time) const;
  Step wait(Reason reason, std::chrono::milliseconds time);

  Step answer(Attempted attempted);
  Step stop();
  Step fail_with(Failure failure, Code code, std::string path = {});
  std::string sentence(const Failure& failure) const;
  void close();

  Client& client_;
  Timer& timer_;
  const ModelRequest& asked_;
  const CallOptions& options_;
  Question question_;
  Timer::Time started_;
  CallRecord record_;
  std::vector<Note> notes_;
  std::optional<std::size_t> tokens_;  // an estimate, if tokens are limited
  std::optional<WireRequest> request_;
  std::optional<Attempt> attempt_;
  Reason reason_ = Reason::Turn;
  std::optional<Called<ModelAnswer>> result_;
};

}  // namespace parley::model
