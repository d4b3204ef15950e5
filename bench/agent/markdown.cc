// A long answer in Markdown at a terminal: the processor time of `parley -p` with Markdown rendered, beside
// the same answer with --raw. The server is a process of its own.
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "agent/streams.h"
#include "agent/task.h"
#include "agent/wire.h"

namespace bench::agent_task {
namespace {

// What answers have: headings, lists, emphasis, links, a table, code.
constexpr std::string_view kSection = R"(## Why a window moves

A *window* is the part of a conversation that a model **sees**. It moves when the budget is full, and
[an exchange](https://example.com/exchange) is never cut: its call and its results leave together.

1. The newest messages stay, `system` first.
2. A summary takes the place of what left.
   - Pins stay where they were.
   - Marks follow their message.

| part | tokens | kept |
|---|---:|:-:|
| system | 120 | yes |
| summary | 800 | yes |
| results of tools | 14200 | some |

```cpp
auto memory = parley::Memory::create({.budget = {.tokens = 8000}});
memory->add(parley::Message::user_message("What is a fence?"));
```

> Nothing is lost: the store keeps what the model does not see.

)";

constexpr std::size_t kTokenBytes = 4;

struct Way {
  const char* what;
  std::size_t sections;
  std::chrono::microseconds moment;  // between two tokens
  int turns;
};
constexpr std::array<Way, 2> kWays = {{{kMarkdownPaced, 4, std::chrono::microseconds(2'000), 5},
                                       {kMarkdownFlood, 80, std::chrono::microseconds(0), 7}}};

std::vector<std::string> tokens_of(std::size_t sections) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < sections; ++i) {
    for (std::size_t at = 0; at < kSection.size(); at += kTokenBytes) {
      out.emplace_back(kSection.substr(at, kTokenBytes));
    }
  }
  return out;
}

void serve(const Listener& listener, const Way& way) {
  const std::vector<std::string> rounds = chunks_of(tokens_of(way.sections));
  const int connection = listener.accept();
  read_request(connection);
  auto next = std::chrono::steady_clock::now();
  for (const std::string& round : rounds) {
    send_all(connection, round);
    std::this_thread::sleep_until(next += way.moment);
  }
  ::close(connection);
}

// Reads what a terminal would show until the command has ended.
std::string read_screen(int terminal) {
  std::string shown;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = ::read(terminal, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return shown;  // EIO at the end
    shown.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void exec_parley(const std::string& url, bool is_raw) {
  std::vector<std::string> words = {"parley", "-q", "--no-log", "-m", "compatible/m", "-p", "Go on."};
  if (is_raw) words.emplace_back("--raw");
  std::vector<std::string> settings = {"PATH=/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8",
                                       "HOME=/nonexistent", "PARLEY_BASE_URL=" + url};
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> out;
    for (std::string& each : strings) out.push_back(each.data());
    out.push_back(nullptr);
    return out;
  };
  ::execve(PARLEY_COMMAND, pointers(words).data(), pointers(settings).data());
}

// Microseconds of a token.
double turn(const Way& way, bool is_raw) {
  const Listener listener;
  const pid_t server = ::fork();
  check(server >= 0, "starting a server");
  if (server == 0) {
    serve(listener, way);
    ::_exit(0);
  }
  winsize size{.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t command = ::forkpty(&terminal, nullptr, nullptr, &size);
  check(command >= 0, "opening a terminal");
  if (command == 0) {
    exec_parley(listener.url(), is_raw);
    ::_exit(127);
  }
  const std::string shown = read_screen(terminal);
  ::close(terminal);
  rusage usage{};
  int status = 0;
  check(::wait4(command, &status, 0, &usage) == command && status == 0, "parley -p at a terminal");
  check(::waitpid(server, &status, 0) == server && status == 0, "the server");
  check(shown.size() >= way.sections * kSection.size() / 2, "showing the answer");
  check(shown.contains("**") == is_raw, "rendering Markdown");
  const std::size_t tokens = way.sections * ((kSection.size() + kTokenBytes - 1) / kTokenBytes);
  return microseconds_of(usage) / static_cast<double>(tokens);
}

}  // namespace

void measure_markdown(std::vector<Measured>& all) {
  for (const Way& way : kWays) {
    std::vector<double> rendered, raw;
    for (int i = 0; i < way.turns; ++i) {
      rendered.push_back(turn(way, false));
      raw.push_back(turn(way, true));
    }
    all.push_back(measured(way.what, kParley, std::move(rendered)));
    all.push_back(measured(way.what, kRaw, std::move(raw)));
  }
}

}  // namespace bench::agent_task
