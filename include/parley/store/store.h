// A Store holds conversations durably: a batch is safe when append() returns.
//
// Promises, the same for every backend (docs/store.md names the test of each; tests quote P1..P12):
//   P1   A batch is stored whole and contiguous, or not at all.
//   P2   Acknowledged data survives, at the level that the result names (Durability).
//   P3   The positions of a session are 0, 1, 2 ... without a gap, assigned under the commit.
//   P4   A batch is stored once: appending it again returns the original positions.
//   P5   A read that starts after an acknowledgement, in any process, returns the batch.
//   P6   A record that cannot be read is an error that names it (Damaged); it is never skipped.
//   P7   No view splits an exchange (parley/memory).
//   P8   A summary is an additional record; no record is removed for it.
//   P9   A body is returned byte for byte.
//   P10  An append is committed, not committed (any error but Unresolved), or Unresolved, which resolve()
//        decides. Every call returns at its deadline.
//   P11  Sizes, counts and times are bounded.
//   P12  A session is accessible only by its tenant and name, whatever bytes they contain.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"

namespace parley::store {

class Backend;  // parley/store/backend.h

// Checked before anything is sent; exceeding one fails with LimitExceeded.
struct StoreLimits {
  std::size_t body_bytes = std::size_t{64} << 20;  // of one record
  std::size_t batch_bytes = std::size_t{256} << 20;
  std::size_t batch_records = 100'000;
  std::size_t checkpoint_bytes = std::size_t{16} << 20;
};

struct StoreOptions {
  StoreLimits limits = {};
  std::chrono::milliseconds timeout{30'000};  // of a call without a deadline
  Durability durability = Durability::Full;   // for backends with a choice
  // For backends on a network.
  std::size_t connections = 8;
  std::chrono::milliseconds idle_limit{5 * 60'000};
  std::chrono::milliseconds life_limit{60 * 60'000};
};

// A call without a deadline ends within StoreOptions::timeout.
class Store {
 public:
  explicit Store(std::unique_ptr<Backend> backend, StoreOptions options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Appends a batch at the end, and creates the session if it does not exist. Fails with Conflict if the
  // session does not have the expected size, or if another owner holds its lease; with Invalid if the batch
  // id belongs to other records; with Unresolved if it is unknown whether the batch was committed.
  Result<Appended> append(const SessionKey& key, const Batch& batch, std::optional<Deadline> deadline = {});

  // The positions of a batch, or nothing if it was not committed so far. A read: it changes nothing.
  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                             std::optional<Deadline> deadline = {});

  // The same after append() returned Unresolved: the result stays the same afterwards unless the batch is
  // appended again. A backend on a network writes for it.
  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch,
                                          std::optional<Deadline> deadline = {});

  // The records of a range, as many as its limits allow. To read the next page, start at the last position
  // + 1 while that is less than Page::size. Fails with NotFound, or with Damaged (P6).
  Result<Page> read(const SessionKey& key, const Range& range = {}, std::optional<Deadline> deadline = {});

  // Fails with NotFound if there is no such session.
  Result<SessionInfo> head(const SessionKey& key, std::optional<Deadline> deadline = {});

  // Creates a session `to` of the same tenant that shares the first `size` records of `from` without copying
  // them; their batches belong to `from` (P4). Fails with NotFound, with Invalid if `from` is shorter, with
  // Conflict if `to` exists.
  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                           std::optional<Deadline> deadline = {});

  Result<SessionList> list(const std::string& tenant, const ListOptions& options = {},
                           std::optional<Deadline> deadline = {});

  // The session of a tenant that was changed last, without its title: the first of list(), or nullopt. Costs
  // the same with any number of sessions in SQLite, which goes by the order of the appends, and in Redis;
  // other backends look at the sessions of the tenant once.
  Result<std::optional<SessionInfo>> latest(const std::string& tenant, std::optional<Deadline> deadline = {});

  // The records of a tenant whose text contains all words, ignoring case, newest session first. Chinese,
  // Japanese and Korean characters match anywhere in a text. Fails with Invalid if `words` has no word.
  Result<std::vector<Hit>> search(const std::string& tenant, std::string_view words, std::size_t count = 100,
                                  std::optional<Deadline> deadline = {});

  // Erases a session from the disk. Records that a fork still shares are erased with the last fork. Fails
  // with NotFound.
  Result<void> remove(const SessionKey& key, std::optional<Deadline> deadline = {});

  // From `at_ms` on the session counts as removed, and sweep() erases it. nullopt: it never expires.
  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms,
                      std::optional<Deadline> deadline = {});
  // Erases expired sessions and returns their number.
  Result<std::size_t> sweep(std::optional<Deadline> deadline = {});

  // Leases the session for `time` from now, and creates it if it does not exist. `owner` is shown in errors.
  // Pass the current token to renew the lease. The lease of a process of this machine ends with the process.
  // Fails with Conflict, naming the owner.
  Result<Lease> lease(const SessionKey& key, const std::string& owner, std::chrono::milliseconds time,
                      LeaseMode mode = LeaseMode::Reject, const std::string& token = {},
                      std::optional<Deadline> deadline = {});
  // Renews a lease for `time` from now and replaces its checkpoint: what another process needs to finish the
  // work of this one if it ends. There is one checkpoint per session, and the last one wins. It stays when
  // the lease expires or is taken over; it goes when the lease is released, by release() or by a batch, and
  // when the session is removed. A checkpoint is not synced: it survives a kill of the process, but a power
  // failure may bring an older one back. Records are as durable as ever (P2). Fails with Conflict if the
  // lease has expired, was released or was taken over; with LimitExceeded.
  Result<Lease> checkpoint(const SessionKey& key, const Lease& lease, std::chrono::milliseconds time,
                           std::string_view bytes, std::optional<Deadline> deadline = {});
  // The lease of a session with its checkpoint, even if it has expired; nullopt if it was released or never
  // taken, or if there is no such session.
  Result<std::optional<HeldLease>> holder(const SessionKey& key, std::optional<Deadline> deadline = {});
  // Leases that were taken and not released, without their checkpoints: the one that ends first comes first.
  // The cost depends on the number of such leases, not on that of the sessions (except in "memory:").
  Result<std::vector<HeldLease>> leases(const LeaseQuery& query = {}, std::optional<Deadline> deadline = {});
  // Does nothing if the lease is no longer held.
  Result<void> release(const SessionKey& key, const Lease& lease, std::optional<Deadline> deadline = {});

  // Whether calls work now. Tries a read, and a write that it undoes.
  Health health(std::optional<Deadline> deadline = {});

  // Damage of a store that is a file, beyond damaged records (P6); at most 100 faults. Reads the whole file
  // once, regardless of the time this takes. Finds nothing for a store on a server.
  Result<std::vector<Fault>> inspect(std::optional<Deadline> deadline = {});

  // Writes a consistent copy with all tenants to a new file, which can be opened as a store. Fails with
  // Unsupported if the store is not a file: use the tools of its server.
  Result<void> back_up(const std::string& path, std::optional<Deadline> deadline = {});

  // Visits every record of a session from `first` on, page by page.
  Result<void> each(const SessionKey& key, Position first,
                    const std::function<Result<void>(const StoredRecord&)>& visit);

  const StoreOptions& options() const { return options_; }

 private:
  Deadline end_of(std::optional<Deadline> deadline) const;
  std::unique_ptr<Backend> backend_;
  StoreOptions options_;
};

// Opens "memory:", "sqlite:PATH", "postgresql://..." or "redis://...". Connects at the first call. Fails with
// Invalid for a malformed URI, with Unsupported for a backend that this build does not include.
Result<Store> open_store(std::string_view uri, StoreOptions options = {});

}  // namespace parley::store
