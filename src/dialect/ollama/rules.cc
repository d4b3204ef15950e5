// Ollama's chat (L1 and L4). Whether a model thinks, and what its template makes of it (L2, L3), a document
// does not say.
#include <array>

#include "dialect/ollama/parts.h"
#include "dialect/rules/pairs.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"
#include "parley/media/data_url.h"

namespace parley::rules {
namespace {

constexpr Rule kContent = {"l1_content", kError, "'content' must be a string"};
constexpr Rule kImageUrl = {"l1_image_url", kError,
                            "an image is base64 alone, without 'data:' or another URL"};
constexpr Rule kImageBase64 = {"l1_image_base64", kError, "an image must be base64"};
constexpr PairRules kPairs = {
    {"l4_orphan_result", kWarning, "this answers no call of the assistant's message before it"},
    {"l4_missing_result", kWarning, "no tool message answers this call before another message comes"},
    {"l4_duplicate_result", kWarning, "the call was answered before"},
};
// The server takes any role; templates know these.
constexpr Rule kRole = {kUnknownRole.code, kWarning, kUnknownRole.sentence};
constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};

constexpr Layout kLayout = {"messages", "role", {}, "message"};

// Go's decoder: padded, line ends anywhere, spare bits ignored.
bool is_base64(std::string data) {
  std::erase_if(data, [](char c) { return c == '\n' || c == '\r'; });
  return data.size() % 4 == 0 && std::ranges::none_of(data, is_space) &&
         base64_check(data, Base64Mode::Forgiving).has_value();
}

class Ollama {
 public:
  explicit Ollama(Report& report) : report_(report), pairs_(report, kPairs) {}

  void run(const Json& document) {
    const Talk talk = find_talk(report_, document, kLayout);
    is_whole_ = talk.is_whole;
    talk.around.get("tools", kList);
    each_message(report_, talk, [&](const Object& each) { message(each); });
    pairs_.finish();
  }

 private:
  void message(const Object& message) {
    const auto said = message.need_string("role");
    const std::string role = lower_case(said.value_or(Text()));
    if (said && !is_one_of(role, kRoles)) report_.add(kRole, *message.find("role"));
    const Json* content = message.find("content");
    if (content != nullptr && !content->is_string()) report_.add(kContent, *content);
    message.get("thinking", kString);
    images(message);
    if (role != "tool") pairs_.other_message();
    calls(message);
    const auto id = message.string("tool_call_id");
    message.get("tool_name", kString);
    const bool has_id = id && !id->empty();
    if (role == "tool" && is_whole_) {
      pairs_.result(has_id ? *message.find("tool_call_id") : message.json(), has_id ? id : std::nullopt);
    }
  }

  static std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
  }

  void images(const Object& message) {
    const Json* list = message.get("images", kList);
    if (list == nullptr) return;
    for (const Json& image : list->elements()) {
      const auto data = image.as_string();
      if (data && data->view().substr(0, 16).find(':') != std::string_view::npos) {
        report_.add(kImageUrl, image);
      } else if (!data || !is_base64(data->str())) {
        report_.add(kImageBase64, image);
      }
    }
  }

  void calls(const Object& message) {
    const Json* list = message.get("tool_calls", kList);
    if (list == nullptr) return;
    each_object(report_, *list, [&](const Object& call) {
      const auto id = call.string("id");
      pairs_.call(call.json(), id && !id->empty() ? id : std::nullopt);
      const Json* inside = call.need("function", kObject);
      if (inside == nullptr) return;
      const Object function(report_, *inside);
      function.need("name", kString);
      function.get("arguments", kObject);
    });
  }

  Report& report_;
  Pairs pairs_;
  bool is_whole_ = false;
};

}  // namespace

void check_ollama(Report& report, const Json& document) { Ollama(report).run(document); }

}  // namespace parley::rules
