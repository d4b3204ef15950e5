// store_worker URI TENANT WORKERS STEPS SESSIONS INDEX: does the part of one worker of a workload on a store,
// and tells every operation on standard output while it happens. It may be killed at any moment.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "workload.h"

namespace {

// Unbuffered: output must not be lost in a buffer when the process is killed.
void tell(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t count = write(STDOUT_FILENO, lines.data(), lines.size());
    if (count <= 0) std::_Exit(3);  // the reader is gone
    lines.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "store_worker URI TENANT WORKERS STEPS SESSIONS INDEX\n";
    return 2;
  }
  const auto number = [&](int at) { return static_cast<std::size_t>(std::strtoull(argv[at], nullptr, 10)); };
  parley::Result<parley::store::Store> store = parley::store::open_store(argv[1]);
  if (!store) {
    std::cerr << "store_worker: " << store.error().message << '\n';
    return 3;
  }
  const parley::store::Workload workload{argv[2], number(3), number(4), number(5)};
  parley::store::run_worker(*store, workload, number(6), tell);
  return 0;
}
