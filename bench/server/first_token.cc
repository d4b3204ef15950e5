// From a request to the first token of its stream: the upstream itself, nginx in front of it, and Parley.
#include <algorithm>
#include <chrono>
#include <memory>

#include "server/load.h"
#include "server/process.h"
#include "server/task.h"
#include "server/upstream.h"
#include "server/wire.h"

namespace bench::server_task {
namespace {

constexpr int kRounds = 20, kRequests = 20;
constexpr std::size_t kEvents = 3;

struct Contender {
  std::string name;
  std::uint16_t port;
  bool is_stored;
  Socket socket = {};
  std::vector<double> us = {};
};

// Microseconds; the rest of the stream is read, too.
double ask(Contender& contender, std::uint64_t number) {
  const std::string request =
      chat_request(pace(kEvents, 0) + words(number, 2'048), contender.is_stored, true);
  const auto asked = Clock::now();
  check(send_all(contender.socket.get(), request), "asking for a stream");
  Poller poller;
  poller.add(contender.socket.get(), 0);
  HttpReader answer;
  double took = 0;
  bool is_whole = false;
  const auto latest = asked + std::chrono::seconds(10);
  while (!is_whole) {
    check(Clock::now() < latest, "waiting for a token");
    poller.wait(std::chrono::milliseconds(100), [&](std::uint64_t) {
      const auto bytes = receive(contender.socket.get());
      check(bytes.has_value(), "reading a stream");
      is_whole = answer.take(*bytes);
      if (took == 0 && answer.body().find("\"content\":\" the\"") != std::string_view::npos) {
        took = std::chrono::duration<double, std::micro>(Clock::now() - asked).count();
      }
    });
  }
  check(took > 0, "finding the first token");
  return took;
}

}  // namespace

void measure_first_token(Report& report) {
  const Folder folder;
  const Upstream upstream;
  const auto parley = start_parley(folder, upstream.url());
  const auto nginx = start_nginx(folder, upstream.port());
  std::vector<Contender> all;
  all.push_back({"parley serve, not stored", parley->port(), false});
  all.push_back({"parley serve, stored", parley->port(), true});
  all.push_back({"the upstream itself", upstream.port(), false});
  if (nginx) all.push_back({"nginx", nginx->port(), false});
  for (Contender& each : all) each.socket = connect_to(each.port);
  std::uint64_t number_of_request = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& each : all) {
      for (int i = 0; i < kRequests; ++i) {
        const double took = ask(each, ++number_of_request);
        if (round > 0) each.us.push_back(took);
      }
    }
  }
  Columns table(report, {"first token, one client", "p50 us", "p90 us"});
  for (Contender& each : all) {
    std::ranges::sort(each.us);
    table.row({each.name, number(median_of(each.us)), number(each.us[each.us.size() * 9 / 10])});
  }
  if (!nginx) return;
  for (std::size_t i = 0; i < 2; ++i) {
    const double added = median_of(all[i].us) - median_of(all.back().us);
    report.goals.push_back(
        at_most("first token, " + all[i].name + ", p50 ms more than nginx", 1, added / 1e3));
  }
}

}  // namespace bench::server_task
