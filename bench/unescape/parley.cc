#include "parley/parley.h"

#include <memory>

#include "kernels.h"
#include "message/arena.h"
#include "unescape/task.h"

namespace bench::unescape_task {
namespace {

struct State {
  parley::json::Buffer buffer;
  parley::Conversation conversation;
  std::vector<parley::Text> texts;
};

// Every string of every block, as Text.
std::size_t unescape(State& state) {
  std::size_t bytes = 0;
  const parley::Arena& arena = *state.conversation.document();
  const auto take = [&](parley::Slice slice) {
    if (!slice.present()) return;
    bytes += state.texts.emplace_back(arena.string(slice)).size();
  };
  const auto take_block = [&](const parley::BlockRecord& block) {
    for (std::size_t i = 0; i < (block.is_list ? 3U : 4U); ++i) take(block.slots[i]);
  };
  for (const parley::MessageRecord& message : arena.messages()) {
    for (const parley::BlockRecord& block : arena.blocks(message)) {
      take_block(block);
      for (const parley::BlockRecord& child : arena.children(block)) take_block(child);
    }
  }
  return bytes;
}

}  // namespace

std::vector<Contender> parley(const Document& document) {
  std::vector<Contender> out;
  const std::string_view json = document.json;
  const std::size_t texts = document.turns.size() * 4;
  for (const parley::json::Kernel* kernel : supported_kernels()) {
    auto read = std::make_shared<State>();
    read->conversation = parley::read(json, parley::Dialect::OpenManus).value().conversation;
    const auto clear = [=](State& state) {
      parley::json::use_kernel(*kernel);
      state.texts.clear();
      state.texts.reserve(texts);
    };
    out.push_back(
        {parley_with(*kernel) + ", after reading", [=] { clear(*read); }, [=] { return unescape(*read); }});
    auto both = std::make_shared<State>();
    out.push_back(
        {parley_with(*kernel) + ", reading included",
         [=] {
           clear(*both);
           both->conversation = {};
           both->buffer = parley::json::Buffer::copy_of(json);
         },
         [=] {
           both->conversation =
               parley::read(std::move(both->buffer), parley::Dialect::OpenManus).value().conversation;
           return unescape(*both);
         }});
  }
  return out;
}

}  // namespace bench::unescape_task
