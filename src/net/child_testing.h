// For tests: a program that runs beside the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

namespace parley::net {

// A child process whose output can be read.
class Child {
 public:
  explicit Child(std::vector<std::string> words) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ), 0)
        << words[0] << " is needed";
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    end();
    close(out_);
  }

  int end() {
    int status = -1;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  // Everything that it writes, until its end.
  std::string output() {
    std::string out;
    char chunk[4096];
    for (ssize_t count = 0; (count = read(out_, chunk, sizeof chunk)) > 0;) {
      out.append(chunk, static_cast<std::size_t>(count));
    }
    return out;
  }
  // The rest of the first line that begins with `start`.
  std::string line(std::string_view start) {
    std::string line;
    for (char c = 0; read(out_, &c, 1) == 1;) {
      if (c != '\n') {
        line += c;
      } else if (line.starts_with(start)) {
        return line.substr(start.size());
      } else {
        line.clear();
      }
    }
    return "";
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace parley::net
