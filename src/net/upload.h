// The body of a request, as libcurl reads it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parley/net/http.h"

namespace parley::net {

// The body of a request, read from its beginning to its end.
class Upload {
 public:
  explicit Upload(const Request& request) {
    parts_.reserve(request.body_chunks.size() + 1);
    parts_.push_back(request.body);
    parts_.insert(parts_.end(), request.body_chunks.begin(), request.body_chunks.end());
    for (const std::string_view part : parts_) size_ += part.size();
  }

  std::size_t size() const { return size_; }
  void rewind() { part_ = offset_ = 0; }

  // How many bytes there were; none at the end.
  std::size_t read(char* to, std::size_t room) {
    std::size_t done = 0;
    while (done < room && part_ < parts_.size()) {
      const std::size_t copied = parts_[part_].copy(to + done, room - done, offset_);
      done += copied;
      offset_ += copied;
      if (offset_ < parts_[part_].size()) continue;
      ++part_;
      offset_ = 0;
    }
    return done;
  }

 private:
  std::vector<std::string_view> parts_;
  std::size_t size_ = 0;
  std::size_t part_ = 0, offset_ = 0;  // what comes next
};

}  // namespace parley::net
