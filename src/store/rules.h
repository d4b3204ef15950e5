// What every backend decides the same way: the rules of batches, leases, forks, pages and lists, with the
// sentences of their errors. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/backend.h"

namespace parley::store {

// How many of the first records are asked for a title.
inline constexpr std::size_t kMostTitleRecords = 8;

std::unexpected<Error> no_session(const SessionKey& key);
std::unexpected<Error> session_exists(const std::string& session);

// ---- Batches (P4)

// The answer to a batch whose id is there already: where it is, or Invalid if it was another batch.
Result<Appended> repeated(const RowBatch& batch, std::uint64_t known_hash, Appended known);
// Fails with Conflict if the batch expects another size.
Result<void> check_size(const RowBatch& batch, Position size);

// ---- Leases

// Whether the process that holds a lease has ended on this machine (lease_owner.h): the lease has expired
// then.
bool is_abandoned(const Lease& held);

// What a lease means for a batch, and the batch for the lease.
struct LeaseVerdict {
  Result<void> batch;                     // fails with Conflict, naming the owner
  std::optional<Lease> replacement = {};  // to be stored instead of the lease, also if the batch is refused
  std::optional<Lease> after = {};        // to be stored with the batch: the lease it takes, or none
};
// A lease without a token is not held. An abandoned lease expires when a batch without a token is appended; a
// lease that refuses a batch is bounded().
LeaseVerdict check_lease(const RowBatch& batch, const Lease& held, std::int64_t now_ms);
// The lease that a request gets where `held` is.
Result<Lease> granted(const Lease& held, const LeaseRequest& request, std::int64_t now_ms);
// The lease as it should be if it lasts longer than it was asked for: a clock was ahead when it was taken.
std::optional<Lease> bounded(const Lease& held, std::int64_t now_ms);
// The lease after a checkpoint. Fails with Conflict if the lease of the request is not held.
Result<Lease> renewed(const Lease& held, const LeaseRequest& request, std::int64_t now_ms);

// A lease as a backend returns it. REQUIRES: it has a token.
HeldLease held_lease(SessionKey key, Lease lease, std::int64_t now_ms);
// The order of leases: the one that ends first, then by tenant and session.
bool ends_before(const HeldLease& a, const HeldLease& b);
// Makes leases of a backend those of a Store: abandoned ones have expired, and owners are names. Asks the
// system about each process once.
void show_owners(std::span<HeldLease> leases);

// ---- Forks

Result<void> check_fork(const SessionKey& from, Position has, Position size);

// ---- Pages

// Counts what goes into a page. One thread at a time.
class PageLimit {
 public:
  explicit PageLimit(const Range& range) : left_(range.count), bytes_left_(range.bytes) {}
  // True if the row is still to be taken; the first one always is, if any may.
  bool takes(const Row& row);

 private:
  std::size_t left_;
  std::size_t bytes_left_;
  bool is_first_ = true;
};

// ---- Lists

// The order of lists: what changed last comes first.
bool comes_before(const SessionInfo& a, const SessionInfo& b);

// The cursor of a list: after the last session of the previous page. As text: "<updated_ms>:<session>".
struct ListCursor {
  bool is_start = true;
  std::int64_t updated_ms = 0;
  std::string session;

  // Fails with Invalid if no list gave this text.
  static Result<ListCursor> read(std::string_view text);
  static std::string write(const SessionInfo& last);
  bool is_before(const SessionInfo& info) const;
};

// The first `count` sessions in order, and the cursor of the next page if there are more.
SessionList first_of(std::vector<SessionInfo> sessions, std::size_t count);

}  // namespace parley::store
