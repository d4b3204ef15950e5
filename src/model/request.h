// The request that asks a model, as the server of its provider takes it.
#pragma once

#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/message/conversation.h"
#include "parley/model/http_model.h"
#include "parley/model/model.h"
#include "parley/net/http.h"

namespace parley::model {

// The model that is asked: a request may name another one of the same provider than `model`.
Text name_of(const ModelRequest& asked, const Text& model);

// A request, and what the pieces of its body stand on.
struct WireRequest {
  net::Request http = {};
  Conversation conversation = {};
  Gathering document = {};
};

// Fails as gather() does for what the dialect of the provider cannot say, and as url_of() does. What was lost
// on the way is noted. Without callbacks, stop and deadline, which are of an attempt.
Result<WireRequest> request_of(const ModelRequest& asked, const Text& model, const Provider& provider,
                               const ModelConfig& config, std::vector<Note>& notes);

// See Model::request_to().
Result<net::Request> sibling_request(std::string_view path, const Text& model, const Provider& provider,
                                     const ModelConfig& config);

}  // namespace parley::model
