#include "store/postgres/libpq.h"

namespace parley::store {
namespace {

const Result<Pq>& shared() {
  // Never destroyed: connections of static storage may be closed after everything else.
  static const auto& pq = *new Result<Pq>(find_pq());
  return pq;
}

}  // namespace

Result<void> load_pq() {
  PARLEY_CHECK(shared());
  return {};
}

const Pq& pq() { return *shared(); }

}  // namespace parley::store
