#include "store/redis/health.h"

#include <gtest/gtest.h>

namespace parley::store {
namespace {

RedisFacts good() {
  return {{"redis_version", "7.0.15"},
          {"role", "master"},
          {"loading", "0"},
          {"maxmemory_policy", "noeviction"},
          {"aof_enabled", "1"},
          {"aof_last_write_status", "ok"},
          {"aof_last_bgrewrite_status", "ok"},
          {"rdb_last_bgsave_status", "ok"},
          {"connected_slaves", "0"},
          {"appendfsync", "always"},
          {"no-appendfsync-on-rewrite", "no"},
          {"aof-load-truncated", "no"}};
}

TEST(RedisHealth, IsFullAndQuietIfAllIsWell) {
  Health health;
  judge(good(), health);
  EXPECT_TRUE(health.is_ok);
  EXPECT_EQ(health.version, "7.0.15");
  EXPECT_EQ(health.durability, Durability::Full);
  EXPECT_TRUE(health.warnings.empty());
  EXPECT_FALSE(health.error);
}

TEST(RedisHealth, NamesEachFactThatIsNotWell) {
  struct Case {
    const char* name;
    const char* value;  // null: the server does not tell
    Durability durability;
    bool is_ok;
    const char* warning;
  };
  const Case cases[] = {
      {"aof_enabled", "0", Durability::None, true, "appendonly is no"},
      {"appendfsync", "everysec", Durability::Normal, true, "about one second"},
      {"appendfsync", "no", Durability::None, true, "appendfsync is no"},
      {"appendfsync", nullptr, Durability::None, true, "unknown"},
      {"no-appendfsync-on-rewrite", "yes", Durability::Normal, true, "no-appendfsync-on-rewrite"},
      {"aof-load-truncated", "yes", Durability::None, true, "aof-load-truncated"},
      {"aof-load-truncated", nullptr, Durability::None, true, "aof-load-truncated"},
      {"role", "slave", Durability::Full, false, "replica"},
      {"loading", "1", Durability::Full, false, "loading"},
      {"maxmemory_policy", "allkeys-lru", Durability::Full, false, "noeviction"},
      {"maxmemory_policy", "volatile-ttl", Durability::Full, false, "noeviction"},
      {"aof_last_write_status", "err", Durability::Full, false, "append-only file"},
      {"aof_last_bgrewrite_status", "err", Durability::Full, true, "rewrite"},
      {"rdb_last_bgsave_status", "err", Durability::Full, true, "snapshot"},
      {"connected_slaves", "2", Durability::Full, true, "replication is asynchronous"},
  };
  for (const Case& each : cases) {
    RedisFacts facts = good();
    facts.erase(each.name);
    if (each.value != nullptr) facts.emplace(each.name, each.value);
    Health health;
    judge(facts, health);
    EXPECT_EQ(health.durability, each.durability) << each.name;
    EXPECT_EQ(durability_of(facts), each.durability) << each.name;
    EXPECT_EQ(health.is_ok, each.is_ok) << each.name;
    EXPECT_EQ(health.error.has_value(), !each.is_ok) << each.name;
    ASSERT_EQ(health.warnings.size(), 1U) << each.name;
    EXPECT_NE(health.warnings[0].find(each.warning), std::string::npos) << health.warnings[0];
  }
}

}  // namespace
}  // namespace parley::store
