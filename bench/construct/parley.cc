#include "parley/parley.h"

#include <memory>

#include "construct/task.h"

namespace bench::construct_task {

std::vector<Contender> parley() {
  constexpr std::size_t kMany = 10'000;
  auto made = std::make_shared<std::vector<parley::Message>>();
  const auto clear = [=] {
    made->clear();
    made->reserve(kMany);
  };
  return {{"Parley user_message", clear,
           [=] {
             for (std::size_t i = 0; i < kMany; ++i) {
               made->push_back(parley::Message::user_message("What is the weather in Oslo today?"));
             }
             return made->size();
           },
           kMany},
          {"Parley MessageBuilder, two blocks", clear,
           [=] {
             for (std::size_t i = 0; i < kMany; ++i) {
               made->push_back(parley::MessageBuilder(parley::Role::Assistant)
                                   .name("friday")
                                   .text("Looking it up.")
                                   .block(parley::ToolUseBlock{"call_1", "weather", "{\"city\":\"Oslo\"}"})
                                   .build()
                                   .value());
             }
             return made->size();
           },
           kMany}};
}

}  // namespace bench::construct_task
