// A Redis server of a test's own: on a socket in a temporary folder, with its data there, and gone with the
// object, or with the test's process if that dies first.
//
// One thread at a time; started by the main thread, whose end is the server's.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "store/redis/connection.h"

namespace parley::store {

class RedisServer {
 public:
  // Every batch is synced before it is acknowledged, and none that was written in part is loaded, unless
  // `settings` ("--appendfsync", "no" ...) say otherwise. Fails if there is no server to start, and if it
  // does not come up.
  static Result<std::unique_ptr<RedisServer>> start(std::vector<std::string> settings = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string uri() const { return "redis+unix://" + socket(); }
  std::string socket() const { return folder_ + "/socket"; }
  const std::string& folder() const { return folder_; }
  // Its append-only file, as long as it has not been rewritten.
  std::string file() const { return folder_ + "/appendonlydir/appendonly.aof.1.incr.aof"; }
  pid_t pid() const { return pid_; }

  // As by kill -9.
  void kill();
  // Over the same data, from which a transaction that was written in part is cut off first (docs/store.md).
  Result<void> start_again();

  // A connection past the store, and one command on it.
  Result<std::unique_ptr<RedisConnection>> connect() const;
  Result<RedisReply> ask(std::initializer_list<std::string_view> words) const;

 private:
  RedisServer() = default;
  Result<void> repair() const;
  Result<void> wait_until_up() const;

  std::string folder_;
  std::vector<std::string> settings_;
  pid_t pid_ = -1;
};

}  // namespace parley::store
