// Parley: the buffer is handed over, every byte is validated, texts stay as escaped slices.
#include "parley/parley.h"

#include <memory>

#include "kernels.h"
#include "message/arena.h"
#include "read/task.h"

namespace bench::read_task {
namespace {

struct State {
  parley::json::Buffer buffer;
  parley::Reading reading;
};

}  // namespace

std::vector<Contender> parley(const Document& document) {
  std::vector<Contender> out;
  for (const parley::json::Kernel* kernel : supported_kernels()) {
    auto state = std::make_shared<State>();
    const std::string_view json = document.json;
    out.push_back({parley_with(*kernel),
                   [=] {
                     parley::json::use_kernel(*kernel);
                     state->reading = {};
                     state->buffer = parley::json::Buffer::copy_of(json);
                   },
                   [=] {
                     auto reading = parley::read(std::move(state->buffer), parley::Dialect::OpenManus);
                     if (!reading) return std::size_t{0};
                     state->reading = *std::move(reading);
                     return state->reading.conversation.size();
                   }});
  }
  return out;
}

}  // namespace bench::read_task
