// SQLite's C interface as values and Results; the one place that knows it is sqlite_db.cc.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "parley/base/clock.h"
#include "parley/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace parley::store {

// A prepared statement in use. Going out of scope resets it. Columns and parameters count from 0 and 1, as
// SQLite's do.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  // Bytes are not copied: they must stay until the query is done.
  Query& bind(int index, std::int64_t value);
  Query& bind_text(int index, std::string_view value);
  Query& bind_blob(int index, std::string_view value);
  Query& bind_null(int index);

  Result<bool> step();  // true: there is a row
  Result<void> run();   // for statements without rows

  std::int64_t integer(int column) const;
  // Valid until the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool is_null(int column) const;

 private:
  sqlite3_stmt* statement_;
};

class Db {
 public:
  enum class Mode : std::uint8_t {
    Write,
    Read,       // beside writers
    ReadOnly,   // where the file cannot be written
    Immutable,  // the file alone, without its log; makes nothing beside it
  };

  // Opens a file that exists.
  static Result<Db> open(const std::string& path, Mode mode);

  // Statements that take no values: schema, pragmas, transactions.
  Result<void> run(const char* sql);
  Result<std::int64_t> number(const char* sql);
  Result<std::string> word(const char* sql);

  // A statement, prepared once. `sql` must be a literal: it is found again by its place.
  Result<Query> query(const char* sql);

  // Fails with Unresolved if the disk failed as the commit was written: a crash may still bring it back.
  Result<void> commit();
  void roll_back();
  // How much came into the log of writes since the last checkpoint here, in frames of one page.
  std::int64_t log_frames() const { return log_->frames - log_->checkpointed; }

  std::int64_t last_id() const;
  std::int64_t changes() const;  // rows that were inserted, updated or deleted since it was opened
  bool is_in_transaction() const;
  // How long to wait for a lock of another connection.
  void wait_until(const Deadline& deadline);

  // Copies frames of the log of writes into the file. `erase`: all of them, and empties the log.
  struct Checkpointed {
    bool is_complete;
    std::int64_t frames;  // in the log
  };
  Result<Checkpointed> checkpoint(bool erase);

  int missed_names = 0;  // how often no session had a name (sqlite_sessions.cc)

  // A copy of the whole file, as of one moment.
  Result<void> copy_to(const std::string& path);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Db(sqlite3* db);

  struct Log {
    std::int64_t frames = 0;        // at the last commit here
    std::int64_t checkpointed = 0;  // of these, at the last checkpoint
  };
  static int remember_frames(void* log, sqlite3* db, const char* name, int count);

  std::unique_ptr<Log> log_;  // on the heap, because SQLite keeps its address
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// Of the library that is linked.
int sqlite_version_number();
std::string sqlite_version();

}  // namespace parley::store
