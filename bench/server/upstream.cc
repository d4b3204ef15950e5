#include "server/upstream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "server/wire.h"

namespace bench::server_task {
namespace {

constexpr std::string_view kAnswer =
    "The window is never larger than the budget, so the oldest exchanges leave it first, whole. A summary of "
    "them may stay in their place. What was said is still in the log, and a search finds it there.";

constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string whole(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string chat_answer(std::uint64_t number) {
  return R"({"id":"chatcmpl-bench)" + std::to_string(number) +
         R"(","object":"chat.completion","created":1763200000,"model":"gpt-4o-mini","choices":[{"index":0,)"
         R"("message":{"role":"assistant","content":")" +
         std::string(kAnswer) +
         R"(","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":420,)"
         R"("completion_tokens":44,"total_tokens":464}})";
}

std::string responses_answer(std::uint64_t number) {
  const std::string id = std::to_string(number);
  return R"({"id":"resp_bench)" + id +
         R"(","object":"response","created_at":1763200000,"completed_at":1763200000,"status":"completed",)"
         R"("error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,)"
         R"("model":"gpt-4o-mini","output":[{"type":"message","id":"msg_bench)" +
         id + R"(","status":"completed","role":"assistant","content":[{"type":"output_text","text":")" +
         std::string(kAnswer) +
         R"(","annotations":[],"logprobs":[]}]}],"parallel_tool_calls":true,"previous_response_id":null,)"
         R"("reasoning":{"effort":null,"summary":null},"store":false,"temperature":1.0,"text":{"format":)"
         R"({"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":)"
         R"({"input_tokens":420,"input_tokens_details":{"cached_tokens":0},"output_tokens":44,)"
         R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":464},"user":null,"metadata":{}})";
}

std::string chat_event(const std::string& delta, const char* finish) {
  return R"(data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1763200000,"model":)"
         R"("gpt-4o-mini","choices":[{"index":0,"delta":{)" +
         delta + R"(},"logprobs":null,"finish_reason":)" + finish + "}]}\n\n";
}

// The events of a stream as they are sent.
struct Script {
  std::string first = chunk(chat_event(R"("role":"assistant","content":"")", "null"));
  std::vector<std::string> tokens;
  std::string last = chunk(chat_event("", "\"stop\"") + "data: [DONE]\n\n") + "0\r\n\r\n";

  Script() {
    for (const char* word : {" the", " window", ",\\n", " is", " never"}) {
      tokens.push_back(chunk(chat_event(std::string(R"("content":")") + word + "\"", "null")));
    }
  }
};

struct Stream {
  std::size_t sent = 0, events = 0;
  std::chrono::microseconds period{};
  Clock::time_point due;
};

struct Client {
  Socket socket;
  HttpReader request;
  std::unique_ptr<Stream> stream;
  std::string waiting;  // what the socket did not take
  std::uint64_t number = 0;
};

// One thread, one poller; streams by the millisecond in which they are due.
class Process {
 public:
  Process(Socket listener, UpstreamCounts& counts) : listener_(std::move(listener)), counts_(counts) {}

  [[noreturn]] void run() {
    poller_.add(listener_.get(), kListener);
    for (;;) {
      const bool is_paced = streams_ > 0;
      poller_.wait(std::chrono::milliseconds(is_paced ? 1 : 50),
                   [this](std::uint64_t number) { number == kListener ? accept() : hear(number); });
      tick(Clock::now());
    }
  }

 private:
  static constexpr std::uint64_t kListener = 0;

  void accept() {
    for (;;) {
      Socket socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.is_open()) return;
      const int on = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::uint64_t number = ++last_;
      poller_.add(socket.get(), number);
      Client& client = clients_[number];
      client.socket = std::move(socket);
      client.number = number;
    }
  }

  void hear(std::uint64_t number) {
    const auto found = clients_.find(number);
    if (found == clients_.end()) return;
    Client& client = found->second;
    const auto bytes = receive(client.socket.get());
    if (!bytes) return drop(client);
    if (!client.request.take(*bytes)) return;
    ++counts_.requests;
    answer(client);
    client.request.clear();
  }

  void drop(Client& client) {
    if (client.stream) {
      --streams_;
      counts_.cut_at_ns = Clock::now().time_since_epoch().count();
      ++counts_.cut;
    }
    clients_.erase(client.number);
  }

  void answer(Client& client) {
    const std::string_view head = client.request.head();
    const bool is_chat = head.starts_with("POST /v1/chat/completions");
    const std::string_view body = client.request.body();
    if (body.find("\"stream\":true") != std::string_view::npos) return begin_stream(client, body);
    if (is_chat) return put(client, whole(chat_answer(++answers_)));
    if (head.starts_with("POST /v1/responses")) return put(client, whole(responses_answer(++answers_)));
    put(client, whole(R"({"object":"list","data":[{"id":"gpt-4o-mini","object":"model"}]})"));
  }

  void begin_stream(Client& client, std::string_view body) {
    client.stream = std::make_unique<Stream>();
    ++streams_;
    unsigned long events = 10;
    unsigned long period = 0;
    if (const std::size_t at = body.find("pace="); at != std::string_view::npos) {
      std::sscanf(body.data() + at, "pace=%lu,%lu;", &events, &period);
    }
    client.stream->events = events;
    client.stream->period = std::chrono::microseconds(period);
    client.stream->due = Clock::now();
    put(client, std::string(kStreamHead) + script_.first);
    go_on(client);
  }

  // Sends what is due, and says when the next token is.
  void go_on(Client& client) {
    Stream& stream = *client.stream;
    const Clock::time_point now = Clock::now();
    while (stream.sent < stream.events && stream.due <= now) {
      put(client, script_.tokens[stream.sent++ % script_.tokens.size()]);
      stream.due += stream.period;
      ++counts_.tokens;
    }
    if (stream.sent < stream.events) return schedule(client);
    put(client, script_.last);
    client.stream.reset();
    --streams_;
  }

  void schedule(const Client& client) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(client.stream->due.time_since_epoch());
    wheel_[static_cast<std::size_t>(ms.count()) % wheel_.size()].push_back(client.number);
  }

  // The streams of the milliseconds that have passed.
  void tick(Clock::time_point now) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
    if (at_ == 0 || ms - at_ > static_cast<std::int64_t>(wheel_.size())) at_ = ms - 1;
    while (at_ < ms) {
      ++at_;
      std::vector<std::uint64_t>& slot = wheel_[static_cast<std::size_t>(at_) % wheel_.size()];
      due_.swap(slot);
      slot.clear();
      for (const std::uint64_t number : due_) {
        const auto found = clients_.find(number);
        if (found == clients_.end() || !found->second.stream) continue;
        if (found->second.stream->due > now) {
          schedule(found->second);  // of a later turn of the wheel
        } else {
          go_on(found->second);
        }
      }
      due_.clear();
    }
  }

  // A client that does not read is not waited for: it loses tokens, whole ones.
  void put(Client& client, std::string_view bytes) {
    const bool is_behind = !client.waiting.empty();
    if (is_behind && !flush(client)) {
      ++counts_.skipped;
      return;
    }
    const ssize_t sent = ::send(client.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    const std::size_t taken = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    if (taken < bytes.size()) client.waiting = bytes.substr(taken);
  }

  static bool flush(Client& client) {
    const ssize_t sent = ::send(client.socket.get(), client.waiting.data(), client.waiting.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) client.waiting.erase(0, static_cast<std::size_t>(sent));
    return client.waiting.empty();
  }

  Socket listener_;
  UpstreamCounts& counts_;
  Poller poller_;
  const Script script_;
  std::unordered_map<std::uint64_t, Client> clients_;
  std::uint64_t last_ = kListener;
  std::uint64_t answers_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());  // ids differ
  std::size_t streams_ = 0;
  std::array<std::vector<std::uint64_t>, 1024> wheel_;
  std::vector<std::uint64_t> due_;
  std::int64_t at_ = 0;  // the last millisecond that was looked at
};

}  // namespace

Upstream::Upstream() {
  void* memory =
      ::mmap(nullptr, sizeof(UpstreamCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "sharing memory");
  counts_ = new (memory) UpstreamCounts();
  Socket listener = listen_anywhere(port_);
  process_ = ::fork();
  check(process_ >= 0, "starting the upstream");
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Process(std::move(listener), *counts_).run();
  }
}

Upstream::~Upstream() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::munmap(counts_, sizeof(UpstreamCounts));
}

std::string pace(std::size_t events, std::size_t microseconds) {
  return "pace=" + std::to_string(events) + "," + std::to_string(microseconds) + ";";
}

}  // namespace bench::server_task
