#include "served.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace parley::server::testing {
namespace {

// The first line that comes from a pipe within ten seconds.
std::string first_line(int pipe) {
  constexpr int kPatience = 10'000;
  std::string line;
  pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
  while (poll(&waiting, 1, kPatience) == 1) {
    char c = 0;
    if (read(pipe, &c, 1) != 1 || c == '\n') break;
    line += c;
  }
  return line;
}

std::vector<std::string> environment_of(const ServedOptions& options) {
  const char* path = std::getenv("PATH");
  return {"PATH=" + std::string(path == nullptr ? "/usr/bin:/bin" : path), "HOME=" + options.home,
          "OPENAI_API_KEY=key", "OPENAI_BASE_URL=" + options.upstream,
          // With ASan, freed memory stays with the process: as little of it as possible (resident_bytes()).
          "ASAN_OPTIONS=quarantine_size_mb=1"};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "parley-served-XXXXXX").string()) {
  EXPECT_NE(::mkdtemp(path_.data()), nullptr);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

// ---- Responses

std::string Heard::header(std::string_view name) const {
  for (const net::Header& each : headers) {
    const bool is_same = std::ranges::equal(
        each.name, name, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
    if (is_same) return each.value;
  }
  return {};
}

Json Heard::json() const { return Json::parse(text).value_or(Json()); }
std::string Heard::at(std::string_view pointer) const { return string_at(json(), pointer); }

std::vector<std::string> Heard::events() const {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find("\n\n", at);
    if (end == std::string::npos) return out;
    if (text[at] != ':') out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
}

Json data_of(std::string_view event) {
  constexpr std::string_view kData = "data: ";
  const std::size_t at = event.starts_with(kData) ? 0 : event.find("\ndata: ");
  if (at == std::string_view::npos) return {};
  return Json::parse(event.substr(at == 0 ? kData.size() : at + 1 + kData.size())).value_or(Json());
}

std::string string_at(const Json& json, std::string_view pointer) {
  const auto found = json.at(pointer);
  if (!found) return {};
  const auto text = found->as_string();
  return text ? text->str() : found->text().str();
}

// ---- The process

Served::Served(ServedOptions options) : options_(std::move(options)) {
  std::vector<std::string> words = {PARLEY_COMMAND, "serve",   "--json",      "--listen",
                                    "127.0.0.1:0",  "--store", options_.store};
  if (!options_.config.empty()) {
    const std::string path = options_.home + "/parley.toml";
    std::ofstream(path) << options_.config;
    words.insert(words.end(), {"--config", path});
  }
  std::vector<std::string> environment = environment_of(options_);
  const std::string log = options_.home + "/log";
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  EXPECT_EQ(posix_spawn(&pid_, PARLEY_COMMAND, &actions, nullptr, arguments.data(), variables.data()), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const Result<Json> line = Json::parse(first_line(ends[0]));
  close(ends[0]);
  if (line) url_ = string_at(*line, "/url");
  EXPECT_FALSE(url_.empty()) << "the server does not start: " << this->log();
}

Served::~Served() { kill(); }

void Served::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void Served::kill() {
  signal(SIGKILL);
  wait();
}

int Served::wait() {
  int status = 0;
  if (pid_ > 0) waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

std::size_t Served::resident_bytes() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::string Served::log() const {
  std::ifstream file(options_.home + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint16_t Served::port() const {
  const Result<Url> url = parse_url(url_);
  return url && url->port ? *url->port : std::uint16_t{0};
}

Heard Served::send(const std::string& method, std::string_view path, std::string body, Headers headers,
                   const OnText& on_text) const {
  Heard out;
  net::Request request;
  request.method = method;
  if (const auto url = parse_url(url_ + std::string(path))) request.url = *url;
  request.body = std::move(body);
  request.headers = std::move(headers);
  if (!request.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.on_start = [&](int status, const std::vector<net::Header>& given) -> Result<void> {
    out.status = status;
    out.headers = given;
    return {};
  };
  request.on_body = [&](std::string_view chunk) -> Result<void> {
    out.text += chunk;
    if (on_text && !on_text(out)) return fail(Code::Cancelled, "the test has heard enough");
    return {};
  };
  out.is_whole = net::send(request).has_value();
  return out;
}

}  // namespace parley::server::testing
