// OpenAI's Responses (P1 to P6). The messages are items; their order is the conversation.
#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "dialect/responses/parts.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"

namespace parley::rules {
namespace {

constexpr Rule kMissingOutput = {"p1_missing_output", kError, "no item has the output of this call"};
constexpr Rule kOrphanOutput = {"p1_orphan_output", kError, "this is the output of no call"};
constexpr Rule kEarlyOutput = {"p1_early_output", kWarning, "the output stands before its call"};
constexpr Rule kDuplicateOutput = {"p1_duplicate_output", kWarning, "the call has an output already"};
constexpr Rule kDuplicateCall = {"p1_duplicate_call", kWarning, "another call has this id"};
constexpr Rule kLongCallId = {"p2_long_call_id", kError, "'call_id' has at most 64 characters"};
constexpr Rule kLongItemId = {"p2_long_item_id", kError, "the id of an item has at most 64 characters"};
constexpr Rule kLoneReasoning = {"p3_lone_reasoning", kError,
                                 "the item that this reasoning led to does not follow"};
constexpr Rule kNotEncrypted = {"p4_not_encrypted", kWarning,
                                "nothing is stored, so this reasoning needs 'encrypted_content'"};
constexpr Rule kMessageId = {"p4_message_id", kWarning,
                             "an assistant's message with blocks has an 'id' and a 'status'"};
constexpr Rule kCreatedBy = {"p5_created_by", kError, "'created_by' is for output only"};
constexpr Rule kFailedOutput = {"p5_failed_output", kError, "an output that failed cannot be sent back"};
constexpr Rule kUnfinishedOutput = {"p5_unfinished_output", kError,
                                    "an output that is not completed cannot be sent back"};
constexpr Rule kToolsRole = {"p5_tools_role", kError, "only the developer brings additional tools"};
constexpr Rule kForeignReasoning = {"p6_foreign_reasoning", kWarning,
                                    "reasoning without an id and without 'encrypted_content' is another's"};
constexpr Rule kToolName = {"tool_name", kError,
                            "the name of a tool has 1 to 64 letters, digits, '_' and '-'"};

constexpr std::array<std::string_view, 4> kRoles = {"user", "system", "developer", "assistant"};
constexpr std::array<std::string_view, 3> kInput = {"input_text", "input_image", "input_file"};
constexpr std::array<std::string_view, 2> kOutput = {"output_text", "refusal"};

// Items of the caller, beside messages and outputs. All others, unknown ones too, may be what reasoning led
// to.
constexpr std::array<std::string_view, 2> kGiven = {"additional_tools", "mcp_approval_response"};

class Responses {
 public:
  explicit Responses(Report& report) : report_(report), marks_(report, kCacheMarks, 4) {}

  void run(const Json& document) {
    const Talk talk = items_of(document);
    is_request_ = talk.is_whole;
    const Json* store = talk.around.get("store", kBool);
    is_stored_ = store == nullptr || *store->as_bool();
    // Part of the conversation may be with the server.
    has_all_ = is_request_ && !talk.around.has("previous_response_id") && !talk.around.has("conversation");
    talk.around.get("instructions", kString | kList);
    tools(talk.around);
    each_message(report_, talk, [&](const Object& each) { item(each); });
    finish();
  }

 private:
  struct Call {
    Report::Mark mark;
    bool is_answered = false;
    bool is_pending = true;  // nothing that a model does not write follows it
  };

  Talk items_of(const Json& document) {
    if (document.is_object()) {
      const Object object(report_, document);
      const Json* input = object.find("input");
      if (input != nullptr && input->is_string() && !object.has("type")) {
        return {{}, object, document, true, true};
      }
      if (const Json* output = object.find("output"); output != nullptr && !object.has("type")) {
        return {object.get("output", kList) == nullptr ? std::vector<Json>() : output->elements(), object,
                *output, false, false};
      }
      if (object.has("type")) return {{document}, Object(report_), document, false, false};
    }
    return find_talk(report_, document, {"input", "role"});
  }

  void tools(const Object& around) {
    const Json* list = around.get("tools", kList);
    if (list == nullptr) return;
    each_object(report_, *list, [&](const Object& tool) {
      const Text type = tool.word("type");
      if (type.view() == "function" || type.view() == "custom") name(tool);
    });
  }

  void name(const Object& holder) {
    const auto text = holder.need_string("name");
    if (text && (!is_plain(*text) || text->size() > 64)) report_.add(kToolName, *holder.find("name"));
  }

  // ---- Items

  void item(const Object& item) {
    const Text named = item.string("type").value_or(Text());
    // Without a type it is a message, or the id of an item that the provider has.
    const std::string_view type = !named.empty()     ? named.view()
                                  : item.has("role") ? "message"
                                  : item.has("id")   ? "item_reference"
                                                     : "";
    if (type.empty() && item.is_object() && !item.has("type")) item.need("type", kString);
    const bool is_given = type == "message" ? item.word("role").view() != "assistant"
                                            : type.ends_with("_output") || is_one_of(type, kGiven);
    follow(type, is_given, item);
    const auto id = item.string("id");
    if (id && characters(*id) > 64) report_.add(kLongItemId, *item.find("id"));
    if (is_request_) replayed(item, type);
    if (type == "message") message(item);
    if (type == "function_call") call(item, "arguments");
    if (type == "custom_tool_call") call(item, "input");
    const auto other = item.find("call_id");
    if (type.ends_with("_call") && type != "function_call" && type != "custom_tool_call" &&
        other != nullptr && other->is_string()) {
      others_.insert(other->as_string()->str());
    }
    if (type == "function_call_output" || type == "custom_tool_call_output") output(item);
    if (type == "reasoning") reasoning(item);
    if (type == "item_reference") has_all_ = false;
  }

  // P3, and which calls are pending.
  void follow(std::string_view type, bool is_given, const Object& item) {
    if (lone_reasoning_ && is_given && is_request_) report_.add(kLoneReasoning, *lone_reasoning_);
    lone_reasoning_.reset();
    if (type == "reasoning" && item.has("id")) lone_reasoning_ = report_.mark(item.json());
    if (!is_given) return;
    for (; first_pending_ < calls_.size(); ++first_pending_) calls_[first_pending_].is_pending = false;
  }

  void replayed(const Object& item, std::string_view type) {
    const Text status = item.word("status");
    if (item.has("created_by")) report_.add(kCreatedBy, *item.find("created_by"));
    if (type == "computer_call_output" && status.view() == "failed") {
      report_.add(kFailedOutput, *item.find("status"));
    }
    if (type == "custom_tool_call_output" && !status.empty() && status.view() != "completed") {
      report_.add(kUnfinishedOutput, *item.find("status"));
    }
    if (type == "additional_tools" && item.word("role").view() != "developer") {
      report_.add(kToolsRole, item.json());
    }
  }

  void reasoning(const Object& item) {
    if (const Json* summary = item.get("summary", kList))
      each_object(report_, *summary, [](const Object&) {});
    const bool is_encrypted = item.get("encrypted_content", kString) != nullptr;
    if (is_encrypted || !is_request_) return;
    if (!item.has("id")) {
      report_.add(kForeignReasoning, item.json());
    } else if (!is_stored_) {
      report_.add(kNotEncrypted, item.json());
    }
  }

  // ---- Calls

  void call(const Object& item, std::string_view arguments) {
    name(item);
    item.need(arguments, kString);
    const auto id = call_id(item);
    if (!id) return;
    // An output belongs to the last call of its id.
    const bool is_new = by_id_.insert_or_assign(id->str(), calls_.size()).second;
    if (!is_new) report_.add(kDuplicateCall, *item.find("call_id"));
    calls_.push_back({report_.mark(item.json())});
  }

  void output(const Object& item) {
    if (const Json* output = item.need("output", kString | kList); output != nullptr && output->is_array()) {
      each_block(report_, *output, [&](const Object& each) { block(each); });
    }
    const auto id = call_id(item);
    if (!id || !is_request_) return;
    const auto found = by_id_.find(id->str());
    if (found == by_id_.end() && others_.contains(id->str())) return;
    if (found == by_id_.end()) {
      early_.emplace_back(id->str(), report_.mark(*item.find("call_id")));
      return;
    }
    Call& answered = calls_[found->second];
    if (answered.is_answered) report_.add(kDuplicateOutput, *item.find("call_id"));
    answered.is_answered = true;
  }

  std::optional<Text> call_id(const Object& item) {
    auto id = item.need_string("call_id");
    if (id && characters(*id) > 64) report_.add(kLongCallId, *item.find("call_id"));
    return id;
  }

  void finish() {
    if (lone_reasoning_ && is_request_) report_.add(kLoneReasoning, *lone_reasoning_);
    for (const auto& [id, mark] : early_) {
      const auto found = by_id_.find(id);
      if (found != by_id_.end()) {
        calls_[found->second].is_answered = true;
        report_.add(kEarlyOutput, mark);
      } else if (has_all_) {
        report_.add(kOrphanOutput, mark);
      }
    }
    for (const Call& call : calls_) {
      if (!call.is_answered) report_.add(call.is_pending ? kPendingCall : kMissingOutput, call.mark);
    }
  }

  // ---- Messages

  void message(const Object& item) {
    const auto role = item.need_string("role");
    if (role && !is_one_of(*role, kRoles)) report_.add(kUnknownRole, *item.find("role"));
    const Json* content = item.need("content", kString | kList);
    if (content == nullptr || content->is_string()) return;
    const bool is_assistant = role && role->view() == "assistant";
    if (is_assistant && (!item.has("id") || !item.has("status"))) report_.add(kMessageId, item.json());
    each_block(report_, *content, [&](const Object& each) {
      const Text type = each.word("type");
      if (is_assistant ? is_one_of(type, kInput) : is_one_of(type, kOutput)) {
        report_.add(kBlockRole, each.json());
      }
      block(each);
    });
  }

  void block(const Object& block) {
    const auto named = block.need_string("type");
    const std::string_view type = named ? named->view() : std::string_view();
    if (block.has("prompt_cache_breakpoint")) marks_.count(*block.find("prompt_cache_breakpoint"));
    if (type == "input_text" || type == "output_text") block.need("text", kString);
    if (type == "refusal") block.need("refusal", kString);
    if (type != "input_image") return;
    const bool has_url = block.get("image_url", kString) != nullptr || block.has("image_url");
    if (!has_url) block.need("file_id", kString);
  }

  Report& report_;
  Counter marks_;
  std::vector<Call> calls_;
  std::unordered_map<std::string, std::size_t> by_id_;
  std::unordered_set<std::string> others_;  // ids of calls of other kinds that the client runs
  std::vector<std::pair<std::string, Report::Mark>> early_;  // outputs without a call before them
  std::optional<Report::Mark> lone_reasoning_;
  std::size_t first_pending_ = 0;
  bool is_request_ = false;
  bool is_stored_ = true;
  bool has_all_ = false;
};

}  // namespace

void check_responses(Report& report, const Json& document) { Responses(report).run(document); }

}  // namespace parley::rules
