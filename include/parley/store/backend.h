// What the author of a backend writes. Store (store.h) has checked ids, limits and options before it calls,
// takes large media out of the bodies and puts them back, and makes and checks the checksums; the suite in
// conformance.h tells whether a backend keeps the promises.
//
// Every function is called from any thread, ends at its deadline with Timeout, and throws nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/deadline.h"
#include "parley/base/error.h"
#include "parley/store/record.h"

namespace parley::store {

// Bytes that were taken out of a body, and where they belong. Equal bytes have equal hashes, and a backend
// keeps them once, at least within a session.
struct Medium {
  std::uint64_t offset = 0;  // in the body without any media
  std::array<unsigned char, 32> hash = {};
  std::shared_ptr<const std::string> bytes = {};
};

// A record as a backend keeps it.
struct Row {
  Record record;                   // the body without its media
  std::vector<Medium> media = {};  // by rising offset
  std::uint64_t checksum = 0;      // of everything above
  Position position = 0;           // given by the backend
  std::string batch = {};
};

struct RowBatch {
  std::string id;
  std::uint64_t hash = 0;  // of the rows: the same id with another hash fails with Invalid
  std::vector<Row> rows;
  std::optional<Position> expected_size = {};
  std::string lease = {};
};

struct RowPage {
  std::vector<Row> rows;
  Position size = 0;
};

// Sees a lease of another one as held until its time is over by the clock of the backend.
struct LeaseRequest {
  std::string owner;
  std::string token;  // the lease that the caller has or will have
  std::chrono::milliseconds time;
  bool takes_over = false;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline deadline) = 0;
  virtual Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch,
                                                  Deadline deadline) = 0;
  virtual Result<RowPage> read(const SessionKey& key, const Range& range, Deadline deadline) = 0;
  virtual Result<SessionInfo> head(const SessionKey& key, Deadline deadline) = 0;
  virtual Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                                   Deadline deadline) = 0;
  virtual Result<SessionList> list(const std::string& tenant, const ListOptions& options,
                                   Deadline deadline) = 0;
  // The records that have every phrase (words.h); there is at least one.
  virtual Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                          std::size_t count, Deadline deadline) = 0;
  virtual Result<void> remove(const SessionKey& key, Deadline deadline) = 0;
  virtual Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms,
                              Deadline deadline) = 0;
  virtual Result<std::size_t> sweep(Deadline deadline) = 0;
  // Does not wait: fails with Conflict if somebody else holds the lease.
  virtual Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline deadline) = 0;
  virtual Result<void> release(const SessionKey& key, const std::string& token, Deadline deadline) = 0;
  virtual Health health(Deadline deadline) = 0;
  // What is wrong with the file. For stores that are files; the others have nothing to say.
  virtual Result<std::vector<Fault>> inspect(Deadline deadline);
  // Writes all of it, as of one moment, to a new file. For stores that are files.
  virtual Result<void> back_up(const std::string& path, Deadline deadline);
};

}  // namespace parley::store
