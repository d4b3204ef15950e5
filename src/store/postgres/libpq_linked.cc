// The libpq that the program is linked with. A file of its own, so that a program that loads libpq leaves it
// out.
#include "store/postgres/libpq.h"

namespace parley::store {

Result<Pq> find_pq() {
  Pq out;
#define PARLEY_PQ_TAKE(name) out.name = &::PQ##name;
  PARLEY_PQ_FUNCTIONS(PARLEY_PQ_TAKE)
#undef PARLEY_PQ_TAKE
  return out;
}

}  // namespace parley::store
