// One attempt to get an answer: a request is sent, and what comes back is read, delivered and put together.
//
// Events that say nothing yet (a start, token counts, unknown ones) are held back until a delta or the end
// comes, so that an attempt that fails before the model said anything has delivered nothing and can be made
// again (MODEL2).
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "parley/dialect/failure.h"
#include "parley/dialect/stream.h"
#include "parley/model/http_model.h"
#include "parley/net/http.h"

namespace parley::model {

// The outcome of an attempt.
struct Attempted {
  std::optional<Accumulated> said = {};  // nullopt without an answer
  std::optional<Failure> failure = {};   // why it is not all
  Code code = Code::Invalid;             // of the failure
  Usage usage = {};                      // reported usage, if there is no answer
  bool has_delivered = false;
};

// How to ask; outlives the attempt.
struct Question {
  Dialect dialect;
  bool stream = true;
  const OnStreamEvent& on_event;
  std::stop_token stop;
  const Secret& key;
  Timer& timer;
};

class Attempt {
 public:
  explicit Attempt(const Question& question)
      : question_(question), gathered_(question.dialect), reader_(StreamReader::of(question.dialect)) {}

  // Sets the callbacks and the stop of the request, which is then to be sent. The outcome if it cannot be.
  std::optional<Attempted> begin(net::Request& request);
  // The outcome, with what sending it has returned.
  Attempted end(const Result<net::Response>& response);

  std::optional<Timer::Time> first_delta() const { return first_delta_; }

 private:
  void judge(std::string_view piece);
  Result<void> take_bytes(std::string_view piece);
  void take(const StreamEvent& event);
  void deliver(const StreamEvent& event);
  void read_whole();
  Attempted ended(const net::Response& response);
  Attempted broken(const Error& error);
  Attempted failed(Failure failure, Code code);
  Attempted done();
  Accumulated gathered();
  Failure failure_in(const net::Response& response) const;

  const Question& question_;
  Accumulator gathered_;
  Result<StreamReader> reader_;
  std::string body_;  // all of it, or the beginning of a stream
  std::vector<StreamEvent> held_;
  std::optional<stream::Failed> failed_;  // the end of the stream
  std::optional<Failure> refused_;        // the same, if the model ended without a word
  bool is_done_ = false;                  // the same, if all is well
  std::set<std::string> unknown_;         // names of events that the message has no place for
  std::vector<Note> notes_;
  std::optional<Timer::Time> first_delta_;
  bool has_delivered_ = false;
  bool is_good_ = false;    // the answer has a status that says so
  bool is_judged_ = false;  // its first byte has come
  bool is_stream_ = false;  // and is that of a stream
};

// The code that an error of this failure has.
Code code_of(const Failure& failure);

}  // namespace parley::model
