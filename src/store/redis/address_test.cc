#include "store/redis/address.h"

#include <gtest/gtest.h>

namespace parley::store {
namespace {

Result<RedisAddress> read(std::string_view uri) { return read_redis_uri(Secret(uri)); }

TEST(RedisAddress, HasHostPortDatabaseAndWhoAsks) {
  const Result<RedisAddress> full = read("redis://app:p%40ss%3A@db.example:7000/3");
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(full->host, "db.example");
  EXPECT_EQ(full->port, 7000);
  EXPECT_EQ(full->db, 3U);
  EXPECT_EQ(full->user, "app");
  EXPECT_EQ(full->password.reveal(), "p@ss:");
  EXPECT_EQ(full->path, "");
}

TEST(RedisAddress, NeedsOnlyAHost) {
  for (const char* uri : {"redis://h", "redis://h/", "redis://h:6379/0"}) {
    const Result<RedisAddress> address = read(uri);
    ASSERT_TRUE(address) << uri;
    EXPECT_EQ(address->host, "h");
    EXPECT_EQ(address->port, 6379);
    EXPECT_EQ(address->db, 0U);
    EXPECT_TRUE(address->password.empty());
  }
  EXPECT_EQ(read("redis://[::1]:1")->host, "::1");
  EXPECT_EQ(read("redis://:only@h")->password.reveal(), "only");
  EXPECT_EQ(read("redis://:only@h")->user, "");
}

TEST(RedisAddress, MayBeASocket) {
  const Result<RedisAddress> address = read("redis+unix://u:p@localhost/run/redis%20server/socket");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->path, "/run/redis server/socket");
  EXPECT_EQ(address->host, "");
  EXPECT_EQ(address->user, "u");
  EXPECT_EQ(address->password.reveal(), "p");
}

TEST(RedisAddress, RefusesWhatItDoesNotKnowWithoutRepeatingIt) {
  for (const char* uri : {"redis:", "redis://", "redis:///0", "redis://u:canary@h/x",
                          "redis://u:canary@h/1/2", "redis://u:canary@h/-1", "redis://u:canary@h/99999999999",
                          "redis://u:canary@h?db=1", "redis://u:canary@h#1", "redis://u:canary@h:99999",
                          "redis+unix://u:canary@h/s", "redis+unix://", "redis+unix:///"}) {
    const Result<RedisAddress> address = read(uri);
    ASSERT_FALSE(address) << uri;
    EXPECT_EQ(address.error().code, Code::Invalid) << uri;
    EXPECT_EQ(address.error().message.find("canary"), std::string::npos) << uri;
  }
}

}  // namespace
}  // namespace parley::store
