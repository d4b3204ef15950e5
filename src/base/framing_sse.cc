// Server-sent events. A line is looked at once, when its end is known; the ends are found with memchr.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "parley/base/framing.h"

namespace parley {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

const char* find(const char* from, const char* end, char c) {
  const void* found = std::memchr(from, c, static_cast<std::size_t>(end - from));
  return found != nullptr ? static_cast<const char*>(found) : end;
}

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

void SseFramer::Part::add(std::string_view line) {
  if (is_there) {
    hold();
    held.append(1, '\n').append(line);
  } else {
    seen = line;
    is_there = true;
  }
}

void SseFramer::Part::hold() {
  if (is_held || !is_there) return;
  held.assign(seen);
  is_held = true;
}

void SseFramer::Part::clear() {
  is_held = is_there = false;
  seen = {};
}

Result<void> SseFramer::feed(std::string_view bytes, const OnEvent& on_event) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  if (p == end) return {};
  if (after_cr_ && *p == '\n') ++p;
  after_cr_ = false;
  // The next LF and the next CR are searched only after the last one: in a stream that has only one of them,
  // the rest is not searched for the other repeatedly (FRAMING2).
  const char* lf = find(p, end, '\n');
  const char* cr = find(p, end, '\r');
  bool is_first = true;  // what line_ holds belongs to this line; later it is kept for the views of it
  for (const char* line_end = std::min(lf, cr); line_end != end && !failed_; line_end = std::min(lf, cr)) {
    failed_ = !whole_line(between(p, line_end), is_first, on_event);
    is_first = false;
    p = line_end + 1;
    if (*line_end == '\r') {
      after_cr_ = p == end;
      if (p != end && *p == '\n') ++p;
    }
    if (lf < p) lf = find(p, end, '\n');
    if (cr < p) cr = find(p, end, '\r');
  }
  if (!failed_) failed_ = !keep(between(p, end), is_first);
  if (!failed_) return {};
  return fail(Code::LimitExceeded,
              "an event of the stream is larger than the limit of " + std::to_string(limit_) + " bytes");
}

// Takes a line whose end has come; its beginning may be in line_. False if it is too large.
bool SseFramer::whole_line(std::string_view chunk, bool is_first, const OnEvent& on_event) {
  pending_ += chunk.size();
  if (!is_first || line_.empty()) return chunk.size() <= limit_ && line(chunk, on_event);
  if (line_.size() + chunk.size() > limit_) return false;
  line_.append(chunk);
  return line(line_, on_event);
}

// Keeps what the next feed() needs: the parts of an event, and the beginning of a line.
bool SseFramer::keep(std::string_view chunk, bool is_first) {
  for (Part* part : {&data_, &stray_, &event_}) part->hold();
  if (!is_first) line_.clear();
  pending_ += chunk.size();
  if (line_.size() + chunk.size() > limit_) return false;
  line_.append(chunk);
  return true;
}

std::size_t SseFramer::finish(const OnEvent& on_event) {
  if (failed_) return pending_;
  if (!line_.empty()) (void)line(line_, on_event);
  const std::size_t left = data_.is_there || !stray_.is_there ? pending_ : 0;
  data_.clear();
  dispatch(on_event);
  return left;
}

// Takes a whole line, which stays where it is while feed() runs.
bool SseFramer::line(std::string_view text, const OnEvent& on_event) {
  if (std::exchange(first_line_, false) && text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (text.empty()) {
    dispatch(on_event);
    return true;
  }
  const std::size_t colon = text.find(':');
  if (colon == 0) return true;  // a comment
  std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  const std::string_view name = text.substr(0, colon);
  if (name == "data") {
    data_.add(value);
    return data_.view().size() <= limit_;
  }
  if (name == "event") {
    event_.clear();
    event_.add(value);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_.assign(value);
  } else if (name == "retry") {
    std::uint64_t milliseconds = 0;
    const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (error == std::errc() && at == value.data() + value.size()) retry_ = milliseconds;
  } else {
    stray_.add(text);
    return stray_.view().size() <= limit_;
  }
  return true;
}

void SseFramer::dispatch(const OnEvent& on_event) {
  if (data_.is_there || stray_.is_there) on_event({event_.view(), data_.view(), id_, stray_.view()});
  for (Part* part : {&data_, &stray_, &event_}) part->clear();
  pending_ = 0;
}

}  // namespace parley
