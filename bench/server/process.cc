#include "server/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "server/wire.h"

namespace bench::server_task {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
constexpr std::chrono::seconds kPatience(30);

std::vector<char*> pointers(Words& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Starts a program that ends with this process. Its output goes to `output`, or nowhere.
pid_t start(Words words, Words environment, int output = -1) {
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  const pid_t process = ::fork();
  check(process >= 0, "starting a process");
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDERR_FILENO);
  ::dup2(output >= 0 ? output : nowhere, STDOUT_FILENO);
  ::execve(arguments[0], arguments.data(), variables.data());
  ::_exit(127);
}

Words own_environment() {
  Words out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

// What comes through a pipe until a line ends.
std::string line_of(int pipe) {
  std::string out;
  std::array<char, 256> buffer{};
  while (!out.ends_with('\n')) {
    pollfd waiting{pipe, POLLIN, 0};
    const auto patience = std::chrono::milliseconds(kPatience).count();
    if (::poll(&waiting, 1, static_cast<int>(patience)) != 1) break;
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got <= 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

// The number after the last colon of {"url":"http://127.0.0.1:1234",...}
std::uint16_t port_in(const std::string& line) {
  constexpr std::string_view kPlace = "127.0.0.1:";
  const std::size_t at = line.find(kPlace);
  std::uint16_t port = 0;
  if (at != std::string::npos) {
    std::from_chars(line.data() + at + kPlace.size(), line.data() + line.size(), port);
  }
  return port;
}

// The program of agentic-api, installed once for this tree.
std::optional<std::string> agentic_program() {
  constexpr const char* kScript = PARLEY_SOURCE_DIR "/bench/server/agentic.sh";
  std::array<int, 2> pipe{};
  check(::pipe2(pipe.data(), O_CLOEXEC) == 0, "making a pipe");
  const pid_t process = start({"/bin/bash", kScript}, own_environment(), pipe[1]);
  ::close(pipe[1]);
  std::string out;
  std::array<char, 256> buffer{};
  for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) > 0;) {
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  if (status != 0 || out.empty()) return std::nullopt;
  return out.substr(0, out.find('\n'));
}

}  // namespace

void wait_for_port(std::uint16_t port, const char* what) {
  const auto end = Clock::now() + kPatience;
  while (!try_connect(port).is_open()) {
    check(Clock::now() < end, what);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Folder::Folder() : path_(fs::temp_directory_path() / "parley-bench-XXXXXX") {
  check(::mkdtemp(path_.data()) != nullptr, "making a folder");
}

Folder::~Folder() { fs::remove_all(path_); }

ServerProcess::~ServerProcess() {
  ::kill(process_, SIGTERM);
  const auto end = Clock::now() + kPatience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (Clock::now() > end) ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

double ServerProcess::processor_us() const {
  clockid_t clock{};
  timespec time{};
  check(::clock_getcpuclockid(process_, &clock) == 0 && ::clock_gettime(clock, &time) == 0,
        "reading the time of a process");
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double ServerProcess::resident_kb() const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6);
  }
  return 0;
}

std::size_t ServerProcess::threads() const {
  const fs::directory_iterator tasks("/proc/" + std::to_string(process_) + "/task");
  return static_cast<std::size_t>(std::distance(tasks, fs::directory_iterator()));
}

std::uintmax_t ServerProcess::file_bytes() const {
  std::uintmax_t out = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(database_).parent_path())) {
    if (entry.path().string().starts_with(database_)) out += entry.file_size();
  }
  return out;
}

std::unique_ptr<ServerProcess> start_parley(const Folder& folder, const std::string& upstream) {
  const std::string database = folder.file("parley.db");
  std::ofstream(folder.file("parley.toml")) << "[providers.openai]\nbase_url = \"" << upstream << "/v1\"\n";
  std::array<int, 2> pipe{};
  check(::pipe2(pipe.data(), O_CLOEXEC) == 0, "making a pipe");
  const pid_t process = start({PARLEY_COMMAND, "serve", "--json", "--listen", "127.0.0.1:0", "--store",
                               "sqlite:" + database, "--config", folder.file("parley.toml")},
                              {"HOME=" + folder.path()}, pipe[1]);
  ::close(pipe[1]);
  const std::uint16_t port = port_in(line_of(pipe[0]));
  ::close(pipe[0]);
  check(port != 0, "starting parley serve");
  return std::make_unique<ServerProcess>(process, port, database);
}

std::unique_ptr<ServerProcess> start_agentic(const Folder& folder, const std::string& upstream) {
  const auto program = agentic_program();
  if (!program) return nullptr;
  const std::string database = folder.file("agentic.db");
  const std::uint16_t port = free_port();
  const pid_t process = start(
      {*program, "--llm-api-base", upstream, "--gateway-host", "127.0.0.1", "--gateway-port",
       std::to_string(port), "--skip-llm-ready-check", "--db-url", "sqlite://" + database + "?mode=rwc"},
      {"HOME=" + folder.path(), "OPENAI_API_KEY=none"});
  auto out = std::make_unique<ServerProcess>(process, port, database);
  wait_for_port(port, "starting agentic-api");
  return out;
}

std::unique_ptr<ServerProcess> start_nginx(const Folder& folder, std::uint16_t upstream) {
  constexpr const char* kProgram = "/usr/sbin/nginx";
  if (::access(kProgram, X_OK) != 0) return nullptr;
  const std::uint16_t port = free_port();
  std::ofstream file(folder.file("nginx.conf"));
  file << "daemon off; master_process off; pid nginx.pid; error_log /dev/null;\n"
       << "events { worker_connections 16384; }\n"
       << "http { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f;\n"
       << "uwsgi_temp_path u; scgi_temp_path s;\n"
       << "upstream model { server 127.0.0.1:" << upstream << "; keepalive 64; }\n"
       << "server { listen 127.0.0.1:" << port << ";\n"
       << "location / { proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection \"\";\n"
       << "proxy_buffering off; } } }\n";
  file.close();
  const pid_t process = start({kProgram, "-p", folder.path(), "-c", folder.file("nginx.conf")}, {});
  auto out = std::make_unique<ServerProcess>(process, port, folder.file("nginx.conf"));
  wait_for_port(port, "starting nginx");
  return out;
}

}  // namespace bench::server_task
