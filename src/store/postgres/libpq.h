// The functions of libpq that are used. It is loaded when a store in PostgreSQL is opened: with what it needs
// it would be most of the start of a program that opens none.
#pragma once

#include <libpq-fe.h>

#include "parley/base/error.h"

namespace parley::store {

#define PARLEY_PQ_FUNCTIONS(X) \
  X(clear)                     \
  X(connectPoll)               \
  X(connectStartParams)        \
  X(conninfoFree)              \
  X(conninfoParse)             \
  X(consumeInput)              \
  X(enterPipelineMode)         \
  X(errorMessage)              \
  X(finish)                    \
  X(flush)                     \
  X(freemem)                   \
  X(getResult)                 \
  X(getisnull)                 \
  X(getlength)                 \
  X(getvalue)                  \
  X(isBusy)                    \
  X(ntuples)                   \
  X(pipelineSync)              \
  X(resultErrorField)          \
  X(resultStatus)              \
  X(sendPrepare)               \
  X(sendQueryParams)           \
  X(sendQueryPrepared)         \
  X(setNoticeReceiver)         \
  X(setnonblocking)            \
  X(socket)                    \
  X(status)                    \
  X(transactionStatus)

// pq().clear is PQclear, and so on.
struct Pq {
#define PARLEY_PQ_POINTER(name) decltype(&::PQ##name) name = nullptr;
  PARLEY_PQ_FUNCTIONS(PARLEY_PQ_POINTER)
#undef PARLEY_PQ_POINTER
};

// Loads it, unless it is loaded; safe from any thread. NotFound if it cannot be.
Result<void> load_pq();

// REQUIRES: load_pq() succeeded.
const Pq& pq();

}  // namespace parley::store
