#include "base/allocations_testing.h"

#include <cstdlib>
#include <new>

namespace parley::test {
namespace {

constinit thread_local std::size_t allocations = 0;

}  // namespace

#ifdef PARLEY_TEST_SANITIZED
const bool kCountsAllocations = false;
#else
const bool kCountsAllocations = true;
#endif

std::size_t allocations_so_far() { return allocations; }

}  // namespace parley::test

#ifndef PARLEY_TEST_SANITIZED

namespace {

void* counted(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  ++parley::test::allocations;
  return pointer;
}

}  // namespace

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }

void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size == 0 ? unit : 0)));
}

void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }

#endif
