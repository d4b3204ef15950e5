// Formats documents by a policy, for tests/judges/policies.sh:
//
//   format_policy POLICY TARGET [OPTION...] <documents >lists
//
// A line of input is a document in the dialect of the policy's original. A line of output is the list that
// the policy makes of it, or "error CODE: MESSAGE".
#include <iostream>
#include <string>

#include "options.h"

namespace {

parley::Result<parley::Writing> formatted(const std::string& line, parley::Formatter policy,
                                          parley::Dialect target, const parley::FormatterOptions& options) {
  PARLEY_TRY(const parley::Reading reading, parley::read(line, parley::test::dialect_of(policy)));
  return parley::format(reading.conversation, target, policy, options);
}

}  // namespace

int main(int count, char** words) {
  const auto policy = parley::formatter_named(count > 2 ? words[1] : "");
  const auto target = policy ? parley::test::target_named(*policy, words[2]) : std::nullopt;
  parley::FormatterOptions options;
  bool is_good = target.has_value();
  for (int i = 3; i < count; ++i) is_good = parley::test::set_option(options, words[i]) && is_good;
  if (!is_good) {
    std::cerr << "usage: format_policy POLICY TARGET [OPTION...]\n";
    return 2;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto list = formatted(line, *policy, *target, options);
    if (list) {
      std::cout << list->text.view() << '\n';
    } else {
      std::cout << "error " << to_string(list.error().code) << ": " << list.error().message << ' '
                << list.error().path << '\n';
    }
  }
}
