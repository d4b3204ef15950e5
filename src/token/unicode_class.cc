#include "token/unicode_class.h"

#include <algorithm>
#include <memory>

namespace parley::token {
namespace {

struct Range {
  std::uint32_t first;
  CharClass kind;
};

// The letters of the generated file.
constexpr CharClass U = kUpper, L = kLower, O = kOtherLetter, M = kMark, N = kNumber, W = kSpace,
                    R = kNewline, S = kSymbol;

constexpr Range kRanges[] = {
#include "token/unicode_ranges.inc"
};

}  // namespace

const ClassTable& class_table() {
  static const std::unique_ptr<const ClassTable> table = [] {
    auto filled = std::make_unique<ClassTable>();
    for (std::size_t i = 0; i < std::size(kRanges); ++i) {
      const std::size_t end = i + 1 < std::size(kRanges) ? kRanges[i + 1].first : filled->size();
      std::fill(filled->begin() + kRanges[i].first, filled->begin() + end, kRanges[i].kind);
    }
    return filled;
  }();
  return *table;
}

}  // namespace parley::token
