// Edits is where a filter writes: the changed text grows here, and what was changed is counted by kind.
//
// A filter calls replace() with rising places. Until the first call nothing is allocated, and the memory
// follows the text, not the number of edits.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parley/guard/filter.h"

namespace parley::guard {

class Edits {
 public:
  Edits(std::string_view filter, std::string_view text) : filter_(filter), text_(text) {}

  // The bytes [begin, end) of the text become `replacement`, which is copied. `what` names the kind of change
  // and is kept. REQUIRES: begin is not before the last end; both are code point boundaries.
  void replace(std::size_t begin, std::size_t end, std::string_view replacement, std::string_view what) {
    if (changes_.empty()) out_.reserve(text_.size() + text_.size() / 16);
    out_.append(text_, copied_, begin - copied_);
    out_.append(replacement);
    copied_ = end;
    count(begin, end, what);
  }
  void remove(std::size_t begin, std::size_t end, std::string_view what) {
    if (begin < end) replace(begin, end, {}, what);
  }

  // For filters that work in several passes: the whole text becomes `text`, and each pass records its
  // changes, with the offsets in its input.
  void rewrite(std::string text) {
    out_ = std::move(text);
    copied_ = text_.size();
  }
  void note(const FilterChange& change) {
    changes_.push_back(change);
    changes_.back().filter = filter_;
  }

  bool empty() const { return changes_.empty(); }
  const std::vector<FilterChange>& changes() const { return changes_; }

  // The changed text. The last call.
  std::string take() {
    out_.append(text_, copied_);
    copied_ = text_.size();
    return std::move(out_);
  }

 private:
  void count(std::size_t begin, std::size_t end, std::string_view what) {
    // Few kinds, and mostly the one that was counted last.
    for (std::size_t i = changes_.size(); i-- > 0;) {
      if (changes_[i].what == what) {
        ++changes_[i].count;
        changes_[i].bytes += end - begin;
        return;
      }
    }
    changes_.push_back({filter_, what, 1, begin, end - begin});
  }

  std::string_view filter_, text_;
  std::string out_;
  std::size_t copied_ = 0;
  std::vector<FilterChange> changes_;
};

}  // namespace parley::guard
