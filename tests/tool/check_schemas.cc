// Checks values by schemas, for tests/judges/schemas.sh and schema_suite.sh.
//   check_schemas [DOCUMENTS]   DOCUMENTS is a file: an object of the schemas that may be referred to, by URI
// Each line of stdin is a schema, a tab and a value; each line of stdout says "good", "bad", or "refused",
// the code of the error and its message.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "parley/schema/schema.h"

namespace {

std::string verdict(const std::string& line, const parley::SchemaDocuments& documents) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) return "refused no_tab";
  const auto schema = parley::Json::parse(std::string_view(line).substr(0, tab));
  const auto value = parley::Json::parse(std::string_view(line).substr(tab + 1));
  if (!schema || !value) return "refused no_json";
  const auto compiled = parley::Schema::of(*schema, {}, documents);
  if (!compiled) {
    return "refused " + std::string(to_string(compiled.error().code)) + " " + compiled.error().message;
  }
  return compiled->check(*value).empty() ? "good" : "bad";
}

parley::SchemaDocuments documents_of(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  parley::SchemaDocuments documents;
  const auto read = parley::Json::parse(text.str());
  if (!read) std::cerr << path << ": " << read.error().message << '\n';
  for (const auto& [uri, schema] : read.value_or(parley::Json()).members()) documents[uri.str()] = schema;
  return documents;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const parley::SchemaDocuments documents = argc > 1 ? documents_of(argv[1]) : parley::SchemaDocuments{};
  for (std::string line; std::getline(std::cin, line);) std::cout << verdict(line, documents) << '\n';
}
