#include "store/sqlite/db.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace parley::store {
namespace {

// What the caller should do about an error of SQLite.
Code code_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
      return Code::Timeout;
    case SQLITE_CORRUPT:
      return Code::Damaged;
    case SQLITE_NOTADB:
      return Code::Invalid;
    case SQLITE_TOOBIG:
      return Code::LimitExceeded;
    default:
      return Code::Unavailable;
  }
}

// By the error of the system where there is one: SQLite says the same of most of them.
std::string_view hint_of(int code, int system) {
  // What a removal erases goes through the log first, and so does the search index, which is merged.
  constexpr std::string_view kFull =
      ": free some space; removing a session needs space too, up to the size of the session and of the "
      "search index";
  switch (system) {
    case EMFILE:
    case ENFILE:
      return ": too many files are open; close some, or raise the limit (ulimit -n)";
    case EFBIG:
      return ": a file has reached the largest size allowed; raise the limit (ulimit -f)";
    case ENOSPC:
    case EDQUOT:
      return kFull;
    case EROFS:
      return ": the file system is read-only";
    default:
      break;
  }
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return kFull;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return ": check the permissions of the file and its folder";
    case SQLITE_BUSY:
      return ": another program holds it";
    case SQLITE_CORRUPT:
      return ": restore it from a backup";
    default:
      return {};
  }
}

// The last error of the system with the database or its log. A commit that fails does not set
// sqlite3_system_errno(); the files know it.
int system_error(sqlite3* db, int code) {
  int system = sqlite3_system_errno(db);
  if (system != 0 || (code & 0xFF) != SQLITE_IOERR) return system;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &system);
  }
  if (system == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
  return system;
}

std::unexpected<Error> failure(sqlite3* db) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
  const char* words = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
  const int system = db == nullptr ? 0 : system_error(db, code);
  return fail(code_of(code), "SQLite error: " + std::string(words) + std::string(hint_of(code, system)));
}

std::string_view bytes_of(const void* data, int size) {
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

int flags_of(Db::Mode mode) {
  switch (mode) {
    case Db::Mode::Write:
    case Db::Mode::Read:  // needs write access to the shared memory of the log; query_only guards the tables
      return SQLITE_OPEN_READWRITE;
    case Db::Mode::ReadOnly:
      return SQLITE_OPEN_READONLY;
    case Db::Mode::Immutable:
      break;
  }
  return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
}

std::string immutable_uri(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "file:";  // no host, whatever the path begins with
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '%' && c != '?' && c != '#') {
      out += c;
    } else {
      ((out += '%') += kHex[byte >> 4]) += kHex[byte & 0xF];
    }
  }
  return out + "?immutable=1";
}

// SQLite takes a null pointer for NULL, also where the size is 0.
const char* data_of(std::string_view value) { return value.data() == nullptr ? "" : value.data(); }

}  // namespace

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Query& Query::bind_text(int index, std::string_view value) {
  sqlite3_bind_text64(statement_, index, data_of(value), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Query& Query::bind_blob(int index, std::string_view value) {
  sqlite3_bind_blob64(statement_, index, data_of(value), value.size(), SQLITE_STATIC);
  return *this;
}

Query& Query::bind_null(int index) {
  sqlite3_bind_null(statement_, index);
  return *this;
}

Result<bool> Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_));
}

Result<void> Query::run() {
  PARLEY_TRY([[maybe_unused]] const bool has_row, step());
  return {};
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  return bytes_of(text, sqlite3_column_bytes(statement_, column));
}

std::string_view Query::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  return bytes_of(bytes, sqlite3_column_bytes(statement_, column));
}

bool Query::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

void Db::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }
void Db::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Db::Db(sqlite3* db) : log_(std::make_unique<Log>()), db_(db) {}

int Db::remember_frames(void* log, sqlite3*, const char*, int count) {
  auto& seen = *static_cast<Log*>(log);
  seen.frames = count;
  if (count < seen.checkpointed) seen.checkpointed = 0;  // the log was begun again
  return SQLITE_OK;
}

Result<Db> Db::open(const std::string& path, Mode mode) {
  sqlite3* handle = nullptr;
  const int flags = flags_of(mode) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  const std::string name = mode == Mode::Immutable ? immutable_uri(path) : path;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Db db(handle);
  if (code != SQLITE_OK) return failure(handle);
  sqlite3_wal_hook(handle, remember_frames, db.log_.get());
  // A database is untrusted: nothing in it may run code or change the schema.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Only the writer may move frames of the log into the file (sqlite_writer.h), so no connection does it as
  // it closes.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // After a crash the first process that opens the database recovers the WAL, and the others wait for it.
  constexpr int kRecoveryMs = 2000;
  sqlite3_busy_timeout(handle, kRecoveryMs);
  // A writer's cache holds what a group of appends changes; more of it is not better, for SQLite walks
  // through all of it at every commit. A reader reads most pages once, and the system has them: what its
  // cache would hold is memory to be cleared first.
  PARLEY_CHECK(
      db.run("PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA "
             "foreign_keys = OFF"));
  PARLEY_CHECK(db.run(mode == Mode::Write ? "PRAGMA cache_size = -8192" : "PRAGMA cache_size = -512"));
  if (mode == Mode::Read) PARLEY_CHECK(db.run("PRAGMA query_only = ON"));
  return db;
}

Result<void> Db::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(db_.get());
  return {};
}

Result<std::int64_t> Db::number(const char* sql) {
  PARLEY_TRY(Query q, query(sql));
  PARLEY_TRY(const bool has_row, q.step());
  return has_row ? q.integer(0) : 0;
}

Result<std::string> Db::word(const char* sql) {
  PARLEY_TRY(Query q, query(sql));
  PARLEY_TRY(const bool has_row, q.step());
  return has_row ? std::string(q.text(0)) : std::string();
}

Result<Query> Db::query(const char* sql) {
  auto& statement = statements_[sql];
  if (statement == nullptr) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
      return failure(db_.get());
    }
    statement.reset(made);
  }
  return Query(statement.get());
}

Result<void> Db::commit() {
  Result<void> done;
  int code = SQLITE_OK;
  {
    PARLEY_TRY(Query q, query("COMMIT"));
    done = q.run();
    if (done) return done;
    code = sqlite3_extended_errcode(db_.get());
  }
  roll_back();
  // The last frame of the WAL is the commit. If a frame was not written, there is no commit; if all were
  // written and the sync failed, the outcome is unknown.
  if ((code & 0xFF) == SQLITE_IOERR && code != SQLITE_IOERR_WRITE) done.error().code = Code::Unresolved;
  return done;
}

void Db::roll_back() {
  if (is_in_transaction()) (void)run("ROLLBACK");
}

std::int64_t Db::last_id() const { return sqlite3_last_insert_rowid(db_.get()); }
std::int64_t Db::changes() const { return sqlite3_total_changes64(db_.get()); }
bool Db::is_in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

void Db::wait_until(const Deadline& deadline) {
  const auto most = std::min<std::int64_t>(deadline.left().count(), INT_MAX);
  sqlite3_busy_timeout(db_.get(), static_cast<int>(most));
}

Result<Db::Checkpointed> Db::checkpoint(bool erase) {
  int frames = 0;
  int done = 0;
  const int mode = erase ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int code = sqlite3_wal_checkpoint_v2(db_.get(), nullptr, mode, &frames, &done);
  if (code != SQLITE_OK && (code & 0xFF) != SQLITE_BUSY) return failure(db_.get());
  *log_ = {frames, frames};
  return Checkpointed{code == SQLITE_OK && done == frames, frames};
}

Result<void> Db::copy_to(const std::string& path) {
  PARLEY_TRY(Query q, query("VACUUM INTO ?1"));
  return q.bind_text(1, path).run();
}

int sqlite_version_number() { return sqlite3_libversion_number(); }
std::string sqlite_version() { return sqlite3_libversion(); }

}  // namespace parley::store
