#include "base/url_encode.h"
#include "parley/media/data_url.h"

namespace parley {
namespace {

constexpr std::string_view kScheme = "data:";

}  // namespace

bool is_data_url(std::string_view text) {
  return url::equals_ignoring_case(text.substr(0, kScheme.size()), kScheme);
}

DataUrlParts split_data_url(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (!is_data_url(text) || comma == std::string_view::npos) return {};
  std::string_view head = text.substr(kScheme.size(), comma - kScheme.size());
  DataUrlParts out;
  out.data = text.substr(comma + 1);
  out.media_type = head.substr(0, head.find(';'));
  // ";", spaces, "base64" in any case: the last word of the head.
  constexpr std::string_view kMark = "base64";
  if (head.size() > kMark.size() &&
      url::equals_ignoring_case(head.substr(head.size() - kMark.size()), kMark)) {
    head.remove_suffix(kMark.size());
    while (head.ends_with(' ')) head.remove_suffix(1);
    out.is_base64 = head.ends_with(';');
  }
  return out;
}

}  // namespace parley
