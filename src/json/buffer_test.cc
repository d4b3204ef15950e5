#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "parley/json/json.h"

// The invariants of buffer.h, as quoted below:
//   BUFFER1  data()[size()] is NUL and the kPadding bytes from there on are readable.
//   BUFFER2  The bytes are read into their final place; moving a Buffer copies nothing.

namespace parley::json {
namespace {

bool padded(const Buffer& buffer) {
  for (std::size_t i = 0; i < kPadding; ++i) {
    if (buffer.data()[buffer.size() + i] != '\0') return false;
  }
  return true;
}

// A file of its own for each test, gone afterwards.
class BufferFile : public testing::Test {
 protected:
  BufferFile() {
    std::string name = std::filesystem::temp_directory_path() / "parley_buffer_XXXXXX";
    const int fd = ::mkstemp(name.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    path_ = name;
  }
  ~BufferFile() override { std::filesystem::remove(path_); }

  void fill(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  Result<Buffer> load(std::size_t limit) const { return Buffer::from_file(path_.c_str(), limit); }

  std::string path_;
};

TEST(Buffer, HasPaddingWhateverItsOrigin) {  // BUFFER1
  EXPECT_TRUE(padded(Buffer()));
  EXPECT_EQ(Buffer().view(), "");
  EXPECT_TRUE(padded(Buffer(0)));
  EXPECT_TRUE(padded(Buffer(1000)));
  EXPECT_EQ(Buffer(1000).size(), 1000U);
  for (const std::string_view text : {"", "a", "some text"}) {
    const Buffer copy = Buffer::copy_of(text);
    EXPECT_EQ(copy.view(), text);
    EXPECT_TRUE(padded(copy));
  }
  char* memory = static_cast<char*>(std::malloc(5 + kPadding));
  std::string_view("hello").copy(memory, 5);
  const Buffer adopted = Buffer::adopt(memory, 5);
  EXPECT_EQ(adopted.view(), "hello");
  EXPECT_EQ(adopted.data(), memory);
  EXPECT_TRUE(padded(adopted));
}

TEST(Buffer, IsMovedWithoutACopyAndLeavesAnEmptyOne) {  // BUFFER1 BUFFER2
  Buffer first = Buffer::copy_of("text");
  const char* const place = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_TRUE(padded(first));
  Buffer third;
  third = std::move(second);
  EXPECT_EQ(third.data(), place);
  EXPECT_EQ(third.view(), "text");
  EXPECT_EQ(second.view(), "");  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(padded(second));
}

TEST_F(BufferFile, IsReadWhole) {  // BUFFER1
  for (const std::size_t size : {0U, 1U, 100U, 65'535U, 65'536U, 65'537U, 200'000U, 3'000'000U}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 997) bytes[i] = static_cast<char>(i);
    fill(bytes);
    const Result<Buffer> read = load(64 * 1024 * 1024);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->view(), bytes);
    EXPECT_TRUE(padded(*read));
  }
}

TEST_F(BufferFile, IsRefusedAboveTheLimit) {
  for (const std::size_t size : {0U, 1U, 10U, 65'536U, 65'537U, 300'000U}) {
    fill(std::string(size, 'x'));
    for (const std::size_t limit : {size > 0 ? size - 1 : 0, size, size + 1}) {
      const Result<Buffer> read = load(limit);
      EXPECT_EQ(read.has_value(), size <= limit) << size << " of " << limit;
      if (!read) {
        EXPECT_EQ(read.error().code, Code::LimitExceeded);
        EXPECT_NE(read.error().message.find(std::to_string(limit)), std::string::npos);
      }
    }
  }
}

TEST_F(BufferFile, MayHaveNoLimitAtAll) {
  const std::string bytes(300'000, 'x');
  fill(bytes);
  const Result<Buffer> read = load(SIZE_MAX);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->view(), bytes);
}

TEST_F(BufferFile, KeepsNulBytes) {
  const std::string bytes("a\0b\0", 4);
  fill(bytes);
  EXPECT_EQ(load(100)->view(), bytes);
}

// What a file claims to hold is a hint: it may have grown, or be a pipe that claims nothing.
TEST_F(BufferFile, IsReadToItsEndEvenIfItGrows) {
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::string piece(50'000, 'y');
  std::thread writer([&] {
    std::ofstream out(path_, std::ios::binary);
    for (int i = 0; i < 20; ++i) {
      out << piece << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const Result<Buffer> read = load(64 * 1024 * 1024);
  writer.join();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 20 * piece.size());
  EXPECT_EQ(read->view().find_first_not_of('y'), std::string_view::npos);
  EXPECT_TRUE(padded(*read));
}

TEST_F(BufferFile, ThatGrowsWhileItIsReadIsOneOfItsStates) {
  fill(std::string(100'000, 'z'));
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i)
      std::ofstream(path_, std::ios::binary | std::ios::app) << std::string(1000, 'z');
  });
  for (int round = 0; round < 50; ++round) {
    const Result<Buffer> read = load(64 * 1024 * 1024);
    ASSERT_TRUE(read.has_value());
    EXPECT_GE(read->size(), 100'000U);
    EXPECT_LE(read->size(), 300'000U);
    EXPECT_EQ(read->view().find_first_not_of('z'), std::string_view::npos);
    EXPECT_TRUE(padded(*read));
  }
  writer.join();
}

TEST_F(BufferFile, ThatCannotBeReadIsUnavailable) {
  const Result<Buffer> missing = Buffer::from_file((path_ + ".missing").c_str(), 100);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, Code::Unavailable);
  EXPECT_EQ(missing.error().message, "cannot open the file: No such file or directory");
  const Result<Buffer> folder = Buffer::from_file(std::filesystem::temp_directory_path().c_str(), 100);
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, Code::Unavailable);
  EXPECT_EQ(folder.error().message, "cannot read the file: Is a directory");
  EXPECT_FALSE(Buffer::from_file("", 100).has_value());
}

TEST(Buffer, ReadsFilesThatClaimToBeEmpty) {
  const Result<Buffer> read = Buffer::from_file("/proc/self/status", 1024 * 1024);
  ASSERT_TRUE(read.has_value());
  EXPECT_NE(read->view().find("Name:"), std::string_view::npos);
}

TEST(Buffer, ReadsStandardInput) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int kept = ::dup(STDIN_FILENO);
  ASSERT_GE(::dup2(ends[0], STDIN_FILENO), 0);
  ::close(ends[0]);
  ASSERT_EQ(::write(ends[1], "[1, 2]", 6), 6);
  ::close(ends[1]);
  const Result<Buffer> read = Buffer::from_file("-", 100);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->view(), "[1, 2]");
}

}  // namespace
}  // namespace parley::json
