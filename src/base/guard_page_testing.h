// For tests: memory that ends at a guard page, so that an access past its end crashes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace parley::test {

// Memory that ends where an inaccessible page begins.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t room) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    length_ = (room + page - 1) / page * page;
    void* memory =
        ::mmap(nullptr, length_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || ::mprotect(static_cast<char*>(memory) + length_, page, PROT_NONE) != 0) {
      std::abort();
    }
    memory_ = static_cast<char*>(memory);
  }
  ~GuardedMemory() { ::munmap(memory_, length_ + static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // The last `size` bytes before the guard page.
  char* last(std::size_t size) { return memory_ + length_ - size; }

  // `bytes`, then `padding` zeros, then the guard page.
  const char* place(std::string_view bytes, std::size_t padding) {
    char* at = last(bytes.size() + padding);
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    std::memset(at + bytes.size(), 0, padding);
    return at;
  }

 private:
  char* memory_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace parley::test
