// Handlers that need the store: the work runs on a thread for calls that block, the answer is sent on the
// loop.
//
// On the loop of the exchange.
#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "server/http/exchange.h"

namespace parley::server {

using Reply = std::expected<Json, ApiError>;  // a body with status 200, or an error

// Runs `work`, which may read the exchange, and answers with what it returns.
void answer_with(Service& service, const std::shared_ptr<Exchange>& exchange, std::function<Reply()> work);

inline std::unexpected<ApiError> refuse(const Error& error, std::string_view what = {}) {
  return std::unexpected(api_error(error, what));
}

}  // namespace parley::server

// Like PARLEY_TRY and PARLEY_CHECK, in a function that returns a Reply: `what` names the thing that NotFound
// misses.
#define PARLEY_REPLY_TRY_(tmp, lhs, expr, what)                   \
  auto tmp = (expr);                                              \
  if (!tmp) return ::parley::server::refuse(tmp.error(), (what)); \
  lhs = *std::move(tmp)
#define PARLEY_REPLY_TRY(lhs, expr, what) \
  PARLEY_REPLY_TRY_(PARLEY_CAT(parley_reply_, __LINE__), lhs, expr, what)
#define PARLEY_REPLY_CHECK_(tmp, expr, what) \
  if (auto tmp = (expr); !tmp) return ::parley::server::refuse(tmp.error(), (what))
#define PARLEY_REPLY_CHECK(expr, what) PARLEY_REPLY_CHECK_(PARLEY_CAT(parley_reply_, __LINE__), expr, what)
