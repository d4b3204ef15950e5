#include "filter/task.h"

#include "../../tests/token/corpus.h"

namespace bench::filter_task {

std::vector<Group> groups() {
  constexpr std::size_t kBytes = 2'500'000;
  static const std::vector<Document> documents = [] {
    std::vector<Document> made;
    for (const char* name : kDocuments) {
      std::string text = ::parley::test::corpus_text(name, 1, kBytes);
      text.erase(text.find_last_not_of(" \n") + 1);  // "browser-agentscope" would take it off
      made.push_back({name, ::parley::Text(text)});
    }
    return made;
  }();
  std::vector<Group> out;
  for (const Document& document : documents) {
    out.push_back({"filter", document.name, document.text.size(), all_of(document, parley)});
  }
  return out;
}

}  // namespace bench::filter_task
