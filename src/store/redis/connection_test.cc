#include "store/redis/connection.h"

#include <gtest/gtest.h>

namespace parley::store {
namespace {

Error meaning_of(std::string answer) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::Error;
  reply.text = std::move(answer);
  return redis_error(reply);
}

TEST(RedisConnection, SaysWhatToDoAboutACluster) {
  for (const char* answer : {"MOVED 3999 10.0.0.7:6381", "ASK 3999 10.0.0.7:6381"}) {
    const Error error = meaning_of(answer);
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_NE(error.message.find("the address of a proxy in front of the cluster"), std::string::npos)
        << error.message;
  }
}

TEST(RedisConnection, DoesNotRepeatWhatItDoesNotKnow) {
  EXPECT_EQ(meaning_of("ERR value 'canary' is odd").message, "the Redis server answered ERR");
}

}  // namespace
}  // namespace parley::store
