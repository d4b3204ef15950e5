// One file, many processes: the default store. What is safe about it is in sqlite_writer.h (writes),
// sqlite_file.h (the file) and sqlite_schema.cc (the tables).
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <utility>

#include "parley/base/clock.h"
#include "store/backends.h"
#include "store/rules.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/records.h"
#include "store/sqlite/search.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/writer.h"

namespace parley::store {
namespace {

// Connections that read, kept for the next reader. Safe from any thread.
class Readers {
 public:
  explicit Readers(std::string path) : path_(std::move(path)) {}

  struct Reader {
    Db db;
    Db::Mode mode;
  };

  Result<Reader> take() {
    std::unique_lock lock(mutex_);
    if (!idle_.empty()) {
      Reader reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
    const Db::Mode mode = mode_;
    lock.unlock();
    PARLEY_TRY(Db db, Db::open(path_, mode));
    return Reader{std::move(db), mode};
  }

  void give_back(Reader reader) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle && reader.mode == mode_) idle_.push_back(std::move(reader));
  }

  void set_mode(Db::Mode mode) {
    const std::lock_guard lock(mutex_);
    mode_ = mode;
    idle_.clear();
  }

 private:
  static constexpr std::size_t kMostIdle = 4;
  std::string path_;
  std::mutex mutex_;
  Db::Mode mode_ = Db::Mode::Read;
  std::vector<Reader> idle_;
};

// Before 3.51.3 (3.50.7, 3.44.6) a reset of the log during a write can lose committed pages.
bool has_reset_bug(int version) {
  return version < 3'051'003 && !(version >= 3'050'007 && version < 3'051'000) &&
         !(version >= 3'044'006 && version < 3'045'000);
}

// How a database is read, and what is wrong with it, as far as opening it shows.
struct ReadAccess {
  Db::Mode mode;
  std::optional<Fault> damage;
};

// For a database that is read-only, or whose folder is.
Result<ReadAccess> look_read_only(const std::string& path) {
  const std::optional<Witnessed> seen = read_witness(path);  // first, as it may only lag
  Db::Mode mode = Db::Mode::ReadOnly;
  Result<Db> db = Db::open(path, mode);
  Result<std::int64_t> version = db ? check_owner(*db, path) : std::unexpected(db.error());
  if (!version && version.error().code == Code::Unavailable) {
    // SQLite needs a file beside the database to read its log. Without a WAL, the file is complete.
    std::error_code error;
    const auto log = std::filesystem::file_size(path + "-wal", error);
    if (!error && log > 0) {
      return fail(Code::Unavailable,
                  "cannot read the WAL file in a read-only folder: copy the database and "
                  "'" +
                      path + "-wal' to another folder",
                  path);
    }
    mode = Db::Mode::Immutable;
    db = Db::open(path, mode);
    version = db ? check_owner(*db, path) : std::unexpected(db.error());
  }
  if (!version) return std::unexpected(version.error());
  if (!is_newest(*version)) {
    return fail(Code::Unsupported,
                "the database has an older schema and cannot be migrated because it is not writable: "
                "copy it to another folder",
                path);
  }
  PARLEY_TRY(const CommitMark mark, mark_of(*db));
  ReadAccess out{mode, loss_of(mark, seen, path)};
  if (const Result<void> known = check_newest(*db); !known && !out.damage) {
    out.damage = Fault{known.error().message};
  }
  return out;
}

class SqliteBackend final : public Backend {
 public:
  SqliteBackend(std::string path, Durability durability)
      : path_(std::move(path)), durability_(durability), readers_(path_) {}
  SqliteBackend(const SqliteBackend&) = delete;
  SqliteBackend& operator=(const SqliteBackend&) = delete;
  ~SqliteBackend() override {
    // A child of fork() has neither the threads nor the locks of what it would take down.
    if (writer_ != nullptr && pid_ != ::getpid()) (void)writer_.release();
  }

  Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline deadline) override {
    Result<Appended> out;
    PARLEY_CHECK(write(deadline, [&](Db& db) { return append_in(db, key, batch, out); }));
    if (out) out->durability = durability_;
    return out;
  }

  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                             Deadline deadline) override {
    using Found = std::optional<Appended>;
    return read_with<Found>(deadline, Found(), [&](Db& db) -> Result<Found> {
      PARLEY_TRY(const auto session, find_session(db, key));
      if (!session) return std::nullopt;
      PARLEY_TRY(auto known, store::find_batch(db, session->id, batch));
      if (!known) return std::nullopt;
      known->appended.durability = durability_;
      return known->appended;
    });
  }

  Result<RowPage> read(const SessionKey& key, const Range& range, Deadline deadline) override {
    return read_session<RowPage>(
        deadline, key, [&](Db& db, const SessionRow& session) { return read_rows(db, session, range); });
  }

  Result<SessionInfo> head(const SessionKey& key, Deadline deadline) override {
    return read_session<SessionInfo>(
        deadline, key, [&](Db& db, const SessionRow& session) { return info_of(db, key.session, session); });
  }

  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                           Deadline deadline) override {
    SessionInfo made;
    PARLEY_CHECK(write(deadline, [&](Db& db) -> Result<void> {
      PARLEY_TRY(made, fork_in(db, from, to, size));
      return {};
    }));
    return made;
  }

  Result<SessionList> list(const std::string& tenant, const ListOptions& options,
                           Deadline deadline) override {
    PARLEY_TRY(const ListCursor after, ListCursor::read(options.after));
    return read_with<SessionList>(deadline, SessionList(), [&](Db& db) -> Result<SessionList> {
      PARLEY_TRY(std::vector<SessionInfo> all, sessions_of(db, tenant));
      std::erase_if(all, [&](const SessionInfo& info) { return !after.is_before(info); });
      std::sort(all.begin(), all.end(), comes_before);
      SessionList out = first_of(std::move(all), options.count);
      for (SessionInfo& info : out.sessions) {
        PARLEY_TRY(const SessionRow session, existing(db, {tenant, info.session}));
        PARLEY_TRY(info.title, title_of(db, session));
      }
      return out;
    });
  }

  Result<std::optional<SessionInfo>> latest(const std::string& tenant, Deadline deadline) override {
    using Found = std::optional<SessionInfo>;
    return read_with<Found>(deadline, Found(), [&](Db& db) { return latest_session(db, tenant); });
  }

  Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                  std::size_t count, Deadline deadline) override {
    PARLEY_CHECK(bring_index_up_to_date(deadline));
    return read_with<std::vector<Hit>>(deadline, std::vector<Hit>(),
                                       [&](Db& db) { return find_hits(db, tenant, phrases, count); });
  }

  Result<void> remove(const SessionKey& key, Deadline deadline) override {
    PARLEY_TRY(const bool is_there, exists(deadline));
    if (!is_there) return no_session(key);
    PARLEY_CHECK(open(deadline));
    const auto erase = [&](Db& db) -> Result<void> {
      PARLEY_TRY(const SessionRow session, existing(db, key));
      PARLEY_CHECK(erase_session(db, session.id));
      return merge_index(db);
    };
    PARLEY_CHECK(writer_->run_with_room(erase, deadline));
    return writer_->empty_log(deadline);
  }

  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline deadline) override {
    PARLEY_TRY(const bool is_there, exists(deadline));
    if (!is_there) return no_session(key);
    return write(deadline, [&](Db& db) -> Result<void> {
      PARLEY_TRY(const SessionRow session, existing(db, key));
      PARLEY_TRY(Query q, db.query("UPDATE sessions SET expires_ms = ?2 WHERE id = ?1"));
      q.bind(1, session.id);
      if (at_ms) q.bind(2, *at_ms);
      return q.run();
    });
  }

  Result<std::size_t> sweep(Deadline deadline) override {
    PARLEY_TRY(const bool is_there, exists(deadline));
    if (!is_there) return std::size_t{0};
    PARLEY_CHECK(open(deadline));
    std::size_t swept = 0;
    const auto erase = [&](Db& db) -> Result<void> {
      PARLEY_TRY(swept, erase_expired(db));
      return swept == 0 ? Result<void>() : merge_index(db);
    };
    PARLEY_CHECK(writer_->run_with_room(erase, deadline));
    if (swept > 0) PARLEY_CHECK(writer_->empty_log(deadline));
    return swept;
  }

  Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline deadline) override {
    Result<Lease> out;
    PARLEY_CHECK(write(deadline, [&](Db& db) -> Result<void> {
      PARLEY_TRY(const auto session, take_session(db, key));
      const Lease held = session ? session->lease : Lease{};
      out = granted(held, request, now_ms());
      if (!out) {  // which stays an answer if a lease that lasts too long is made shorter
        const std::optional<Lease> shorter = bounded(held, now_ms());
        return shorter ? set_lease(db, session->id, *shorter) : Result<void>();
      }
      if (session) return set_lease(db, session->id, *out);
      PARLEY_TRY(const std::int64_t made, make_session(db, key, now_ms()));
      return set_lease(db, made, *out);
    }));
    return out;
  }

  Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                           Deadline deadline) override {
    PARLEY_TRY(const bool is_there, exists(deadline));
    if (!is_there) return renewed({}, request, now_ms());
    PARLEY_CHECK(open(deadline));
    Lease out;
    const auto put = [&](Db& db) -> Result<void> {
      PARLEY_TRY(out, put_checkpoint(db, key, request, bytes));
      return {};
    };
    PARLEY_CHECK(writer_->run_unsynced(put, deadline));
    return out;
  }

  Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline deadline) override {
    using Found = std::optional<HeldLease>;
    return read_with<Found>(deadline, Found(), [&](Db& db) { return find_holder(db, key); });
  }

  Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline deadline) override {
    using Found = std::vector<HeldLease>;
    return read_with<Found>(deadline, Found(), [&](Db& db) { return find_leases(db, tenant, count); });
  }

  Result<void> release(const SessionKey& key, const std::string& token, Deadline deadline) override {
    PARLEY_TRY(const bool is_there, exists(deadline));
    if (!is_there) return {};
    return write(deadline, [&](Db& db) -> Result<void> {
      PARLEY_TRY(const auto session, find_session(db, key));
      if (!session || session->lease.token != token) return {};
      return set_lease(db, session->id, {});
    });
  }

  Health health(Deadline deadline) override {
    Health out;
    out.backend = "sqlite";
    out.version = sqlite_version();
    out.durability = durability_;
    const auto start = std::chrono::steady_clock::now();
    const auto seen = read_with<std::int64_t>(
        deadline, 0, [](Db& db) { return db.number("SELECT count(*) FROM sessions"); });
    out.latency_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
            .count();
    const Result<void> probed = seen ? probe(deadline) : std::unexpected(seen.error());
    out.is_ok = probed.has_value();
    if (!probed) out.error = probed.error();
    if (has_reset_bug(sqlite_version_number())) {
      out.warnings.push_back(
          "SQLite " + out.version +
          " can lose pages if two programs write at once: let no other program write to the file");
    }
    for (std::string& warning : permission_warnings(path_)) out.warnings.push_back(std::move(warning));
    const std::lock_guard lock(mutex_);
    if (reading_ && reading_->damage && out.is_ok) out.warnings.push_back(reading_->damage->what);
    return out;
  }

  Result<std::vector<Fault>> inspect(Deadline deadline) override {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    std::vector<Fault> out;
    if (!reading) return out;
    if (reading->damage) out.push_back(*reading->damage);
    return read_in(deadline, [&](Db& db) -> Result<std::vector<Fault>> {
      PARLEY_TRY(Query q, db.query("PRAGMA integrity_check(100)"));
      while (true) {
        const Result<bool> has_row = q.step();
        if (!has_row && has_row.error().code != Code::Damaged) return std::unexpected(has_row.error());
        if (!has_row) out.push_back({has_row.error().message});
        if (!has_row || !*has_row) return out;
        if (q.text(0) != "ok") out.push_back({std::string(q.text(0))});
      }
    });
  }

  Result<void> back_up(const std::string& path, Deadline deadline) override {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    if (!reading) return fail(Code::NotFound, "no database to back up", path_);
    // A reader beside writers may not write, elsewhere neither.
    const Db::Mode mode = reading->mode == Db::Mode::Read ? Db::Mode::Write : reading->mode;
    PARLEY_TRY(Db db, Db::open(path_, mode));
    db.wait_until(deadline);
    PARLEY_CHECK(make_new_file(path));
    Result<void> copied = db.copy_to(path);
    if (copied) copied = make_another(path);
    if (!copied) ::unlink(path.c_str());
    return copied;
  }

 private:
  // A copy is another database: the witness of the original does not apply to it.
  static Result<void> make_another(const std::string& path) {
    PARLEY_TRY(Db db, Db::open(path, Db::Mode::Write));
    return renew_id(db);
  }

  // A child of fork() shares locks and memory with its parent, and would break both.
  Result<void> check_process() const {
    if (pid_ == ::getpid()) return {};
    return fail(Code::Unsupported, "the store was opened before fork(): open it again in the subprocess");
  }

  static Result<void> check_damage(const ReadAccess& reading) {
    if (!reading.damage || !reading.damage->is_certain) return {};
    return fail(Code::Damaged, reading.damage->what);
  }

  // Opens the file at the first call, and again after a failure. REQUIRES: the mutex is held.
  Result<void> open_writer(const Deadline& deadline) {
    PARLEY_TRY(writer_, SqliteWriter::open(path_, durability_, deadline));
    pid_ = ::getpid();
    reading_ = ReadAccess{Db::Mode::Read, writer_->damage()};
    readers_.set_mode(Db::Mode::Read);
    return {};
  }

  Result<void> open(const Deadline& deadline) {
    const std::lock_guard lock(mutex_);
    if (writer_ != nullptr) {
      PARLEY_CHECK(check_process());
    } else {
      PARLEY_CHECK(open_writer(deadline));
    }
    return check_damage(*reading_);
  }

  // How to read; nullopt without a database. Reading does not create one.
  Result<std::optional<ReadAccess>> open_for_reading(const Deadline& deadline) {
    const std::lock_guard lock(mutex_);
    if (reading_) {
      PARLEY_CHECK(check_process());
      return reading_;
    }
    PARLEY_TRY(const bool is_there, look_at_file(path_));
    if (!is_there) return std::nullopt;
    if (!is_read_only(path_)) {
      PARLEY_CHECK(open_writer(deadline));
      return reading_;
    }
    PARLEY_TRY(reading_, look_read_only(path_));
    pid_ = ::getpid();
    readers_.set_mode(reading_->mode);
    return reading_;
  }

  // Whether an append would work: an invisible commit, or, if the database does not exist yet, an unnamed
  // file.
  Result<void> probe(const Deadline& deadline) {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    if (!reading) return probe_place(path_);
    if (reading->mode != Db::Mode::Read) {
      return fail(Code::Unavailable,
                  "the database is read-only: check the permissions of the file and its folder", path_);
    }
    return write(deadline, [](Db& db) { return db.run("UPDATE store SET base = base + 1"); });
  }

  // What only changes or removes does not make a database.
  Result<bool> exists(const Deadline& deadline) {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    return reading.has_value();
  }

  Result<void> write(const Deadline& deadline, const SqliteWriter::Job& job) {
    PARLEY_CHECK(open(deadline));
    return writer_->run(job, deadline);
  }

  // What `job` gives, from one state of the database.
  template <typename Job>
  auto read_in(const Deadline& deadline, const Job& job) -> decltype(job(std::declval<Db&>())) {
    PARLEY_TRY(Readers::Reader reader, readers_.take());
    reader.db.wait_until(deadline);
    PARLEY_CHECK(reader.db.run("BEGIN"));
    auto out = job(reader.db);
    reader.db.roll_back();
    readers_.give_back(std::move(reader));
    return out;
  }

  // The same; `absent` without a database.
  template <typename T, typename Job>
  Result<T> read_with(const Deadline& deadline, Result<T> absent, const Job& job) {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    if (!reading) return absent;
    PARLEY_CHECK(check_damage(*reading));
    return read_in(deadline, job);
  }

  // The same for a session. Its error is made only if it is needed: making one looks for secrets in it.
  template <typename T, typename Job>
  Result<T> read_session(const Deadline& deadline, const SessionKey& key, const Job& job) {
    PARLEY_TRY(const std::optional<ReadAccess> reading, open_for_reading(deadline));
    if (!reading) return no_session(key);
    PARLEY_CHECK(check_damage(*reading));
    return read_in(deadline, [&](Db& db) -> Result<T> {
      PARLEY_TRY(const SessionRow session, existing(db, key));
      return job(db, session);
    });
  }

  static Result<SessionRow> existing(Db& db, const SessionKey& key) {
    PARLEY_TRY(std::optional<SessionRow> session, find_session(db, key));
    if (!session) return no_session(key);
    return *std::move(session);
  }

  // Fails if nothing is to be kept. A refusal that changes the lease is kept, and is in `out`.
  static Result<void> append_in(Db& db, const SessionKey& key, const RowBatch& batch, Result<Appended>& out) {
    PARLEY_TRY(const std::optional<SessionRow> session, take_session(db, key));
    Position size = 0;
    if (session) {
      PARLEY_TRY(const auto known, store::find_batch(db, session->id, batch.id));
      if (known) {
        PARLEY_TRY(out, repeated(batch, known->hash, known->appended));
        return {};
      }
      PARLEY_TRY(size, size_of(db, *session));
    }
    PARLEY_CHECK(check_size(batch, size));
    const LeaseVerdict verdict = check_lease(batch, session ? session->lease : Lease{}, now_ms());
    if (!verdict.replacement) PARLEY_CHECK(verdict.batch);
    if (verdict.replacement) PARLEY_CHECK(set_lease(db, session->id, *verdict.replacement));
    if (!verdict.batch) {
      out = std::unexpected(verdict.batch.error());
      return {};
    }
    std::int64_t id = session ? session->id : 0;
    if (!session) {
      PARLEY_TRY(id, make_session(db, key, batch.rows.front().record.created_ms));
    }
    PARLEY_CHECK(insert_rows(db, key.tenant, id, batch, size));
    if (verdict.after) PARLEY_CHECK(set_lease(db, id, *verdict.after));
    out = Appended{size, batch.rows.size()};
    return {};
  }

  static Result<SessionInfo> fork_in(Db& db, const SessionKey& from, const std::string& to, Position size) {
    PARLEY_TRY(const SessionRow source, existing(db, from));
    PARLEY_TRY(const Position has, size_of(db, source));
    PARLEY_CHECK(check_fork(from, has, size));
    const SessionKey key{from.tenant, to};
    PARLEY_TRY(const auto taken, take_session(db, key));
    if (taken) return session_exists(to);
    std::optional<std::int64_t> parent;
    if (size > 0) {
      PARLEY_TRY(const SessionRow holder, holder_of(db, source, size));
      parent = holder.id;
    }
    PARLEY_TRY([[maybe_unused]] const std::int64_t id, make_session(db, key, now_ms(), parent, size));
    PARLEY_TRY(const SessionRow made, existing(db, key));
    return info_of(db, to, made);
  }

  Result<void> bring_index_up_to_date(const Deadline& deadline) {
    while (true) {
      PARLEY_TRY(const bool is_current, read_with<bool>(deadline, true, is_index_current));
      if (is_current) return {};
      PARLEY_CHECK(write(deadline, index_some));
    }
  }

  std::string path_;
  Durability durability_;
  std::mutex mutex_;  // for opening
  int pid_ = 0;
  std::unique_ptr<SqliteWriter> writer_;
  std::optional<ReadAccess> reading_;
  Readers readers_;
};

}  // namespace

Result<std::unique_ptr<Backend>> sqlite_backend(const std::string& path, const StoreOptions& options) {
  if (path.empty()) return fail(Code::Invalid, "the path of the database is empty: 'sqlite:PATH'");
  if (path.find('\0') != std::string::npos) return fail(Code::Invalid, "the path of the database has a NUL");
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return fail(Code::Unavailable, "cannot get the working directory: " + error.message(), path);
  return std::make_unique<SqliteBackend>(absolute.string(), options.durability);
}

}  // namespace parley::store
