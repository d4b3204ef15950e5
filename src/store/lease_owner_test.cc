#include "store/lease_owner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "parley/base/clock.h"
#include "parley/store/store.h"

namespace parley::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

const SessionKey kKey{"default", "s"};

TEST(LeaseOwner, ComesBackAsItWasWritten) {
  const LeaseOwner owner{"an owner (1:2)", milliseconds(60'000), "boot:1:2:3:4"};
  const LeaseOwner read = LeaseOwner::read(owner.text());
  EXPECT_EQ(read.name, owner.name);
  EXPECT_EQ(read.length, owner.length);
  EXPECT_EQ(read.process, owner.process);
  // As other versions wrote it.
  EXPECT_EQ(LeaseOwner::read("a name").name, "a name");
  EXPECT_EQ(LeaseOwner::read("a name").length, milliseconds(0));
  EXPECT_EQ(LeaseOwner::read("a name").process, "");
  EXPECT_EQ(LeaseOwner::read("a name\x1fnonsense").name, "a name");
}

// A process that waits until it is killed. It is a zombie until reap() is called.
class Child {
 public:
  template <typename Work>
  explicit Child(const Work& work) {
    int pipe[2] = {};
    EXPECT_EQ(::pipe(pipe), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const char is_done = work() ? 'y' : 'n';
      if (::write(pipe[1], &is_done, 1) == 1) ::pause();
      ::_exit(1);
    }
    char is_done = 'n';
    EXPECT_EQ(::read(pipe[0], &is_done, 1), 1);
    EXPECT_EQ(is_done, 'y');
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }
  // Until it is dead, but its parent has not asked for it.
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t about = {};
    ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOWAIT);
  }
  void reap() const { ::waitpid(pid_, nullptr, 0); }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(LeaseOwner, KnowsWhetherAProcessHasEnded) {
  const std::string me = this_process();
  ASSERT_FALSE(me.empty());
  EXPECT_FALSE(has_ended(me));
  const Child child([] { return true; });
  // The same place, another number; the start time is not that of the child.
  const std::size_t start = me.rfind(':');
  const std::size_t pid = me.rfind(':', start - 1);
  const std::string of_child = me.substr(0, pid + 1) + std::to_string(child.pid());
  EXPECT_TRUE(has_ended(of_child + ":1")) << "the number was given again";
  child.kill();
  EXPECT_TRUE(has_ended(of_child + me.substr(start))) << "a zombie";
  child.reap();
  EXPECT_TRUE(has_ended(of_child + me.substr(start)));
  // Of what cannot be seen from here, nothing is said.
  EXPECT_FALSE(has_ended(""));
  EXPECT_FALSE(has_ended("0" + of_child + ":1"));
  EXPECT_FALSE(has_ended(me.substr(0, 36) + ":1:1:999999:1"));
  EXPECT_FALSE(has_ended(me.substr(0, pid + 1) + "x:1"));
  EXPECT_FALSE(has_ended(me.substr(0, pid + 1) + "0:1"));
  EXPECT_FALSE(has_ended(me.substr(0, pid + 1) + "-5:1"));
}

TEST(LeaseOwner, IsAnotherProcessAfterAFork) {
  const std::string parent = this_process();
  EXPECT_EQ(this_process(), parent);
  const Child child([&] { return this_process() != parent && !has_ended(this_process()); });
}

class LeaseOwners : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "parley-lease-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Store open() const { return *open_store("sqlite:" + folder_ + "/store.db"); }
  std::string folder_;
};

TEST_F(LeaseOwners, AreFollowedAtOnceWhenTheirProcessIsKilled) {
  const Child child([&] {
    Store store = open();
    const bool is_leased = store.lease(kKey, "the dead", hours(1)).has_value();
    new Store(std::move(store));  // it dies with it
    return is_leased;
  });
  Store store = open();
  const auto held = store.lease(kKey, "me", hours(1));
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Code::Conflict);
  EXPECT_EQ(held.error().message, "the session is leased by 'the dead'");
  EXPECT_EQ(store.append(kKey, Batch({Record{.body = "early"}})).error().code, Code::Conflict);
  child.kill();
  const auto appended = store.append(kKey, Batch({Record{.body = "late"}}));
  EXPECT_TRUE(appended) << appended.error().message;
  const auto lease = store.lease(kKey, "me", hours(1));
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->owner, "me");
}

TEST_F(LeaseOwners, LeaveTheirLastCheckpointWhenTheirProcessIsKilled) {
  constexpr int kCheckpoints = 50;
  const auto progress = [](int i) { return std::to_string(i) + std::string(1000U * (i % 20U), 'x'); };
  const Child child([&] {
    Store store = open();
    const auto lease = store.lease(kKey, "the dead", hours(1));
    bool is_done = lease.has_value();
    for (int i = 0; i < kCheckpoints && is_done; ++i) {
      is_done = store.checkpoint(kKey, *lease, hours(1), progress(i)).has_value();
    }
    new Store(std::move(store));  // it dies with it
    return is_done;
  });
  Store store = open();
  EXPECT_FALSE((*store.holder(kKey))->is_expired);
  EXPECT_TRUE(store.leases({.expired_only = true})->empty());
  child.kill();
  const auto expired = store.leases({.expired_only = true});
  ASSERT_TRUE(expired) << expired.error().message;
  ASSERT_EQ(expired->size(), 1U);
  EXPECT_EQ(expired->front().lease.owner, "the dead");
  EXPECT_EQ((*store.holder(kKey))->checkpoint, progress(kCheckpoints - 1));
}

TEST_F(LeaseOwners, HoldNoLongerThanTheyAskedForAfterTheClockWasPutRight) {
  ScopedClock clock(2'000'000'000'000);
  Store store = open();
  ASSERT_TRUE(store.lease(kKey, "early", minutes(1)));
  clock.advance(-86'400'000);
  EXPECT_EQ(store.lease(kKey, "me", minutes(1)).error().code, Code::Conflict);
  clock.advance(59'000);
  EXPECT_EQ(store.lease(kKey, "me", minutes(1)).error().code, Code::Conflict);
  clock.advance(2'000);
  EXPECT_TRUE(store.lease(kKey, "me", minutes(1)));
}

}  // namespace
}  // namespace parley::store
