#include "server/load.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>

#include "server/wire.h"

namespace bench::server_task {
namespace {

struct Asker {
  Socket socket;
  HttpReader answer;
  Clock::time_point asked;
};

std::uint64_t next_number() {
  static std::uint64_t last = 0;
  return ++last;
}

class Askers {
 public:
  Askers(std::uint16_t port, const Load& load) : load_(load), end_(Clock::now() + load.time) {
    for (std::size_t i = 0; i < load.clients; ++i) {
      askers_.push_back(std::make_unique<Asker>());
      askers_.back()->socket = connect_to(port);
      poller_.add(askers_.back()->socket.get(), i);
    }
  }

  LoadResult run() {
    const Clock::time_point begun = Clock::now();
    for (const auto& asker : askers_) ask(*asker);
    const Clock::time_point latest = end_ + std::chrono::seconds(30);
    while (open_ > 0 && Clock::now() < latest) {
      poller_.wait(std::chrono::milliseconds(100), [this](std::uint64_t i) { hear(*askers_[i]); });
    }
    out_.failures += open_;
    out_.seconds = std::chrono::duration<double>(last_ - begun).count();
    std::ranges::sort(out_.latencies_us);
    return std::move(out_);
  }

 private:
  void ask(Asker& asker) {
    const std::string request = load_.make(next_number());
    asker.asked = Clock::now();
    ++asked_;
    ++open_;
    if (!send_all(asker.socket.get(), request)) fail(asker);
  }

  void hear(Asker& asker) {
    if (!asker.socket.is_open()) return;
    const auto bytes = receive(asker.socket.get());
    if (!bytes) return fail(asker);
    if (!asker.answer.take(*bytes)) return;
    last_ = Clock::now();
    --open_;
    if (asker.answer.status() == 200) {
      ++out_.answers;
      out_.latencies_us.push_back(std::chrono::duration<double, std::micro>(last_ - asker.asked).count());
    } else {
      if (out_.failures++ == 0) std::fprintf(stderr, "%.*s\n", 300, asker.answer.body().data());
    }
    asker.answer.clear();
    if (last_ < end_ && asked_ < load_.requests) ask(asker);
  }

  void fail(Asker& asker) {
    asker.socket = Socket();
    --open_;
    ++out_.failures;
  }

  const Load& load_;
  const Clock::time_point end_;
  Clock::time_point last_ = Clock::now();
  Poller poller_;
  std::vector<std::unique_ptr<Asker>> askers_;
  std::size_t asked_ = 0, open_ = 0;
  LoadResult out_;
};

}  // namespace

double LoadResult::percentile_us(double part) const {
  if (latencies_us.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(latencies_us.size()));
  return latencies_us[std::min(at, latencies_us.size() - 1)];
}

LoadResult run_load(std::uint16_t port, const Load& load) { return Askers(port, load).run(); }

std::string words(std::uint64_t number, std::size_t bytes) {
  constexpr std::array<const char*, 16> kWords = {
      "window ", "the ", "a ",   "budget ", "of ", "message ", "is ",  "session ",
      "log ",    "in ",  "and ", "token ",  "to ", "turn ",    "for ", "summary "};
  std::string out = "Request " + std::to_string(number) + ": ";
  std::uint64_t state = number * 0x9e3779b97f4a7c15U + 1;
  while (out.size() < bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out += kWords[state >> 60];
  }
  return out;
}

std::string chat_request(const std::string& text, bool is_stored, bool is_streamed) {
  std::string body =
      std::string(R"({"model":")") + kModel + R"(","messages":[{"role":"user","content":")" + text + "\"}]";
  if (is_stored) body += R"(,"store":true)";
  if (is_streamed) body += R"(,"stream":true)";
  return post("/v1/chat/completions", body + "}");
}

std::string responses_request(const std::string& model, const std::string& text) {
  return post("/v1/responses", R"({"model":")" + model + R"(","input":")" + text + "\"}");
}

}  // namespace bench::server_task
