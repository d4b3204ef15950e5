#include "store/redis/connection.h"

#include <fcntl.h>
#include <hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

namespace parley::store {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::size_t kMostPut = 10'000;  // things remembered

// ---- Answers: hiredis calls these while it reads, and the parts become RedisReply in their place.

RedisReply* place_of(const redisReadTask* task) {
  if (task->parent == nullptr) return new RedisReply;  // owned by the reader until it is taken
  return &static_cast<RedisReply*>(task->parent->obj)->items[static_cast<std::size_t>(task->idx)];
}

void* make_text(const redisReadTask* task, char* bytes, std::size_t size) {
  RedisReply* reply = place_of(task);
  reply->kind = task->type == REDIS_REPLY_ERROR ? RedisReply::Kind::Error : RedisReply::Kind::Text;
  reply->text.assign(bytes, size);
  return reply;
}

void* make_list(const redisReadTask* task, int size) {
  RedisReply* reply = place_of(task);
  reply->kind = RedisReply::Kind::List;
  reply->items.resize(static_cast<std::size_t>(std::max(size, 0)));
  return reply;
}

void* make_integer(const redisReadTask* task, long long value) {
  RedisReply* reply = place_of(task);
  reply->kind = RedisReply::Kind::Integer;
  reply->integer = value;
  return reply;
}

void* make_null(const redisReadTask* task) { return place_of(task); }

void free_reply(void* reply) { delete static_cast<RedisReply*>(reply); }

redisReplyObjectFunctions kMakers = {make_text, make_list, make_integer, make_null, free_reply};

// ---- Errors

struct Meaning {
  std::string_view word;  // which an answer begins with
  Code code;
  std::string_view sentence;
};
constexpr std::string_view kElsewhere =
    "this Redis server is a node of a cluster that keeps the session on another node, and a store connects "
    "to "
    "one "
    "address: use the address of a proxy in front of the cluster, or of a Redis server outside of a cluster";
constexpr Meaning kMeanings[] = {
    {"NOAUTH", Code::Unavailable, "the Redis server requires a password"},
    {"WRONGPASS", Code::Unavailable, "the Redis server rejected the user or password"},
    {"NOPERM", Code::Unavailable, "the Redis user lacks permissions that the store needs"},
    {"LOADING", Code::Unavailable, "the Redis server is still loading its data"},
    {"BUSY", Code::Unavailable, "the Redis server is busy with a script"},
    {"READONLY", Code::Unavailable, "the Redis server is a replica and takes no writes"},
    {"MASTERDOWN", Code::Unavailable, "the Redis server has lost its master"},
    {"NOREPLICAS", Code::Unavailable, "the Redis server has too few replicas to take writes"},
    {"MISCONF", Code::Unavailable, "the Redis server cannot write to its disk"},
    {"OOM", Code::Unavailable, "the Redis server has no memory left"},
    {"CLUSTERDOWN", Code::Unavailable, "the Redis cluster is down"},
    {"TRYAGAIN", Code::Unavailable, "the Redis cluster is moving this session"},
    {"MOVED", Code::Unsupported, kElsewhere},
    {"ASK", Code::Unsupported, kElsewhere},
    {"WRONGTYPE", Code::Damaged, "a key of the store holds another type of value"},
};

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

bool has_no_script(const RedisReply& reply) {
  return reply.kind == RedisReply::Kind::Error && first_word(reply.text) == "NOSCRIPT";
}

timeval to_timeval(Deadline::Milliseconds time) {
  // 0 would be no timeout, and hiredis counts in an int.
  const auto ms = std::clamp<std::int64_t>(time.count(), 1, std::int64_t{24} * 60 * 60 * 1000);
  return {static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)};
}

// Waits until the socket can be used, or the deadline.
bool wait_for(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const auto left = std::min<std::int64_t>(deadline.left().count(), 1000 * 1000);
    const int ready = poll(&entry, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (deadline.has_passed() || (ready < 0 && errno != EINTR)) return false;
  }
}

// The error of a request that may be done twice: whether it ran does not matter.
Error settled(Error error, Deadline deadline) {
  if (error.code == Code::Unresolved) {
    error.code = deadline.has_passed() ? Code::Timeout : Code::Unavailable;
  }
  return error;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

std::int64_t RedisReply::number() const {
  std::int64_t out = integer;
  const char* end = text.data() + text.size();
  if (kind == Kind::Text && std::from_chars(text.data(), end, out).ptr != end) return 0;
  return out;
}

Error redis_error(const RedisReply& reply) {
  const std::string_view word = first_word(reply.text);
  for (const Meaning& meaning : kMeanings) {
    if (meaning.word == word) return fail(meaning.code, std::string(meaning.sentence)).error();
  }
  // The rest of the line may repeat what was sent.
  return fail(Code::Unavailable, "the Redis server answered " + std::string(word)).error();
}

void RedisRequest::begin(std::size_t words) {
  ++count_;
  bytes_.append("*").append(std::to_string(words)).append("\r\n");
}

void RedisRequest::word(std::string_view word) {
  bytes_.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
}

void RedisRequest::put(std::span<const std::string_view> words) {
  begin(words.size());
  for (const std::string_view each : words) word(each);
}

void RedisRequest::script(Script script, std::initializer_list<std::string_view> keys,
                          std::span<const std::string_view> arguments) {
  begin(3 + keys.size() + arguments.size());
  word("EVALSHA");
  word((*scripts_)[static_cast<std::size_t>(script)]);
  word(std::to_string(keys.size()));
  for (const std::string_view key : keys) word(key);
  for (const std::string_view argument : arguments) word(argument);
}

// hiredis connects and reads the protocol; the bytes are sent and received here, because its own functions
// wait for one call at a time, not until a deadline, and raise SIGPIPE when the server has gone.
struct RedisConnection::Wire {
  redisContext* context;
  redisReader* reader = redisReaderCreateWithFunctions(&kMakers);

  explicit Wire(redisContext* connected) : context(connected) {}
  ~Wire() {
    if (reader != nullptr) redisReaderFree(reader);
    redisFree(context);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  int fd() const { return context->fd; }
};

RedisConnection::RedisConnection(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}
RedisConnection::~RedisConnection() = default;

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisAddress& address,
                                                               Deadline deadline) {
  const timeval time = to_timeval(deadline.left());
  auto wire = std::make_unique<Wire>(address.path.empty()
                                         ? redisConnectWithTimeout(address.host.c_str(), address.port, time)
                                         : redisConnectUnixWithTimeout(address.path.c_str(), time));
  if (wire->context == nullptr || wire->reader == nullptr) {
    return fail(Code::Unavailable, "out of memory while connecting to the Redis server");
  }
  if (wire->context->err != 0) {
    if (deadline.has_passed()) return fail(Code::Timeout, "the Redis server did not answer in time");
    return fail(Code::Unavailable,
                "the Redis server cannot be reached: " + std::string(wire->context->errstr));
  }
  const int flags = fcntl(wire->fd(), F_GETFL);
  if (flags < 0 || fcntl(wire->fd(), F_SETFL, flags | O_NONBLOCK) < 0 ||
      fcntl(wire->fd(), F_SETFD, FD_CLOEXEC) < 0) {
    return fail(Code::Unavailable, "the connection to the Redis server cannot be set up");
  }
  if (address.path.empty()) redisEnableKeepAlive(wire->context);
  std::unique_ptr<RedisConnection> out(new RedisConnection(std::move(wire)));
  PARLEY_CHECK(out->greet(address, deadline));
  PARLEY_CHECK(out->load_scripts(deadline));
  return out;
}

Result<void> RedisConnection::greet(const RedisAddress& address, Deadline deadline) {
  if (!address.password.empty()) {
    RedisRequest auth = request();
    if (address.user.empty()) {
      auth.command({"AUTH", address.password.reveal()});
    } else {
      auth.command({"AUTH", address.user, address.password.reveal()});
    }
    PARLEY_TRY(const RedisReply reply, ask_one(auth, deadline));
  }
  if (address.db != 0) {
    RedisRequest select = request();
    select.command({"SELECT", std::to_string(address.db)});
    PARLEY_TRY(const RedisReply reply, ask_one(select, deadline));
  }
  return {};
}

Result<void> RedisConnection::load_scripts(Deadline deadline) {
  RedisRequest load = request();
  for (std::size_t i = 0; i < kScriptCount; ++i) {
    load.command({"SCRIPT", "LOAD", script_text(static_cast<Script>(i))});
  }
  Result<std::vector<RedisReply>> replies = exchange(load, deadline);
  if (!replies) return std::unexpected(settled(std::move(replies).error(), deadline));
  for (std::size_t i = 0; i < kScriptCount; ++i) {
    RedisReply& reply = (*replies)[i];
    if (reply.kind == RedisReply::Kind::Error) return std::unexpected(redis_error(reply));
    scripts_[i] = std::move(reply.text);
  }
  return {};
}

Result<std::vector<RedisReply>> RedisConnection::ask(const RedisRequest& request, Deadline deadline) {
  PARLEY_TRY(std::vector<RedisReply> replies, exchange(request, deadline));
  if (std::none_of(replies.begin(), replies.end(), has_no_script)) return replies;
  PARLEY_CHECK(load_scripts(deadline));
  return exchange(request, deadline);
}

Result<std::vector<RedisReply>> RedisConnection::ask_all(const RedisRequest& request, Deadline deadline) {
  Result<std::vector<RedisReply>> replies = ask(request, deadline);
  if (!replies) return std::unexpected(settled(std::move(replies).error(), deadline));
  return replies;
}

Result<RedisReply> RedisConnection::ask_one(const RedisRequest& request, Deadline deadline) {
  PARLEY_TRY(std::vector<RedisReply> replies, ask_all(request, deadline));
  RedisReply& reply = replies.back();
  if (reply.kind == RedisReply::Kind::Error) return std::unexpected(redis_error(reply));
  return std::move(reply);
}

bool RedisConnection::has_put(const std::string& what, std::chrono::steady_clock::duration within) const {
  const auto found = put_.find(what);
  return found != put_.end() && std::chrono::steady_clock::now() - found->second < within;
}

void RedisConnection::remember_put(const std::string& what) {
  if (put_.size() >= kMostPut) put_.clear();
  put_[what] = std::chrono::steady_clock::now();
}

bool RedisConnection::is_alive() const {
  char byte = 0;
  if (is_broken_) return false;
  // Nothing is under way, so there is nothing to read but the end.
  return recv(wire_->fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && would_block();
}

Result<std::vector<RedisReply>> RedisConnection::exchange(const RedisRequest& request, Deadline deadline) {
  if (deadline.has_passed()) return fail(Code::Timeout, "the deadline passed before the request was sent");
  is_broken_ = true;  // until every answer is here
  PARLEY_CHECK(send(request.bytes(), deadline));
  std::vector<RedisReply> out;
  out.reserve(request.count());
  while (out.size() < request.count()) {
    PARLEY_TRY(RedisReply reply, receive(deadline));
    out.push_back(std::move(reply));
  }
  is_broken_ = false;
  return out;
}

Result<void> RedisConnection::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(wire_->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (!would_block()) {
      return fail(Code::Unavailable, "the Redis server closed the connection");
    } else if (!wait_for(wire_->fd(), POLLOUT, deadline)) {
      return fail(Code::Timeout, "the request to the Redis server timed out");
    }
  }
  return {};
}

Result<RedisReply> RedisConnection::receive(Deadline deadline) {
  std::array<char, kReadBytes> buffer;
  while (true) {
    void* reply = nullptr;
    if (redisReaderGetReply(wire_->reader, &reply) != REDIS_OK) {
      return fail(Code::Unresolved, "the Redis server sent an invalid response");
    }
    if (reply != nullptr) {
      const std::unique_ptr<RedisReply> owner(static_cast<RedisReply*>(reply));
      return std::move(*owner);
    }
    const ssize_t got = recv(wire_->fd(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      redisReaderFeed(wire_->reader, buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || !would_block()) {
      return fail(Code::Unresolved, "the connection to the Redis server broke before the response");
    } else if (!wait_for(wire_->fd(), POLLIN, deadline)) {
      return fail(Code::Unresolved, "the Redis server did not answer in time");
    }
  }
}

}  // namespace parley::store
