#include "server/openai/responses_compaction.h"

#include "base/hash.h"
#include "parley/json/writer.h"
#include "parley/media/data_url.h"

namespace parley::server {
namespace {

constexpr std::string_view kCompactionMark = "parley:";
constexpr std::string_view kSummaryIntroduction =
    "This is a summary of the conversation before this point. Continue from it.\n\n";

ApiError bad_compaction(std::string_view param, std::string message) {
  return invalid_value(std::string(param) + ".encrypted_content", std::move(message));
}

}  // namespace

Json compaction_item(std::string_view id, std::string_view tenant, std::string_view summary) {
  json::Writer content;
  content.begin_object().key("tenant").string(sha256_hex(tenant)).key("summary").string(summary).end_object();
  json::Writer w;
  w.begin_object().key("id").string(id).key("type").string("compaction");
  w.key("encrypted_content").string(std::string(kCompactionMark) + base64_encode(content.view()));
  return w.end_object().take();
}

ApiResult<std::optional<Text>> summary_in(const Json& item, std::string_view tenant, std::string_view param) {
  const auto content = item.get("encrypted_content").value_or(Json()).as_string();
  if (!content) return std::unexpected(missing_parameter(std::string(param) + ".encrypted_content"));
  if (!content->view().starts_with(kCompactionMark)) return std::optional<Text>();
  const auto bytes = base64_decode(content->view().substr(kCompactionMark.size()));
  const auto json = bytes ? Json::parse(*bytes) : std::unexpected(bytes.error());
  if (!json) return std::unexpected(bad_compaction(param, "the compaction item is damaged"));
  const auto summary = json->get("summary").value_or(Json()).as_string();
  if (!summary) return std::unexpected(bad_compaction(param, "the compaction item is damaged"));
  if (json->get("tenant").value_or(Json()).as_string() != sha256_hex(tenant))
    return std::unexpected(bad_compaction(param, "the compaction item belongs to another tenant"));
  return std::optional<Text>(*summary);
}

Json summary_message(std::string_view id, std::string_view summary) {
  json::Writer w;
  w.begin_object().key("type").string("message").key("id").string(id).key("role").string("user");
  w.key("content").begin_array().begin_object().key("type").string("input_text").key("text");
  w.string(std::string(kSummaryIntroduction).append(summary)).end_object().end_array();
  return w.end_object().take();
}

}  // namespace parley::server
