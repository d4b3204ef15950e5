// What libpq needs for the same statement: one prepared statement a commit, on connections that are there.
// The words of the text are given, not found.
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "store/contender.h"
#include "store/postgres/append.h"

namespace bench::store_task {
namespace {

constexpr const char* kTenant = "bare";
constexpr const char* kSettings =
    "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off";
constexpr std::uint32_t kBytea = 17, kBigint = 20, kInteger = 23;  // the numbers of the server's types

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::string number(std::uint64_t value, int bytes) {
  std::string out;
  put(out, value, bytes);
  return out;
}

// An array in the binary format.
std::string list(std::uint32_t type, const std::vector<std::string>& items) {
  std::string out = number(items.empty() ? 0 : 1, 4) + number(0, 4) + number(type, 4);
  if (!items.empty()) out += number(items.size(), 4) + number(1, 4);
  for (const std::string& item : items) {
    put(out, item.size(), 4);
    out += item;
  }
  return out;
}

class Libpq final : public Contender {
 public:
  Libpq(const std::string& uri, std::size_t connections) : connections_(connections) {
    for (const std::int32_t hash : parley::store::word_hashes(kTenant, text_of(body_of(0)))) {
      words_.push_back(number(static_cast<std::uint32_t>(hash), 4));
    }
    for (PGconn*& connection : connections_) {
      connection = PQconnectdb(uri.c_str());
      check(PQstatus(connection) == CONNECTION_OK, "libpq");
      done(PQexec(connection, kSettings), PGRES_COMMAND_OK);
      done(PQprepare(connection, "append", parley::store::kAppend.sql, 0, nullptr), PGRES_COMMAND_OK);
    }
  }
  ~Libpq() override {
    for (PGconn* connection : connections_) PQfinish(connection);
  }

  void append(std::size_t session, std::size_t count) override {
    PGconn* connection = connections_[session % connections_.size()];
    const std::string name = "session " + std::to_string(session);
    if (count == 0) make_session(connection, name);
    const std::string body = body_of(count);
    const std::string zero = number(0, 4);
    const std::string none = list(kBytea, {});
    const std::string empty = list(kBytea, {""});
    const std::string batch = std::to_string(::getpid()) + "." + name + "." + std::to_string(count);
    const std::string values[] = {kTenant,
                                  name,
                                  number(1, 8),
                                  number(1, 8),
                                  "",  // any size
                                  "",
                                  batch,
                                  number(count, 8),
                                  none,
                                  none,
                                  none,
                                  list(kInteger, words_),
                                  list(kInteger, {zero}),
                                  list(kBigint, {number(1, 8)}),
                                  list(kBigint, {number(count, 8)}),
                                  list(kBytea, {"parley"}),
                                  empty,
                                  list(kBytea, {"user"}),
                                  empty,
                                  list(kBytea, {text_of(body)}),
                                  list(kBytea, {body}),
                                  empty,
                                  list(kInteger, {zero}),
                                  list(kInteger, {number(1, 4)}),
                                  list(kInteger, {number(words_.size(), 4)})};
    run(connection, values);
  }

 private:
  template <std::size_t kCount>
  static void run(PGconn* connection, const std::string (&values)[kCount]) {
    const char* data[kCount];
    int sizes[kCount];
    int formats[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      data[i] = values[i].data();
      sizes[i] = static_cast<int>(values[i].size());
      formats[i] = 1;
    }
    data[4] = nullptr;
    done(PQexecPrepared(connection, "append", kCount, data, sizes, formats, 1), PGRES_TUPLES_OK, 1);
  }

  static void make_session(PGconn* connection, const std::string& name) {
    const char* values[] = {kTenant, name.c_str()};
    done(PQexecParams(connection,
                      "INSERT INTO parley.sessions (tenant, name, size, created_ms, updated_ms)"
                      " VALUES ($1, $2, 0, 1, 1) ON CONFLICT DO NOTHING",
                      2, nullptr, values, nullptr, nullptr, 0),
         PGRES_COMMAND_OK);
  }

  static void done(PGresult* result, ExecStatusType wanted, int rows = 0) {
    check(PQresultStatus(result) == wanted && PQntuples(result) == rows, "libpq");
    PQclear(result);
  }

  std::vector<PGconn*> connections_;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Contender> bare_libpq(const std::string& uri, std::size_t connections) {
  return std::make_unique<Libpq>(uri, connections);
}

}  // namespace bench::store_task
