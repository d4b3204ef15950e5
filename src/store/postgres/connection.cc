#include "store/postgres/connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "store/postgres/libpq.h"

namespace parley::store {
namespace {

using std::chrono::milliseconds;

// The numbers that PostgreSQL has for types of elements; they never change.
constexpr std::uint32_t kBytea = 17;
constexpr std::uint32_t kBigint = 20;
constexpr std::uint32_t kInteger = 23;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of the arguments of one statement

// For what the URI does not say. A peer that has gone without a word is noticed within a minute.
constexpr std::array<std::pair<const char*, const char*>, 6> kDefaults = {{
    {"fallback_application_name", "parley"},
    {"keepalives", "1"},
    {"keepalives_idle", "30"},
    {"keepalives_interval", "10"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "30000"},
}};

// What to do about an error of the server, by the beginning of its SQLSTATE; the first that fits.
struct StateRule {
  std::string_view prefix;
  Code code;
};
constexpr StateRule kStates[] = {
    {"57014", Code::Timeout},      // statement_timeout
    {"54", Code::LimitExceeded},   // a limit of the server
    {"XX001", Code::Damaged},      // data_corrupted
    {"XX002", Code::Damaged},      // index_corrupted
    {"42501", Code::Unsupported},  // the user may not do this
    {"", Code::Unavailable},
};

Code code_of(std::string_view state) {
  return std::find_if(std::begin(kStates), std::end(kStates),
                      [&](const StateRule& rule) { return state.starts_with(rule.prefix); })
      ->code;
}

template <typename T>
void put(std::string& out, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> shift & 0xFF);
  }
}

// An array of one dimension: dimensions, whether there are nulls, type, count, first index, elements.
std::string array_head(std::uint32_t type, std::size_t count) {
  std::string out;
  put<std::int32_t>(out, count == 0 ? 0 : 1);
  put<std::int32_t>(out, 0);
  put<std::uint32_t>(out, type);
  if (count == 0) return out;
  put<std::int32_t>(out, static_cast<std::int32_t>(count));
  put<std::int32_t>(out, 1);
  return out;
}

template <typename T>
std::string array_of(std::uint32_t type, std::span<const T> values) {
  std::string out = array_head(type, values.size());
  out.reserve(out.size() + values.size() * (4 + sizeof(T)));
  for (const T value : values) {
    put<std::int32_t>(out, sizeof(T));
    put<T>(out, value);
  }
  return out;
}

// libpq ends its messages with a line end, and may write several lines.
std::string one_line(std::string_view text) {
  std::string out(text.substr(0, text.find_last_not_of(" \n") + 1));
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

std::string_view field_of(const pg_result* result, int field) {
  const char* value = pq().resultErrorField(result, field);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The sentence alone: what the server adds to it may repeat what is stored.
SqlError refusal_of(const pg_result* result) {
  const std::string_view state = field_of(result, PG_DIAG_SQLSTATE);
  SqlError out(
      fail(code_of(state), "PostgreSQL: " + one_line(field_of(result, PG_DIAG_MESSAGE_PRIMARY))).error());
  out.state = state;
  return out;
}

// True if the server ends the connection with this error. Then it is silent about what it has committed.
bool is_end(const pg_result* result) {
  const std::string_view severity = field_of(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == "FATAL" || severity == "PANIC";
}

int poll_time(Deadline deadline) {
  return static_cast<int>(std::min<std::int64_t>(deadline.left().count(), INT_MAX));
}

using Options = std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)>;

Options options_of(const Secret& uri) {
  char* why = nullptr;  // may repeat the password
  PQconninfoOption* options = pq().conninfoParse(std::string(uri.reveal()).c_str(), &why);
  pq().freemem(why);
  return {options, pq().conninfoFree};
}

pg_conn* start(const Secret& uri) {
  const Options options = options_of(uri);
  std::vector<const char*> names;
  std::vector<const char*> values;
  const auto add = [&](const char* name, const char* value) {
    names.push_back(name);
    values.push_back(value);
  };
  for (const auto& [name, value] : kDefaults) add(name, value);
  for (const PQconninfoOption* o = options.get(); o != nullptr && o->keyword != nullptr; ++o) {
    if (o->val != nullptr) add(o->keyword, o->val);
  }
  add("client_encoding", "UTF8");
  add(nullptr, nullptr);
  return pq().connectStartParams(names.data(), values.data(), 0);
}

// Waits for one of `events`. False at the deadline.
bool wait_for(int socket, short events, Deadline deadline) {
  pollfd wanted{socket, events, 0};
  while (true) {
    const int ready = poll(&wanted, 1, poll_time(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // reading will say what is wrong
    if (deadline.has_passed()) return false;
  }
}

Result<void> finish_connecting(pg_conn* connection, Deadline deadline) {
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
  while (wants != PGRES_POLLING_OK) {
    if (wants == PGRES_POLLING_FAILED) {
      return fail(Code::Unavailable, "PostgreSQL: " + one_line(pq().errorMessage(connection)));
    }
    const short events = wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for(pq().socket(connection), events, deadline)) {
      return fail(Code::Timeout, "the connection to PostgreSQL timed out");
    }
    wants = pq().connectPoll(connection);
  }
  return {};
}

}  // namespace

// ---- Arguments

Arguments& Arguments::own(std::string bytes) {
  values_.push_back({false, true, std::move(bytes), {}});
  return *this;
}

Arguments& Arguments::number(std::int64_t value) {
  std::string out;
  put<std::int64_t>(out, value);
  return own(std::move(out));
}

Arguments& Arguments::number(std::optional<std::int64_t> value) { return value ? number(*value) : null(); }

Arguments& Arguments::flag(bool value) { return own(std::string(1, value ? '\1' : '\0')); }

Arguments& Arguments::bytes(std::string_view value) {
  values_.push_back({false, false, {}, value});
  return *this;
}

Arguments& Arguments::null() {
  values_.push_back({true, false, {}, {}});
  return *this;
}

Arguments& Arguments::numbers(std::span<const std::int64_t> values) { return own(array_of(kBigint, values)); }

Arguments& Arguments::small_numbers(std::span<const std::int32_t> values) {
  return own(array_of(kInteger, values));
}

Arguments& Arguments::byte_strings(std::span<const std::string_view> values) {
  std::string out = array_head(kBytea, values.size());
  std::size_t size = out.size();
  for (const std::string_view value : values) size += 4 + value.size();
  out.reserve(size);
  for (const std::string_view value : values) {
    put<std::int32_t>(out, static_cast<std::int32_t>(value.size()));
    out.append(value);
  }
  return own(std::move(out));
}

bool Arguments::is_too_large() const {
  std::size_t bytes = 0;
  for (const Value& value : values_) bytes += value.get().size();
  return bytes >= kMostBytes;
}

// ---- Answers

void Answer::free(pg_result* result) { pq().clear(result); }

std::size_t Answer::rows() const { return static_cast<std::size_t>(pq().ntuples(result_.get())); }

bool Answer::is_null(std::size_t row, int column) const {
  return pq().getisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::string_view Answer::bytes(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  return {pq().getvalue(result_.get(), at, column),
          static_cast<std::size_t>(pq().getlength(result_.get(), at, column))};
}

std::int64_t Answer::number(std::size_t row, int column) const {
  const std::string_view from = bytes(row, column);
  if (from.empty()) return 0;
  std::uint64_t out = static_cast<signed char>(from.front()) < 0 ? ~std::uint64_t{0} : 0;
  for (const char c : from) out = out << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(out);
}

std::optional<std::int64_t> Answer::maybe_number(std::size_t row, int column) const {
  if (is_null(row, column)) return {};
  return number(row, column);
}

// ---- Connecting

Result<void> check_postgres_uri(const Secret& uri) {
  PARLEY_CHECK(load_pq());
  if (options_of(uri) != nullptr) return {};
  return fail(Code::Invalid,
              "invalid PostgreSQL URI: expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE");
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const Secret& uri, Deadline deadline) {
  std::unique_ptr<PostgresConnection> out(new PostgresConnection(start(uri)));
  pg_conn* connection = out->connection_;
  if (connection == nullptr) return fail(Code::Unavailable, "PostgreSQL: out of memory");
  // Without this libpq would print what the server remarks.
  pq().setNoticeReceiver(connection, [](void*, const PGresult*) {}, nullptr);
  if (pq().status(connection) == CONNECTION_BAD) {
    return fail(Code::Unavailable, "PostgreSQL: " + one_line(pq().errorMessage(connection)));
  }
  PARLEY_CHECK(finish_connecting(connection, deadline));
  if (pq().setnonblocking(connection, 1) != 0 || pq().enterPipelineMode(connection) != 1) {
    return fail(Code::Unavailable, "PostgreSQL: " + one_line(pq().errorMessage(connection)));
  }
  return out;
}

PostgresConnection::~PostgresConnection() { pq().finish(connection_); }

bool PostgresConnection::is_alive() const {
  if (is_broken_ || pq().status(connection_) != CONNECTION_OK) return false;
  pollfd wanted{pq().socket(connection_), POLLIN, 0};
  return poll(&wanted, 1, 0) == 0;
}

bool PostgresConnection::is_idle() const {
  return !is_broken_ && pq().status(connection_) == CONNECTION_OK &&
         pq().transactionStatus(connection_) == PQTRANS_IDLE;
}

// ---- Groups

std::string PostgresConnection::reason() const { return one_line(pq().errorMessage(connection_)); }

std::unexpected<SqlError> PostgresConnection::cut(Code code, std::string why) {
  is_broken_ = true;
  SqlError error(fail(code, std::move(why)).error());
  error.is_cut = true;
  return std::unexpected(std::move(error));
}

Sql<void> PostgresConnection::prepare(const Statement& statement) {
  const std::string_view name = statement.name;
  const auto is_sent = [&](const Sent& sent) { return sent.prepares == name; };
  if (prepared_.contains(name) || std::any_of(sent_.begin(), sent_.end(), is_sent)) return {};
  if (pq().sendPrepare(connection_, statement.name, statement.sql, 0, nullptr) != 1) {
    return cut(Code::Unavailable, "PostgreSQL: " + reason());
  }
  sent_.push_back({.prepares = name});
  return {};
}

Sql<void> PostgresConnection::send(const Call& call) {
  const Statement& statement = call.statement;
  const std::vector<Arguments::Value>& arguments = call.arguments.values_;
  const int count = static_cast<int>(arguments.size());
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const Arguments::Value& argument : arguments) {
    // An empty view may have no address, which would mean null.
    values.push_back(argument.is_null ? nullptr : argument.get().empty() ? "" : argument.get().data());
    lengths.push_back(static_cast<int>(argument.get().size()));
  }
  const std::vector<int> formats(arguments.size(), 1);
  const std::string_view name = statement.name;
  bool is_sent = false;
  if (name.empty()) {
    is_sent = pq().sendQueryParams(connection_, statement.sql, count, nullptr, values.data(), lengths.data(),
                                   formats.data(), 1) == 1;
  } else {
    PARLEY_CHECK(prepare(statement));
    is_sent = pq().sendQueryPrepared(connection_, statement.name, count, values.data(), lengths.data(),
                                     formats.data(), 1) == 1;
  }
  if (!is_sent) return cut(Code::Unavailable, "PostgreSQL: " + reason());
  sent_.push_back({});
  return {};
}

// Statements time out at the server before the caller's deadline, so that they are known not to have
// happened. Calls with about the same time left share one setting.
Sql<void> PostgresConnection::send_timeout(Deadline deadline) {
  static constexpr Statement kTimeout{"timeout", "SELECT set_config('statement_timeout', $1, false)"};
  const milliseconds left =
      std::clamp(deadline.left(), milliseconds(2), milliseconds(std::chrono::hours(24)));
  if (statement_timeout_ <= left && statement_timeout_ >= left * 3 / 4) return {};
  statement_timeout_ = left - left / 10 - milliseconds(1);
  const std::string value = std::to_string(statement_timeout_.count());
  PARLEY_CHECK(send({kTimeout, Arguments().bytes(value)}));
  sent_.back().is_own = true;
  return {};
}

Sql<pg_result*> PostgresConnection::next_result(Deadline deadline) {
  while (pq().isBusy(connection_) != 0) {
    const int unsent = pq().flush(connection_);
    if (unsent < 0) return cut(Code::Unavailable, "PostgreSQL: " + reason());
    const auto events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
    if (!wait_for(pq().socket(connection_), events, deadline)) {
      return cut(Code::Timeout, "PostgreSQL did not answer in time");
    }
    if (pq().consumeInput(connection_) == 0) return cut(Code::Unavailable, "PostgreSQL: " + reason());
  }
  return pq().getResult(connection_);
}

Sql<std::vector<Answer>> PostgresConnection::receive(Deadline deadline) {
  std::vector<Answer> answers;
  std::optional<SqlError> refused;
  for (std::size_t at = 0; true;) {
    PARLEY_TRY(pg_result* const result, next_result(deadline));
    if (result == nullptr) {  // the end of one statement
      if (pq().status(connection_) != CONNECTION_OK) return cut(Code::Unavailable, "PostgreSQL: " + reason());
      ++at;
      continue;
    }
    Answer answer(result);
    const ExecStatusType status = pq().resultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) break;
    if (status == PGRES_PIPELINE_ABORTED) continue;
    if (status == PGRES_FATAL_ERROR) {
      SqlError error = refusal_of(result);
      if (is_end(result) || pq().status(connection_) != CONNECTION_OK) {
        return cut(Code::Unavailable, std::move(error.message));
      }
      if (!refused) refused = std::move(error);
    } else if (at < sent_.size() && !sent_[at].prepares.empty()) {
      prepared_.insert(sent_[at].prepares);
    } else if (at < sent_.size() && !sent_[at].is_own) {
      answers.push_back(std::move(answer));
    }
  }
  if (refused) return std::unexpected(*std::move(refused));
  return answers;
}

Sql<std::vector<Answer>> PostgresConnection::run(std::span<const Call> group, Deadline deadline) {
  if (deadline.has_passed()) {
    return std::unexpected(SqlError(
        fail(Code::Timeout, "the deadline passed before the request was sent to PostgreSQL").error()));
  }
  if (std::any_of(group.begin(), group.end(),
                  [](const Call& call) { return call.arguments.is_too_large(); })) {
    return std::unexpected(SqlError(
        fail(Code::LimitExceeded, "the request is too large for PostgreSQL: the limit is 1 GiB").error()));
  }
  sent_.clear();
  PARLEY_CHECK(send_timeout(deadline));
  for (const Call& call : group) PARLEY_CHECK(send(call));
  if (pq().pipelineSync(connection_) != 1) return cut(Code::Unavailable, "PostgreSQL: " + reason());
  Sql<std::vector<Answer>> answers = receive(deadline);
  if (!answers) statement_timeout_ = milliseconds(0);  // the setting was undone with the rest
  return answers;
}

Sql<std::vector<Answer>> PostgresConnection::commit(std::span<const Call> group, Deadline deadline) {
  Sql<std::vector<Answer>> answers = run(group, deadline);
  if (answers || !answers.error().is_cut) return answers;
  SqlError error = std::move(answers).error();
  error.code = Code::Unresolved;
  error.message = "unknown whether the change was committed: " + error.message;
  return std::unexpected(std::move(error));
}

bool PostgresConnection::rollback(Deadline deadline) {
  if (is_broken_) return false;
  if (is_idle()) return true;
  static constexpr Statement kRollback{"rollback", "ROLLBACK"};
  const Call group[] = {{kRollback}};
  const bool is_done = run(group, deadline).has_value();
  statement_timeout_ = milliseconds(0);
  return is_done && is_idle();
}

}  // namespace parley::store
