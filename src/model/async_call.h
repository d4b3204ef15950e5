// Calls of models on an event loop: Model::start().
#pragma once

#include <memory>

#include "model/call.h"
#include "parley/model/model.h"
#include "parley/net/event_loop.h"

namespace parley::model {

// Drives a Call by the loop's HTTP client. `client` outlives the call.
std::shared_ptr<ModelCall> start_on_loop(Client& client, ModelRequest request, CallOptions options,
                                         net::EventLoop& loop, Model::Done done);

// Runs Model::complete() on a thread, and hands its events to the loop.
std::shared_ptr<ModelCall> start_on_thread(Model& model, ModelRequest request, CallOptions options,
                                           net::EventLoop& loop, Model::Done done);

}  // namespace parley::model
