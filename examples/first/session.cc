// A conversation that survives a restart: run it twice.
#include <parley/parley.h>

#include <iostream>
int main() {
  auto agent = parley::Agent::open({.store = "sqlite:talks.db", .session = "support-42"});
  std::cout << agent->run("What does error 1205 mean?")->text << '\n';
  for (const parley::Message& message : agent->agent().window()) std::cout << message << '\n';
}
