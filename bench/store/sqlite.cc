// What SQLite needs for the same rows with the same settings: one prepared INSERT a commit, one SELECT a
// load.
#include <sqlite3.h>

#include "store/contender.h"

namespace bench::store_task {
namespace {

class Sqlite final : public Contender {
 public:
  explicit Sqlite(const std::string& path) {
    check(sqlite3_open(path.c_str(), &db_));
    check(sqlite3_exec(
        db_,
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "PRAGMA wal_autocheckpoint = 0;"
        "CREATE TABLE records(session INTEGER, position INTEGER, role TEXT, body BLOB, text TEXT,"
        "  PRIMARY KEY(session, position))",
        nullptr, nullptr, nullptr));
    check(sqlite3_prepare_v2(db_, "INSERT INTO records VALUES (?1, ?2, 'user', ?3, ?4)", -1, &insert_,
                             nullptr));
    check(sqlite3_prepare_v2(
        db_, "SELECT position, role, body, text FROM records WHERE session = ?1 ORDER BY position", -1,
        &select_, nullptr));
  }
  ~Sqlite() override {
    sqlite3_finalize(insert_);
    sqlite3_finalize(select_);
    sqlite3_close(db_);
  }

  void append(std::size_t session, std::size_t number) override {
    const std::string body = body_of(number);
    const std::string text = text_of(body);
    sqlite3_bind_int64(insert_, 1, static_cast<sqlite3_int64>(session));
    sqlite3_bind_int64(insert_, 2, static_cast<sqlite3_int64>(number));
    sqlite3_bind_blob64(insert_, 3, body.data(), body.size(), SQLITE_STATIC);
    sqlite3_bind_text64(insert_, 4, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    check(sqlite3_step(insert_) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR);
    sqlite3_reset(insert_);
  }

  std::size_t load(std::size_t session) override {
    sqlite3_bind_int64(select_, 1, static_cast<sqlite3_int64>(session));
    std::size_t bytes = 0;
    std::string copy;
    while (sqlite3_step(select_) == SQLITE_ROW) {
      const auto* body = static_cast<const char*>(sqlite3_column_blob(select_, 2));
      copy.assign(body, static_cast<std::size_t>(sqlite3_column_bytes(select_, 2)));
      bytes += copy.size();
    }
    sqlite3_reset(select_);
    return bytes;
  }

 private:
  static void check(int code) { store_task::check(code == SQLITE_OK, "SQLite"); }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> bare_sqlite(const std::string& path) { return std::make_unique<Sqlite>(path); }

}  // namespace bench::store_task
