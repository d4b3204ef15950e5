// For tests: the definition of byte pair encoding, word for word, as a second opinion. Quadratic.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "token/split.h"
#include "token/vocabulary.h"

namespace parley::token {

inline std::vector<std::string> naive_parts(const Vocabulary& vocabulary, std::string_view piece) {
  std::vector<std::string> parts;
  for (const char c : piece) parts.emplace_back(1, c);
  for (;;) {
    TokenId lowest = kNone;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const TokenId joined = vocabulary.find(parts[i] + parts[i + 1]);
      if (joined < lowest) {
        lowest = joined;
        at = i;
      }
    }
    if (lowest == kNone) return parts;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

template <SplitPattern kPattern>
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> out;
  const char* const end = text.data() + text.size();
  const Splitter<kPattern> splitter(end, class_table());
  for (const char* p = text.data(); p < end;) {
    const char* const next = splitter.next(p);
    out.emplace_back(p, next);
    p = next;
  }
  return out;
}

inline std::vector<std::uint32_t> naive_ids(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<std::uint32_t> ids;
  for (const std::string& piece : vocabulary.pattern() == SplitPattern::O200k
                                      ? pieces_of<SplitPattern::O200k>(text)
                                      : pieces_of<SplitPattern::Cl100k>(text)) {
    if (const TokenId whole = vocabulary.find(piece); whole != kNone) {
      ids.push_back(vocabulary.id(whole));
      continue;
    }
    for (const std::string& part : naive_parts(vocabulary, piece))
      ids.push_back(vocabulary.id(vocabulary.find(part)));
  }
  return ids;
}

}  // namespace parley::token
