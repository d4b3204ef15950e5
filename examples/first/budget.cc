// A memory of 300 tokens that summarizes what it no longer shows.
#include <parley/parley.h>

#include <iostream>
using namespace parley;
int main() {
  MemoryOptions options{.budget = {.tokens = 300}, .token_cost = cost_by(TokenCounter::for_model("gpt-4o"))};
  options.compressor = std::make_shared<ExtractiveCompressor>();
  Memory memory = *Memory::create(options);
  for (int i = 0; i < 60; ++i) {
    const Message question = Message::user_message("What is the capital of country " + std::to_string(i));
    (void)memory.add({question, Message::assistant_message("I do not know.")});
  }
  std::cout << memory.size() << " of " << memory.log_size() << " messages, " << memory.tokens()
            << " tokens\n";
  if (memory.summary()) std::cout << memory.summary()->message << '\n';
}
