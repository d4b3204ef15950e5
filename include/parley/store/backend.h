// The interface of a storage backend. Before it calls a backend, Store (store.h) checks ids, limits and
// options, takes large media out of the bodies and computes checksums; after a read it puts media back and
// verifies the checksums. The suite in conformance.h checks whether a backend keeps the promises.
//
// Every function may be called from any thread, returns Timeout at its deadline, and does not throw.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"

namespace parley::store {

// Bytes that were taken out of a body, and their offset in it. Equal bytes have equal hashes, and a backend
// stores them once, at least within a session.
struct Medium {
  std::uint64_t offset = 0;  // in the body without any media
  std::array<unsigned char, 32> hash = {};
  std::shared_ptr<const std::string> bytes = {};
};

// A record as a backend stores it.
struct Row {
  Record record;                   // the body without its media
  std::vector<Medium> media = {};  // by rising offset
  std::uint64_t checksum = 0;      // of everything above
  Position position = 0;           // assigned by the backend
  std::string batch = {};
};

// Another owner's lease is held until it expires by the clock of the backend.
struct LeaseRequest {
  std::string owner;
  std::string token;  // of the lease that the caller holds or requests
  std::chrono::milliseconds time;
  bool takes_over = false;
};

struct RowBatch {
  std::string id;
  std::uint64_t hash = 0;  // of the rows: the same id with another hash fails with Invalid
  std::vector<Row> rows;
  std::optional<Position> expected_size = {};
  std::string lease = {};
  std::optional<LeaseRequest> take_lease = {};
  bool release_lease = false;  // and removes its checkpoint
};

struct RowPage {
  std::vector<Row> rows;
  Position size = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline deadline) = 0;
  virtual Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                                     Deadline deadline) = 0;
  // The default is find_batch(): right if a batch cannot be committed after append() has returned.
  virtual Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch,
                                                  Deadline deadline);
  virtual Result<RowPage> read(const SessionKey& key, const Range& range, Deadline deadline) = 0;
  virtual Result<SessionInfo> head(const SessionKey& key, Deadline deadline) = 0;
  virtual Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                                   Deadline deadline) = 0;
  virtual Result<SessionList> list(const std::string& tenant, const ListOptions& options,
                                   Deadline deadline) = 0;
  // The session that was changed last; of several of one time, the last by name. The default takes it from
  // list().
  virtual Result<std::optional<SessionInfo>> latest(const std::string& tenant, Deadline deadline);
  // The records that contain every phrase (words.h). REQUIRES: at least one phrase.
  virtual Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                          std::size_t count, Deadline deadline) = 0;
  virtual Result<void> remove(const SessionKey& key, Deadline deadline) = 0;
  virtual Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms,
                              Deadline deadline) = 0;
  virtual Result<std::size_t> sweep(Deadline deadline) = 0;
  // Does not wait: fails with Conflict if another owner holds the lease.
  virtual Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline deadline) = 0;
  // Renews the lease that has the token of the request and replaces its checkpoint, in one commit that need
  // not survive a power failure. Fails with Conflict if that lease is not held.
  virtual Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                                   Deadline deadline) = 0;
  // Leases as they are stored: with the owner of the LeaseRequest, expired by the clock of the backend alone.
  // leases() has the first `count` by end, then by tenant and session, without checkpoints.
  virtual Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline deadline) = 0;
  virtual Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                                Deadline deadline) = 0;
  // Removes the checkpoint too.
  virtual Result<void> release(const SessionKey& key, const std::string& token, Deadline deadline) = 0;
  virtual Health health(Deadline deadline) = 0;
  // Checks the file for damage. The default, for stores that are not files, finds nothing.
  virtual Result<std::vector<Fault>> inspect(Deadline deadline);
  // Writes a consistent copy to a new file. The default, for stores that are not files, is Unsupported.
  virtual Result<void> back_up(const std::string& path, Deadline deadline);
};

}  // namespace parley::store
