// An agent with a tool, in a durable session.
#include <parley/parley.h>

#include <iostream>
int add(int a, int b) { return a + b; }
int main() {
  auto sum = parley::tool("add", "Adds two numbers", add, {"a", "b"});
  auto agent = parley::Agent::open({.tools = {sum}, .store = "sqlite:task.db", .session = "task"});
  std::cout << agent->run("add 2 and 3")->text << '\n';
}
