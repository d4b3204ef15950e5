#include "parley/store/store.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "parley/base/text.h"
#include "parley/store/backend.h"
#include "store/lease_owner.h"
#include "store/row.h"
#include "store/rules.h"
#include "store/words.h"

namespace parley::store {
namespace {

constexpr std::size_t kMostIdBytes = 256;
constexpr std::size_t kMostSearchBytes = 4096;

// What no id may hold: it would end a line, a C string or a field somewhere.
bool has_control(std::string_view id) {
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto c = static_cast<unsigned char>(id[i]);
    if (c < 0x20 || c == 0x7F) return true;
    if (c == 0xC2 && i + 1 < id.size() && static_cast<unsigned char>(id[i + 1]) < 0xA0) return true;  // C1
  }
  return false;
}

Result<void> check_id(std::string_view id, const std::string& what) {
  if (id.empty()) return fail(Code::Invalid, "the " + what + " is empty");
  if (id.size() > kMostIdBytes) {
    return fail(Code::Invalid, "the " + what + " has " + std::to_string(id.size()) + " bytes, more than " +
                                   std::to_string(kMostIdBytes));
  }
  if (!is_utf8(id)) return fail(Code::Invalid, "the " + what + " is not UTF-8");
  if (has_control(id)) return fail(Code::Invalid, "the " + what + " has a control character");
  return {};
}

Result<void> check_key(const SessionKey& key) {
  PARLEY_CHECK(check_id(key.tenant, "tenant"));
  return check_id(key.session, "session id");
}

std::unexpected<Error> over(const std::string& what, std::size_t has, std::string_view unit, std::size_t most,
                            const std::string& path = {}) {
  return fail(Code::LimitExceeded,
              "the " + what + " has " + std::to_string(has) + " " + std::string(unit) + ", more than " +
                  std::to_string(most),
              path);
}

Result<std::size_t> checked_size(const Record& record, const StoreLimits& limits, const std::string& path) {
  struct Field {
    const std::string& value;
    const char* what;
    bool is_text;
  };
  const Field fields[] = {{record.body, "body", false},
                          {record.dialect, "dialect", true},
                          {record.message_id, "message id", true},
                          {record.role, "role", true},
                          {record.name, "name", true},
                          {record.text, "text", true}};
  std::size_t bytes = 0;
  for (const Field& field : fields) {
    const std::size_t size = field.value.size();
    if (size > limits.body_bytes) return over(field.what, size, "bytes", limits.body_bytes, path);
    if (field.is_text && !is_utf8(field.value)) {
      return fail(Code::Invalid, "the " + std::string(field.what) + " is not UTF-8", path);
    }
    bytes += size;
  }
  return bytes;
}

Result<void> check_lease_terms(const std::string& owner, std::chrono::milliseconds time) {
  PARLEY_CHECK(check_id(owner, "owner of the lease"));
  if (time > std::chrono::milliseconds(0)) return {};
  return fail(Code::Invalid, "invalid lease time: expected more than 0 ms");
}

LeaseRequest lease_request(const std::string& owner, std::string token, std::chrono::milliseconds time) {
  return {LeaseOwner{owner, time, this_process()}.text(), std::move(token), time};
}

Result<void> check_batch(const Batch& batch, const StoreLimits& limits) {
  PARLEY_CHECK(check_id(batch.id, "batch id"));
  if (!batch.lease.empty()) PARLEY_CHECK(check_id(batch.lease, "token of the lease"));
  if (batch.take_lease) PARLEY_CHECK(check_lease_terms(batch.take_lease->owner, batch.take_lease->time));
  if (batch.take_lease && !batch.lease.empty()) {
    return fail(Code::Invalid, "a batch that takes a lease cannot have the token of one");
  }
  if (batch.release_lease && batch.lease.empty()) {
    return fail(Code::Invalid, "a batch that releases a lease must have its token");
  }
  const std::size_t count = batch.records.size();
  if (count == 0) return fail(Code::Invalid, "the batch has no records");
  if (count > limits.batch_records) return over("batch", count, "records", limits.batch_records);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    PARLEY_TRY(const std::size_t size, checked_size(batch.records[i], limits, "/" + std::to_string(i)));
    bytes += size;
  }
  if (bytes > limits.batch_bytes) return over("batch", bytes, "bytes", limits.batch_bytes);
  return {};
}

// The placeholder of a record that cannot be read.
StoredRecord damaged(const SessionKey& key, Position position, const Error& error) {
  StoredRecord out;
  out.position = position;
  out.damage =
      Error{Code::Damaged,
            error.message + ": record " + std::to_string(position) + " of session '" + key.session + "'",
            "/" + std::to_string(position)};
  return out;
}

}  // namespace

Store::Store(std::unique_ptr<Backend> backend, StoreOptions options)
    : backend_(std::move(backend)), options_(options) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Deadline Store::end_of(std::optional<Deadline> deadline) const {
  return deadline ? *deadline : Deadline::in(options_.timeout);
}

Result<Appended> Store::append(const SessionKey& key, const Batch& batch, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_CHECK(check_batch(batch, options_.limits));
  RowBatch rows = to_rows(batch);
  if (batch.take_lease)
    rows.take_lease = lease_request(batch.take_lease->owner, batch.id, batch.take_lease->time);
  return backend_->append(key, rows, end_of(deadline));
}

Result<std::optional<Appended>> Backend::resolve(const SessionKey& key, std::string_view batch,
                                                 Deadline deadline) {
  return find_batch(key, batch, deadline);
}

Result<std::optional<Appended>> Store::find_batch(const SessionKey& key, std::string_view batch,
                                                  std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_CHECK(check_id(batch, "batch id"));
  return backend_->find_batch(key, batch, end_of(deadline));
}

Result<std::optional<Appended>> Store::resolve(const SessionKey& key, std::string_view batch,
                                               std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_CHECK(check_id(batch, "batch id"));
  return backend_->resolve(key, batch, end_of(deadline));
}

Result<Page> Store::read(const SessionKey& key, const Range& range, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_TRY(RowPage rows, backend_->read(key, range, end_of(deadline)));
  Page page;
  page.size = rows.size;
  page.records.reserve(rows.rows.size());
  for (Row& row : rows.rows) {
    const Position position = row.position;
    Result<StoredRecord> record = to_record(std::move(row));
    page.records.push_back(record ? *std::move(record) : damaged(key, position, record.error()));
    if (page.records.back().damage && !range.with_damaged) {
      return std::unexpected(*std::move(page.records.back().damage));
    }
  }
  return page;
}

Result<SessionInfo> Store::head(const SessionKey& key, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  return backend_->head(key, end_of(deadline));
}

Result<SessionInfo> Store::fork(const SessionKey& from, const std::string& to, Position size,
                                std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(from));
  PARLEY_CHECK(check_id(to, "session id"));
  return backend_->fork(from, to, size, end_of(deadline));
}

Result<SessionList> Store::list(const std::string& tenant, const ListOptions& options,
                                std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_id(tenant, "tenant"));
  return backend_->list(tenant, options, end_of(deadline));
}

Result<std::optional<SessionInfo>> Backend::latest(const std::string& tenant, Deadline deadline) {
  std::optional<SessionInfo> out;
  ListOptions page{.count = 2};
  do {
    PARLEY_TRY(const SessionList list, this->list(tenant, page, deadline));
    for (const SessionInfo& info : list.sessions) {
      if (out && info.updated_ms != out->updated_ms) return out;
      out = info;
      out->title.clear();
    }
    page.after = list.next;
  } while (!page.after.empty());
  return out;
}

Result<std::optional<SessionInfo>> Store::latest(const std::string& tenant,
                                                 std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_id(tenant, "tenant"));
  return backend_->latest(tenant, end_of(deadline));
}

Result<std::vector<Hit>> Store::search(const std::string& tenant, std::string_view words, std::size_t count,
                                       std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_id(tenant, "tenant"));
  if (words.size() > kMostSearchBytes) return over("search", words.size(), "bytes", kMostSearchBytes);
  if (!is_utf8(words)) return fail(Code::InvalidUtf8, "the search text is not UTF-8");
  const std::vector<std::string> phrases = phrases_of(words);
  if (phrases.empty()) return fail(Code::Invalid, "the search text has no words");
  return backend_->search(tenant, phrases, count, end_of(deadline));
}

Result<void> Store::remove(const SessionKey& key, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  return backend_->remove(key, end_of(deadline));
}

Result<void> Store::expire(const SessionKey& key, std::optional<std::int64_t> at_ms,
                           std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  return backend_->expire(key, at_ms, end_of(deadline));
}

Result<std::size_t> Store::sweep(std::optional<Deadline> deadline) {
  return backend_->sweep(end_of(deadline));
}

Result<Lease> Store::lease(const SessionKey& key, const std::string& owner, std::chrono::milliseconds time,
                           LeaseMode mode, const std::string& token, std::optional<Deadline> deadline) {
  const Deadline end = end_of(deadline);
  PARLEY_CHECK(check_key(key));
  PARLEY_CHECK(check_lease_terms(owner, time));
  if (!token.empty()) PARLEY_CHECK(check_id(token, "token of the lease"));
  LeaseRequest request = lease_request(owner, token.empty() ? new_short_id() : token, time);
  request.takes_over = mode == LeaseMode::TakeOver;
  // A store does not notify when a lease ends, so poll with increasing pauses.
  std::chrono::milliseconds pause(2);
  while (true) {
    Result<Lease> lease = backend_->lease(key, request, end);
    if (lease) lease->owner = owner;
    if (lease || lease.error().code != Code::Conflict || mode != LeaseMode::Wait) return lease;
    if (end.has_passed()) return fail(Code::Timeout, lease.error().message);
    std::this_thread::sleep_for(std::min(pause, end.left()));
    pause = std::min(pause * 2, std::chrono::milliseconds(100));
  }
}

Result<Lease> Store::checkpoint(const SessionKey& key, const Lease& lease, std::chrono::milliseconds time,
                                std::string_view bytes, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_CHECK(check_lease_terms(lease.owner, time));
  PARLEY_CHECK(check_id(lease.token, "token of the lease"));
  const std::size_t most = options_.limits.checkpoint_bytes;
  if (bytes.size() > most) return over("checkpoint", bytes.size(), "bytes", most);
  PARLEY_TRY(Lease renewed, backend_->checkpoint(key, lease_request(lease.owner, lease.token, time), bytes,
                                                 end_of(deadline)));
  renewed.owner = lease.owner;
  return renewed;
}

Result<std::optional<HeldLease>> Store::holder(const SessionKey& key, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  PARLEY_TRY(std::optional<HeldLease> held, backend_->holder(key, end_of(deadline)));
  if (held) show_owners({&*held, 1});
  return held;
}

Result<std::vector<HeldLease>> Store::leases(const LeaseQuery& query, std::optional<Deadline> deadline) {
  if (query.tenant) PARLEY_CHECK(check_id(*query.tenant, "tenant"));
  // Only this machine knows which processes have ended, and their leases may end late.
  const std::size_t count = query.expired_only ? std::numeric_limits<std::size_t>::max() : query.count;
  PARLEY_TRY(std::vector<HeldLease> out, backend_->leases(query.tenant, count, end_of(deadline)));
  show_owners(out);
  if (query.expired_only) std::erase_if(out, [](const HeldLease& held) { return !held.is_expired; });
  if (out.size() > query.count) out.resize(query.count);
  return out;
}

Result<void> Store::release(const SessionKey& key, const Lease& lease, std::optional<Deadline> deadline) {
  PARLEY_CHECK(check_key(key));
  return backend_->release(key, lease.token, end_of(deadline));
}

Result<std::vector<Fault>> Backend::inspect(Deadline) { return std::vector<Fault>(); }

Result<std::vector<Fault>> Store::inspect(std::optional<Deadline> deadline) {
  return backend_->inspect(end_of(deadline));
}

Result<void> Backend::back_up(const std::string&, Deadline) {
  return fail(Code::Unsupported, "backup works for SQLite only: use the tools of the server");
}

Result<void> Store::back_up(const std::string& path, std::optional<Deadline> deadline) {
  return backend_->back_up(path, end_of(deadline));
}

Health Store::health(std::optional<Deadline> deadline) { return backend_->health(end_of(deadline)); }

Result<void> Store::each(const SessionKey& key, Position first,
                         const std::function<Result<void>(const StoredRecord&)>& visit) {
  while (true) {
    PARLEY_TRY(const Page page, read(key, {.first = first}));
    for (const StoredRecord& record : page.records) PARLEY_CHECK(visit(record));
    if (page.records.empty()) return {};
    first = page.records.back().position + 1;
    if (first >= page.size) return {};
  }
}

}  // namespace parley::store
