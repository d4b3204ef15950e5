// Counts the allocations of a call, for tests that promise how many there are. Test support only: the
// counting operator new is in allocations.cc, which is part of the test program, never in the library.
#pragma once

#include <cstddef>

// Defined in sanitizer builds: tests that are about allocations are left out of them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PARLEY_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARLEY_TEST_SANITIZED 1
#endif

namespace parley::test {

// False in sanitizer builds, whose own allocator must stay in place; allocations_of() returns 0 there.
extern const bool kCountsAllocations;

// How often the calling thread has called operator new.
std::size_t allocations_so_far();

template <typename Function>
std::size_t allocations_of(Function&& function) {
  const std::size_t before = allocations_so_far();
  function();
  return allocations_so_far() - before;
}

}  // namespace parley::test
