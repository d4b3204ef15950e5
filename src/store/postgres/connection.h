// One connection to PostgreSQL: groups of prepared statements, each group sent at once and answered within a
// deadline. The only file beside its .cc that knows how to talk to the server.
//
// A group is one transaction, unless it begins or ends one itself. Everything travels in the binary format,
// so bytes come back as they were (P9).
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/store/record.h"

struct pg_conn;
struct pg_result;

namespace parley::store {

// Why a group of statements has not been done.
struct SqlError : Error {
  SqlError(Error error) : Error(std::move(error)) {}
  std::string state = {};  // SQLSTATE, if the server refused it; then nothing of the group has happened
  bool is_cut = false;     // it was sent, and no answer came: it may have happened
};

template <typename T>
using Sql = std::expected<T, SqlError>;

// Named ones are prepared once on each connection. The texts are literals.
struct Statement {
  const char* name;  // "": used once
  const char* sql;
};

// The values of $1, $2 ... in order. Those that are views must live until the group has been run.
class Arguments {
 public:
  Arguments& number(std::int64_t value);
  Arguments& number(std::optional<std::int64_t> value);
  Arguments& flag(bool value);
  Arguments& bytes(std::string_view value);  // text or bytea
  Arguments& null();
  Arguments& numbers(std::span<const std::int64_t> values);           // bigint[]
  Arguments& small_numbers(std::span<const std::int32_t> values);     // integer[]
  Arguments& byte_strings(std::span<const std::string_view> values);  // bytea[]

 private:
  friend class PostgresConnection;
  struct Value {
    bool is_null = false;
    bool is_owned = false;
    std::string owned = {};
    std::string_view view = {};
    std::string_view get() const { return is_owned ? std::string_view(owned) : view; }
  };
  Arguments& own(std::string bytes);
  bool is_too_large() const;
  std::vector<Value> values_;
};

struct Call {
  Statement statement;
  Arguments arguments = {};
};

// The rows that a statement gave. Movable.
class Answer {
 public:
  explicit Answer(pg_result* result) : result_(result, free) {}
  std::size_t rows() const;
  bool empty() const { return rows() == 0; }
  bool is_null(std::size_t row, int column) const;
  std::int64_t number(std::size_t row, int column) const;  // of any width; 0 for null
  std::optional<std::int64_t> maybe_number(std::size_t row, int column) const;
  bool flag(std::size_t row, int column) const { return number(row, column) != 0; }
  std::string_view bytes(std::size_t row, int column) const;  // while the Answer lives
  std::string text(std::size_t row, int column) const { return std::string(bytes(row, column)); }

 private:
  static void free(pg_result* result);
  std::unique_ptr<pg_result, void (*)(pg_result*)> result_;
};

// Fails with Invalid for a malformed URI, with NotFound without libpq. The error does not contain the URI,
// which may have a password.
Result<void> check_postgres_uri(const Secret& uri);

class PostgresConnection {
 public:
  // What the URI leaves out is taken from where libpq looks for it, like any client of PostgreSQL does. A
  // name of a host is looked up without a deadline: libpq offers none. REQUIRES: check_postgres_uri(uri).
  static Result<std::unique_ptr<PostgresConnection>> open(const Secret& uri, Deadline deadline);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  bool is_alive() const;  // and has nothing to say
  bool is_idle() const;   // no group and no transaction is under way

  // One answer per statement. What went wrong first, if anything did.
  Sql<std::vector<Answer>> run(std::span<const Call> group, Deadline deadline);
  // The same for a group that commits: fails with Unresolved if no answer came (P10).
  Sql<std::vector<Answer>> commit(std::span<const Call> group, Deadline deadline);
  // Ends a transaction, if one is open. False if the connection is of no more use.
  bool rollback(Deadline deadline);

  Durability durability = Durability::None;  // of commits on this connection; set at the open

 private:
  explicit PostgresConnection(pg_conn* connection) : connection_(connection) {}
  // A statement that was sent, and whose result is to come.
  struct Sent {
    std::string_view prepares = {};  // the name it has from now on
    bool is_own = false;             // started by this class
  };
  Sql<void> send_timeout(Deadline deadline);
  Sql<void> prepare(const Statement& statement);
  Sql<void> send(const Call& call);
  Sql<std::vector<Answer>> receive(Deadline deadline);
  Sql<pg_result*> next_result(Deadline deadline);
  std::unexpected<SqlError> cut(Code code, std::string why);
  std::string reason() const;

  pg_conn* connection_;
  std::set<std::string_view> prepared_ = {};
  std::vector<Sent> sent_ = {};                     // of the group that is under way
  std::chrono::milliseconds statement_timeout_{0};  // of the server; 0: not known
  bool is_broken_ = false;
};

}  // namespace parley::store
