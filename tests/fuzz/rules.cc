// The rules of all providers: the first byte chooses a dialect, the rest is the document. Whatever it is,
// findings point to places that exist, in order (S1 of rules.h).
#include "parley/dialect/rules.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "require.h"

namespace {

using namespace parley;

// All values of a document.
std::vector<Json> values_of(const Json& document) {
  std::vector<Json> all = {document};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json each = all[i];
    for (const Json& element : each.elements()) all.push_back(element);
    for (const Json::Member& member : each.members()) all.push_back(member.value);
  }
  return all;
}

// Puts one value of a document in place of another, before it, or behind it: most changes of bytes end at the
// parser.
std::string rearranged(const Json& document, std::mt19937& random) {
  static constexpr std::string_view kOdd[] = {"null", "true", "7", "\"\"", "[]", "{}", "[null]", "[[{}]]"};
  const std::vector<Json> all = values_of(document);
  const std::string_view old = all[random() % all.size()].text();
  const std::string_view other =
      random() % 3 == 0 ? kOdd[random() % std::size(kOdd)] : all[random() % all.size()].text().view();
  const auto at = static_cast<std::size_t>(old.data() - document.text().data());
  std::string value(other);
  if (random() % 3 == 0) value = std::string(old) + "," + value;
  return document.text().str().replace(at, old.size(), value);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size > 1 && random() % 3 != 0) {
    const auto document = Json::parse(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
    const std::string changed = document ? rearranged(*document, random) : std::string();
    if (!changed.empty() && changed.size() < max_size) {
      changed.copy(reinterpret_cast<char*>(data) + 1, changed.size());
      return changed.size() + 1;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto dialect = static_cast<Dialect>(1 + data[0] % static_cast<int>(Dialect::ShareGPT));
  const auto document = Json::parse(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!document) return 0;
  const std::vector<Finding> findings = check_rules(*document, dialect);
  require(std::ranges::is_sorted(findings, {}, &Finding::message_index),
          "findings are in the order of the messages");
  for (const Finding& finding : findings) {
    require(!finding.code.empty() && !finding.sentence.empty(), "a finding says what it is about");
    require(is_utf8(finding.path), "the path of a finding is UTF-8");
    require(document->at(finding.path).has_value(),
            finding.code + " is at a place that exists: " + finding.path);
  }
  require(check_rules(*document, dialect) == findings, "the same document has the same findings");
  return 0;
}
