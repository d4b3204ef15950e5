#include "convert/task.h"

namespace bench::convert_task {
namespace {

constexpr std::string_view kDocuments[] = {"text", "mixed"};
constexpr std::string_view kProviders[] = {"openai",   "responses", "anthropic", "gemini",   "ollama",
                                           "converse", "deepseek",  "moonshot",  "dashscope"};

std::vector<Conversion> conversions() {
  std::vector<Conversion> out;
  for (const std::string_view document : kDocuments) {
    for (const std::string_view to : kProviders) {
      out.push_back({to == "openai" ? "anthropic" : "openai", to, document, {}});
    }
  }
  return out;
}

}  // namespace

std::vector<Group> groups(const std::vector<Document>& documents) {
  static std::vector<Conversion> all = conversions();
  std::vector<Group> out;
  for (Conversion& conversion : all) {
    for (const Document& document : documents) {
      if (document.name == conversion.document) conversion.source = to_request(document, conversion.from);
    }
    out.push_back({"convert", conversion.name(), converted_size(conversion),
                   all_of(conversion, parley, nlohmann), true});
  }
  return out;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Conversion& conversion : conversions()) out.push_back(conversion.name());
  return out;
}

}  // namespace bench::convert_task
