#include "server/http/keys.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/hash.h"
#include "server/http/key_records.h"

namespace parley::server {
namespace {

class Keys : public testing::Test {
 protected:
  // What is in the store, as text.
  std::string stored() {
    std::string out;
    const auto key = store::SessionKey{std::string(kServerTenant), std::string(kKeySession)};
    EXPECT_TRUE(store_.each(key, 0, [&](const store::StoredRecord& record) {
      out += record.body + "\n";
      return Result<void>();
    }));
    return out;
  }
  std::string create(const std::string& name) {
    return std::string(create_key(store_, {.name = name}).value().secret.reveal());
  }

  store::Store store_ = store::open_store("memory:").value();
};

// KEYS1
TEST_F(Keys, AreRandomAndStoredAsHashes) {
  std::set<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.insert(create("key " + std::to_string(i)));
  EXPECT_EQ(keys.size(), 20);
  const std::string text = stored();
  for (const std::string& key : keys) {
    EXPECT_TRUE(key.starts_with("plk_"));
    EXPECT_EQ(key.size(), 4 + 52);
    EXPECT_EQ(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567", 4), std::string::npos);
    EXPECT_FALSE(text.contains(key.substr(4, 20)));
    EXPECT_TRUE(text.contains(sha256_hex(key)));
    EXPECT_NE(redacted("the key " + key), "the key " + key);
  }
}

TEST_F(Keys, KeepAllThatIsKnownOfThem) {
  const KeyInfo info{.name = "team",
                     .tenant = "acme",
                     .role = Identity::Role::Read,
                     .models = {"gpt-*"},
                     .conversations = {"conv_*", "x"},
                     .expires_ms = 5'000'000'000'000,
                     .requests_per_minute = 60,
                     .tokens_per_minute = 1000,
                     .concurrent = 4,
                     .budget_per_month = 12.5,
                     .disconnect = "grace:5s",
                     .on_busy = "reject"};
  const NewKey key = create_key(store_, info).value();
  KeyInfo expected = info;
  expected.created_ms = key.info.created_ms;
  expected.hint = key.secret.reveal().substr(52);
  EXPECT_EQ(key.info, expected);
  EXPECT_NE(key.info.created_ms, 0);
  EXPECT_EQ(list_keys(store_).value(), std::vector{expected});

  KeyRing ring(store_);
  ASSERT_TRUE(ring.reload());
  const auto identity = ring.find(key.secret.reveal(), 0);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->tenant, "acme");
  EXPECT_EQ(identity->key, "team");
  EXPECT_EQ(identity->role, Identity::Role::Read);
  EXPECT_EQ(identity->models, info.models);
  EXPECT_EQ(identity->conversations, info.conversations);
  EXPECT_EQ(identity->on_busy, OnBusy::Reject);
  EXPECT_EQ(identity->disconnect, (Disconnect{Disconnect::Rule::Grace, std::chrono::seconds(5)}));
}

// KEYS2
TEST_F(Keys, HaveANameUntilTheyAreRevoked) {
  create("a");
  const auto again = create_key(store_, {.name = "a"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::Conflict);
  ASSERT_TRUE(revoke_key(store_, "a"));
  EXPECT_EQ(revoke_key(store_, "a").error().code, Code::NotFound);
  EXPECT_EQ(rotate_key(store_, "a").error().code, Code::NotFound);
  EXPECT_TRUE(list_keys(store_).value().empty());
  create("a");
  EXPECT_EQ(list_keys(store_).value().size(), 1);
}

// KEYS3, KEYS6
TEST_F(Keys, EndWhenTheyAreRotatedRevokedOrExpired) {
  KeyRing ring(store_);
  EXPECT_FALSE(ring.is_fresh());
  ASSERT_TRUE(ring.reload());
  EXPECT_TRUE(ring.is_fresh());
  EXPECT_FALSE(ring.has_keys());

  const std::string first = create("a");
  EXPECT_FALSE(ring.find(first, 0));
  ring.forget();
  EXPECT_FALSE(ring.is_fresh());
  ASSERT_TRUE(ring.reload());
  EXPECT_TRUE(ring.has_keys());
  EXPECT_TRUE(ring.find(first, 0));
  EXPECT_TRUE(ring.has_valid(sha256(first), 0));
  EXPECT_FALSE(ring.has_valid(sha256(first + "x"), 0));
  EXPECT_FALSE(ring.find(first + "x", 0));
  EXPECT_FALSE(ring.find("", 0));

  const NewKey second = rotate_key(store_, "a").value();
  ASSERT_TRUE(ring.reload());
  EXPECT_FALSE(ring.find(first, 0));
  EXPECT_TRUE(ring.find(second.secret.reveal(), 0));
  EXPECT_EQ(list_keys(store_).value()[0].hint, second.info.hint);

  ASSERT_TRUE(revoke_key(store_, "a"));
  ASSERT_TRUE(ring.reload());
  EXPECT_FALSE(ring.find(second.secret.reveal(), 0));
  EXPECT_TRUE(ring.has_keys());

  const NewKey expiring = create_key(store_, {.name = "b", .expires_ms = 1000}).value();
  ASSERT_TRUE(ring.reload());
  EXPECT_TRUE(ring.find(expiring.secret.reveal(), 999));
  EXPECT_FALSE(ring.find(expiring.secret.reveal(), 1000));
  EXPECT_FALSE(ring.has_valid(sha256(expiring.secret.reveal()), 1000));
}

// KEYS4
TEST_F(Keys, AreNotLostWhenManyCallersCreateThem) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const std::string name = std::to_string(t) + "/" + std::to_string(i);
        while (!create_key(store_, {.name = name})) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(list_keys(store_).value().size(), 20);
}

TEST_F(Keys, RefuseWrongFields) {
  const auto path = [&](const KeyInfo& info) {
    const auto result = create_key(store_, info);
    return result ? std::string("created") : result.error().path;
  };
  EXPECT_EQ(path({.name = ""}), "/name");
  EXPECT_EQ(path({.name = std::string(65, 'a')}), "/name");
  EXPECT_EQ(path({.name = std::string(64, 'a')}), "created");
  EXPECT_EQ(path({.name = "a\nb"}), "/name");
  EXPECT_EQ(path({.name = "a", .tenant = ""}), "/tenant");
  EXPECT_EQ(path({.name = "a", .tenant = "parley.server"}), "/tenant");
  EXPECT_EQ(path({.name = "a", .models = {""}}), "/models");
  EXPECT_EQ(path({.name = "a", .conversations = std::vector<std::string>(101, "x")}), "/conversations");
  EXPECT_EQ(path({.name = "a", .concurrent = 0}), "/limits");
  EXPECT_EQ(path({.name = "a", .budget_per_month = -1}), "/budget_per_month");
  EXPECT_EQ(path({.name = "a", .disconnect = "maybe"}), "/disconnect");
  EXPECT_EQ(path({.name = "a", .on_busy = "maybe"}), "/on_busy");
}

TEST_F(Keys, ReportADamagedRecord) {
  create("a");
  store::Record record;
  record.kind = store::RecordKind::Change;
  record.body = R"({"key":"create","name":"b","sha256":"xyz"})";
  ASSERT_TRUE(store_.append({std::string(kServerTenant), std::string(kKeySession)}, store::Batch({record})));
  EXPECT_EQ(list_keys(store_).error().code, Code::Damaged);
  KeyRing ring(store_);
  EXPECT_FALSE(ring.reload());
}

}  // namespace
}  // namespace parley::server
