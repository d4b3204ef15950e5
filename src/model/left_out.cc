// The message is written as an answer once more, and compared with the one that came.
#include "model/left_out.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dialect/core/patch.h"

namespace parley::model {
namespace {

// Where answers have what the model said. What stands beside it is about the request.
constexpr std::array<std::string_view, 5> kSaid = {"/choices", "/content", "/candidates", "/output",
                                                   "/message"};
// Members of these that say nothing, and two that are read and not written: no server wants them back.
constexpr std::array<std::string_view, 6> kSilent = {
    "/id", "/index", "/status", "/type", "/reasoning_content", "/reasoning"};

bool is_silent(const std::string& place, const Json& answer) {
  const bool is_said =
      std::ranges::any_of(kSaid, [&](std::string_view start) { return place.starts_with(start); });
  const bool is_name =
      std::ranges::any_of(kSilent, [&](std::string_view end) { return place.ends_with(end); });
  constexpr std::array<std::string_view, 4> kEmpty = {"[]", "{}", "\"\"", "null"};
  const std::string value = answer.at(place).value_or(Json()).compact().text().str();
  return !is_said || is_name || std::ranges::find(kEmpty, value) != kEmpty.end();
}

}  // namespace

std::optional<Note> left_out(std::string_view body, Dialect dialect, const Message& message,
                             const Outcome& outcome) {
  Conversation kept({message});
  kept.set_shape(DocumentShape::Response);
  kept.set_outcome(outcome);
  const Result<Writing> written = write(kept, dialect);
  const Result<Json> answer = Json::parse(body);
  const Result<Json> again = written ? Json::parse(written->text) : std::unexpected(written.error());
  if (!answer || !again) return std::nullopt;
  const std::optional<Json> patch = dialect::diff(*again, *answer);
  if (!patch) return std::nullopt;
  std::vector<std::string> places = dialect::places(*patch).values;
  std::erase_if(places, [&](const std::string& place) { return is_silent(place, *answer); });
  if (places.empty()) return std::nullopt;
  constexpr std::size_t kMost = 16;
  std::string detail = "left out of the message:";
  for (std::size_t i = 0; i < std::min(places.size(), kMost); ++i)
    detail += (i == 0 ? " " : ", ") + places[i];
  if (places.size() > kMost) detail += " and " + std::to_string(places.size() - kMost) + " more";
  return Note{"member_dropped",   Severity::Minor, std::nullopt, std::nullopt,
              to_string(dialect), "dropped",       Text(detail)};
}

}  // namespace parley::model
