#include "model/reply.h"

#include <string>

namespace parley::model {
namespace {

constexpr std::string_view kFence = "```";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Models that are not made to keep to a schema like to put fences around.
std::string_view without_fences(std::string_view text) {
  text = trimmed(text);
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kFence) || !text.ends_with(kFence) || line == std::string_view::npos) return text;
  text.remove_suffix(kFence.size());
  return trimmed(text.substr(std::min(line, text.size())));
}

}  // namespace

Result<Json> read_reply(const Schema& schema, std::string_view text) {
  Result<Json> json = Json::parse(without_fences(text));
  if (!json) return fail(Code::Malformed, "not JSON: " + json.error().message);
  std::string wrong;
  for (const Error& error : schema.check(*json)) {
    if (!wrong.empty()) wrong += "; ";
    wrong += (error.path.empty() ? "" : error.path + ": ") + error.message;
  }
  if (!wrong.empty()) return fail(Code::Invalid, wrong);
  return json;
}

Text ask_again(const Error& error) {
  return Text("Your answer cannot be used: " + error.message +
              "\nAnswer again with only JSON that matches the schema.");
}

}  // namespace parley::model
