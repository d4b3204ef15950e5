// Parley: the reader alone, and with the message put together.
#include "parley/parley.h"

#include <memory>

#include "kernels.h"
#include "stream/task.h"

namespace bench::stream_task {
namespace {

struct State {
  parley::Accumulated accumulated = {parley::Message::assistant_message(), {}, false, {}, {}};
};

template <typename OnEvent>
void read(const Stream& stream, OnEvent on_event) {
  auto reader = parley::StreamReader::of(parley::Dialect::OpenAI).value();
  const parley::OnStreamEvent each = on_event;
  const std::string_view bytes = stream.bytes;
  for (std::size_t at = 0; at < bytes.size(); at += stream.piece)
    reader.feed(bytes.substr(at, stream.piece), each);
  reader.finish(each);
}

}  // namespace

std::vector<Contender> parley(const Stream& stream) {
  std::vector<Contender> out;
  for (const ::parley::json::Kernel* kernel : supported_kernels()) {
    auto state = std::make_shared<State>();
    const auto prepare = [=] {
      ::parley::json::use_kernel(*kernel);
      *state = {};
    };
    out.push_back({parley_with(*kernel) + ", events", prepare, [&stream] {
                     std::size_t count = 0;
                     read(stream, [&](const ::parley::StreamEvent& event) {
                       if (const auto* delta = std::get_if<::parley::stream::Delta>(&event))
                         count += delta->text.size();
                     });
                     return count;
                   }});
    out.push_back({parley_with(*kernel) + ", message", prepare, [&stream, state] {
                     ::parley::Accumulator accumulator(::parley::Dialect::OpenAI);
                     read(stream, [&](const ::parley::StreamEvent& event) { accumulator.add(event); });
                     state->accumulated = accumulator.take();
                     std::size_t count = 0;
                     for (const ::parley::Block& block : state->accumulated.message.blocks()) {
                       if (const auto* text = block.as<::parley::TextBlock>()) count += text->text.size();
                       if (const auto* use = block.as<::parley::ToolUseBlock>())
                         count += use->arguments.size();
                     }
                     return count;
                   }});
  }
  return out;
}

}  // namespace bench::stream_task
