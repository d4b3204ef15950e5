// A broken history: what is wrong, what the repair does, the valid history.
#include <parley/dialect/repair.h>
#include <parley/parley.h>

#include <iostream>
using namespace parley;
int main() {
  const auto broken = read(R"([{"role":"tool","content":"12:00","tool_call_id":"call_9"}])", Dialect::OpenAI);
  for (const Finding& finding : validate(broken->conversation.messages())) std::cout << finding << '\n';
  const Repairing repaired = repair(broken->conversation);
  for (const Note& note : repaired.notes) std::cout << note << '\n';
  std::cout << write(repaired.conversation, Dialect::OpenAI)->text << '\n';
}
