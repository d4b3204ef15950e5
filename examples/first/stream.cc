// An answer as it arrives.
#include <parley/parley.h>

#include <iostream>
int main() {
  const auto show = [](std::string_view text) { std::cout << '[' << text << ']'; };
  const auto answer = parley::ask("rehearsal", "a sentence that comes back in pieces", {.on_text = show});
  std::cout << '\n' << *answer << '\n';
}
