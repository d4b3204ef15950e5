#include "cli/library.h"

#include <gtest/gtest.h>

namespace parley::cli {
namespace {

TEST(Library, ItsFunctionsCanBeCalled) {
  const auto math = Library::load("libm.so.6", "libc6");
  ASSERT_TRUE(math.has_value()) << math.error().message;
  double (*root)(double) = nullptr;
  ASSERT_TRUE(math->find("sqrt", root).has_value());
  EXPECT_EQ(root(16), 4);
}

TEST(Library, NamesThePackageOfAMissingLibrary) {
  const auto none = Library::load("libparley-none.so.1", "parley-none");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::NotFound);
  EXPECT_TRUE(none.error().message.starts_with(
      "cannot load libparley-none.so.1: install parley-none (libparley-none.so.1: cannot open"))
      << none.error().message;
}

TEST(Library, AFunctionThatIsNotThereIsNamed) {
  const auto math = Library::load("libm.so.6", "libc6");
  ASSERT_TRUE(math.has_value());
  void (*none)() = nullptr;
  const auto found = math->find("parley_none", none);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().message, "libm.so.6 is too old: it lacks the function parley_none");
  EXPECT_EQ(none, nullptr);
}

}  // namespace
}  // namespace parley::cli
