// What a conversation holds: the bytes of its arena and handles, and what the allocator says.
#pragma once

#include <string>
#include <vector>

#include "generate.h"

namespace bench::memory_task {

struct Held {
  std::string document;
  std::size_t bytes = 0, messages = 0, blocks = 0;
  std::size_t counted = 0;    // arena and handles, by their own account
  std::size_t allocated = 0;  // growth of the heap, by mallinfo2()

  double counted_per_message() const { return per_message(counted); }
  double allocated_per_message() const { return per_message(allocated); }

 private:
  double per_message(std::size_t all) const {
    return (static_cast<double>(all) - static_cast<double>(bytes)) / static_cast<double>(messages);
  }
};

std::vector<Held> measure(const std::vector<Document>& documents);
std::string to_markdown(const std::vector<Held>& all);

}  // namespace bench::memory_task
