#include "filter/task.h"
#include "parley/guard/filter.h"

namespace bench::filter_task {
namespace {

std::string name_of(const ::parley::Filter& filter) { return "Parley, " + std::string(filter.name); }

// The number of changes, which says that the text is clean.
std::size_t run(const ::parley::FilterChain& chain, const ::parley::Text& text) {
  const ::parley::FilteredText filtered = chain.run(text);
  keep(filtered.text.data());
  return filtered.changes.size();
}

}  // namespace

std::vector<Contender> parley(const Document& document) {
  // So long that no text here is cut.
  ::parley::FilterOptions options;
  options.size_bytes = document.text.size();
  std::vector<Contender> out;
  for (const ::parley::Filter& filter : ::parley::filters()) {
    const std::string_view names[] = {filter.name};
    const ::parley::FilterChain chain = ::parley::FilterChain::of(names, options).value();
    out.push_back({name_of(filter), {}, [chain, text = document.text] { return run(chain, text); }});
  }
  return out;
}

std::vector<std::string> contenders() {
  std::vector<std::string> names;
  for (const ::parley::Filter& filter : ::parley::filters()) names.push_back(name_of(filter));
  return names;
}

}  // namespace bench::filter_task
