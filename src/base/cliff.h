// For tests of any room: memory that must not be read or written behind its end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace parley::test {

// Memory that ends where an unreadable page begins.
class Cliff {
 public:
  explicit Cliff(std::size_t room) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    length_ = (room + page - 1) / page * page;
    void* memory =
        ::mmap(nullptr, length_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || ::mprotect(static_cast<char*>(memory) + length_, page, PROT_NONE) != 0) {
      std::abort();
    }
    memory_ = static_cast<char*>(memory);
  }
  ~Cliff() { ::munmap(memory_, length_ + static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))); }
  Cliff(const Cliff&) = delete;
  Cliff& operator=(const Cliff&) = delete;

  // The last `size` bytes before the edge.
  char* last(std::size_t size) { return memory_ + length_ - size; }

  // `bytes`, then `padding` zeros, then the edge.
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
