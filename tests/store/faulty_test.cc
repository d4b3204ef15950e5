// The suite is held to its own promise: every fault in this table is planted in a backend that is otherwise
// right, and a check must find it. And what a backend damages, a store does not give out as whole (P6).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parley/store/backend.h"
#include "parley/store/conformance.h"
#include "parley/store/store.h"
#include "store/backends.h"

namespace parley::store {
namespace {

// What goes wrong on the way to a backend, or back.
struct Fault {
  const char* name;
  const char* found_by;
  void (*key)(SessionKey&) = nullptr;
  void (*batch)(RowBatch&) = nullptr;
  void (*appended)(Appended&) = nullptr;
  void (*resolved)(std::optional<Appended>&) = nullptr;
  void (*found)(std::optional<Appended>&) = nullptr;
  void (*range)(Range&) = nullptr;
  void (*page)(RowPage&) = nullptr;
  void (*fork)(Position&) = nullptr;
  void (*list)(SessionList&) = nullptr;
  void (*phrases)(std::vector<std::string>&) = nullptr;
  void (*expiry)(std::optional<std::int64_t>&) = nullptr;
  void (*lease)(LeaseRequest&) = nullptr;
  void (*checkpoint)(std::string&) = nullptr;
  void (*holder)(std::optional<HeldLease>&) = nullptr;
  void (*leases)(std::vector<HeldLease>&) = nullptr;
  bool checkpoints_always = false;
  bool lists_all = false;
  bool keeps_leases = false;
  bool keeps_removed = false;
};

void take_over(LeaseRequest& request) { request.takes_over = true; }

template <typename T, typename Hook>
T changed(T value, Hook hook) {
  if (hook != nullptr) hook(value);
  return value;
}

template <typename T, typename Hook>
Result<T> changed(Result<T> result, Hook hook) {
  if (result && hook != nullptr) hook(*result);
  return result;
}

class FaultyBackend final : public Backend {
 public:
  explicit FaultyBackend(const Fault& fault) : fault_(fault), right_(memory_backend()) {}

  Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline by) override {
    return changed(right_->append(at(key), changed(batch, fault_.batch), by), fault_.appended);
  }
  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view id,
                                             Deadline by) override {
    return changed(right_->find_batch(at(key), id, by), fault_.found);
  }
  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view id, Deadline by) override {
    return changed(right_->resolve(at(key), id, by), fault_.resolved);
  }
  Result<RowPage> read(const SessionKey& key, const Range& range, Deadline by) override {
    return changed(right_->read(at(key), changed(range, fault_.range), by), fault_.page);
  }
  Result<SessionInfo> head(const SessionKey& key, Deadline by) override { return right_->head(at(key), by); }
  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                           Deadline by) override {
    return right_->fork(at(from), at({from.tenant, to}).session, changed(size, fault_.fork), by);
  }
  Result<SessionList> list(const std::string& tenant, const ListOptions& options, Deadline by) override {
    return changed(right_->list(tenant, options, by), fault_.list);
  }
  Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                  std::size_t count, Deadline by) override {
    return right_->search(tenant, changed(phrases, fault_.phrases), count, by);
  }
  Result<void> remove(const SessionKey& key, Deadline by) override {
    if (fault_.keeps_removed) return {};
    return right_->remove(at(key), by);
  }
  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline by) override {
    return right_->expire(at(key), changed(at_ms, fault_.expiry), by);
  }
  Result<std::size_t> sweep(Deadline by) override { return right_->sweep(by); }
  Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline by) override {
    return right_->lease(at(key), changed(request, fault_.lease), by);
  }
  Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                           Deadline by) override {
    std::string kept = changed(std::string(bytes), fault_.checkpoint);
    if (!fault_.checkpoints_always) return right_->checkpoint(at(key), request, kept, by);
    PARLEY_CHECK(right_->lease(at(key), changed(request, take_over), by));
    return right_->checkpoint(at(key), request, kept, by);
  }
  Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline by) override {
    return changed(right_->holder(at(key), by), fault_.holder);
  }
  Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline by) override {
    return changed(right_->leases(fault_.lists_all ? std::nullopt : tenant, count, by), fault_.leases);
  }
  Result<void> release(const SessionKey& key, const std::string& token, Deadline by) override {
    if (fault_.keeps_leases) return {};
    return right_->release(at(key), token, by);
  }
  Health health(Deadline by) override { return right_->health(by); }

 private:
  SessionKey at(const SessionKey& key) const { return changed(key, fault_.key); }
  const Fault& fault_;
  std::unique_ptr<Backend> right_;
};

void to_lower(std::string& text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

const Fault kFaults[] = {
    {.name = "joins the parts of a key",
     .found_by = "parts_of_a_key_stay_apart",
     .key = [](SessionKey& key) { key = {"all", key.tenant + "-" + key.session}; }},
    {.name = "forgets the tenant",
     .found_by = "tenants_see_nothing_of_each_other",
     .key = [](SessionKey& key) { key.tenant = "all"; }},
    {.name = "does not tell upper from lower case",
     .found_by = "any_name_is_a_session_of_its_own",
     .key = [](SessionKey& key) { to_lower(key.session); }},
    {.name = "cuts long names",
     .found_by = "any_name_is_a_session_of_its_own",
     .key = [](SessionKey& key) { key.session = key.session.substr(0, 255); }},
    {.name = "keeps a batch again",
     .found_by = "repeat_gives_the_first_positions",
     .batch = [](RowBatch& batch) { batch.id = Batch().id; }},
    {.name = "does not compare the records of a repeat",
     .found_by = "id_of_other_records_is_refused",
     .batch = [](RowBatch& batch) { batch.hash = 0; }},
    {.name = "takes batches that expect another size",
     .found_by = "another_size_is_a_conflict",
     .batch = [](RowBatch& batch) { batch.expected_size.reset(); }},
    {.name = "loses the end of a batch",
     .found_by = "positions_have_no_gap",
     .batch =
         [](RowBatch& batch) {
           if (batch.rows.size() > 1) batch.rows.pop_back();
         }},
    {.name = "reorders a batch",
     .found_by = "positions_have_no_gap",
     .batch = [](RowBatch& batch) { std::reverse(batch.rows.begin(), batch.rows.end()); }},
    {.name = "keeps times as floating point",
     .found_by = "every_time_comes_back",
     .batch =
         [](RowBatch& batch) {
           for (Row& row : batch.rows) {
             row.record.created_ms = static_cast<std::int64_t>(static_cast<double>(row.record.created_ms));
           }
         }},
    {.name = "cuts a text at its NUL",
     .found_by = "every_field_comes_back",
     .batch =
         [](RowBatch& batch) {
           for (Row& row : batch.rows)
             row.record.text = row.record.text.substr(0, row.record.text.find('\0'));
         }},
    {.name = "tells another place",
     .found_by = "positions_have_no_gap",
     .appended = [](Appended& appended) { ++appended.first; }},
    {.name = "does not say that a batch is a repeat",
     .found_by = "repeat_gives_the_first_positions",
     .appended = [](Appended& appended) { appended.repeated = false; }},
    {.name = "promises more than it keeps",
     .found_by = "durability_is_told",
     .appended = [](Appended& appended) { appended.durability = Durability::Full; }},
    {.name = "resolves nothing",
     .found_by = "resolve_tells_what_became_of_a_batch",
     .resolved = [](std::optional<Appended>& found) { found.reset(); }},
    {.name = "finds no batch",
     .found_by = "resolve_tells_what_became_of_a_batch",
     .found = [](std::optional<Appended>& found) { found.reset(); }},
    {.name = "gives more bytes than asked for",
     .found_by = "page_ends_at_its_bytes",
     .range = [](Range& range) { range.bytes = std::size_t{64} << 20; }},
    {.name = "gives more records than asked for",
     .found_by = "range_gives_what_there_is",
     .range = [](Range& range) { ++range.count; }},
    {.name = "reads a moment ago",
     .found_by = "every_opening_reads_acknowledged_batches",
     .page =
         [](RowPage& page) {
           if (page.rows.empty() || page.rows.back().position + 1 < page.size) return;
           page.rows.pop_back();
           --page.size;
         }},
    {.name = "skips a record",
     .found_by = "pages_add_up",
     .page =
         [](RowPage& page) {
           if (page.rows.size() > 2) page.rows.erase(page.rows.begin() + 1);
         }},
    {.name = "forks all there is",
     .found_by = "fork_has_the_records_before_its_cut",
     .fork = [](Position& size) { size += size > 0 && size < 6 ? 1 : 0; }},
    {.name = "lists the oldest first",
     .found_by = "list_has_the_latest_first",
     .list = [](SessionList& list) { std::reverse(list.sessions.begin(), list.sessions.end()); }},
    {.name = "never returns a cursor",
     .found_by = "pages_of_a_list_add_up",
     .list = [](SessionList& list) { list.next.clear(); }},
    {.name = "searches for the first word alone",
     .found_by = "words_are_found_in_any_case",
     .phrases = [](std::vector<std::string>& phrases) { phrases.resize(1); }},
    {.name = "finds pairs that stand apart",
     .found_by = "chinese_words_are_found_in_a_sentence",
     .phrases =
         [](std::vector<std::string>& phrases) {
           for (std::string& phrase : phrases) phrase = phrase.substr(0, phrase.find(' '));
         }},
    {.name = "never lets a session expire",
     .found_by = "expired_session_is_as_if_removed",
     .expiry = [](std::optional<std::int64_t>& at_ms) { at_ms.reset(); }},
    {.name = "gives a lease to every caller",
     .found_by = "lease_of_another_is_a_conflict",
     .lease = take_over},
    {.name = "refuses every takeover",
     .found_by = "old_tokens_are_fenced_off",
     .lease = [](LeaseRequest& request) { request.takes_over = false; }},
    {.name = "cuts a checkpoint at its NUL",
     .found_by = "checkpoint_comes_back",
     .checkpoint = [](std::string& bytes) { bytes = bytes.substr(0, bytes.find('\0')); }},
    {.name = "takes checkpoints without their lease",
     .found_by = "checkpoint_needs_its_lease",
     .checkpoints_always = true},
    {.name = "drops the checkpoint of an expired lease",
     .found_by = "checkpoint_outlives_its_owner",
     .holder =
         [](std::optional<HeldLease>& held) {
           if (held && held->is_expired) held->checkpoint.clear();
         }},
    {.name = "has no holder of an expired lease",
     .found_by = "checkpoint_outlives_its_owner",
     .holder =
         [](std::optional<HeldLease>& held) {
           if (held && held->is_expired) held.reset();
         }},
    {.name = "keeps the checkpoint of a released lease",
     .found_by = "checkpoint_goes_with_its_lease",
     .keeps_leases = true},
    {.name = "lists the leases of every tenant",
     .found_by = "leases_that_end_first_come_first",
     .lists_all = true},
    {.name = "lists leases that end last first",
     .found_by = "leases_that_end_first_come_first",
     .leases = [](std::vector<HeldLease>& leases) { std::reverse(leases.begin(), leases.end()); }},
    {.name = "lists no expired leases",
     .found_by = "expired_leases_can_be_listed_alone",
     .leases =
         [](std::vector<HeldLease>& leases) {
           std::erase_if(leases, [](const HeldLease& held) { return held.is_expired; });
         }},
    {.name = "keeps what is removed", .found_by = "removed_session_is_gone", .keeps_removed = true},
};

const conformance::Check* check_named(std::string_view name) {
  for (const conformance::Check& check : conformance::checks()) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

Result<void> run(const conformance::Check& check, const Fault& fault) {
  const auto store = std::make_shared<Store>(std::make_unique<FaultyBackend>(fault));
  return check.run([&]() -> Result<std::shared_ptr<Store>> { return store; });
}

TEST(ConformanceChecks, FindEveryPlantedFault) {
  const Fault none{.name = "none", .found_by = ""};
  for (const Fault& fault : kFaults) {
    const conformance::Check* check = check_named(fault.found_by);
    ASSERT_NE(check, nullptr) << fault.found_by;
    const Result<void> right = run(*check, none);
    EXPECT_TRUE(right) << fault.found_by << ": " << right.error().message;
    const Result<void> found = run(*check, fault);
    ASSERT_FALSE(found) << "a backend that " << fault.name;
    // The sentence says what was expected and what came.
    EXPECT_TRUE(found.error().message.contains(": expected ")) << found.error().message;
    EXPECT_TRUE(found.error().message.contains("; came ")) << found.error().message;
  }
}

TEST(Store, NamesADamagedRecordAndGivesTheOthers) {
  const Fault flips{.name = "flips a bit", .found_by = "", .page = [](RowPage& page) {
                      for (Row& row : page.rows) {
                        if (row.position == 1) row.record.body[0] = static_cast<char>(row.record.body[0] ^ 1);
                      }
                    }};
  Store store(std::make_unique<FaultyBackend>(flips));
  const SessionKey key{"t", "the session"};
  Record record;
  record.body = "{}";
  ASSERT_TRUE(store.append(key, Batch({record, record, record})));
  const Result<Page> refused = store.read(key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Damaged);
  EXPECT_EQ(refused.error().path, "/1");
  EXPECT_TRUE(refused.error().message.contains("'the session'")) << refused.error().message;
  EXPECT_FALSE(store.each(key, 0, [](const StoredRecord&) -> Result<void> { return {}; }));
  const Result<Page> page = store.read(key, {.with_damaged = true});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->records.size(), 3U);
  EXPECT_FALSE(page->records[0].damage);
  ASSERT_TRUE(page->records[1].damage);
  EXPECT_EQ(page->records[1].damage->code, Code::Damaged);
  EXPECT_EQ(page->records[1].position, 1U);
  EXPECT_EQ(page->records[1].body, "");
  EXPECT_FALSE(page->records[2].damage);
  EXPECT_TRUE(store.read(key, {.first = 2})) << "a range without it is fine";
}

}  // namespace
}  // namespace parley::store
