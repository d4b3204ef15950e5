#include "redis_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace parley::store {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kStartTime{20};

// Debian's redis-server brings a service that starts at once. The package redis-tools has the very same
// program under another name, which tells it what to be: so it gets the right name in the folder.
Result<std::string> program_named(const std::string& name, const std::string& folder) {
  for (const char* path : {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb"}) {
    if (!fs::exists(path)) continue;
    const std::string link = (fs::path(folder) / name).string();
    std::error_code error;
    if (!fs::is_symlink(link)) fs::create_symlink(path, link, error);
    if (error) return fail(Code::Unavailable, error.message());
    return link;
  }
  return fail(Code::NotFound, "there is no Redis server here: ./dev test installs redis-tools");
}

// In the child: becomes the program, which ends with its parent and reads `input`.
[[noreturn]] void become(const std::vector<std::string>& command, const std::string& input,
                         const std::string& log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(open(input.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

// -1 if that fails.
pid_t launch(const std::vector<std::string>& command, const std::string& input, const std::string& log) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(command, input, log, parent);
  return child;
}

}  // namespace

Result<std::unique_ptr<RedisServer>> RedisServer::start(std::vector<std::string> settings) {
  std::string folder = (fs::temp_directory_path() / "parley-redis-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return fail(Code::Unavailable, "there is no temporary folder");
  std::unique_ptr<RedisServer> out(new RedisServer);
  out->folder_ = folder;
  out->settings_ = std::move(settings);
  PARLEY_CHECK(out->start_again());
  return out;
}

RedisServer::~RedisServer() {
  kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void RedisServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Result<void> RedisServer::start_again() {
  PARLEY_CHECK(repair());
  PARLEY_TRY(const std::string program, program_named("redis-server", folder_));
  std::vector<std::string> command = {
      program,  "--port",      "0",  "--unixsocket",         socket(), "--dir",
      folder_,  "--save",      "",   "--appendonly",         "yes",    "--appendfsync",
      "always", "--daemonize", "no", "--aof-load-truncated", "no"};
  command.insert(command.end(), settings_.begin(), settings_.end());
  std::error_code ignored;
  fs::remove(socket(), ignored);
  pid_ = launch(command, "/dev/null", folder_ + "/log");
  if (pid_ < 0) return fail(Code::Unavailable, "the Redis server cannot be started");
  return wait_until_up();
}

Result<void> RedisServer::repair() const {
  const std::string manifest = folder_ + "/appendonlydir/appendonly.aof.manifest";
  if (!fs::exists(manifest)) return {};
  PARLEY_TRY(const std::string program, program_named("redis-check-aof", folder_));
  const std::string yes = folder_ + "/yes";  // it asks before it cuts
  std::ofstream(yes) << "y\n";
  const pid_t tool = launch({program, "--fix", manifest}, yes, folder_ + "/log");
  int status = -1;
  if (tool < 0 || waitpid(tool, &status, 0) != tool || status != 0) {
    return fail(Code::Unavailable,
                "the files of the Redis server cannot be repaired; see " + folder_ + "/log");
  }
  return {};
}

Result<void> RedisServer::wait_until_up() const {
  const Deadline deadline = Deadline::in(kStartTime);
  while (!deadline.has_passed()) {
    // An answer of any kind but "loading" tells that it is there; a test of passwords cannot ask more.
    const Result<std::unique_ptr<RedisConnection>> connection = connect();
    if (connection || connection.error().message.find("password") != std::string::npos) return {};
    if (waitpid(pid_, nullptr, WNOHANG) != 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return fail(Code::Unavailable, "the Redis server does not come up; see " + folder_ + "/log");
}

Result<std::unique_ptr<RedisConnection>> RedisServer::connect() const {
  RedisAddress address;
  address.path = socket();
  return RedisConnection::open(address, Deadline::in(kStartTime));
}

Result<RedisReply> RedisServer::ask(std::initializer_list<std::string_view> words) const {
  PARLEY_TRY(const std::unique_ptr<RedisConnection> connection, connect());
  RedisRequest request = connection->request();
  request.command(words);
  return connection->ask_one(request, Deadline::in(kStartTime));
}

}  // namespace parley::store
