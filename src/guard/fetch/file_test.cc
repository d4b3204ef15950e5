// Files beneath a root, with a folder of traps (FETCH11).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "guard/fetch/fetch.h"

namespace parley {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

const std::string kPng = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s;

class FetchFile : public ::testing::Test {
 protected:
  FetchFile() {
    std::string name = (fs::temp_directory_path() / "parley_fetch_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    root_ = top_ / "root";
    fs::create_directories(root_ / "sub");
    write(root_ / "a.png", kPng);
    write(root_ / "sub" / "b c%.png", kPng);
    write(root_ / "text.png", "just a text");
    write(top_ / "secret.png", kPng);
    fs::create_directories(top_ / "rootother");
    write(top_ / "rootother" / "x.png", kPng);
    fs::create_symlink("a.png", root_ / "inner.png");
    fs::create_symlink("../secret.png", root_ / "out.png");
    fs::create_symlink(top_ / "secret.png", root_ / "absolute.png");
    fs::create_symlink("..", root_ / "up");
    fs::create_symlink("/proc/self", root_ / "self");
    fs::create_symlink("loop.png", root_ / "loop.png");
    EXPECT_EQ(mkfifo((root_ / "fifo.png").c_str(), 0600), 0);
  }
  ~FetchFile() override { fs::remove_all(top_); }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::string got(const std::string& path, std::size_t max_bytes = 1000) const {
    FetchOptions options;
    options.root = root_;
    options.max_bytes = max_bytes;
    const auto file = fetch("file://" + path, FetchPolicy::of(options).value());
    return file ? std::string(file->media_type) : std::string(to_string(file.error().code));
  }
  std::string in_root(const std::string& path, std::size_t max_bytes = 1000) const {
    return got(root_.string() + path, max_bytes);
  }

  fs::path top_;
  fs::path root_;
};

TEST_F(FetchFile, ReadsBelowTheRoot) {
  EXPECT_EQ(in_root("/a.png"), "image/png");
  EXPECT_EQ(in_root("/sub/b%20c%25.png"), "image/png");
  EXPECT_EQ(in_root("/sub/../a.png"), "image/png");
  EXPECT_EQ(in_root("/inner.png"), "image/png") << "a link that stays beneath the root";
  EXPECT_EQ(got("localhost" + root_.string() + "/a.png"), "image/png");
  EXPECT_EQ(in_root("/a.png?query#fragment"), "image/png");
}

TEST_F(FetchFile, ReadsNothingElse) {
  EXPECT_EQ(in_root("/../secret.png"), "invalid");
  EXPECT_EQ(in_root("/%2e%2e/secret.png"), "invalid");
  EXPECT_EQ(in_root("/..%2fsecret.png"), "invalid");
  EXPECT_EQ(in_root("/sub/%2E./.%2e/secret.png"), "invalid");
  EXPECT_EQ(in_root("\\..\\secret.png"), "invalid");
  EXPECT_EQ(in_root("other/x.png"), "invalid");
  EXPECT_EQ(in_root(""), "invalid");
  EXPECT_EQ(in_root("/"), "invalid");
  EXPECT_EQ(in_root("/a.png%00.txt"), "invalid");
  EXPECT_EQ(in_root("//etc/passwd"), "invalid");
  EXPECT_EQ(got("/etc/passwd"), "invalid");
  EXPECT_EQ(got("/proc/self/environ"), "invalid");
  EXPECT_EQ(got("example.com" + root_.string() + "/a.png"), "invalid");
}

TEST_F(FetchFile, FollowsNoLinkOutOfTheRoot) {
  EXPECT_EQ(in_root("/out.png"), "invalid");
  EXPECT_EQ(in_root("/absolute.png"), "invalid");
  EXPECT_EQ(in_root("/up/secret.png"), "invalid");
  EXPECT_EQ(in_root("/self/environ"), "invalid");
  EXPECT_EQ(in_root("/loop.png"), "invalid");
}

// The open itself must refuse, also if no check came before it.
TEST_F(FetchFile, ConfinesThePathInTheKernel) {
  for (const char* path :
       {"../secret.png", "/etc/passwd", "sub/../../secret.png", "up/secret.png", "self/environ"}) {
    const auto bytes = read_beneath(root_, path, 1000);
    ASSERT_FALSE(bytes) << path;
    EXPECT_EQ(bytes.error().code, Code::Invalid) << path;
  }
}

// With the root of all, magic links and what is not a regular file are still refused.
TEST_F(FetchFile, TakesRegularFilesOnly) {
  EXPECT_EQ(in_root("/fifo.png"), "invalid") << "and does not wait for a writer";
  EXPECT_EQ(in_root("/sub"), "invalid");
  const FetchPolicy all = FetchPolicy::of({.root = "/"}).value();
  for (const char* url :
       {"file:///dev/null", "file:///dev/zero", "file:///proc/self/exe", "file:///proc/self/fd/0"}) {
    const auto file = fetch(url, all);
    ASSERT_FALSE(file) << url;
    EXPECT_EQ(file.error().code, Code::Invalid) << url;
  }
}

TEST_F(FetchFile, TakesMediaOnly) {
  EXPECT_EQ(in_root("/text.png"), "unsupported");
  EXPECT_EQ(in_root("/nothing.png"), "not_found");
  EXPECT_EQ(in_root("/a.png/x"), "not_found");
  const auto environ = fetch("file:///proc/self/environ", FetchPolicy::of({.root = "/proc"}).value());
  ASSERT_FALSE(environ);
}

// FETCH8
TEST_F(FetchFile, HoldsItsLimit) {
  EXPECT_EQ(in_root("/a.png", kPng.size() + 1), "image/png");
  EXPECT_EQ(in_root("/a.png", kPng.size()), "image/png");
  EXPECT_EQ(in_root("/a.png", kPng.size() - 1), "limit_exceeded");
  // Files of /proc say that they have no size.
  const auto status = read_beneath("/proc", "self/status", 10);
  ASSERT_FALSE(status);
}

// FETCH12
TEST_F(FetchFile, DoesNotRepeatThePathInErrors) {
  FetchOptions options;
  options.root = root_;
  for (const char* path : {"/nothing-secret-word.png", "/../secret-word", "/fifo.png"}) {
    const auto file = fetch("file://" + root_.string() + path, FetchPolicy::of(options).value());
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().message.find("secret-word"), std::string::npos);
    EXPECT_EQ(file.error().message.find(root_.string()), std::string::npos);
  }
}

}  // namespace
}  // namespace parley
