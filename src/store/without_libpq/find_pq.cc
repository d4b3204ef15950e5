// In place of libpq_linked.cc in a program that is linked with -static (parley::static). It cannot load a
// shared library either.
#include "store/postgres/libpq.h"

namespace parley::store {

Result<Pq> find_pq() {
  return fail(Code::NotFound,
              "a store in PostgreSQL needs libpq, which a program linked with -static does not have");
}

}  // namespace parley::store
