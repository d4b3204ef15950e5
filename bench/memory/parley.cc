#include "parley/parley.h"

#include <malloc.h>

#include <cstdio>

#include "memory/task.h"
#include "message/arena.h"

namespace bench::memory_task {
namespace {

std::size_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Held held_by(const Document& document) {
  Held held{document.name, document.json.size(), 0, 0, 0, 0};
  const std::size_t before = heap();
  const parley::Conversation conversation =
      parley::read(std::string_view(document.json), parley::Dialect::OpenManus).value().conversation;
  held.allocated = heap() - before;
  const parley::Arena& arena = *conversation.document();
  held.messages = conversation.size();
  for (const parley::MessageRecord& message : arena.messages()) {
    for (const parley::BlockRecord& block : arena.blocks(message))
      held.blocks += 1 + arena.children(block).size();
  }
  held.counted = arena.memory() + conversation.size() * sizeof(parley::Message);
  return held;
}

}  // namespace

std::vector<Held> measure(const std::vector<Document>& documents) {
  std::vector<Held> out;
  for (const Document& document : documents) out.push_back(held_by(document));
  return out;
}

std::string to_markdown(const std::vector<Held>& all) {
  std::string out =
      "| document | bytes | messages | blocks a message | arena + handles | beyond the document, a message | "
      "heap "
      "growth | beyond the document, a message |\n|---|---|---|---|---|---|---|---|\n";
  for (const Held& held : all) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %zu | %zu | %.2f | %zu | %.1f | %zu | %.1f |\n",
                  held.document.c_str(), held.bytes, held.messages,
                  static_cast<double>(held.blocks) / static_cast<double>(held.messages), held.counted,
                  held.counted_per_message(), held.allocated, held.allocated_per_message());
    out += line;
  }
  return out;
}

}  // namespace bench::memory_task
