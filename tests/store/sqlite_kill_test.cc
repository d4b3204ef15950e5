// Writers of one database that are killed at any moment: while they make it, bring its tables up to date,
// append, and move the log into the file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "kills.h"

namespace parley::store {
namespace {

TEST(SqliteKills, OfWritersLeaveNothingTorn) {
  constexpr std::size_t kOfOneDatabase = 50;
  const std::size_t rounds = kill_count(500, 10'000) / kOfOneDatabase;
  for (std::size_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    std::string folder = (std::filesystem::temp_directory_path() / "parley-kills-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    kill_clients("sqlite:" + folder + "/store.db", "default", kOfOneDatabase);
    std::filesystem::remove_all(folder);
  }
}

}  // namespace
}  // namespace parley::store
