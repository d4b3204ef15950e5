// The address of a Redis server, and the user.
//
//   redis://[[user]:password@]host[:port][/db]
//   redis+unix:///path/of/the/socket
//   redis+unix://[user]:password@localhost/path/of/the/socket
#pragma once

#include <cstdint>
#include <string>

#include "parley/base/error.h"
#include "parley/base/secret.h"

namespace parley::store {

struct RedisAddress {
  std::string host;  // empty: there is a path
  std::uint16_t port = 6379;
  std::string path;  // of a socket of this machine
  std::uint32_t db = 0;
  std::string user;  // empty: the default one
  Secret password;   // empty: none
};

// Fails with Invalid, without repeating the text.
Result<RedisAddress> read_redis_uri(const Secret& uri);

}  // namespace parley::store
