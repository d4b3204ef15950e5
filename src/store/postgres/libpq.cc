#include "store/postgres/libpq.h"

#include "base/library.h"

namespace parley::store {
namespace {

Result<Pq> loaded() {
  PARLEY_TRY(const Library library, Library::load("libpq.so.5", "libpq5"));
  Pq out;
#define PARLEY_PQ_FIND(name) PARLEY_CHECK(library.find("PQ" #name, out.name));
  PARLEY_PQ_FUNCTIONS(PARLEY_PQ_FIND)
#undef PARLEY_PQ_FIND
  return out;
}

const Result<Pq>& shared() {
  // Never destroyed: connections of static storage may be closed after everything else.
  static const auto& pq = *new Result<Pq>(loaded());
  return pq;
}

}  // namespace

Result<void> load_pq() {
  PARLEY_CHECK(shared());
  return {};
}

const Pq& pq() { return *shared(); }

}  // namespace parley::store
