// Sends HTTP requests from an event loop: libcurl's multi interface on a Loop, without a thread per request.
//
// Invariants (quoted by tests as ASYNC_CLIENT1..ASYNC_CLIENT6):
//   ASYNC_CLIENT1  The contract of http.h holds (HTTP1..HTTP11), except that many requests share
//                  connections as libcurl decides, within HTTP11, and that read-ahead is not coalesced.
//   ASYNC_CLIENT2  The callbacks of a request and `done` run on the loop. `done` is called once, also
//                  after a stop; after cancel() nothing is called.
//   ASYNC_CLIENT3  cancel() closes the connection of the request at once. It may be called from a
//                  callback.
//   ASYNC_CLIENT4  After pause() a few chunks more may come, then none until resume(); a paused request
//                  is never too quiet.
//   ASYNC_CLIENT5  Names are looked up by other threads, once for all requests that wait for the same
//                  name, and are remembered for half a minute.
//   ASYNC_CLIENT6  When the client is destroyed, its requests are cancelled.
//
// Everything here is for the loop's thread. Destroyed there, or after the loop has finished.
#pragma once

#include <functional>
#include <memory>

#include "parley/net/http.h"

namespace parley::net {

class Loop;

// A request on its way.
class AsyncRequest {
 public:
  AsyncRequest() = default;
  AsyncRequest(const AsyncRequest&) = delete;
  AsyncRequest& operator=(const AsyncRequest&) = delete;
  virtual ~AsyncRequest() = default;

  virtual void cancel() = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
};

class AsyncClient {
 public:
  using Done = std::function<void(Result<Response> response)>;

  explicit AsyncClient(std::shared_ptr<Loop> loop, Resolver& resolver = system_resolver());
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;
  ~AsyncClient();

  // `done` gets what net::send() returns, after this has returned. The request's body_chunks must live until
  // then. An exception of a callback is an error with the code Invalid.
  std::shared_ptr<AsyncRequest> send(Request request, Done done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace parley::net
