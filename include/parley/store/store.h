// A Store keeps conversations so that they are safe when append() returns.
//
// Promises, the same for every backend (docs/store.md says which test proves each; tests quote P1..P12):
//   P1   A batch is there whole and contiguous, or not at all.
//   P2   What was acknowledged survives, at the level that the answer names (Durability).
//   P3   The positions of a session are 0, 1, 2 ... without a gap, given under the commit.
//   P4   A batch is kept once: appending it again gives the positions of the first time.
//   P5   A read that begins after an acknowledgement, by any process, has the batch.
//   P6   A record that cannot be read is an error that names it (Damaged), never a hole.
//   P7   Nothing a view is made of can tear an exchange (parley/memory).
//   P8   A summary is one more record; nothing is taken out for it.
//   P9   The bytes of a body come back as they were given.
//   P10  An append is known to have happened, known not to have happened (any error but Unresolved), or
//        Unresolved, which resolve() settles. Every call ends at its deadline.
//   P11  Sizes, counts and times are bounded.
//   P12  A session is reached by its own tenant and name alone, whatever they look like.
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

#include "parley/base/deadline.h"
#include "parley/base/error.h"
#include "parley/store/record.h"

namespace parley::store {

class Backend;  // parley/store/backend.h

// All are checked before anything is sent, and fail with LimitExceeded.
struct StoreLimits {
  std::size_t body_bytes = std::size_t{64} << 20;  // of one record
  std::size_t batch_bytes = std::size_t{256} << 20;
  std::size_t batch_records = 100'000;
};

struct StoreOptions {
  StoreLimits limits = {};
  std::chrono::milliseconds timeout{30'000};  // of a call that brings no deadline of its own
  Durability durability = Durability::Full;   // what to ask of a backend that lets one choose
  // Of backends behind a network.
  std::size_t connections = 8;
  std::chrono::milliseconds idle_limit{5 * 60'000};
  std::chrono::milliseconds life_limit{60 * 60'000};
};

class Store {
 public:
  explicit Store(std::unique_ptr<Backend> backend, StoreOptions options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Appends a batch behind all others, and makes the session if there is none. Fails with Conflict if the
  // session has another size than expected, or somebody else has its lease; with Invalid if the id of the
  // batch belongs to other records; with Unresolved if it cannot be told whether it happened.
  Result<Appended> append(const SessionKey& key, const Batch& batch) { return append(key, batch, soon()); }
  Result<Appended> append(const SessionKey& key, const Batch& batch, Deadline deadline);

  // What became of a batch: where it is, or nothing if it is not there. Once it has answered, the answer
  // stays the same unless the batch is appended again.
  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch) {
    return resolve(key, batch, soon());
  }
  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch, Deadline deadline);

  // The records of a range, as many as its limits allow: read on from the last position + 1 while it is
  // less than Page::size. Fails with NotFound if there is no such session, with Damaged (P6).
  Result<Page> read(const SessionKey& key, const Range& range = {}) { return read(key, range, soon()); }
  Result<Page> read(const SessionKey& key, const Range& range, Deadline deadline);

  // Fails with NotFound if there is no such session.
  Result<SessionInfo> head(const SessionKey& key) { return head(key, soon()); }
  Result<SessionInfo> head(const SessionKey& key, Deadline deadline);

  // A new session `to` of the same tenant whose first `size` records are those of `from`, shared, not copied;
  // their batches belong to `from` (P4). Fails with NotFound, with Invalid if `from` is shorter, with
  // Conflict if `to` exists.
  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size) {
    return fork(from, to, size, soon());
  }
  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size, Deadline deadline);

  Result<SessionList> list(const std::string& tenant, const ListOptions& options = {}) {
    return list(tenant, options, soon());
  }
  Result<SessionList> list(const std::string& tenant, const ListOptions& options, Deadline deadline);

  // The records of a tenant whose text has all words, in any case, newest session first. A run of Chinese,
  // Japanese or Korean characters is found wherever it stands. Fails with Invalid if there is no word.
  Result<std::vector<Hit>> search(const std::string& tenant, std::string_view words,
                                  std::size_t count = 100) {
    return search(tenant, words, count, soon());
  }
  Result<std::vector<Hit>> search(const std::string& tenant, std::string_view words, std::size_t count,
                                  Deadline deadline);

  // Erases a session: its bytes are gone from the disk, but for records that a fork still shares, which go
  // with the last fork. Fails with NotFound.
  Result<void> remove(const SessionKey& key) { return remove(key, soon()); }
  Result<void> remove(const SessionKey& key, Deadline deadline);

  // From `at_ms` on the session is as if removed, and sweep() erases it; nothing: it stays for ever.
  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms) {
    return expire(key, at_ms, soon());
  }
  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline deadline);
  // Erases what has expired; how many sessions that were.
  Result<std::size_t> sweep() { return sweep(soon()); }
  Result<std::size_t> sweep(Deadline deadline);

  // The right to run a session alone, for `time` from now; makes the session if there is none. The owner is
  // for people. Pass the current token to renew the lease. The lease of a process that has ended on this
  // machine is over. Fails with Conflict, naming the owner.
  Result<Lease> lease(const SessionKey& key, const std::string& owner, std::chrono::milliseconds time,
                      LeaseMode mode = LeaseMode::Reject, const std::string& token = {}) {
    return lease(key, owner, time, mode, token, soon());
  }
  Result<Lease> lease(const SessionKey& key, const std::string& owner, std::chrono::milliseconds time,
                      LeaseMode mode, const std::string& token, Deadline deadline);
  // Nothing happens if the lease is no longer held.
  Result<void> release(const SessionKey& key, const Lease& lease) { return release(key, lease, soon()); }
  Result<void> release(const SessionKey& key, const Lease& lease, Deadline deadline);

  // Whether calls work now. Tries a read, and a write that leaves nothing behind.
  Health health() { return health(soon()); }
  Health health(Deadline deadline);

  // What is wrong with a store that is a file, beside what its records tell by themselves (P6), at most 100
  // faults. Reads the whole file once, however long that takes. A server looks after its own.
  Result<std::vector<Fault>> inspect() { return inspect(soon()); }
  Result<std::vector<Fault>> inspect(Deadline deadline);

  // Writes all of it, every tenant included, as of one moment, to a file that is not there yet and that can
  // be opened as a store. Fails with Unsupported if the store is no file: a server has tools of its own.
  Result<void> back_up(const std::string& path) { return back_up(path, soon()); }
  Result<void> back_up(const std::string& path, Deadline deadline);

  // Every record of a session from `first` on, page by page.
  Result<void> each(const SessionKey& key, Position first,
                    const std::function<Result<void>(const StoredRecord&)>& visit);

  const StoreOptions& options() const { return options_; }

 private:
  Deadline soon() const { return Deadline::in(options_.timeout); }
  std::unique_ptr<Backend> backend_;
  StoreOptions options_;
};

// Opens "memory:", "sqlite:PATH", "postgresql://..." or "redis://...". Connects at the first call. Fails with
// Invalid for a URI that cannot be, with Unsupported for a backend that was left out of this build.
Result<Store> open_store(std::string_view uri, StoreOptions options = {});

}  // namespace parley::store
