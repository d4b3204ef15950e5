// ShareGPT files as LLaMA-Factory reads them: no server refuses them, the trainer leaves the sample out.
#include <array>
#include <string>

#include "dialect/rules/report.h"
#include "dialect/rules/text.h"
#include "dialect/sharegpt/parts.h"

namespace parley::rules {
namespace {

constexpr Rule kPosition = {"sharegpt_position", kError,
                            "human or observation, and gpt or function_call, take turns"};
constexpr Rule kOpenEnd = {
    "sharegpt_open_end", kWarning,
    "a sample ends with gpt or function_call, or with a choice after human or observation"};
constexpr Rule kSystem = {"sharegpt_system", kError, "only the first message may be the system's"};
constexpr Rule kPlaceholder = {"sharegpt_placeholder", kError,
                               "the texts have another number of placeholders than the list has media"};
constexpr Rule kCallJson = {
    "sharegpt_call_json", kError,
    "the value is the JSON of a call with 'name' and 'arguments', or of a list of them"};
constexpr Rule kTools = {"sharegpt_tools", kError, "'tools' is a list as JSON text"};

constexpr std::array<std::string_view, 5> kRoles = {"human", "observation", "gpt", "function_call", "system"};

// A kind of media: what stands in the texts for each, and the list that has them.
struct Media {
  std::string_view placeholder, list;
};
constexpr std::array<Media, 3> kMedia = {
    {{"<image>", "images"}, {"<video>", "videos"}, {"<audio>", "audios"}}};

std::size_t count_of(std::string_view what, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++count;
  }
  return count;
}

bool is_call(const Json& json) {
  const auto name = json.get("name");
  return name && name->is_string() && json.get("arguments");
}

// The text of a call or of several, after thoughts if there are any.
bool is_call_text(std::string_view value) {
  constexpr std::string_view kThink = "<think>";
  constexpr std::string_view kEnd = "</think>";
  if (value.starts_with(kThink)) {
    const std::size_t end = value.find(kEnd);
    if (end == std::string_view::npos) return false;
    value.remove_prefix(end + kEnd.size());
  }
  const auto json = Json::parse(value);
  if (!json || !json->is_array()) return json && is_call(*json);
  const std::vector<Json> calls = json->elements();
  return !calls.empty() && std::ranges::all_of(calls, is_call);
}

constexpr Layout kLayout = {"conversations", "from"};

class ShareGpt {
 public:
  explicit ShareGpt(Report& report) : report_(report) {}

  void run(const Json& document) {
    const Talk talk = find_talk(report_, document, kLayout);
    is_whole_ = talk.is_whole;
    talk.around.get("system", kString);
    const Json* tools = talk.around.get("tools", kString);
    if (tools != nullptr && !is_tools_text(*tools->as_string())) report_.add(kTools, *tools);
    each_message(report_, talk, [&](const Object& each) { message(each); });
    // Of two answers to choose from, the last message is apart.
    const bool is_choice = talk.around.has("chosen") || talk.around.has("rejected");
    if (is_whole_ && index_ != 0 && ends_with_asker_ != is_choice) report_.add(kOpenEnd, talk.place);
    if (talk.has_request) placeholders(talk);
  }

 private:
  static bool is_tools_text(std::string_view text) {
    const auto json = Json::parse(text);
    return is_blank(text) || (json && json->is_array());
  }

  void message(const Object& message) {
    const auto from = message.need_string("from");
    const auto value = message.need_string("value");
    if (from && !is_one_of(*from, kRoles)) report_.add(kUnknownRole, *message.find("from"));
    for (std::size_t i = 0; value && i < kMedia.size(); ++i) {
      found_[i] += count_of(kMedia[i].placeholder, *value);
    }
    if (from && value && from->view() == "function_call" && !is_call_text(*value)) {
      report_.add(kCallJson, *message.find("value"));
    }
    const bool is_first = index_++ == 0;
    if (from && from->view() == "system") {
      if (!is_first && is_whole_) report_.add(kSystem, message.json());
      return;
    }
    if (!from || !is_one_of(*from, kRoles)) return;
    const bool asks = from->view() == "human" || from->view() == "observation";
    if (is_whole_ && asks == ends_with_asker_) report_.add(kPosition, *message.find("from"));
    ends_with_asker_ = asks;
  }

  void placeholders(const Talk& talk) {
    for (std::size_t i = 0; i < kMedia.size(); ++i) {
      const bool is_other = talk.around.has(kMedia[i].list) && !talk.around.find(kMedia[i].list)->is_array();
      const Json* list = talk.around.get(kMedia[i].list, kList);
      const std::size_t count = list == nullptr ? 0 : list->elements().size();
      if (!is_other && found_[i] != count) report_.add(kPlaceholder, list == nullptr ? talk.place : *list);
    }
  }

  Report& report_;
  bool is_whole_ = false;
  std::size_t index_ = 0;
  bool ends_with_asker_ = false;  // the last message is from human or observation
  std::array<std::size_t, kMedia.size()> found_ = {};
};

}  // namespace

void check_sharegpt(Report& report, const Json& document) { ShareGpt(report).run(document); }

}  // namespace parley::rules
