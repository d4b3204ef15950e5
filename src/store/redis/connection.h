// One connection to a Redis server, and what goes over it. The only file that knows hiredis.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "store/redis/address.h"
#include "store/redis/scripts.h"

namespace parley::store {

struct RedisReply {
  enum class Kind : std::uint8_t { Null, Integer, Text, Error, List };
  Kind kind = Kind::Null;
  std::int64_t integer = 0;
  std::string text;
  std::vector<RedisReply> items;

  // An integer, or the one that a text spells; 0 if it is neither.
  std::int64_t number() const;
  // What a script says happened: the first item of its answer.
  std::string_view word() const { return items.empty() ? std::string_view() : items.front().text; }
};

// What an error that the server answered means to a caller.
Error redis_error(const RedisReply& reply);

// The names of the scripts as the server gave them.
using ScriptNames = std::array<std::string, kScriptCount>;

// Commands that are sent together, in the protocol of Redis. One thread at a time.
class RedisRequest {
 public:
  explicit RedisRequest(const ScriptNames& scripts) : scripts_(&scripts) {}

  void command(std::initializer_list<std::string_view> words) { put({words.begin(), words.size()}); }
  void command(std::span<const std::string_view> words) { put(words); }
  void script(Script script, std::initializer_list<std::string_view> keys,
              std::span<const std::string_view> arguments);
  void script(Script script, std::initializer_list<std::string_view> keys,
              std::initializer_list<std::string_view> arguments) {
    this->script(script, keys, std::span(arguments.begin(), arguments.size()));
  }

  std::string_view bytes() const { return bytes_; }
  std::size_t count() const { return count_; }

 private:
  void put(std::span<const std::string_view> words);
  void begin(std::size_t words);
  void word(std::string_view word);

  const ScriptNames* scripts_;
  std::string bytes_;
  std::size_t count_ = 0;
};

// One thread at a time.
class RedisConnection {
 public:
  // Connects, authenticates, and loads the scripts. The look-up of a host name ignores the deadline: the
  // system has no timeout for it.
  static Result<std::unique_ptr<RedisConnection>> open(const RedisAddress& address, Deadline deadline);
  ~RedisConnection();
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  RedisRequest request() const { return RedisRequest(scripts_); }

  // Sends all commands and reads as many answers. Fails with Unavailable or Timeout if the last command was
  // not sent whole, so that it does not run; with Unresolved if it was, and may. Then the connection is
  // broken. A server that forgot the scripts gets them again, and all commands a second time.
  Result<std::vector<RedisReply>> ask(const RedisRequest& request, Deadline deadline);

  // For what may be done twice: fail with Unavailable or Timeout, never with Unresolved. The second gives the
  // answer to the last command; an error that the server answers is an error.
  Result<std::vector<RedisReply>> ask_all(const RedisRequest& request, Deadline deadline);
  Result<RedisReply> ask_one(const RedisRequest& request, Deadline deadline);

  // Data that was sent to the server over this connection, and when, so that it need not be sent again. A
  // server that loses the data also loses the connection.
  bool has_put(const std::string& what, std::chrono::steady_clock::duration within) const;
  void remember_put(const std::string& what);

  bool is_broken() const { return is_broken_; }
  // True if the server has not closed it while it was idle.
  bool is_alive() const;

 private:
  struct Wire;  // hiredis

  explicit RedisConnection(std::unique_ptr<Wire> wire);
  Result<void> greet(const RedisAddress& address, Deadline deadline);
  Result<void> load_scripts(Deadline deadline);
  Result<std::vector<RedisReply>> exchange(const RedisRequest& request, Deadline deadline);
  Result<void> send(std::string_view bytes, Deadline deadline);
  Result<RedisReply> receive(Deadline deadline);

  std::unique_ptr<Wire> wire_;
  ScriptNames scripts_;
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> put_;
  bool is_broken_ = false;
};

}  // namespace parley::store
