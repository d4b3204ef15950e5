// Messages of OpenTelemetry's conventions for generative AI: no server refuses them, a schema does.
#include <algorithm>
#include <array>

#include "dialect/otel/parts.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"
#include "parley/media/data_url.h"

namespace parley::rules {
namespace {

constexpr Rule kMissing = {"otel_missing_member", kError, "the schema requires a member that is missing"};
constexpr Rule kModality = {"otel_modality", kWarning, "a modality is image, video, audio or document"};
constexpr Rule kDataUri = {"otel_data_uri", kError, "data in a URI belong into a 'blob'"};
constexpr Rule kBlobMember = {"otel_blob_member", kError, "a 'blob' has no other members"};

// What a part of a type must have.
struct Required {
  std::string_view type, member;
  unsigned wants = 0;  // 0: anything, null too
};
constexpr std::array<Required, 13> kRequired = {
    {{"text", "content", kString},
     {"reasoning", "content", kString},
     {"tool_call", "name", kString},
     {"tool_call_response", "response"},
     {"server_tool_call", "name", kString},
     {"server_tool_call", "server_tool_call", kObject},
     {"server_tool_call_response", "server_tool_call_response", kObject},
     {"blob", "modality", kString},
     {"blob", "content", kString},
     {"uri", "modality", kString},
     {"uri", "uri", kString},
     {"file", "modality", kString},
     {"file", "file_id", kString}}};
constexpr std::array<std::string_view, 5> kBlobMembers = {"type", "modality", "content", "mime_type",
                                                          "byte_size"};
constexpr std::array<std::string_view, 4> kModalities = {"image", "video", "audio", "document"};

class OTel {
 public:
  explicit OTel(Report& report) : report_(report) {}

  void run(const Json& document) {
    if (document.is_array()) {
      messages(document);
      return;
    }
    const Object object(report_, document);
    if (!object.is_object()) return;
    if (object.has("parts") || object.has("role")) {
      message(object);
      return;
    }
    const auto list = [&](std::string_view name) {
      // An attribute may be the text of its JSON; what is in it has no place in the document.
      const Json* value = object.get(name, kList | kString);
      return value != nullptr && value->is_array() ? value : nullptr;
    };
    for (const std::string_view name : {"gen_ai.input.messages", "gen_ai.output.messages"}) {
      if (const Json* found = list(name)) messages(*found);
    }
    report_.enter_message(0);
    if (const Json* found = list("gen_ai.system_instructions")) {
      each_object(report_, *found, [&](const Object& each) { part(each); });
    }
    if (const Json* found = list("gen_ai.tool.definitions")) {
      each_object(report_, *found, [&](const Object& tool) {
        require(tool, "type", kString);
        require(tool, "name", kString);
      });
    }
  }

 private:
  void messages(const Json& list) {
    for (const Json& each : list.elements()) {
      report_.enter_message(count_++);
      message(Object(report_, each));
    }
  }

  void message(const Object& message) {
    if (!message.is_object()) return;
    require(message, "role", kString);
    const Json* parts = require(message, "parts", kList);
    if (parts != nullptr) each_block(report_, *parts, [&](const Object& each) { part(each); });
  }

  const Json* require(const Object& object, std::string_view name, unsigned wants) {
    const auto is_named = [&](const Json::Member& member) { return member.key.view() == name; };
    const bool is_there = wants == 0 ? std::ranges::any_of(object.members(), is_named) : object.has(name);
    if (!is_there) report_.add(kMissing, object.json());
    return wants == 0 ? object.find(name) : object.get(name, wants);
  }

  void part(const Object& part) {
    const Json* named = require(part, "type", kString);
    if (named == nullptr) return;
    const Text type = *named->as_string();
    for (const Required& row : kRequired) {
      if (row.type == type.view()) require(part, row.member, row.wants);
    }
    const Json* modality = part.find("modality");
    if (modality != nullptr && modality->is_string() && !is_one_of(*modality->as_string(), kModalities)) {
      report_.add(kModality, *modality);
    }
    if (type.view() == "uri" && is_data_url(part.word("uri"))) report_.add(kDataUri, *part.find("uri"));
    if (type.view() != "blob") return;
    for (const Json::Member& member : part.members()) {
      if (!is_one_of(member.key, kBlobMembers)) report_.add(kBlobMember, member.value);
    }
  }

  Report& report_;
  std::size_t count_ = 0;
};

}  // namespace

void check_otel(Report& report, const Json& document) { OTel(report).run(document); }

}  // namespace parley::rules
