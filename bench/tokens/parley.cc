#include <thread>

#include "tokens/task.h"

namespace bench::tokens_task {

std::vector<Contender> parley(const Text& text, const ::parley::Encoding& encoding) {
  const auto count = [&text, encoding] { return encoding.count(text.bytes); };
  const auto encode = [&text, encoding] { return encoding.encode(text.bytes).size(); };
  // A thread that is new has met no pieces yet. Starting it is part of the time.
  const auto cold = [count] {
    std::size_t tokens = 0;
    std::thread([&] { tokens = count(); }).join();
    return tokens;
  };
  return {{"Parley, count, warm", {}, count},
          {"Parley, count, cold", {}, cold},
          {"Parley, encode, warm", {}, encode}};
}

}  // namespace bench::tokens_task
