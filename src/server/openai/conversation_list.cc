#include "server/openai/conversation_list.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/session_facts.h"
#include "parley/json/writer.h"
#include "server/openai/metadata.h"
#include "server/openai/paging.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostExamined = 1'000;  // sessions per request
constexpr std::size_t kMostHits = 1'000;      // of a search
constexpr store::Position kFactRecords = 64;  // at the end of a session, which are asked for its facts

class ConversationList {
 public:
  ConversationList(ConversationBook& book, store::Store& store, const Exchange& exchange, PageQuery query)
      : book_(book),
        store_(store),
        exchange_(exchange),
        query_(std::move(query)),
        filters_(metadata_filters(exchange)),
        model_(exchange.query("model")) {}

  Result<Json> list() {
    std::string next = query_.after;
    for (std::size_t examined = 0; data_.size() < query_.limit && examined < kMostExamined;) {
      const store::ListOptions options{.count = query_.limit - data_.size(), .after = next};
      PARLEY_TRY(store::SessionList page, store_.list(exchange_.identity.tenant, options));
      for (const store::SessionInfo& session : page.sessions) PARLEY_CHECK(examine(session));
      examined += page.sessions.size();
      next = std::move(page.next);
      if (next.empty()) break;
    }
    return page_with(next);
  }

  // The sessions of the hits, each once; `after` is the id of the last one shown.
  Result<Json> search(std::string_view words) {
    PARLEY_TRY(const std::vector<store::Hit> hits,
               store_.search(exchange_.identity.tenant, words, kMostHits));
    std::vector<std::string> sessions;
    for (const store::Hit& hit : hits) {
      if (std::ranges::find(sessions, hit.session) == sessions.end()) sessions.push_back(hit.session);
    }
    auto at = sessions.begin();
    if (!query_.after.empty()) {
      at = std::ranges::find(sessions, query_.after);
      if (at == sessions.end()) return fail(Code::Invalid, "after is not the cursor of a page", "/after");
      ++at;
    }
    for (; at != sessions.end() && data_.size() < query_.limit; ++at) {
      const auto head = store_.head(exchange_.session(*at));
      if (head) PARLEY_CHECK(examine(*head));
      if (!head && head.error().code != Code::NotFound) return std::unexpected(head.error());
    }
    return page_with(at == sessions.end() ? std::string() : *(at - 1));
  }

 private:
  // Adds the session if it passes the filters. One that is removed meanwhile is left out.
  Result<void> examine(const store::SessionInfo& session) {
    if (!exchange_.identity.may_open(session.session)) return {};
    const store::SessionKey key = exchange_.session(session.session);
    const auto facts = memory::read_facts(store_, key, session.size, kFactRecords);
    const auto info = facts ? book_.read(store_, key, session) : std::unexpected(facts.error());
    if (!info) return info.error().code == Code::NotFound ? Result<void>() : std::unexpected(info.error());
    const memory::SessionFacts known = facts->value_or(memory::SessionFacts());
    if (model_ && known.model != *model_) return {};
    if (!has_metadata(info->metadata, filters_)) return {};
    data_.push_back(with_facts(*info, session, known));
    return {};
  }

  static Json with_facts(const ConversationInfo& info, const store::SessionInfo& session,
                         const memory::SessionFacts& facts) {
    json::Writer w;
    w.begin_object();
    for (const Json::Member& member : to_json(info).members()) w.key(member.key).value(member.value);
    w.key("updated_at").number(info.updated_ms / 1000);
    w.key("title").string(facts.title.empty() ? session.title : facts.title);
    w.key("model").string(facts.model).key("turns").number(static_cast<std::int64_t>(facts.turns));
    return w.end_object().take();
  }

  Json page_with(const std::string& next) const {
    json::Writer w;
    w.begin_object();
    for (const Json::Member& member : list_page(data_, !next.empty()).members())
      w.key(member.key).value(member.value);
    w.key("next");
    if (next.empty()) {
      w.null();
    } else {
      w.string(next);
    }
    return w.end_object().take();
  }

  ConversationBook& book_;
  store::Store& store_;
  const Exchange& exchange_;
  PageQuery query_;
  std::vector<MetadataFilter> filters_;
  std::optional<std::string> model_;
  std::vector<Json> data_ = {};
};

}  // namespace

Reply list_conversations(ConversationBook& book, store::Store& store, const Exchange& exchange) {
  PARLEY_REPLY_TRY(const PageQuery query, page_query(exchange), "");
  ConversationList list(book, store, exchange, query);
  const auto words = exchange.query("search");
  PARLEY_REPLY_TRY(Json page, words ? list.search(*words) : list.list(), "");
  return page;
}

}  // namespace parley::server
