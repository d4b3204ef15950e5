// Checks values by schemas, for tests/judges/schemas.sh. Each line of stdin is a schema, a tab and a value;
// each line of stdout says "good", "bad", or "refused" and the code of the error.
#include <iostream>
#include <string>

#include "parley/tool/schema.h"

namespace {

std::string verdict(const std::string& line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) return "refused no_tab";
  const auto schema = parley::Json::parse(std::string_view(line).substr(0, tab));
  const auto value = parley::Json::parse(std::string_view(line).substr(tab + 1));
  if (!schema || !value) return "refused no_json";
  const auto compiled = parley::Schema::of(*schema);
  if (!compiled) return "refused " + std::string(to_string(compiled.error().code));
  return compiled->check(*value).empty() ? "good" : "bad";
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) std::cout << verdict(line) << '\n';
}
