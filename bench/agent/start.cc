// A session of 1,000 messages in SQLite, and a command that sends it to a model: from before its process is
// started to the last byte of its request. curl sends the same body, which lies in a file, with the same
// headers.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/task.h"
#include "agent/wire.h"

namespace bench::agent_task {
namespace {

namespace fs = std::filesystem;
constexpr int kTurns = 40;

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    R"(data: {"id":"a","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)"
    R"({"role":"assistant","content":"Done."},"finish_reason":"stop"}]})"
    "\n\ndata: [DONE]\n\n";

using Words = std::vector<std::string>;

std::vector<char*> pointers(Words& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// A folder that is gone afterwards, with the files of this measurement.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "parley-bench-XXXXXX") {
    check(::mkdtemp(path_.data()) != nullptr, "making a folder");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Starts {
 public:
  explicit Starts(const std::string& document) {
    std::ofstream(folder_.file("session.json")) << document;
    wait_for(start({PARLEY_COMMAND, "sessions", "import", "--from", "openmanus", "--session", "long",
                    "--store", "sqlite:" + folder_.file("first.db"), folder_.file("session.json")}));
  }

  Words parley(const Words& words) const {
    Words out = {PARLEY_COMMAND};
    out.insert(out.end(), words.begin(), words.end());
    for (const char* word : {"-c", "-q", "-m", "compatible/m"}) out.emplace_back(word);
    out.emplace_back("--store");
    out.push_back("sqlite:" + folder_.file("session.db"));
    return out;
  }

  // What curl needs for the same request.
  Words curl(const Request& request) const {
    std::ofstream(folder_.file("body")) << request.body;
    Words out = {"/usr/bin/curl", "-s", "-o", "/dev/null", "--data-binary", "@" + folder_.file("body"), "-H",
                 "Expect:"};
    for (const std::string& line : headers_of(request)) {
      out.emplace_back("-H");
      out.push_back(line);
    }
    out.push_back(listener_.url() + "/chat/completions");
    return out;
  }

  // Starts a command, answers its request and waits for its end.
  Request run(const Words& words, double& microseconds) {
    refresh();
    const auto began = std::chrono::steady_clock::now();
    const pid_t child = start(words);
    const int connection = listener_.accept();
    Request request = read_request(connection);
    send_all(connection, kAnswer);
    ::close(connection);
    wait_for(child);
    microseconds = std::chrono::duration<double, std::micro>(request.whole - began).count();
    return request;
  }

 private:
  // Those that curl would not send, or not so.
  static Words headers_of(const Request& request) {
    Words out = {"User-Agent:"};
    std::size_t at = request.head.find("\r\n") + 2;
    while (at + 2 < request.head.size()) {
      const std::size_t end = request.head.find("\r\n", at);
      std::string line = request.head.substr(at, end - at);
      if (!line.starts_with("Host:") && !line.starts_with("Content-Length:")) out.push_back(std::move(line));
      at = end + 2;
    }
    return out;
  }

  // The session as it was, on the disk.
  void refresh() const {
    const std::string file = folder_.file("session.db");
    for (const char* beside : {"-wal", "-shm", "-witness"}) fs::remove(file + beside);
    for (const char* part : {"", "-witness"}) {
      if (fs::exists(folder_.file("first.db") + part))
        fs::copy_file(folder_.file("first.db") + part, file + part, fs::copy_options::overwrite_existing);
    }
    const int handle = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    check(handle >= 0 && ::fsync(handle) == 0, "copying the session");
    ::close(handle);
  }

  pid_t start(Words words) const {
    Words settings = {"PATH=/usr/bin:/bin", "HOME=" + folder_.file("home"),
                      "PARLEY_BASE_URL=" + listener_.url()};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int error = ::posix_spawn(&child, words.front().c_str(), &files, nullptr, pointers(words).data(),
                                    pointers(settings).data());
    posix_spawn_file_actions_destroy(&files);
    check(error == 0, "starting a command");
    return child;
  }

  static void wait_for(pid_t child) {
    int status = 0;
    check(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "a command");
  }

  Folder folder_;
  Listener listener_;
};

void measure_command(std::vector<Measured>& all, Starts& starts, const char* what, const Words& words) {
  const Words ours = starts.parley(words);
  double ignored = 0;
  const Request request = starts.run(ours, ignored);
  const Words theirs = starts.curl(request);
  std::vector<double> our_times, their_times;
  for (int i = 0; i < kTurns; ++i) {
    check(starts.run(ours, our_times.emplace_back()).body.size() == request.body.size(), "sending the same");
    check(starts.run(theirs, their_times.emplace_back()).body.size() == request.body.size(),
          "sending the same");
  }
  all.push_back(measured(what, kParley, std::move(our_times)));
  all.push_back(measured(what, kCurl, std::move(their_times)));
}

}  // namespace

void measure_start(std::vector<Measured>& all, const std::string& document) {
  Starts starts(document);
  measure_command(all, starts, kPrompt, {"-p", "Go on."});
  measure_command(all, starts, kRun, {"run", "Go on."});
}

}  // namespace bench::agent_task
