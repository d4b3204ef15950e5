// Anthropic's Messages (A1 to A16). Neighbours of one role are one turn to the server.
#include <array>
#include <string>
#include <unordered_set>

#include "dialect/anthropic/parts.h"
#include "dialect/anthropic/thinking_rules.h"
#include "dialect/rules/pairs.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"

namespace parley::rules {
namespace {

constexpr Rule kMissingResult = {"a1_missing_result", kError,
                                 "the user's message that follows has no result for this call"};
constexpr Rule kLateResult = {"a1_late_result", kError, "results come first in the user's message"};
constexpr Rule kSplitResults = {"a1_split_results", kWarning,
                                "all results of a step belong into one message"};
constexpr Rule kOrphanResult = {"a2_orphan_result", kError, "this answers no call of the message before"};
constexpr Rule kServerResult = {"a2_server_result", kError, "no 'server_tool_use' before it has this id"};
constexpr Rule kDuplicateResult = {"a3_duplicate_result", kError, "the call was answered before"};
constexpr Rule kDuplicateId = {"a3_duplicate_id", kError, "another call of this turn has this id"};
constexpr Rule kReusedId = {"a3_duplicate_id", kWarning, "a call of an earlier turn has this id"};
constexpr Rule kIdPattern = {"a4_id_pattern", kError, "an id has letters, digits, '_' and '-'"};
constexpr Rule kLongId = {"a4_long_id", kWarning, "the id is longer than 64 characters"};
constexpr Rule kEmptyError = {"a5_empty_error", kError, "an error says something"};
constexpr Rule kErrorBlock = {"a5_error_block", kError, "an error holds texts only"};
constexpr Rule kEmptyText = {"a6_empty_text", kError, "a text must not be empty"};
constexpr Rule kBlankText = {"a6_blank_text", kError, "the message has no text that is more than whitespace"};
constexpr Rule kEmptyContent = {"a6_empty_content", kError,
                                "only a last message of the assistant may be empty"};
constexpr Rule kTrailingSpace = {"a6_trailing_space", kWarning,
                                 "the text that the model continues must not end in whitespace"};
constexpr Rule kFirstRole = {"a7_first_role", kWarning, "the first message is the user's"};
constexpr Rule kNoMessages = {"a7_no_messages", kError, "at least one message is required"};
constexpr Rule kUnsigned = {"a8_unsigned_thinking", kError, "thinking goes back with its signature"};
constexpr Rule kUnsignedEarlier = {"a8_unsigned_thinking", kWarning, kUnsigned.sentence};
constexpr Rule kThinkingLast = {"a8_thinking_last", kError, "a message must not end with thinking"};
constexpr Rule kNoThinking = {"a8_no_thinking", kError,
                              "with thinking on, the assistant's last message, or the one whose calls were "
                              "answered, starts with thinking"};
constexpr Rule kDisabled = {"a8_thinking_disabled", kError,
                            "with thinking off, the last message cannot hold thinking"};
constexpr Rule kForcedTool = {"a9_forced_tool", kError, "with thinking on, no tool can be forced"};
constexpr Rule kSystemFirst = {"a10_first", kError, "a system prompt at the start is the member 'system'"};
constexpr Rule kSystemOrder = {
    "a10_order", kError, "a system message follows a user's, and the assistant's or nothing follows it"};
constexpr Rule kSystemBetween = {"a10_between", kError,
                                 "no system message stands between a call and its result"};
constexpr Rule kSystemBlock = {"a10_block", kError, "a system message holds texts and changes of tools"};
constexpr Rule kSystemModel = {"a10_model", kWarning, "only some models take system messages"};
constexpr Rule kMarks = {"a11_cache_marks", kError, "a request has at most four cache marks"};
constexpr Rule kMarkedThinking = {"a11_marked_thinking", kWarning, "thinking takes no cache mark"};
constexpr Rule kToolName = {"a12_tool_name", kError,
                            "the name of a tool has 1 to 128 letters, digits, '_' and '-'"};
constexpr Rule kLongName = {"a12_long_name", kWarning, "the name of a tool is longer than 64 characters"};
constexpr Rule kPropertyKey = {"a12_property_key", kWarning,
                               "the name of a property has 1 to 64 letters, digits, '_', '.' and '-'"};
constexpr Rule kInput = {"a13_input", kError, "'input' must be an object"};
constexpr Rule kImageType = {"a14_image_type", kError, "an image is jpeg, png, gif or webp"};
constexpr Rule kDocumentType = {"a14_document_type", kError, "a document in base64 is a pdf"};
constexpr Rule kImageSize = {"a14_image_size", kWarning, "an image has at most 5 MB"};
constexpr Rule kManyImages = {"a14_image_count", kWarning, "some models take at most 100 images"};
constexpr Rule kTooManyImages = {"a14_image_count", kError, "a request has at most 600 images"};

constexpr Rule kMaxTokens = {"a15_max_tokens", kError, "a request says 'max_tokens'"};
constexpr Rule kBudget = {"a16_budget", kError, "thinking needs 'budget_tokens' of 1024 or more"};
constexpr Rule kBudgetOver = {"a16_max_tokens", kError,
                              "'max_tokens' must be more than thinking's 'budget_tokens'"};
constexpr Rule kBudgetOverTools = {
    "a16_max_tokens", kWarning,
    "'max_tokens' must be more than thinking's 'budget_tokens', unless thinking is interleaved with calls"};
constexpr Rule kSampling = {
    "a16_sampling", kError,
    "with thinking on, 'temperature' is 1, 'top_p' is 0.95 or more, and 'top_k' is absent"};
constexpr ThinkingRules kThinkingRules = {kBudget, kBudgetOver, kBudgetOverTools, kSampling};

constexpr std::size_t kImageBytes = std::size_t{5} * 1024 * 1024;
constexpr std::array<std::string_view, 4> kImageTypes = {"image/jpeg", "image/png", "image/gif",
                                                         "image/webp"};

constexpr Layout kLayout = {"messages", "role"};

class Anthropic {
 public:
  explicit Anthropic(Report& report)
      : report_(report),
        marks_(report, kMarks, 4),
        many_images_(report, kManyImages, 100),
        too_many_images_(report, kTooManyImages, 600) {}

  void run(const Json& document) {
    const Talk talk = find_talk(report_, document, kLayout);
    is_whole_ = talk.is_whole;
    request(talk.around);
    if (is_whole_ && talk.messages.empty()) report_.add(kNoMessages, talk.place);
    std::size_t left = talk.messages.size();
    each_message(report_, talk, [&](const Object& each) { message(each, --left == 0); });
    finish();
  }

 private:
  // A message as it is read: what its rules need to know of all its blocks.
  struct Sight {
    std::string_view role;
    bool is_last = false;
    bool has_text = false;  // more than whitespace
    bool has_result = false;
    std::optional<Report::Mark> blank, thinking;
    std::optional<Report::Mark> trailing;  // its last block is a text that ends in whitespace
    std::optional<Report::Mark> last;      // its last block
    bool ends_with_thinking = false;
  };

  // ---- What goes with the messages

  void request(const Object& around) {
    // A body that names a model, or the version that stands for one elsewhere, is to be sent.
    const bool is_sent = around.has("model") || around.has("anthropic_version");
    if (is_sent && around.has(kLayout.list) && !around.has("max_tokens"))
      report_.add(kMaxTokens, around.json());
    if (const Json* thinking = around.get("thinking", kObject)) {
      const Object settings(report_, *thinking);
      const Text type = settings.word("type");
      is_enabled_ = type.view() == "enabled";
      is_disabled_ = type.view() == "disabled";
      const Json* tools = around.find("tools");
      check_thinking(report_, kThinkingRules, settings,
                     {.max_tokens = around.find("max_tokens"),
                      .temperature = around.find("temperature"),
                      .top_p = around.find("top_p"),
                      .top_k = around.find("top_k"),
                      .has_tools = tools != nullptr && !tools->elements().empty()});
    }
    if (const Json* choice = around.get("tool_choice", kObject)) {
      const Text type = Object(report_, *choice).word("type");
      const bool is_forced = type.view() == "any" || type.view() == "tool";
      if (is_enabled_ && is_forced) report_.add(kForcedTool, *choice);
    }
    const Json* system = around.get("system", kString | kList);
    if (system != nullptr && system->is_array()) {
      each_object(report_, *system, [&](const Object& block) {
        const auto type = block.need_string("type");
        const bool is_text = !type || type->view() == "text";
        if (!is_text) report_.add(kBlockRole, block.json());
        if (is_text) text(block);
        mark(block);
      });
    }
    const Json* tools = around.get("tools", kList);
    if (tools != nullptr) each_object(report_, *tools, [&](const Object& each) { tool(each); });
  }

  void tool(const Object& tool) {
    mark(tool);
    name(tool);
    const Json* schema = tool.get("input_schema", kObject);
    if (schema == nullptr) return;
    const Object object(report_, *schema);
    const Json* properties = object.get("properties", kObject);
    if (properties == nullptr) return;
    for (const Json::Member& property : properties->members()) {
      const std::string_view key = property.key;
      if (!is_plain(key, ".") || key.size() > 64) report_.add(kPropertyKey, property.value);
    }
  }

  void name(const Object& holder) {
    const auto text = holder.need_string("name");
    if (!text) return;
    if (!is_plain(*text) || text->size() > 128) {
      report_.add(kToolName, *holder.find("name"));
    } else if (text->size() > 64) {
      report_.add(kLongName, *holder.find("name"));
    }
  }

  void mark(const Object& holder) {
    if (const Json* cache = holder.get("cache_control", kObject)) marks_.count(*cache);
  }

  // ---- Messages

  void message(const Object& message, bool is_last) {
    const auto named = message.need_string("role");
    const Text role = named.value_or(Text());
    if (role.view() == "user" || role.view() == "assistant") {
      turn(role, message);
    } else if (role.view() == "system") {
      system_message(message);
    } else if (named) {
      report_.add(kUnknownRole, *message.find("role"));
    }
    Sight sight;
    sight.role = role;
    sight.is_last = is_last && is_whole_;
    content(message, sight);
    if (role.view() == "user" && !sight.has_result) last_request_ = unsigned_.size();
    if (role.view() == "user") has_results_ = has_results_ || sight.has_result;
    is_after_system_ = role.view() == "system";
    is_first_ = false;
  }

  // A message of the user or the assistant: a new turn begins unless the last one was of the same role.
  void turn(std::string_view role, const Object& message) {
    if (is_first_ && is_whole_ && role != "user") report_.add(kFirstRole, *message.find("role"));
    if (is_after_system_ && role != "assistant" && !is_misplaced_) report_.add(kSystemOrder, system_);
    is_between_ = false;
    if (role != role_) {
      if (role == "assistant") {
        calls_.complain(report_, kMissingResult);
        calls_ = {};
        first_of_turn_ = report_.mark(message.json());
        starts_with_thinking_ = starts_with_thinking(message);
      }
      results_lead_ = true;
      messages_of_turn_ = 0;
      has_results_ = false;
      role_ = role;
    }
    ++messages_of_turn_;
  }

  bool starts_with_thinking(const Object& message) {
    const Json* content = message.find("content");
    if (content == nullptr || !content->is_array()) return false;
    const std::vector<Json> blocks = content->elements();
    if (blocks.empty() || !blocks.front().is_object()) return false;
    return is_thinking(Object(report_, blocks.front()).word("type"));
  }

  void system_message(const Object& message) {
    if (!is_whole_) return;
    if (!has_system_) report_.add(kSystemModel, message.json());
    has_system_ = true;
    system_ = report_.mark(message.json());
    is_between_ = role_ == "assistant" && !calls_.empty();
    is_misplaced_ = role_ != "user";  // several may stand one after the other
    if (is_misplaced_) {
      report_.add(is_first_ ? kSystemFirst : is_between_ ? kSystemBetween : kSystemOrder, message.json());
    }
  }

  void content(const Object& message, Sight& sight) {
    const Json* content = message.need("content", kString | kList);
    if (content == nullptr) return;
    const bool may_be_empty = sight.is_last && sight.role == "assistant";
    if (content->is_string()) {
      results_lead_ = false;
      const Text text = *content->as_string();
      if (text.empty() && may_be_empty) return;
      see_text(*content, text, sight);
    } else if (content->elements().empty()) {
      if (!may_be_empty && is_whole_) report_.add(kEmptyContent, *content);
    } else {
      each_block(report_, *content, [&](const Object& each) { block(each, sight); });
    }
    if (sight.blank && !sight.has_text) report_.add(kBlankText, *sight.blank);
    if (may_be_empty && sight.trailing) report_.add(kTrailingSpace, *sight.trailing);
    if (!is_whole_ || sight.role != "assistant" || !sight.thinking) return;
    if (sight.ends_with_thinking) {
      report_.add(kThinkingLast, *sight.last);
    } else if (sight.is_last && is_disabled_) {
      report_.add(kDisabled, *sight.thinking);
    }
  }

  static bool is_thinking(std::string_view type) { return type == "thinking" || type == "redacted_thinking"; }

  void see_text(const Json& where, std::string_view text, Sight& sight) {
    if (text.empty()) {
      report_.add(kEmptyText, where);
    } else if (!is_blank(text)) {
      sight.has_text = true;
      if (is_space(text.back())) sight.trailing = report_.mark(where);
    } else if (!sight.blank) {
      sight.blank = report_.mark(where);
    }
  }

  // ---- Blocks

  struct BlockRow {
    std::string_view type;
    std::string_view role;  // of the messages that may hold it; empty: any
    void (Anthropic::*check)(const Object& block, Sight& sight) = nullptr;
  };
  static const std::array<BlockRow, 10> kBlocks;

  void block(const Object& block, Sight& sight) {
    const auto named = block.need_string("type");
    const std::string_view type = named ? named->view() : std::string_view();
    sight.trailing.reset();
    sight.last = report_.mark(block.json());
    sight.ends_with_thinking = is_thinking(type);
    if (type != "tool_result") results_lead_ = false;
    if (is_thinking(type)) {
      if (block.has("cache_control")) report_.add(kMarkedThinking, *block.find("cache_control"));
      if (!sight.thinking) sight.thinking = report_.mark(block.json());
    } else {
      mark(block);
    }
    for (const BlockRow& row : kBlocks) {
      if (row.type != type) continue;
      const bool fits = row.role.empty() || row.role == sight.role;
      if (!fits) report_.add(sight.role == "system" ? kSystemBlock : kBlockRole, block.json());
      if (fits && row.check != nullptr) (this->*row.check)(block, sight);
    }
    if (type.ends_with("_tool_result")) server_result(block);
  }

  void text_block(const Object& block, Sight& sight) {
    const auto text = block.need_string("text");
    if (text) see_text(*block.find("text"), *text, sight);
  }

  // A text that is no part of a message's own: of the system prompt, or in a result.
  void text(const Object& block) {
    const auto text = block.need_string("text");
    if (text && text->empty()) report_.add(kEmptyText, *block.find("text"));
  }

  void thinking(const Object& block, Sight&) {
    block.need("thinking", kString);
    block.get("signature", kString);
    if (block.word("signature").empty()) unsigned_.push_back(report_.mark(block.json()));
  }

  void redacted(const Object& block, Sight&) { block.need("data", kString); }

  void media_block(const Object& block, Sight&) { media(block); }

  void media(const Object& block) {
    const bool is_image = block.word("type").view() == "image";
    if (is_image) many_images_.count(block.json());
    if (is_image) too_many_images_.count(block.json());
    const Json* inside = block.need("source", kObject);
    if (inside == nullptr) return;
    const Object source(report_, *inside);
    if (source.need_string("type").value_or(Text()).view() != "base64") return;
    const auto type = source.need_string("media_type");
    const auto data = source.need_string("data");
    if (type && is_image && !is_one_of(*type, kImageTypes))
      report_.add(kImageType, *source.find("media_type"));
    if (type && !is_image && type->view() != "application/pdf") {
      report_.add(kDocumentType, *source.find("media_type"));
    }
    if (is_image && data && data->size() / 4 * 3 > kImageBytes) report_.add(kImageSize, *source.find("data"));
  }

  // ---- Calls and results

  void id_pattern(const Object& block, std::string_view member, std::string_view id) {
    if (!is_plain(id)) {
      report_.add(kIdPattern, *block.find(member));
    } else if (id.size() > 64) {
      report_.add(kLongId, *block.find(member));
    }
  }

  void call(const Object& block, Sight&) {
    name(block);
    const Json* input = block.find("input");
    if (input == nullptr || !input->is_object())
      report_.add(kInput, input == nullptr ? block.json() : *input);
    const auto id = block.need_string("id");
    if (!id) return;
    id_pattern(block, "id", *id);
    const bool is_first = calls_.ask(report_.mark(block.json()), *id);
    const bool is_new = ids_.insert(id->str()).second;
    if (!is_new) report_.add(is_first ? kReusedId : kDuplicateId, *block.find("id"));
  }

  void result(const Object& block, Sight& sight) {
    sight.has_result = true;
    result_content(block);
    const auto id = block.need_string("tool_use_id");
    if (!id) return;
    id_pattern(block, "tool_use_id", *id);
    if (!is_whole_) return;
    const Json& where = *block.find("tool_use_id");
    const Step::Answer answer = calls_.answer(*id);
    if (answer == Step::Answer::Orphan) {
      report_.add(kOrphanResult, where);
    } else if (answer == Step::Answer::Again) {
      report_.add(kDuplicateResult, where);
    } else if (!results_lead_) {
      report_.add(kLateResult, block.json());
    } else if (messages_of_turn_ > 1) {
      report_.add(kSplitResults, block.json());
    }
  }

  void result_content(const Object& block) {
    const Json* flag = block.get("is_error", kBool);
    const bool is_error = flag != nullptr && *flag->as_bool();
    const Json* content = block.get("content", kString | kList);
    const bool is_empty = content == nullptr || (content->is_string() && block.word("content").empty()) ||
                          (content->is_array() && content->elements().empty());
    if (is_error && is_empty) report_.add(kEmptyError, block.json());
    if (content == nullptr || content->is_string()) return;
    each_object(report_, *content, [&](const Object& inner) {
      const Text type = inner.need_string("type").value_or(Text());
      mark(inner);
      if (is_error && !type.empty() && type.view() != "text") report_.add(kErrorBlock, inner.json());
      if (type.view() == "text") text(inner);
      if (type.view() == "image" || type.view() == "document") media(inner);
    });
  }

  void server_call(const Object& block, Sight&) {
    if (const auto id = block.need_string("id")) server_ids_.insert(id->str());
  }

  void server_result(const Object& block) {
    const auto id = block.need_string("tool_use_id");
    if (id && is_whole_ && !server_ids_.contains(id->str())) {
      report_.add(kServerResult, *block.find("tool_use_id"));
    }
  }

  void finish() {
    calls_.complain(report_, role_ == "assistant" && !is_between_ ? kPendingCall : kMissingResult);
    for (std::size_t i = 0; i < unsigned_.size(); ++i) {
      report_.add(i < last_request_ ? kUnsignedEarlier : kUnsigned, unsigned_[i]);
    }
    // The assistant's turn that results answer, or that the model continues.
    const bool is_open = role_ == "assistant" || (role_ == "user" && has_results_);
    if (is_enabled_ && is_whole_ && is_open && first_of_turn_ && !starts_with_thinking_) {
      report_.add(kNoThinking, *first_of_turn_);
    }
  }

  Report& report_;
  Counter marks_, many_images_, too_many_images_;
  bool is_whole_ = false;
  bool is_enabled_ = false;
  bool is_disabled_ = false;

  // The turn.
  std::string role_;
  std::size_t messages_of_turn_ = 0;
  bool results_lead_ = true;  // nothing but results so far
  bool has_results_ = false;
  bool is_first_ = true;
  std::optional<Report::Mark> first_of_turn_;  // of the assistant's last turn
  bool starts_with_thinking_ = false;

  // The system message before, if there is one.
  Report::Mark system_;
  bool has_system_ = false;
  bool is_after_system_ = false;
  bool is_between_ = false;
  bool is_misplaced_ = false;

  Step calls_;  // of the assistant's last turn
  std::unordered_set<std::string> ids_, server_ids_;
  std::vector<Report::Mark> unsigned_;
  std::size_t last_request_ = 0;  // so many of them stand before the user's last request
};

const std::array<Anthropic::BlockRow, 10> Anthropic::kBlocks = {{
    {"text", "", &Anthropic::text_block},
    {"image", "user", &Anthropic::media_block},
    {"document", "user", &Anthropic::media_block},
    {"search_result", "user"},
    {"thinking", "assistant", &Anthropic::thinking},
    {"redacted_thinking", "assistant", &Anthropic::redacted},
    {"tool_use", "assistant", &Anthropic::call},
    {"tool_result", "user", &Anthropic::result},
    {"server_tool_use", "assistant", &Anthropic::server_call},
    {"mcp_tool_use", "assistant", &Anthropic::server_call},
}};

}  // namespace

void check_anthropic(Report& report, const Json& document) { Anthropic(report).run(document); }

}  // namespace parley::rules
