#include "parley/base/ids.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace parley {
namespace {

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

// The judge: schoolbook division of a row of bytes by 57, digit after digit.
std::string naive_short_id(Id128 value) {
  std::vector<unsigned> bytes;
  for (const std::uint64_t half : value) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<unsigned>(half >> shift) & 255U);
  }
  std::string reversed;
  for (int i = 0; i < 22; ++i) {
    unsigned remainder = 0;
    for (unsigned& byte : bytes) {
      const unsigned dividend = remainder * 256 + byte;
      byte = dividend / 57;
      remainder = dividend % 57;
    }
    reversed += kShortIdAlphabet[remainder];
  }
  return {reversed.rbegin(), reversed.rend()};
}

TEST(ShortId, MatchesAgentScopesVectors) {
  const std::pair<Id128, std::string> vectors[] = {
      {{0, 0}, "2222222222222222222222"},
      {{0, 1}, "2222222222222222222223"},
      {{kAllOnes, kAllOnes}, "oZEq7ovRbLq6UnGMPwc8B5"},
      {{0x3b1f8b40222c4a6e, 0xb77e779d5a94e21c}, "CXc85b4rqinB7s5J52TRYb"},
  };
  for (const auto& [value, text] : vectors) {
    EXPECT_EQ(encode_short_id(value), text);
    EXPECT_EQ(decode_short_id(text).value(), value);
  }
}

TEST(ShortId, AgreesWithSchoolbookDivision) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    // Shifts make small numbers as likely as large ones.
    const std::uint64_t high = i % 3 == 0 ? 0 : random() >> (random() % 64);
    const Id128 value = {high, random() >> (random() % 64)};
    const std::string text = encode_short_id(value);
    ASSERT_EQ(text, naive_short_id(value)) << value[0] << " " << value[1];
    ASSERT_EQ(decode_short_id(text).value(), value);
  }
}

TEST(ShortId, CarriesCorrectlyAroundPowersOfItsBase) {
  __extension__ using Uint128 = unsigned __int128;
  Uint128 power = 1;
  for (int exponent = 0; exponent < 22; ++exponent, power *= 57) {
    for (const Uint128 number : {power - 1, power, power + 1}) {
      const Id128 value = {static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number)};
      EXPECT_EQ(encode_short_id(value), naive_short_id(value)) << exponent;
    }
  }
}

TEST(ShortId, WritesExactlyTwentyTwoCharacters) {
  std::string buffer(kShortIdLength + 2, '#');
  encode_short_id({kAllOnes, kAllOnes}, buffer.data() + 1);
  EXPECT_EQ(buffer, "#oZEq7ovRbLq6UnGMPwc8B5#");
}

TEST(ShortId, RefusesWhatNoEncoderWrites) {
  const std::string good = "oZEq7ovRbLq6UnGMPwc8B5";  // 2^128 - 1
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "2", std::string(22, 'z'),
        std::string("oZEq7ovRbLq6UnGMPwc8B6"), std::string(21, '2') + "0", std::string(21, '2') + "l",
        std::string(21, '2') + '\0', std::string(20, '2') + "\xC3\xA9"}) {
    const Result<Id128> value = decode_short_id(bad);
    ASSERT_FALSE(value) << bad;
    EXPECT_EQ(value.error().code, Code::Invalid) << bad;
  }
  EXPECT_NE(decode_short_id("22I2222222222222222222").error().message.find("at offset 2"), std::string::npos);
}

TEST(RandomUuid, IsVersionFourAndOtherwiseFree) {
  Id128 any = {0, 0};
  Id128 all = {kAllOnes, kAllOnes};
  for (int i = 0; i < 1'000; ++i) {
    const Id128 id = random_uuid();
    for (std::size_t half = 0; half < 2; ++half) {
      any[half] |= id[half];
      all[half] &= id[half];
    }
  }
  EXPECT_EQ(any, (Id128{0xFFFFFFFFFFFF4FFF, 0xBFFFFFFFFFFFFFFF}));
  EXPECT_EQ(all, (Id128{0x0000000000004000, 0x8000000000000000}));
}

TEST(NewShortId, NeverRepeatsAcrossThreadsAndBlocks) {
  constexpr std::size_t kEach = 2'000;  // Several random blocks of 256 ids.
  std::vector<std::vector<std::string>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<std::string>& ids : made) {
    threads.emplace_back([&ids] {
      for (std::size_t i = 0; i < kEach; ++i) ids.push_back(new_short_id());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const std::vector<std::string>& ids : made) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), kEach * made.size());
  for (const std::string& id : all) ASSERT_EQ(id.size(), kShortIdLength);
}

constexpr std::uint64_t kTime = 1469918176385;

// Runs `function` in a forked child and returns the text it gave.
template <typename Function>
std::string in_child(Function function) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = function();
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text(64, '\0');
  const ssize_t size = child < 0 ? 0 : read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  if (child > 0) waitpid(child, nullptr, 0);
  return text;
}

TEST(NewShortId, DiffersBetweenParentAndForkedChildren) {
  static_cast<void>(new_short_id());  // The parent has a block of random bits that a child would inherit.
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.insert(in_child(new_short_id));
  ids.insert(in_child([] { return in_child(new_short_id); }));
  ids.insert(new_short_id());
  EXPECT_EQ(ids.size(), 5U);
  for (const std::string& id : ids) EXPECT_EQ(id.size(), kShortIdLength);
}

// From now on the system refuses getrandom(2), and openat(2) too if `and_files`, in this process.
bool take_away_random_bits(bool and_files) {
  const auto refused = static_cast<unsigned>(SYS_getrandom);
  const auto also_refused = static_cast<unsigned>(and_files ? SYS_openat : SYS_getrandom);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, also_refused, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

TEST(NewShortId, FallsBackToTheDeviceAndThenThrows) {
  const auto id_without = [](bool files) -> std::string {
    if (!take_away_random_bits(files)) return "no seccomp";
    try {
      return new_short_id();
    } catch (const std::system_error& error) {
      return "error " + std::to_string(error.code().value());
    }
  };
  const std::string first = in_child([&] { return id_without(false); });
  EXPECT_TRUE(decode_short_id(first)) << first;
  EXPECT_NE(first, in_child([&] { return id_without(false); }));
  EXPECT_EQ(in_child([&] { return id_without(true); }), "error " + std::to_string(EPERM));
}

TEST(Ulid, DiffersBetweenParentAndForkedChildren) {
  static_cast<void>(new_ulid(kTime));
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.insert(in_child([] { return new_ulid(kTime); }));
  ids.insert(new_ulid(kTime));
  EXPECT_EQ(ids.size(), 4U);
  for (const std::string& id : ids) EXPECT_EQ(id.size(), 26U);
}

TEST(Ulid, BeginsWithTheTimeInCrockfordsBase32) {
  EXPECT_EQ(new_ulid(kTime).substr(0, 10), "01ARYZ6S41");
  EXPECT_EQ(new_ulid(0).substr(0, 10), "0000000000");
  EXPECT_EQ(new_ulid((std::uint64_t{1} << 48) - 1).substr(0, 10), "7ZZZZZZZZZ");
  EXPECT_EQ(new_ulid(~std::uint64_t{0}).substr(0, 10), "7ZZZZZZZZZ");
  const std::string id = new_ulid(kTime);
  EXPECT_EQ(id.size(), 26U);
  EXPECT_EQ(id.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), std::string::npos) << id;
}

TEST(Ulid, AscendsWithinOneMillisecondEvenWhenTheRandomBlockRunsOut) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3'000; ++i) {
    ids.push_back(new_ulid(kTime + 1));
    static_cast<void>(random_uuid());
  }
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_EQ(ids.front().substr(0, 10), ids.back().substr(0, 10));
}

TEST(Ulid, StartsAnewInEachMillisecondAndThread) {
  const std::string first = new_ulid(kTime + 2);
  std::string other;
  std::thread([&other] { other = new_ulid(kTime + 2); }).join();
  // Equal upper halves of the random parts would be a chance of one in 2^40.
  EXPECT_NE(first.substr(10, 8), other.substr(10, 8));
  EXPECT_NE(first.substr(10, 8), new_ulid(kTime + 3).substr(10, 8));
}

}  // namespace
}  // namespace parley
