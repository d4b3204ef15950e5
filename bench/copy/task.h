// Copying and appending messages: no payload may be copied.
#pragma once

#include <string>
#include <vector>

#include "harness.h"

namespace bench::copy_task {

// What operator new and the heap say about one operation on a message with a text of 1 MB.
struct Cost {
  std::string operation;
  std::size_t calls = 0, bytes = 0;  // of operator new
  std::size_t heap = 0;              // growth by mallinfo2()
};
std::vector<Cost> measure();
std::string to_markdown(const std::vector<Cost>& costs);

std::vector<Contender> parley();
std::vector<Group> groups();

}  // namespace bench::copy_task
