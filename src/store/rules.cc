#include "store/rules.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "store/lease_owner.h"

namespace parley::store {
namespace {

bool is_held(const Lease& lease, std::int64_t now_ms) {
  return !lease.token.empty() && now_ms < lease.until_ms;
}

std::unexpected<Error> run_by(const Lease& held) {
  return fail(Code::Conflict, "the session is leased by '" + LeaseOwner::read(held.owner).name + "'");
}

std::unexpected<Error> no_lease() { return fail(Code::Conflict, "the lease has expired or was released"); }

}  // namespace

std::unexpected<Error> no_session(const SessionKey& key) {
  return fail(Code::NotFound, "there is no session '" + key.session + "'");
}

std::unexpected<Error> session_exists(const std::string& session) {
  return fail(Code::Conflict, "there is a session '" + session + "' already");
}

Result<Appended> repeated(const RowBatch& batch, std::uint64_t known_hash, Appended known) {
  if (known_hash != batch.hash) {
    return fail(Code::Invalid, "the batch id '" + batch.id + "' belongs to other records");
  }
  known.repeated = true;
  return known;
}

Result<void> check_size(const RowBatch& batch, Position size) {
  if (!batch.expected_size || *batch.expected_size == size) return {};
  return fail(Code::Conflict, "the session has " + std::to_string(size) + " records, not " +
                                  std::to_string(*batch.expected_size));
}

bool is_abandoned(const Lease& held) { return has_ended(LeaseOwner::read(held.owner).process); }

LeaseVerdict check_lease(const RowBatch& batch, const Lease& held, std::int64_t now_ms) {
  LeaseVerdict out;
  if (batch.take_lease) {
    out.after =
        Lease{batch.take_lease->token, batch.take_lease->owner, now_ms + batch.take_lease->time.count()};
  } else if (batch.release_lease) {
    out.after = Lease{};
  }
  if (is_held(held, now_ms)) {
    if (batch.lease == held.token) return out;
    if (!batch.lease.empty() || !is_abandoned(held)) return {run_by(held), bounded(held, now_ms)};
    out.replacement = Lease{held.token, held.owner, now_ms};  // the next owner may need its checkpoint
    return out;
  }
  if (batch.lease.empty()) return out;
  return {no_lease()};
}

Result<Lease> granted(const Lease& held, const LeaseRequest& request, std::int64_t now_ms) {
  if (is_held(held, now_ms) && held.token != request.token && !request.takes_over && !is_abandoned(held)) {
    return run_by(held);
  }
  return Lease{request.token, request.owner, now_ms + request.time.count()};
}

std::optional<Lease> bounded(const Lease& held, std::int64_t now_ms) {
  const std::int64_t length = LeaseOwner::read(held.owner).length.count();
  if (!is_held(held, now_ms) || length == 0 || held.until_ms - now_ms <= length) return {};
  return Lease{held.token, held.owner, now_ms + length};
}

Result<Lease> renewed(const Lease& held, const LeaseRequest& request, std::int64_t now_ms) {
  if (!is_held(held, now_ms)) return no_lease();
  if (held.token != request.token) return run_by(held);
  return Lease{request.token, request.owner, now_ms + request.time.count()};
}

HeldLease held_lease(SessionKey key, Lease lease, std::int64_t now_ms) {
  const bool is_expired = !is_held(lease, now_ms);
  return {std::move(key), std::move(lease), is_expired};
}

bool ends_before(const HeldLease& a, const HeldLease& b) {
  return std::tie(a.lease.until_ms, a.key.tenant, a.key.session) <
         std::tie(b.lease.until_ms, b.key.tenant, b.key.session);
}

void show_owners(std::span<HeldLease> leases) {
  std::unordered_map<std::string, bool> ended;
  for (HeldLease& held : leases) {
    LeaseOwner owner = LeaseOwner::read(held.lease.owner);
    const auto [known, is_new] = ended.try_emplace(std::move(owner.process), false);
    if (is_new) known->second = has_ended(known->first);
    held.is_expired = held.is_expired || known->second;
    held.lease.owner = std::move(owner.name);
  }
}

Result<void> check_fork(const SessionKey& from, Position has, Position size) {
  if (size <= has) return {};
  return fail(Code::Invalid, "the session '" + from.session + "' has " + std::to_string(has) +
                                 " records, fewer than " + std::to_string(size));
}

bool PageLimit::takes(const Row& row) {
  if (left_ == 0) return false;
  std::size_t bytes = row.record.body.size();
  for (const Medium& medium : row.media) bytes += medium.bytes ? medium.bytes->size() : 0;
  if (bytes > bytes_left_ && !is_first_) return false;
  --left_;
  bytes_left_ -= std::min(bytes, bytes_left_);
  is_first_ = false;
  return true;
}

bool comes_before(const SessionInfo& a, const SessionInfo& b) {
  if (a.updated_ms != b.updated_ms) return a.updated_ms > b.updated_ms;
  return a.session < b.session;
}

Result<ListCursor> ListCursor::read(std::string_view text) {
  ListCursor out;
  if (text.empty()) return out;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out.updated_ms);
  if (error != std::errc() || at == end || *at != ':') {
    return fail(Code::Invalid, "invalid page cursor '" + std::string(text) + "'");
  }
  out.is_start = false;
  out.session.assign(at + 1, end);
  return out;
}

std::string ListCursor::write(const SessionInfo& last) {
  return std::to_string(last.updated_ms) + ":" + last.session;
}

bool ListCursor::is_before(const SessionInfo& info) const {
  if (is_start) return true;
  if (info.updated_ms != updated_ms) return info.updated_ms < updated_ms;
  return info.session > session;
}

SessionList first_of(std::vector<SessionInfo> sessions, std::size_t count) {
  SessionList out;
  if (sessions.size() > count) {
    sessions.resize(count);
    if (!sessions.empty()) out.next = ListCursor::write(sessions.back());
  }
  out.sessions = std::move(sessions);
  return out;
}

}  // namespace parley::store
