// Google's Gemini (G1 to G9). Members are spelled in camelCase; the server takes snake_case, too. Neighbours
// that are the model's are one turn.
#include <array>
#include <string>
#include <unordered_set>

#include "dialect/gemini/parts.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"
#include "parley/media/media_type.h"

namespace parley::rules {
namespace {

constexpr Rule kMissingResult = {"g1_missing_result", kError,
                                 "the content that follows has fewer results than there are calls"};
constexpr Rule kExtraResult = {"g1_extra_result", kError, "there are more results than calls"};
constexpr Rule kCallOrder = {"g2_call_order", kError, "calls come right after the user or after results"};
constexpr Rule kResultOrder = {"g2_result_order", kError,
                               "results come right after the content with the calls"};
constexpr Rule kEmptyParts = {"g3_empty_parts", kError, "a content has at least one part"};
constexpr Rule kEmptyText = {"g3_empty_text", kWarning, "some servers refuse an empty text"};
constexpr Rule kNoData = {"g3_no_data", kError, "a part must hold something"};
constexpr Rule kTwoData = {"g3_two_data", kError, "a part holds one thing only"};
constexpr Rule kNoSignature = {
    "g4_missing_signature", kWarning,
    "from Gemini 3 on, the first call of each step of the current turn carries its signature"};
constexpr Rule kRole = {"g5_role", kError, "the roles are 'user' and 'model'"};
constexpr Rule kFirstRole = {"g5_first_role", kError, "the first content is the user's"};
constexpr Rule kName = {"g6_name", kError,
                        "a name starts with a letter or '_' and has up to 128 letters, digits and '_.:-'"};
constexpr Rule kLongName = {"g6_long_name", kWarning,
                            "servers have refused names of more than 64 characters"};
constexpr Rule kNoName = {"g7_missing_name", kError, "a result names its function"};
constexpr Rule kResponse = {"g7_response", kError, "'response' must be an object"};
constexpr Rule kMediaType = {"g8_media_type", kWarning, "Gemini does not list this media type"};
constexpr Rule kUnknownId = {"g9_unknown_id", kWarning, "no call has this id"};
constexpr Rule kManyTools = {"too_many_tools", kError, "there are at most 512 declarations"};

// A member and its other spelling.
struct Member {
  std::string_view name, snake;
};
constexpr Member kInline = {"inlineData", "inline_data"};
constexpr Member kFile = {"fileData", "file_data"};
constexpr Member kCall = {"functionCall", "function_call"};
constexpr Member kResult = {"functionResponse", "function_response"};
constexpr Member kSignature = {"thoughtSignature", "thought_signature"};
constexpr Member kMimeType = {"mimeType", "mime_type"};
constexpr Member kSystem = {"systemInstruction", "system_instruction"};
constexpr Member kDeclarations = {"functionDeclarations", "function_declarations"};

constexpr std::array<Member, 9> kData = {{{"text", "text"},
                                          kInline,
                                          kFile,
                                          kCall,
                                          kResult,
                                          {"executableCode", "executable_code"},
                                          {"codeExecutionResult", "code_execution_result"},
                                          {"toolCall", "tool_call"},
                                          {"toolResponse", "tool_response"}}};
// What does not make a part by itself; "videoMetadata" does: it is about the part before it.
constexpr std::array<Member, 6> kModifiers = {{{"thought", "thought"},
                                               kSignature,
                                               {"mediaResolution", "media_resolution"},
                                               {"partMetadata", "part_metadata"},
                                               {"mediaProcessing", "media_processing"},
                                               {"speechMetadata", "speech_metadata"}}};

// Beside text and pdf.
constexpr std::array<std::string_view, 24> kMediaTypes = {
    "image/png",  "image/jpeg",      "image/webp",      "image/heic",      "image/heif",     "audio/mpeg",
    "audio/wav",  "audio/aiff",      "audio/aac",       "audio/ogg",       "audio/flac",     "video/mp4",
    "video/mpeg", "video/quicktime", "video/avi",       "video/x-flv",     "video/mpg",      "video/webm",
    "video/wmv",  "video/3gpp",      "application/pdf", "video/x-msvideo", "video/x-ms-wmv", "audio/x-aiff"};

const Json* find(const Object& object, Member member) {
  const Json* found = object.find(member.name);
  return found != nullptr ? found : object.find(member.snake);
}

const Json* get(const Object& object, Member member, unsigned wants) {
  return object.get(object.has(member.name) ? member.name : member.snake, wants);
}

bool is(std::string_view name, Member member) { return name == member.name || name == member.snake; }

constexpr Layout kLayout = {"contents", "parts", "candidates", "content"};

class Gemini {
 public:
  explicit Gemini(Report& report) : report_(report) {}

  void run(const Json& document) {
    const Talk talk = find_talk(report_, document, kLayout);
    is_whole_ = talk.is_whole;
    request(talk.around);
    each_message(report_, talk, [&](const Object& each) { content(each); });
    for (const Report::Mark& call : before_.calls) report_.add(kPendingCall, call);
    for (std::size_t i = 0; i < unsigned_.size(); ++i) report_.add(kNoSignature, unsigned_[i]);
  }

 private:
  // What the next content must know of a content.
  struct Sight {
    bool is_user = false;
    std::vector<Report::Mark> calls, results;
    std::unordered_set<std::string> ids;  // of the calls
  };

  void request(const Object& around) {
    if (const Json* system = get(around, kSystem, kObject)) {
      const Object instruction(report_, *system);
      const Json* parts = instruction.get("parts", kList);
      if (parts != nullptr) each_object(report_, *parts, [&](const Object& each) { data(each); });
    }
    const Json* tools = around.get("tools", kList | kObject);
    if (tools == nullptr) return;
    Counter count(report_, kManyTools, 512);
    const auto declarations = [&](const Object& tool) {
      const Json* list = get(tool, kDeclarations, kList);
      if (list == nullptr) return;
      each_object(report_, *list, [&](const Object& each) {
        count.count(each.json());
        if (const auto text = each.need_string("name")) name(*text, *each.find("name"));
      });
    };
    // One set of tools may stand without its list.
    tools->is_object() ? declarations(Object(report_, *tools)) : each_object(report_, *tools, declarations);
  }

  void name(std::string_view text, const Json& where) {
    const bool fits = is_plain(text, ".:") && (is_letter(text.front()) || text.front() == '_');
    if (!fits || text.size() > 128) {
      report_.add(kName, where);
    } else if (text.size() > 64) {
      report_.add(kLongName, where);
    }
  }

  // ---- Contents

  void content(const Object& content) {
    const auto role = content.string("role");
    const bool is_known = !role || role->view() == "user" || role->view() == "model";
    if (!is_known) report_.add(kRole, *content.find("role"));
    Sight sight;
    sight.is_user = !role || role->view() != "model";
    const Json* parts = content.get("parts", kList);
    const bool is_empty = parts == nullptr ? !content.has("parts") : parts->elements().empty();
    if (is_empty && is_whole_ && content.is_object())
      report_.add(kEmptyParts, parts == nullptr ? content.json() : *parts);
    bool is_first_call = true;
    if (parts != nullptr) {
      each_block(report_, *parts, [&](const Object& each) { part(each, sight, is_first_call); });
    }
    if (!is_whole_) {
      for (const Report::Mark& call : sight.calls) report_.add(kPendingCall, call);
      return;
    }
    const bool goes_on = !is_first_ && !sight.is_user && !before_.is_user && !before_.calls.empty();
    if (goes_on) {
      before_.calls.insert(before_.calls.end(), sight.calls.begin(), sight.calls.end());
      before_.ids.merge(sight.ids);
      return;
    }
    follow(content, sight);
    before_ = std::move(sight);
    is_first_ = false;
  }

  // G1, G2, G5: what may follow what.
  void follow(const Object& content, const Sight& sight) {
    if (is_first_ && !sight.is_user && sight.calls.empty()) report_.add(kFirstRole, content.json());
    const bool is_after_user = !is_first_ && before_.is_user;
    if (!sight.calls.empty() && !is_after_user) report_.add(kCallOrder, sight.calls.front());
    // A request of the user's opens a turn; the steps before it are not checked.
    if (sight.is_user && sight.results.empty()) unsigned_ = {};
    if (before_.calls.empty()) {
      if (!sight.results.empty()) report_.add(kResultOrder, sight.results.front());
      return;
    }
    for (std::size_t i = sight.results.size(); i < before_.calls.size(); ++i) {
      report_.add(kMissingResult, before_.calls[i]);
    }
    for (std::size_t i = before_.calls.size(); i < sight.results.size(); ++i) {
      report_.add(kExtraResult, sight.results[i]);
    }
  }

  // ---- Parts

  // G3; true if the part holds something known.
  bool data(const Object& part) {
    std::size_t known = 0;
    bool is_modifier_only = true;
    for (const Json::Member& member : part.members()) {
      const auto fits = [&](Member each) { return is(member.key, each); };
      if (member.value.is_null()) continue;
      if (std::ranges::any_of(kData, fits)) ++known;
      if (!std::ranges::any_of(kModifiers, fits)) is_modifier_only = false;
    }
    if (is_modifier_only) report_.add(kNoData, part.json());
    if (known > 1) report_.add(kTwoData, part.json());
    const auto text = part.string("text");
    // The last part of a stream may bring nothing but a signature.
    if (text && text->empty() && find(part, kSignature) == nullptr)
      report_.add(kEmptyText, *part.find("text"));
    return known != 0;
  }

  void part(const Object& part, Sight& sight, bool& is_first_call) {
    if (!data(part)) return;
    part.get("thought", kBool);
    const Json* signature = get(part, kSignature, kString);
    for (const Member member : {kInline, kFile}) {
      if (const Json* media = get(part, member, kObject)) this->media(Object(report_, *media), member.name);
    }
    if (const Json* call = get(part, kCall, kObject)) {
      if (sight.is_user) report_.add(kBlockRole, part.json());
      if (is_first_call && signature == nullptr && is_whole_) unsigned_.push_back(report_.mark(part.json()));
      is_first_call = false;
      this->call(Object(report_, *call), sight);
      sight.calls.push_back(report_.mark(part.json()));
    }
    if (const Json* result = get(part, kResult, kObject)) {
      if (!sight.is_user) report_.add(kBlockRole, part.json());
      this->result(Object(report_, *result));
      sight.results.push_back(report_.mark(part.json()));
    }
  }

  void media(const Object& media, std::string_view member) {
    const bool is_inline = member == kInline.name;
    const Json* type = get(media, kMimeType, kString);
    if (is_inline) media.need("data", kString);
    if (is_inline && find(media, kMimeType) == nullptr) media.need(kMimeType.name, kString);
    if (type == nullptr) return;
    const std::string canonical = canonical_media_type(*type->as_string());
    if (!canonical.starts_with("text/") && !is_one_of(canonical, kMediaTypes)) report_.add(kMediaType, *type);
  }

  void call(const Object& call, Sight& sight) {
    if (const auto text = call.need_string("name")) name(*text, *call.find("name"));
    call.get("args", kObject);
    if (const auto id = call.string("id")) sight.ids.insert(id->str());
  }

  void result(const Object& result) {
    const auto text = result.string("name");
    if (!result.has("name")) report_.add(kNoName, result.json());
    if (text) name(*text, *result.find("name"));
    const Json* response = result.find("response");
    if (response == nullptr || !response->is_object()) {
      report_.add(kResponse, response == nullptr ? result.json() : *response);
    }
    const auto id = result.string("id");
    if (id && !before_.ids.empty() && !before_.ids.contains(id->str())) {
      report_.add(kUnknownId, *result.find("id"));
    }
    const Json* parts = result.get("parts", kList);
    if (parts == nullptr) return;
    each_object(report_, *parts, [&](const Object& part) {
      for (const Member member : {kInline, kFile}) {
        if (const Json* media = get(part, member, kObject)) this->media(Object(report_, *media), member.name);
      }
    });
  }

  Report& report_;
  Sight before_;
  std::vector<Report::Mark> unsigned_;  // first calls of the turn's steps without a signature
  bool is_first_ = true;
  bool is_whole_ = false;
};

}  // namespace

void check_gemini(Report& report, const Json& document) { Gemini(report).run(document); }

}  // namespace parley::rules
