// WaitingCalls are the ids of the calls of an exchange that have no result yet.
//
// Copies share the list, and results mostly come in the order of the calls, so that an exchange of n calls
// which are answered one by one, each in a copy, takes time in proportion to n. Out of order, finding a call
// takes a walk over those before it.
//
// One thread at a time, also for being copied; copies may be used by other threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "memory/copy_on_write.h"

namespace parley::memory {

class WaitingCalls {
 public:
  std::size_t size() const { return ids_->size() - first_ - ahead_.size(); }
  bool empty() const { return size() == 0; }
  std::vector<std::string> ids() const {  // in the order of the calls
    std::vector<std::string> out;
    for (std::size_t i = first_; i < ids_->size(); ++i) {
      if (!has_result(i)) out.push_back((*ids_)[i]);
    }
    return out;
  }

  void add(std::string_view id) { ids_.own().emplace_back(id); }

  // Marks the first pending call with this id as answered; false if there is none.
  bool answer(std::string_view id) {
    for (std::size_t i = first_; i < ids_->size(); ++i) {
      if ((*ids_)[i] != id || has_result(i)) continue;
      ahead_.insert(std::lower_bound(ahead_.begin(), ahead_.end(), i), i);
      forget_answered();
      return true;
    }
    return false;
  }

 private:
  bool has_result(std::size_t i) const { return std::binary_search(ahead_.begin(), ahead_.end(), i); }
  void forget_answered() {
    std::size_t known = 0;
    while (known < ahead_.size() && ahead_[known] == first_) ++known, ++first_;
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(known));
    if (first_ == ids_->size()) *this = {};
  }

  CopyOnWrite<std::vector<std::string>> ids_;
  std::size_t first_ = 0;           // those before it have results
  std::vector<std::size_t> ahead_;  // and so have these, sorted
};

}  // namespace parley::memory
