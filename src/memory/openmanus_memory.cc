#include "parley/memory/openmanus_memory.h"

#include <algorithm>

namespace parley {
namespace {

// Where Python's slice list[-n:] begins in a list of `size`.
std::size_t slice_start(std::int64_t n, std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (n > 0) return static_cast<std::size_t>(std::max<std::int64_t>(length - n, 0));
  // -n cannot be had of the least integer, but any list is shorter than that.
  if (n < -length) return size;
  return static_cast<std::size_t>(-n);
}

}  // namespace

void OpenManusMemory::add_message(const Message& message) {
  messages_.push_back(message);
  trim();
}

void OpenManusMemory::add_messages(std::span<const Message> messages) {
  messages_.insert(messages_.end(), messages.begin(), messages.end());
  if (version_ == OpenManusVersion::Main) trim();
}

void OpenManusMemory::trim() {
  if (std::ssize(messages_) <= max_messages_) return;
  const std::size_t start = slice_start(max_messages_, messages_.size());
  messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(start));
}

std::vector<Message> OpenManusMemory::get_recent_messages(std::int64_t n) const {
  return {messages_.begin() + static_cast<std::ptrdiff_t>(slice_start(n, messages_.size())), messages_.end()};
}

std::vector<Json> OpenManusMemory::to_dict_list(Dialect dialect, Form form) const {
  std::vector<Json> out;
  for (const Message& message : messages_) {
    for (Json& dict : to_dicts(message, dialect, form)) out.push_back(std::move(dict));
  }
  return out;
}

}  // namespace parley
