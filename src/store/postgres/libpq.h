// The functions of libpq that are used. A program links libpq; the command loads it when it opens a store in
// PostgreSQL instead, because libpq and the libraries it needs would be most of the start of a command that
// opens none.
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

// Finds them: libpq_linked.cc takes those that the program is linked with. A program that defines this
// function itself (src/cli/load_libraries.cc) is not linked with libpq.
Result<Pq> find_pq();

// Finds it at the first call; safe from any thread. NotFound if there is none.
Result<void> load_pq();

// REQUIRES: load_pq() succeeded.
const Pq& pq();

}  // namespace parley::store
