#include "store/redis/keys.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace parley::store {
namespace {

const std::vector<SessionKey>& twins() {
  static const std::vector<SessionKey> kTwins = {
      {"a-b", "c"},      {"a", "b-c"},       {"u:session:a", "b"}, {"u", "a:session:b"}, {"a_b", "c"},
      {"a", "b_c"},      {"a:b", "c"},       {"a", "b:c"},         {"a", "*"},           {"*", "a"},
      {"a", "?"},        {"a", "[a]"},       {"a", "x}"},          {"a}", "x"},          {"a", "{x}"},
      {"a", "%7D"},      {"a", "}"},         {"a", "x:head"},      {"a", "x"},           {"a", "x/y"},
      {"a", "\xC3\xA9"}, {"a", "e\xCC\x81"}, {"a", " "},           {"a", "%20"},         {"a", "x}:kept:1"},
      {"a", "x:kept:1"}};
  return kTwins;
}

std::vector<std::string> all_of(const RedisKeys& keys) {
  return {keys.head, keys.log, keys.batches, keys.media, keys.forks, keys.checkpoint};
}

TEST(RedisKeys, AreTheirSessionsAlone) {
  std::set<std::string> seen;
  for (const SessionKey& key : twins()) {
    for (const RedisKeys& keys : {live_keys(tag_of(key)), kept_keys(tag_of(key), "1")}) {
      for (const std::string& name : all_of(keys)) EXPECT_TRUE(seen.insert(name).second) << name;
    }
    seen.insert(sessions_key(key.tenant));
    seen.insert(changed_key(key.tenant));
  }
  std::set<std::string> tenants;
  for (const SessionKey& key : twins()) tenants.insert(key.tenant);
  EXPECT_EQ(seen.size(), twins().size() * 12 + tenants.size() * 2);
}

TEST(RedisKeys, LieInOneSlot) {
  for (const SessionKey& key : twins()) {
    const std::string tag = "{" + tag_of(key) + "}";
    for (const RedisKeys& keys : {live_keys(tag_of(key)), kept_keys(tag_of(key), "1")}) {
      for (const std::string& name : all_of(keys)) {
        // The server hashes what is between the first brace and the one after it.
        EXPECT_EQ(name.find('{'), name.find(tag)) << name;
        EXPECT_EQ(name.find('}'), name.find(tag) + tag.size() - 1) << name;
      }
    }
  }
}

TEST(RedisKeys, GiveTheirSessionBack) {
  for (const SessionKey& key : twins()) {
    EXPECT_EQ(tenant_of_changed(changed_key(key.tenant)), key.tenant);
    EXPECT_FALSE(tenant_of_changed(sessions_key(key.tenant)));
    EXPECT_EQ(session_of(tag_of(key)), key) << key.session;
    const auto live = head_name_of(live_keys(tag_of(key)).head);
    ASSERT_TRUE(live) << key.session;
    EXPECT_EQ(session_of(live->tag), key);
    EXPECT_EQ(live->id, "");
    const auto kept = head_name_of(kept_keys(tag_of(key), "id7").head);
    ASSERT_TRUE(kept) << key.session;
    EXPECT_EQ(session_of(kept->tag), key);
    EXPECT_EQ(kept->id, "id7");
  }
  for (const char* other : {"", "parley:{a:b}", "parley:{a:b}:log", "parley:{a}:head", "parley:{a:b:head",
                            "other:{a:b}:head", "parley:{a:b}x:head", "parley:{a:b}:kept:head"}) {
    EXPECT_FALSE(head_name_of(other)) << other;
  }
}

}  // namespace
}  // namespace parley::store
