#include "parley/parley.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "copy/task.h"

namespace {
std::size_t calls_of_new = 0;
std::size_t bytes_of_new = 0;
}  // namespace

// Counts for everyone in this program; two additions a call.
void* operator new(std::size_t size) {
  ++calls_of_new;
  bytes_of_new += size;
  void* bytes = std::malloc(size != 0 ? size : 1);
  if (bytes == nullptr) throw std::bad_alloc();
  return bytes;
}
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }

namespace bench::copy_task {
namespace {

using parley::Conversation;
using parley::Message;

std::size_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Message large_message() {
  return Message::user_message(parley::Text::checked(std::string(1'000'000, 'x')).value());
}

template <typename Operation>
Cost cost_of(std::string name, Operation&& operation) {
  Cost cost{std::move(name), 0, 0, 0};
  const std::size_t heap_before = heap();
  const std::size_t calls = calls_of_new;
  const std::size_t bytes = bytes_of_new;
  operation();
  cost.calls = calls_of_new - calls;
  cost.bytes = bytes_of_new - bytes;
  cost.heap = heap() - heap_before;
  return cost;
}

}  // namespace

std::vector<Cost> measure() {
  const Message message = large_message();
  std::vector<Cost> out;
  std::optional<Message> copy;
  out.push_back(cost_of("copy a message", [&] { copy = message; }));
  Conversation conversation;
  conversation.reserve(4);
  out.push_back(cost_of("append it to a conversation that has room", [&] { conversation.append(message); }));
  std::vector<Message> list;
  list.reserve(1);
  out.push_back(cost_of("add it to a list that has room", [&] { list.push_back(message); }));
  for (int i = 0; i < 999; ++i) conversation.append(message);
  Conversation other;
  out.push_back(
      cost_of("copy a conversation of 1,000 messages (handles of 24 bytes)", [&] { other = conversation; }));
  return out;
}

std::string to_markdown(const std::vector<Cost>& costs) {
  std::string out =
      "| operation, messages of 1 MB | calls of new | bytes of new | heap growth |\n|---|---|---|---|\n";
  for (const Cost& cost : costs) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %zu | %zu | %zu |\n", cost.operation.c_str(), cost.calls,
                  cost.bytes, cost.heap);
    out += line;
  }
  return out;
}

std::vector<Group> groups() { return {{"copy", "messages of 1 MB", 0, parley}}; }

std::vector<Contender> parley() {
  constexpr std::size_t kMany = 10'000;
  auto conversation = std::make_shared<Conversation>();
  auto message = std::make_shared<const Message>(large_message());
  return {{"Parley, copy and append",
           [=] {
             *conversation = {};
             conversation->reserve(kMany);
           },
           [=] {
             for (std::size_t i = 0; i < kMany; ++i) conversation->append(*message);
             return conversation->size();
           },
           kMany}};
}

}  // namespace bench::copy_task
