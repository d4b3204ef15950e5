#include "dialect/core/timestamp.h"

#include <algorithm>
#include <string>

namespace parley::dialect {
namespace {

// Checks `text` against a pattern in which 'd' stands for a digit.
bool matches(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(),
                    [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
}

constexpr std::string_view kSpaced = "dddd-dd-dd dd:dd:dd.ddd";
constexpr std::string_view kIso = "dddd-dd-ddTdd:dd:dd.dddddd";
constexpr std::string_view kIsoWhole = "dddd-dd-ddTdd:dd:dd";
constexpr std::size_t kSeparator = 10;
constexpr std::size_t kSeconds = 19;
constexpr std::size_t kMilliseconds = 23;

}  // namespace

std::string respelled(std::string_view spelled, TimeStyle style) {
  std::string time(spelled);
  if (style == TimeStyle::Iso && matches(spelled, kSpaced)) {
    time[kSeparator] = 'T';
    // Python leaves a fraction of zero out.
    return spelled.ends_with(".000") ? time.substr(0, kSeconds) : time + "000";
  }
  if (style == TimeStyle::Spaced && (matches(spelled, kIso) || matches(spelled, kIsoWhole))) {
    time[kSeparator] = ' ';
    return time.size() == kSeconds ? time + ".000" : time.substr(0, kMilliseconds);
  }
  return time;
}

void put_timestamp(Draft& draft, std::string_view spelled, TimeStyle style) {
  const std::string time = respelled(spelled, style);
  draft.out.quoted(time);
  if (time == spelled) return;
  const bool exact = style == TimeStyle::Iso || !matches(spelled, kIso) || spelled.ends_with("000");
  if (exact) {
    draft.note("timestamp_respelled", Severity::Info, "respelled", "the time is spelled the target's way");
  } else {
    draft.note("timestamp_respelled", Severity::Minor, "respelled", "microseconds are cut to milliseconds");
  }
}

}  // namespace parley::dialect
