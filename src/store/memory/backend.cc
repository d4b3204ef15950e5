// Sessions in the memory of this process: for tests, and for runs that need not be stored. It is the shortest
// backend; read it first.
#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "parley/base/clock.h"
#include "store/backends.h"
#include "store/rules.h"
#include "store/words.h"

namespace parley::store {
namespace {

struct Session {
  std::vector<std::shared_ptr<const Row>> rows;  // a fork shares them
  struct StoredBatch {
    std::uint64_t hash;
    Appended appended;
  };
  std::unordered_map<std::string, StoredBatch> batches;
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms;
  Lease lease;
  std::string checkpoint;

  void set_lease(Lease next) {
    if (next.token.empty()) checkpoint.clear();
    lease = std::move(next);
  }
  bool has_expired() const { return expires_ms && now_ms() >= *expires_ms; }
};

using Sessions = std::map<std::string, Session>;  // of one tenant, by name

SessionInfo info_of(const std::string& name, const Session& session) {
  SessionInfo out;
  out.session = name;
  out.size = session.rows.size();
  out.created_ms = session.created_ms;
  out.updated_ms = session.rows.empty() ? session.created_ms : session.rows.back()->record.created_ms;
  out.expires_ms = session.expires_ms;
  return out;
}

std::string session_title(const Session& session) {
  for (std::size_t i = 0; i < std::min(session.rows.size(), kMostTitleRecords); ++i) {
    if (std::string title = title_of(session.rows[i]->record.text); !title.empty()) return title;
  }
  return {};
}

class MemoryBackend final : public Backend {
 public:
  Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline) override {
    const std::lock_guard lock(mutex_);
    Session* session = find(key);
    if (session != nullptr) {
      if (const auto known = session->batches.find(batch.id); known != session->batches.end()) {
        return repeated(batch, known->second.hash, known->second.appended);
      }
    }
    const std::size_t size = session == nullptr ? 0 : session->rows.size();
    PARLEY_CHECK(check_size(batch, size));
    const LeaseVerdict verdict = check_lease(batch, session == nullptr ? Lease{} : session->lease, now_ms());
    if (verdict.replacement) session->set_lease(*verdict.replacement);
    PARLEY_CHECK(verdict.batch);
    if (session == nullptr) session = &make(key, batch.rows.front().record.created_ms);
    for (const Row& row : batch.rows) {
      auto kept = std::make_shared<Row>(row);
      kept->position = session->rows.size();
      kept->batch = batch.id;
      session->rows.push_back(std::move(kept));
    }
    if (verdict.after) session->set_lease(*verdict.after);
    const Appended appended{size, batch.rows.size(), Durability::None, false};
    session->batches.emplace(batch.id, Session::StoredBatch{batch.hash, appended});
    return appended;
  }

  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                             Deadline) override {
    const std::lock_guard lock(mutex_);
    const Session* session = find(key);
    if (session == nullptr) return std::nullopt;
    const auto known = session->batches.find(std::string(batch));
    if (known == session->batches.end()) return std::nullopt;
    return known->second.appended;
  }

  Result<RowPage> read(const SessionKey& key, const Range& range, Deadline) override {
    const std::lock_guard lock(mutex_);
    const Session* session = find(key);
    if (session == nullptr) return no_session(key);
    RowPage out;
    out.size = session->rows.size();
    PageLimit limit(range);
    for (Position at = range.first; at < session->rows.size(); ++at) {
      const Row& row = *session->rows[at];
      if (!limit.takes(row)) break;
      out.rows.push_back(row);
    }
    return out;
  }

  Result<SessionInfo> head(const SessionKey& key, Deadline) override {
    const std::lock_guard lock(mutex_);
    const Session* session = find(key);
    if (session == nullptr) return no_session(key);
    return info_of(key.session, *session);
  }

  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size, Deadline) override {
    const std::lock_guard lock(mutex_);
    const Session* source = find(from);
    if (source == nullptr) return no_session(from);
    PARLEY_CHECK(check_fork(from, source->rows.size(), size));
    if (find({from.tenant, to}) != nullptr) return session_exists(to);
    std::vector<std::shared_ptr<const Row>> rows(source->rows.begin(),
                                                 source->rows.begin() + static_cast<std::ptrdiff_t>(size));
    Session& made = make({from.tenant, to}, now_ms());
    made.rows = std::move(rows);
    return info_of(to, made);
  }

  Result<SessionList> list(const std::string& tenant, const ListOptions& options, Deadline) override {
    const std::lock_guard lock(mutex_);
    PARLEY_TRY(const ListCursor after, ListCursor::read(options.after));
    std::vector<SessionInfo> all;
    const auto sessions = tenants_.find(tenant);
    if (sessions == tenants_.end()) return SessionList{};
    for (const auto& [name, session] : sessions->second) {
      SessionInfo info = info_of(name, session);
      if (!session.has_expired() && after.is_before(info)) all.push_back(std::move(info));
    }
    std::sort(all.begin(), all.end(), comes_before);
    SessionList out = first_of(std::move(all), options.count);
    for (SessionInfo& info : out.sessions) info.title = session_title(sessions->second.at(info.session));
    return out;
  }

  Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                  std::size_t count, Deadline) override {
    const std::lock_guard lock(mutex_);
    std::vector<Hit> out;
    const auto sessions = tenants_.find(tenant);
    if (sessions == tenants_.end()) return out;
    std::vector<SessionInfo> all;
    for (const auto& [name, session] : sessions->second) {
      if (!session.has_expired()) all.push_back(info_of(name, session));
    }
    std::sort(all.begin(), all.end(), comes_before);
    for (const SessionInfo& info : all) {
      for (const auto& row : sessions->second.at(info.session).rows) {
        if (out.size() == count) return out;
        if (!has_phrases(indexed_words(row->record.text), phrases)) continue;
        out.push_back({info.session, row->position, row->record.role, excerpt(row->record.text, phrases)});
      }
    }
    return out;
  }

  Result<void> remove(const SessionKey& key, Deadline) override {
    const std::lock_guard lock(mutex_);
    if (find(key) == nullptr) return no_session(key);
    erase(key);
    return {};
  }

  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline) override {
    const std::lock_guard lock(mutex_);
    Session* session = find(key);
    if (session == nullptr) return no_session(key);
    session->expires_ms = at_ms;
    return {};
  }

  Result<std::size_t> sweep(Deadline) override {
    const std::lock_guard lock(mutex_);
    std::size_t swept = 0;
    for (auto& [tenant, sessions] : tenants_) {
      swept += std::erase_if(sessions, [](const auto& entry) { return entry.second.has_expired(); });
    }
    return swept;
  }

  Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline) override {
    const std::lock_guard lock(mutex_);
    Session* session = find(key);
    if (session == nullptr) session = &make(key, now_ms());
    if (const auto shorter = bounded(session->lease, now_ms())) session->lease = *shorter;
    PARLEY_TRY(session->lease, granted(session->lease, request, now_ms()));
    return session->lease;
  }

  Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                           Deadline) override {
    const std::lock_guard lock(mutex_);
    Session* session = find(key);
    PARLEY_TRY(Lease lease, renewed(session == nullptr ? Lease{} : session->lease, request, now_ms()));
    session->checkpoint = bytes;
    session->set_lease(lease);
    return lease;
  }

  Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline) override {
    const std::lock_guard lock(mutex_);
    const Session* session = find(key);
    if (session == nullptr || session->lease.token.empty()) return std::nullopt;
    HeldLease out = held_lease(key, session->lease, now_ms());
    out.checkpoint = session->checkpoint;
    return out;
  }

  Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline) override {
    const std::lock_guard lock(mutex_);
    std::vector<HeldLease> out;
    for (const auto& [name, sessions] : tenants_) {
      if (tenant && *tenant != name) continue;
      for (const auto& [id, session] : sessions) {
        if (session.lease.token.empty() || session.has_expired()) continue;
        out.push_back(held_lease({name, id}, session.lease, now_ms()));
      }
    }
    std::sort(out.begin(), out.end(), ends_before);
    if (out.size() > count) out.resize(count);
    return out;
  }

  Result<void> release(const SessionKey& key, const std::string& token, Deadline) override {
    const std::lock_guard lock(mutex_);
    Session* session = find(key);
    if (session != nullptr && session->lease.token == token) session->set_lease({});
    return {};
  }

  Health health(Deadline) override {
    Health out;
    out.is_ok = true;
    out.backend = "memory";
    out.version = "1";
    out.warnings.emplace_back("data is lost when this process ends");
    return out;
  }

 private:
  // Null if it does not exist; erases an expired one.
  Session* find(const SessionKey& key) {
    const auto sessions = tenants_.find(key.tenant);
    if (sessions == tenants_.end()) return nullptr;
    const auto session = sessions->second.find(key.session);
    if (session == sessions->second.end()) return nullptr;
    if (!session->second.has_expired()) return &session->second;
    erase(key);
    return nullptr;
  }

  Session& make(const SessionKey& key, std::int64_t created_ms) {
    Session& made = tenants_[key.tenant][key.session];
    made.created_ms = created_ms;
    return made;
  }

  void erase(const SessionKey& key) {
    const auto sessions = tenants_.find(key.tenant);
    sessions->second.erase(key.session);
    if (sessions->second.empty()) tenants_.erase(sessions);
  }

  std::mutex mutex_;
  std::map<std::string, Sessions> tenants_;
};

}  // namespace

std::unique_ptr<Backend> memory_backend() { return std::make_unique<MemoryBackend>(); }

}  // namespace parley::store
