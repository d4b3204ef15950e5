#include <cstring>

#include "parley/base/framing.h"

namespace parley {
namespace {

void give(std::string_view line, const LineFramer::OnLine& on_line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.empty()) on_line(line);
}

}  // namespace

Result<void> LineFramer::feed(std::string_view bytes, const OnLine& on_line) {
  while (!bytes.empty() && !failed_) {
    const std::size_t length = bytes.find('\n');
    const bool ends = length != std::string_view::npos;
    const std::string_view chunk = bytes.substr(0, length);
    bytes.remove_prefix(ends ? length + 1 : bytes.size());
    failed_ = line_.size() + chunk.size() > limit_;
    if (failed_) break;
    if (ends && line_.empty()) {
      give(chunk, on_line);
      continue;
    }
    line_.append(chunk);
    if (!ends) break;
    give(line_, on_line);
    line_.clear();
  }
  if (!failed_) return {};
  return fail(Code::LimitExceeded,
              "a line of the stream is longer than the limit of " + std::to_string(limit_) + " bytes");
}

void LineFramer::finish(const OnLine& on_line) {
  if (!failed_) give(line_, on_line);
  line_.clear();
}

}  // namespace parley
