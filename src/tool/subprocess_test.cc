// Real programs: what they are given, how they end, what is left of them. Quotes SUBPROCESS1 to SUBPROCESS6.
#include "tool/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace parley {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;

SubprocessOptions shell(std::string script) {
  SubprocessOptions options;
  options.arguments = {"sh", "-c", std::move(script)};
  options.environment = {"PATH=/usr/bin:/bin"};
  return options;
}

Result<SubprocessRun> run(const SubprocessOptions& options, std::string_view input = {},
                          std::size_t max = 1 << 20) {
  return run_subprocess(options, input, max, Deadline::in(hours(1)), {});
}

// A zombie counts as dead.
bool is_alive(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  const std::size_t end = stat.rfind(')');
  return end != std::string::npos && stat.compare(end, 3, ") Z") != 0;
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "parley_child_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Waits until a file has a whole line, which a program writes when it is where the test wants it.
std::string line_of(const fs::path& path) {
  for (;;) {
    std::ifstream file(path);
    std::string line;
    if (std::getline(file, line) && !file.eof()) return line;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void wait_until_dead(pid_t id) {
  while (is_alive(id)) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Subprocess, SaysWhatItSaidAndHowItEnded) {
  const auto done = run(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->ending, SubprocessRun::Ending::Itself);
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->end.status, 3);
  EXPECT_FALSE(done->end.is_good());

  const auto killed = run(shell("kill -TERM $$"));
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(killed->end.signal, SIGTERM);
}

TEST(Subprocess, MergesErrorsInTheirOrder) {
  SubprocessOptions options = shell("echo 1; echo 2 >&2; echo 3");
  options.merges_errors = true;
  const auto done = run(options);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->output, "1\n2\n3\n");
  EXPECT_EQ(done->errors, "");
}

// SUBPROCESS1
TEST(Subprocess, HasNothingOfThisProcess) {
  const int open_here = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(open_here, 0);
  ASSERT_EQ(setenv("PARLEY_TEST_SECRET", "hidden", 1), 0);
  signal(SIGPIPE, SIG_IGN);
  SubprocessOptions options =
      shell("echo /proc/self/fd/*; env | grep -c SECRET; grep SigIgn /proc/$$/status; pwd; cat");
  options.folder = "/";
  const auto done = run(options);
  signal(SIGPIPE, SIG_DFL);
  unsetenv("PARLEY_TEST_SECRET");
  close(open_here);
  ASSERT_TRUE(done.has_value());
  // The descriptor 3 is the folder that the shell lists.
  EXPECT_EQ(
      done->output,
      "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n0\nSigIgn:\t0000000000000000\n/\n");
}

TEST(Subprocess, ReadsItsInputWholeAndMayStopReading) {
  SubprocessOptions options = shell("cat");
  options.has_input = true;
  const std::string much(3 << 20, 'x');
  const auto whole = run(options, much, 4 << 20);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->output.size(), much.size());

  options = shell("exec <&-; echo deaf");
  options.has_input = true;
  const auto deaf = run(options, much);
  ASSERT_TRUE(deaf.has_value());
  EXPECT_EQ(deaf->output, "deaf\n");
}

// SUBPROCESS2, SUBPROCESS4: a background process keeps the pipes open, and is killed with the
// group.
TEST(Subprocess, EndsWithWhatItStarted) {
  const Folder folder;
  const fs::path file = folder.path() / "id";
  const auto done = run(shell("sleep 100000 & echo $! > " + file.string() + "; echo said"));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->output, "said\n");
  EXPECT_EQ(done->ending, SubprocessRun::Ending::Itself);
  wait_until_dead(std::stoi(line_of(file)));
}

// SUBPROCESS4
TEST(Subprocess, EndsAtItsDeadlineAndAtAStop) {
  const auto late =
      run_subprocess(shell("trap '' TERM; sleep 100000"), {}, 1000, Deadline::in(milliseconds(1)), {});
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->ending, SubprocessRun::Ending::Deadline);
  EXPECT_EQ(late->end.signal, SIGKILL);

  const Folder folder;
  const fs::path file = folder.path() / "id";
  std::stop_source source;
  std::thread stopper([&] {
    line_of(file);
    source.request_stop();
  });
  const auto stopped = run_subprocess(shell("(echo begun; echo $$ > " + file.string() + "; sleep 100000)"),
                                      {}, 1000, Deadline::in(hours(1)), source.get_token());
  stopper.join();
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->ending, SubprocessRun::Ending::Stop);
  EXPECT_EQ(stopped->output, "begun\n");
  EXPECT_EQ(stopped->end.signal, SIGKILL);
}

// SUBPROCESS4, SUBPROCESS5
TEST(Subprocess, AFloodIsCutAndDoesNotHideAStop) {
  const Folder folder;
  const fs::path file = folder.path() / "id";
  std::stop_source source;
  std::thread stopper([&] {
    line_of(file);
    source.request_stop();
  });
  const auto flood = run_subprocess(shell("yes | head -c 100000; echo $$ > " + file.string() + "; yes"), {},
                                    1000, Deadline::in(hours(1)), source.get_token());
  stopper.join();
  ASSERT_TRUE(flood.has_value());
  EXPECT_EQ(flood->ending, SubprocessRun::Ending::Stop);
  EXPECT_LT(flood->output.size(), 1100U);
  EXPECT_NE(flood->output.find(" bytes cut ...]"), std::string::npos);
}

// SUBPROCESS3
TEST(Subprocess, DiesWithItsParent) {
  const Folder folder;
  const fs::path file = folder.path() / "id";
  const pid_t parent = fork();
  if (parent == 0) {
    auto child = Subprocess::start(shell("echo $$ > " + file.string() + "; exec sleep 100000"));
    pause();
    _exit(1);
  }
  const pid_t child = std::stoi(line_of(file));
  EXPECT_TRUE(is_alive(child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  wait_until_dead(child);
}

// SUBPROCESS2
TEST(Subprocess, IsEndedByItsOwner) {
  pid_t id = -1;
  {
    auto child = Subprocess::start(shell("sleep 100000"));
    ASSERT_TRUE(child.has_value());
    id = child->id();
    EXPECT_TRUE(is_alive(id));
    EXPECT_FALSE(child->wait(Deadline::in(milliseconds(1))).has_value());
    Subprocess moved = std::move(*child);
    EXPECT_TRUE(is_alive(id));
  }
  EXPECT_EQ(kill(id, 0), -1);  // not even a zombie
}

// SUBPROCESS6
TEST(Subprocess, AProgramThatCannotBeStartedIsAnError) {
  const auto code_of = [](std::vector<std::string> arguments, std::string folder = {}) {
    SubprocessOptions options;
    options.arguments = std::move(arguments);
    options.folder = std::move(folder);
    const auto child = Subprocess::start(options);
    return child ? std::string("started") : std::string(to_string(child.error().code));
  };
  EXPECT_EQ(code_of({"true"}), "started");
  EXPECT_EQ(code_of({}), "invalid");
  EXPECT_EQ(code_of({"true", std::string("a\0b", 3)}), "invalid");
  EXPECT_EQ(code_of({"no such program"}), "not_found");
  EXPECT_EQ(code_of({"/no/such/program"}), "not_found");
  EXPECT_EQ(code_of({"/etc/passwd"}), "not_found");
  EXPECT_EQ(code_of({"true"}, "/no/such/folder"), "not_found");
}

TEST(BoundedBytes, KeepTheBeginningAndTheEnd) {
  for (const std::size_t piece : {1, 3, 7, 100}) {
    BoundedBytes bytes(10);
    std::string all;
    for (int i = 0; i < 26; ++i) all += static_cast<char>('a' + i);
    for (std::size_t at = 0; at < all.size(); at += piece)
      bytes.append(std::string_view(all).substr(at, piece));
    EXPECT_EQ(bytes.text(), "abcde\n[... 16 bytes cut ...]\nvwxyz") << piece;
  }
  BoundedBytes whole(10);
  whole.append("0123456789");
  EXPECT_EQ(whole.text(), "0123456789");
  BoundedBytes odd(4);
  odd.append("\xFF ok");
  EXPECT_EQ(odd.text(), "\xEF\xBF\xBD ok");
}

}  // namespace
}  // namespace parley
