// 200 streams of Chat Completions from a process of its own, so that its time is not counted. The time is
// that of the processor, in this process, for all of it: connections, requests, streams.
#include "agent/streams.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "agent/task.h"
#include "agent/wire.h"

namespace bench::agent_task {
namespace {

constexpr int kTurns = 7;
constexpr const char* kBody =
    R"({"model":"m","messages":[{"role":"user","content":"Go on."}],"stream":true})";

// The texts of a stream.
std::vector<std::string> tokens() {
  constexpr std::array<const char*, 5> kWords = {" the", " window", ",\n", " is", " never"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kTokens; ++i) out.emplace_back(kWords[i % kWords.size()]);
  return out;
}

// Waits until all have asked; then everybody gets an event, and the next one a moment later.
void serve(const Listener& listener, std::chrono::microseconds moment) {
  std::vector<int> connections;
  for (std::size_t i = 0; i < kStreams; ++i) {
    connections.push_back(listener.accept());
    read_request(connections.back());
  }
  const std::vector<std::string> rounds = chunks_of(tokens());
  auto next = std::chrono::steady_clock::now();
  for (const std::string& round : rounds) {
    for (const int connection : connections) send_all(connection, round);
    std::this_thread::sleep_until(next += moment);
  }
  for (const int connection : connections) ::close(connection);
}

double processor_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return microseconds_of(usage);
}

// Microseconds of a token.
template <typename Take>
double turn(std::chrono::microseconds moment, std::size_t expected, Take take) {
  const Listener listener;
  const pid_t server = ::fork();
  check(server >= 0, "starting a server");
  if (server == 0) {
    serve(listener, moment);
    ::_exit(0);
  }
  const double began = processor_us();
  check(take(listener.url()) == expected, "counting a stream");
  const double took = processor_us() - began;
  int status = 0;
  check(::waitpid(server, &status, 0) == server && status == 0, "the server");
  return took / static_cast<double>(kStreams * kTokens);
}

}  // namespace

void measure_streams(std::vector<Measured>& all) {
  std::size_t bytes = 0;
  for (const std::string& each : events_of(tokens())) bytes += each.size();
  struct Way {
    const char* name;
    std::chrono::microseconds moment;
  };
  constexpr std::array<Way, 2> kWays = {{{kPaced, std::chrono::microseconds(10'000)}, {kFlood, {}}}};
  for (const Way& way : kWays) {
    std::vector<double> threads, loop, theirs;
    for (int i = 0; i < kTurns; ++i) {
      threads.push_back(turn(way.moment, kStreams * kTokens, take_by_threads));
      loop.push_back(turn(way.moment, kStreams * kTokens, take_by_loop));
      theirs.push_back(turn(way.moment, kStreams * bytes, [](const std::string& url) {
        return take_by_libcurl(url + "/chat/completions", kBody);
      }));
    }
    all.push_back(measured(way.name, kParley, std::move(threads)));
    all.push_back(measured(way.name, kLoop, std::move(loop)));
    all.push_back(measured(way.name, kLibcurl, std::move(theirs)));
  }
}

}  // namespace bench::agent_task
