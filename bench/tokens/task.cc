#include "tokens/task.h"

#include "../../tests/token/corpus.h"

namespace bench::tokens_task {

std::vector<Group> groups() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  static const std::vector<Text> texts = [] {
    std::vector<Text> made;
    for (const char* name : {"english", "chinese", "code"}) {
      made.push_back({name, ::parley::test::corpus_text(name, 1, kBytes)});
    }
    return made;
  }();
  std::vector<Group> out;
  for (const ::parley::Encoding& encoding :
       {::parley::Encoding::cl100k_base(), ::parley::Encoding::o200k_base()}) {
    for (const Text& text : texts) {
      out.push_back({"tokens " + std::string(encoding.name()), text.name, text.bytes.size(),
                     [&text, encoding] { return parley(text, encoding); }});
    }
  }
  return out;
}

}  // namespace bench::tokens_task
