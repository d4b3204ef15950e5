// OpenAI's Chat Completions (C1 to C7). What DeepSeek, Moonshot and DashScope ask beyond them is in their
// folders.
#include "dialect/openai/rules.h"

#include <array>

#include "dialect/openai/parts.h"
#include "dialect/rules/pairs.h"
#include "dialect/rules/text.h"

namespace parley::rules {
namespace {

constexpr PairRules kPairs = {
    {"c1_orphan_result", kError, "this answers no call of the assistant's message before it"},
    {"c2_missing_result", kError, "no tool message answers this call before another message comes"},
    {"c1_duplicate_result", kWarning, "the call was answered before"},
};
constexpr Rule kLongId = {"c3_long_id", kWarning, "the id is longer than servers have taken"};
constexpr Rule kMediaRole = {"c4_media_role", kError, "only a user's message may hold media"};
constexpr Rule kToolName = {"c5_tool_name", kError,
                            "the name of a tool has 1 to 64 letters, digits, '_' and '-'"};
constexpr Rule kMessageName = {"c5_message_name", kError, "a name has letters, digits, '_' and '-'"};
constexpr Rule kLongDescription = {"c5_long_description", kWarning,
                                   "descriptions of more than 1024 characters were refused"};
constexpr Rule kEmptyTools = {"c5_empty_tools", kWarning,
                              "some servers refuse an empty list of tools: leave it out"};
constexpr Rule kEmptyMessage = {"c6_empty_message", kError,
                                "an assistant's message has content, calls or a refusal"};
constexpr Rule kEmptyCalls = {"c6_empty_calls", kWarning,
                              "an empty list of calls may be refused: leave it out"};
constexpr Rule kAudioFormat = {"c7_audio_format", kError, "audio is wav or mp3"};
constexpr Rule kAudioUrl = {"c7_audio_url", kError, "audio is given as base64, not by a URL"};
constexpr Rule kAudioId = {"c7_audio_id", kError, "the assistant's audio is named by its id, not given"};

constexpr Layout kLayout = {"messages", "role", "choices", "message"};

class Chat {
 public:
  Chat(Report& report, const ChatRules& rules)
      : report_(report), rules_(rules), pairs_(report, kPairs), marks_(report, kCacheMarks, 4) {}

  void run(const Json& document) {
    Json body = document;
    if (rules_.has_native_form) body = native_body(document);
    const Talk talk = find_talk(report_, body, kLayout);
    is_whole_ = talk.is_whole;
    request(talk.around);
    each_message(report_, talk, [&](const Object& each) { message(each); });
    if (is_whole_) pairs_.finish();
  }

 private:
  void add(const Rule* rule, const Json& where) {
    if (rule != nullptr) report_.add(*rule, where);
  }

  // A native form has the messages in "input" or "output" and what goes with them in "parameters".
  Json native_body(const Json& document) {
    if (!document.is_object()) return document;
    const Object object(report_, document);
    const Json* parameters = object.find("parameters");
    if (parameters != nullptr) request(Object(report_, *parameters));
    for (const std::string_view name : {"input", "output"}) {
      if (const Json* body = object.find(name)) {
        is_native_ = true;
        return *body;
      }
    }
    return document;
  }

  // ---- What goes with the messages

  void request(const Object& around) {
    if (const Json* thinking = around.find("thinking"); thinking != nullptr && thinking->is_object()) {
      is_thinking_ = Object(report_, *thinking).word("type").view() == "enabled";
    }
    const Json* choice = around.find("tool_choice");
    if (choice != nullptr && is_thinking_ &&
        (choice->is_object() || around.word("tool_choice").view() == "required")) {
      add(rules_.forced_tool, *choice);
    }
    const Json* tools = around.get("tools", kList);
    if (tools == nullptr) return;
    const bool is_empty = tools->elements().empty();
    if (is_empty) report_.add(kEmptyTools, *tools);
    each_object(report_, *tools, [&](const Object& tool) {
      for (const std::string_view kind : {"function", "custom"}) {
        if (const Json* spec = tool.get(kind, kObject)) tool_spec(Object(report_, *spec));
      }
    });
  }

  void tool_spec(const Object& spec) {
    name(spec);
    const Json* description = spec.get("description", kString);
    if (description != nullptr && characters(spec.word("description")) > 1024) {
      report_.add(kLongDescription, *description);
    }
    const Json* parameters = spec.get("parameters", kObject);
    if (parameters != nullptr && rules_.schema_type != nullptr) schema(*parameters);
  }

  // The schema and those of its properties.
  void schema(const Json& parameters) {
    const auto says_type = [](const Object& object) {
      return object.has("type") || object.has("anyOf") || object.has("$ref");
    };
    const Object object(report_, parameters);
    if (!object.members().empty() && !says_type(object)) report_.add(*rules_.schema_type, parameters);
    const Json* properties = object.get("properties", kObject);
    if (properties == nullptr) return;
    for (const Json::Member& property : properties->members()) {
      if (property.value.is_object() && !says_type(Object(report_, property.value))) {
        report_.add(*rules_.schema_type, property.value);
      }
    }
  }

  // The name of a tool.
  void name(const Object& holder) {
    const auto text = holder.need_string("name");
    if (text && (!is_plain(*text) || text->size() > 64)) report_.add(kToolName, *holder.find("name"));
  }

  // ---- Messages

  void message(const Object& message) {
    const auto said = message.need_string("role");
    const Text role = said.value_or(Text());
    if (role.view() == "tool") {
      result(message);
    } else {
      pairs_.other_message();
    }
    if (role.view() == "assistant") {
      assistant(message);
    } else if (const Json* calls = message.find("tool_calls")) {
      report_.add(kBlockRole, *calls);
    }
    if (said && !is_one_of(role, kRoles)) report_.add(kUnknownRole, *message.find("role"));
    content(message, role);
    const auto named = message.string("name");
    if (named && !is_plain(*named)) report_.add(kMessageName, *message.find("name"));
  }

  static constexpr std::array<std::string_view, 6> kRoles = {"developer", "system", "user",
                                                             "assistant", "tool",   "function"};

  void result(const Object& message) {
    const auto id = message.need_string("tool_call_id");
    if (id && is_whole_) pairs_.result(*message.find("tool_call_id"), id);
    const Json* content = message.find("content");
    if (content != nullptr && content->is_array()) add(rules_.result_blocks, *content);
  }

  void assistant(const Object& message) {
    const bool has_calls = calls(message);
    const Json* content = message.find("content");
    const bool is_empty_list = content != nullptr && content->is_array() && content->elements().empty();
    const bool has_content = content != nullptr && !is_empty_list;
    if (!has_calls && !has_content && !message.has("refusal") && !message.has("audio")) {
      report_.add(rules_.empty_message != nullptr ? *rules_.empty_message : kEmptyMessage, message.json());
    }
    const bool is_empty_text = content != nullptr && content->is_string() && message.word("content").empty();
    if (is_empty_text && !has_calls) add(rules_.empty_answer, *content);
    const bool lacks_reasoning = has_calls && is_thinking_ && !message.has("reasoning_content");
    if (lacks_reasoning) add(rules_.missing_reasoning, message.json());
    message.get("refusal", kString);
    message.get("reasoning_content", kString);
    if (const Json* audio = message.get("audio", kObject)) {
      if (!Object(report_, *audio).has("id")) report_.add(kAudioId, *audio);
    }
  }

  // True if there are calls.
  bool calls(const Object& message) {
    message.get("function_call", kObject);
    const Json* list = message.get("tool_calls", kList);
    if (list == nullptr) return message.has("function_call");
    bool has_any = false;
    each_object(report_, *list, [&](const Object& call) {
      has_any = true;
      const auto id = call.need_string("id");
      if (id) pairs_.call(call.json(), id);
      if (id && characters(*id) > rules_.most_id) report_.add(kLongId, *call.find("id"));
      const bool is_custom = call.word("type").view() == "custom";
      const Json* inside = call.need(is_custom ? "custom" : "function", kObject);
      if (inside == nullptr) return;
      const Object function(report_, *inside);
      name(function);
      function.need(is_custom ? "input" : "arguments", kString);
    });
    if (!is_whole_) pairs_.finish();
    if (!has_any && list->elements().empty()) report_.add(kEmptyCalls, *list);
    return has_any;
  }

  // ---- Content

  void content(const Object& message, std::string_view role) {
    const bool is_assistant = role == "assistant";
    if (rules_.null_content != nullptr && !message.has("content")) {
      report_.add(*rules_.null_content, message.json());
      return;
    }
    // Tools stand for the content of a system message that brings them along.
    const bool brings_tools = rules_.system_brings_tools && message.has("tools");
    const bool is_optional = is_assistant || role == "function" || brings_tools;
    const Json* content =
        is_optional ? message.get("content", kString | kList) : message.need("content", kString | kList);
    if (content == nullptr) return;
    if (content->is_string()) {
      const bool is_empty = !is_assistant && message.word("content").empty();
      if (is_empty) add(rules_.empty_content, *content);
      return;
    }
    each_block(report_, *content, [&](const Object& block) { this->block(block, role); });
  }

  void block(const Object& block, std::string_view role) {
    const std::string_view mark = rules_.cache_mark;
    if (!mark.empty() && block.has(mark)) marks_.count(*block.find(mark));
    if (is_native_) {
      block.get("text", kString);
      return;
    }
    const auto named = block.need_string("type");
    const std::string_view type = named ? named->view() : std::string_view();
    if (is_one_of(type, kMedia) && role != "user") report_.add(kMediaRole, block.json());
    if (type == "text") {
      const auto text = block.need_string("text");
      if (text && text->empty()) add(rules_.empty_text, *block.find("text"));
    } else if (type == "refusal") {
      block.need("refusal", kString);
    } else if (type == "image_url") {
      if (const Json* image = block.need("image_url", kObject)) Object(report_, *image).need_string("url");
    } else if (type == "input_audio") {
      if (const Json* audio = block.need("input_audio", kObject)) this->audio(Object(report_, *audio));
    } else if (type == "file" && rules_.has_files) {
      block.need("file", kObject);
    }
  }

  static constexpr std::array<std::string_view, 4> kMedia = {"image_url", "input_audio", "file", "video_url"};

  void audio(const Object& audio) {
    const auto data = audio.need_string("data");
    if (rules_.takes_any_audio) return;
    const auto format = audio.need_string("format");
    if (format && format->view() != "wav" && format->view() != "mp3") {
      report_.add(kAudioFormat, *audio.find("format"));
    }
    // Base64 has no colon; every URL has.
    if (data && data->view().substr(0, 16).find(':') != std::string_view::npos) {
      report_.add(kAudioUrl, *audio.find("data"));
    }
  }

  Report& report_;
  const ChatRules& rules_;
  Pairs pairs_;
  Counter marks_;
  bool is_whole_ = false;
  bool is_native_ = false;
  bool is_thinking_ = false;
};

}  // namespace

void check_chat(Report& report, const Json& document, const ChatRules& rules) {
  Chat(report, rules).run(document);
}

void check_openai(Report& report, const Json& document) {
  static constexpr ChatRules kRules = {.most_id = 40, .cache_mark = "prompt_cache_breakpoint"};
  check_chat(report, document, kRules);
}

}  // namespace parley::rules
