#include "parley/base/secret.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "base/planted_secret_testing.h"

namespace parley {
namespace {

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };

// SECRET1
static_assert(!Printable<Secret>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<Secret, const char*>);
static_assert(!std::is_convertible_v<Secret, bool>);
static_assert(!std::is_convertible_v<std::string, Secret>);

TEST(Secret, RevealsItsBytes) {
  const std::string bytes = std::string("a\0b", 3);
  const Secret secret(bytes);
  EXPECT_EQ(secret.reveal(), bytes);
  const Secret copy = secret;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.reveal().data(), secret.reveal().data());
  EXPECT_TRUE(Secret().empty());
  EXPECT_TRUE(Secret("").reveal().empty());
}

TEST(Secret, WipesTheStringItWasTakenFrom) {
  for (const std::size_t size : {3U, 100U}) {  // within the string itself, and on the heap
    std::string source = std::string(size, 'x');
    source.reserve(size);
    const char* place = source.data();
    const Secret secret = Secret::take(source);
    EXPECT_EQ(secret.reveal(), std::string(size, 'x'));
    EXPECT_TRUE(source.empty());
    EXPECT_EQ(source.data(), place);
    source.resize(source.capacity());
    EXPECT_EQ(source.find('x'), std::string::npos);
  }
}

TEST(Secret, ComparesByContent) {
  const Secret secret(planted_secret());
  EXPECT_TRUE(secret == Secret(planted_secret()));
  EXPECT_FALSE(secret == Secret(planted_secret() + "x"));
  EXPECT_FALSE(secret == Secret());
  EXPECT_TRUE(Secret() == Secret(""));
}

TEST(Secret, MovesAndIsAssigned) {
  Secret one("one");
  Secret other = std::move(one);
  EXPECT_EQ(other.reveal(), "one");
  other = Secret("two");
  EXPECT_EQ(other.reveal(), "two");
}

}  // namespace
}  // namespace parley
