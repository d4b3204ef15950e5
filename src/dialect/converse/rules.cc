// Converse of AWS Bedrock (B1 to B6). A block is an object with one member, which says what it is.
#include <array>
#include <string>
#include <unordered_set>
#include <vector>

#include "dialect/anthropic/thinking_rules.h"
#include "dialect/converse/parts.h"
#include "dialect/rules/pairs.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"

namespace parley::rules {
namespace {

constexpr Rule kImageCount = {"b1_image_count", kError, "a message has at most 20 images"};
constexpr Rule kDocumentCount = {"b1_document_count", kError, "a message has at most 5 documents"};
constexpr Rule kImageSize = {"b1_image_size", kError, "an image has at most 3.75 MB"};
constexpr Rule kDocumentSize = {"b1_document_size", kError, "a document has at most 4.5 MB"};
constexpr Rule kImageFormat = {"b1_image_format", kError, "an image is gif, jpeg, png or webp"};
constexpr Rule kDocumentFormat = {"b1_document_format", kError,
                                  "a document is pdf, csv, doc, docx, xls, xlsx, html, txt or md"};
constexpr Rule kMediaRole = {"b1_media_role", kError,
                             "only a user's message may hold documents, audio and video"};
constexpr Rule kLoneDocument = {"b1_lone_document", kError, "a document has a text beside it"};
constexpr Rule kDocumentName = {
    "b1_document_name", kError,
    "the name of a document has letters, digits, single spaces, hyphens, parentheses and brackets"};
constexpr Rule kNoTools = {"b2_no_tools", kError,
                           "a request with calls or results needs 'toolConfig' with their tools"};
constexpr Rule kMissingResult = {"b3_missing_result", kError, "the next message has no result for this call"};
constexpr Rule kExtraResult = {"b3_extra_result", kError,
                               "this answers no call of the message before, or again"};
constexpr Rule kSameRole = {"b3_same_role", kWarning, "the roles user and assistant take turns"};
constexpr Rule kFirstRole = {"b3_first_role", kWarning, "the first message is the user's"};
constexpr Rule kBlankText = {"b4_blank_text", kError, "a text must be more than whitespace"};
constexpr Rule kBlankBesides = {"b4_blank_text", kWarning, kBlankText.sentence};
constexpr Rule kEmptyContent = {"b4_empty_content", kError, "a message must not be empty"};
constexpr Rule kEmptyError = {"b4_empty_error", kError, "an error says something"};
constexpr Rule kResultJson = {"b5_result_json", kError, "'json' must be an object"};
constexpr Rule kInput = {"b5_input", kWarning, "'input' should be an object"};
constexpr Rule kId = {"b5_id", kWarning, "an id has 1 to 64 letters, digits, '_' and '-'"};
constexpr Rule kName = {"b5_name", kWarning, "the name of a tool has 1 to 64 letters, digits, '_' and '-'"};
constexpr Rule kUnsigned = {"b6_unsigned_reasoning", kWarning, "reasoning goes back with its signature"};
constexpr Rule kUrl = {"b6_url", kWarning, "the only URLs are those of s3"};
constexpr Rule kBudget = {"b7_budget", kError, "thinking needs 'budget_tokens' of 1024 or more"};
constexpr Rule kBudgetOver = {"b7_max_tokens", kError,
                              "'maxTokens' must be more than thinking's 'budget_tokens'"};
constexpr Rule kBudgetOverTools = {
    "b7_max_tokens", kWarning,
    "'maxTokens' must be more than thinking's 'budget_tokens', unless thinking is interleaved with calls"};
constexpr Rule kSampling = {
    "b7_sampling", kError,
    "with thinking on, 'temperature' is 1, 'topP' is 0.95 or more, and 'top_k' is absent"};
constexpr ThinkingRules kThinkingRules = {kBudget, kBudgetOver, kBudgetOverTools, kSampling};
constexpr Rule kForcedTool = {"b7_forced_tool", kError, "with thinking on, no tool can be forced"};
constexpr Rule kSystemRole = {"b_system_role", kWarning, "only some models take system messages"};
constexpr Rule kOneMember = {"wrong_shape", kError, "a block is an object with one member"};

// Media in base64 have at most so many bytes.
constexpr std::size_t kImageBytes = std::size_t{15} * 1024 * 1024 / 4;
constexpr std::size_t kDocumentBytes = std::size_t{9} * 1024 * 1024 / 2;

constexpr std::array<std::string_view, 4> kImageFormats = {"gif", "jpeg", "png", "webp"};
constexpr std::array<std::string_view, 9> kDocumentFormats = {"pdf",  "csv",  "doc", "docx", "xls",
                                                              "xlsx", "html", "txt", "md"};
constexpr std::array<std::string_view, 4> kMedia = {"image", "document", "video", "audio"};
constexpr std::array<std::string_view, 3> kRoles = {"user", "assistant", "system"};

constexpr Layout kLayout = {"messages", "role", {}, "message"};

class Converse {
 public:
  explicit Converse(Report& report) : report_(report) {}

  void run(const Json& document) {
    const Json* output = nullptr;
    const Object outer = document.is_object() ? Object(report_, document) : Object(report_);
    if (!outer.has(kLayout.list) && !outer.has(kLayout.mark)) output = outer.find("output");
    const Talk talk = find_talk(report_, output == nullptr ? document : *output, kLayout);
    is_whole_ = talk.is_whole;
    request(talk.around);
    thinking(talk.around);
    each_message(report_, talk, [&](const Object& each) { message(each); });
    calls_.complain(report_, kPendingCall);
    if (talk.has_request && !has_tools_ && first_use_) report_.add(kNoTools, *first_use_);
  }

 private:
  struct Sight {
    Text role;
    bool has_text = false;
    bool says_something = false;  // by a text that is more than whitespace
    std::vector<Report::Mark> blank = {};
    std::unordered_set<std::string> server_ids = {};  // of calls that the provider runs itself
    std::optional<Report::Mark> document;
    Counter images, documents;
  };

  // ---- What goes with the messages

  void request(const Object& around) {
    if (const Json* system = around.get("system", kList)) {
      each_object(report_, *system, [&](const Object& block) {
        const auto text = block.string("text");
        if (text && text->empty()) report_.add(kBlankBesides, *block.find("text"));
      });
    }
    const Json* config = around.get("toolConfig", kObject);
    if (config == nullptr) return;
    const Object settings(report_, *config);
    if (const Json* choice = settings.get("toolChoice", kObject)) {
      const Object said(report_, *choice);
      if (said.has("any") || said.has("tool")) forced_ = report_.mark(*choice);
    }
    const Json* tools = settings.get("tools", kList);
    if (tools == nullptr) return;
    each_object(report_, *tools, [&](const Object& tool) {
      has_tools_ = true;
      if (const Json* spec = tool.get("toolSpec", kObject)) name(Object(report_, *spec));
    });
  }

  // Claude's settings for thinking stand apart from those that all models share.
  void thinking(const Object& around) {
    const Json* more = around.find("additionalModelRequestFields");
    if (more == nullptr || !more->is_object()) return;
    const Object fields(report_, *more);
    const Json* thinking = fields.find("thinking");
    if (thinking == nullptr || !thinking->is_object()) return;
    const Object settings(report_, *thinking);
    const Json* shared = around.get("inferenceConfig", kObject);
    const Object limits = shared == nullptr ? Object(report_) : Object(report_, *shared);
    check_thinking(report_, kThinkingRules, settings,
                   {.max_tokens = limits.find("maxTokens"),
                    .temperature = limits.find("temperature"),
                    .top_p = limits.find("topP"),
                    .top_k = fields.find("top_k"),
                    .has_tools = has_tools_});
    if (forced_ && settings.word("type").view() == "enabled") report_.add(kForcedTool, *forced_);
  }

  void name(const Object& holder) {
    const auto text = holder.need_string("name");
    if (text && (!is_plain(*text) || text->size() > 64)) report_.add(kName, *holder.find("name"));
  }

  std::optional<Text> id(const Object& holder) {
    auto text = holder.need_string("toolUseId");
    if (text && (!is_plain(*text) || text->size() > 64)) report_.add(kId, *holder.find("toolUseId"));
    return text;
  }

  // ---- Messages

  void message(const Object& message) {
    const auto said = message.need_string("role");
    if (said && !is_one_of(*said, kRoles)) report_.add(kUnknownRole, *message.find("role"));
    Sight sight{.role = said.value_or(Text()),
                .document = std::nullopt,
                .images = Counter(report_, kImageCount, 20),
                .documents = Counter(report_, kDocumentCount, 5)};
    if (is_whole_) order(message, sight.role);
    asked_ = std::move(calls_);
    calls_ = {};
    const Json* content = message.need("content", kList);
    if (content != nullptr && content->elements().empty() && is_whole_) report_.add(kEmptyContent, *content);
    if (content != nullptr) each_block(report_, *content, [&](const Object& each) { block(each, sight); });
    if (sight.document && !sight.has_text) report_.add(kLoneDocument, *sight.document);
    for (const Report::Mark& blank : sight.blank) {
      report_.add(sight.says_something ? kBlankBesides : kBlankText, blank);
    }
    if (is_whole_) asked_.complain(report_, kMissingResult);
    role_ = sight.role;
  }

  void order(const Object& message, std::string_view role) {
    if (role == "system") {
      report_.add(kSystemRole, message.json());
      return;
    }
    if (role_.empty() && role == "assistant") report_.add(kFirstRole, message.json());
    if (!role.empty() && role == role_.view()) report_.add(kSameRole, message.json());
  }

  void block(const Object& block, Sight& sight) {
    const auto is_said = [](const Json::Member& member) { return !member.value.is_null(); };
    if (std::ranges::count_if(block.members(), is_said) != 1) report_.add(kOneMember, block.json());
    for (const std::string_view kind : kMedia) {
      if (const Json* inside = block.get(kind, kObject)) {
        if (sight.role.view() != "user" && kind != "image") report_.add(kMediaRole, block.json());
        if (kind == "image") sight.images.count(block.json());
        if (kind == "document") sight.documents.count(block.json());
        if (kind == "document" && !sight.document) sight.document = report_.mark(block.json());
        media(Object(report_, *inside), kind);
      }
    }
    if (const auto text = block.string("text")) {
      sight.has_text = true;
      if (text->empty()) {
        report_.add(kBlankText, *block.find("text"));
      } else if (is_blank(*text)) {
        sight.blank.push_back(report_.mark(*block.find("text")));
      } else {
        sight.says_something = true;
      }
    }
    if (const Json* call = block.get("toolUse", kObject)) this->call(block, Object(report_, *call), sight);
    if (const Json* result = block.get("toolResult", kObject)) {
      this->result(block, Object(report_, *result), sight);
    }
    if (const Json* reasoning = block.get("reasoningContent", kObject)) {
      if (sight.role.view() == "user") report_.add(kBlockRole, block.json());
      this->reasoning(Object(report_, *reasoning));
    }
  }

  void reasoning(const Object& reasoning) {
    const Json* inside = reasoning.get("reasoningText", kObject);
    if (inside == nullptr) return;
    const Object text(report_, *inside);
    text.need("text", kString);
    text.get("signature", kString);
    if (text.word("signature").empty()) report_.add(kUnsigned, *inside);
  }

  // ---- Media

  void media(const Object& media, std::string_view kind) {
    const auto format = media.need_string("format");
    if (format && kind == "image" && !is_one_of(*format, kImageFormats)) {
      report_.add(kImageFormat, *media.find("format"));
    }
    if (format && kind == "document" && !is_one_of(*format, kDocumentFormats)) {
      report_.add(kDocumentFormat, *media.find("format"));
    }
    if (kind == "document") document_name(media);
    const Json* inside = media.need("source", kObject);
    if (inside == nullptr) return;
    const Object source(report_, *inside);
    if (source.has("url")) report_.add(kUrl, *source.find("url"));
    if (const Json* place = source.get("s3Location", kObject)) {
      const Object location(report_, *place);
      const auto uri = location.need_string("uri");
      if (uri && !uri->view().starts_with("s3://")) report_.add(kUrl, *location.find("uri"));
    }
    const auto bytes = source.string("bytes");
    if (!bytes) return;
    const std::size_t size = bytes->size() / 4 * 3;
    if (kind == "image" && size > kImageBytes) report_.add(kImageSize, *source.find("bytes"));
    if (kind == "document" && size > kDocumentBytes) report_.add(kDocumentSize, *source.find("bytes"));
  }

  void document_name(const Object& document) {
    const auto named = document.need_string("name");
    if (!named) return;
    const std::string_view name = *named;
    const bool fits = std::ranges::all_of(name, [](char c) {
      return is_alphanumeric(c) || std::string_view(" -()[]").find(c) != std::string_view::npos;
    });
    const bool has_gap = name.find("  ") != std::string_view::npos;
    if (name.empty() || !fits || has_gap) report_.add(kDocumentName, *document.find("name"));
  }

  // ---- Calls and results

  void use(const Object& block) {
    if (!first_use_) first_use_ = report_.mark(block.json());
  }

  void call(const Object& block, const Object& call, Sight& sight) {
    use(block);
    if (sight.role.view() == "user") report_.add(kBlockRole, block.json());
    name(call);
    const Json* input = call.find("input");
    if (input == nullptr || !input->is_object()) report_.add(kInput, input == nullptr ? call.json() : *input);
    const auto text = id(call);
    if (!text) return;
    if (call.word("type").view() == "server_tool_use") {
      sight.server_ids.insert(text->str());  // its result follows in the same message
    } else {
      calls_.ask(report_.mark(block.json()), *text);
    }
  }

  void result(const Object& block, const Object& result, const Sight& sight) {
    use(block);
    result_content(result);
    const auto text = id(result);
    if (text && sight.server_ids.contains(text->str())) return;
    if (sight.role.view() == "assistant") report_.add(kBlockRole, block.json());
    if (!text || !is_whole_) return;
    if (asked_.answer(*text) != Step::Answer::First) report_.add(kExtraResult, *result.find("toolUseId"));
  }

  void result_content(const Object& result) {
    const auto status = result.string("status");
    const Json* content = result.need("content", kList);
    if (content == nullptr) return;
    bool says_something = false;
    each_object(report_, *content, [&](const Object& inner) {
      const auto text = inner.string("text");
      says_something = says_something || !text || !is_blank(*text);
      const Json* json = inner.find("json");
      if (json != nullptr && !json->is_object()) report_.add(kResultJson, *json);
      for (const std::string_view kind : kMedia) {
        if (const Json* inside = inner.get(kind, kObject)) media(Object(report_, *inside), kind);
      }
    });
    if (status && status->view() == "error" && !says_something) report_.add(kEmptyError, *content);
  }

  Report& report_;
  Text role_;   // of the message before
  Step calls_;  // of this message
  Step asked_;  // by the message before
  std::optional<Report::Mark> first_use_;
  std::optional<Report::Mark> forced_;  // the choice of a tool that the model has to call
  bool has_tools_ = false;
  bool is_whole_ = false;
};

}  // namespace

void check_converse(Report& report, const Json& document) { Converse(report).run(document); }

}  // namespace parley::rules
