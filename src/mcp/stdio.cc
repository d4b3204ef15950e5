// A server as a child process: each message is a line of its standard input or output. One thread does all
// the reading and writing, and lives as long as the server; callers hand it lines and wait for their answers.
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "mcp/transport.h"
#include "parley/base/framing.h"
#include "parley/base/log.h"
#include "tool/subprocess.h"

namespace parley {
namespace {

constexpr std::size_t kErrorTail = 2000;                // of what the server said on its standard error
constexpr std::chrono::milliseconds kToLeave{500};      // after its input was closed, and after SIGTERM
constexpr std::size_t kPiece = std::size_t{64} * 1024;  // of one read

void block_signals() {
  // Signals are for the program's own threads; SIGPIPE, which a closed server causes, is ignored.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// Later variables win, as in a shell.
std::vector<std::string> environment_of(const McpServer& server, const McpOptions& options) {
  std::map<std::string_view, std::string_view> variables;
  for (const auto* list : {&options.environment, &server.env}) {
    for (const McpVariable& variable : *list) variables[variable.name] = variable.value.reveal();
  }
  std::vector<std::string> out;
  out.reserve(variables.size());
  for (const auto& [name, value] : variables) out.push_back(std::string(name) + '=' + std::string(value));
  return out;
}

SubprocessOptions child_options(const McpServer& server, const McpOptions& options) {
  SubprocessOptions child;
  child.arguments.push_back(server.command);
  child.arguments.insert(child.arguments.end(), server.args.begin(), server.args.end());
  child.environment = environment_of(server, options);
  child.folder = server.cwd;
  child.has_input = true;
  return child;
}

std::string described(const SubprocessExit& end) {
  return end.signal != 0 ? "killed by signal " + std::to_string(end.signal)
                         : "exited with status " + std::to_string(end.status);
}

class StdioTransport final : public McpTransport {
 public:
  StdioTransport(const McpServer& server, const McpOptions& options, OnMessage on_message)
      : server_(server),
        max_bytes_(options.max_message_bytes),
        on_message_(std::move(on_message)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        framer_(options.max_message_bytes) {
    thread_ = std::jthread([this, child = child_options(server, options)] { run(child); });
  }
  StdioTransport(const StdioTransport&) = delete;
  StdioTransport& operator=(const StdioTransport&) = delete;
  ~StdioTransport() override {
    {
      const std::lock_guard lock(mutex_);
      is_leaving_ = true;
    }
    wake();
  }

  Result<void> wait_for_start() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_started_ || closed_; });
    if (closed_) return std::unexpected(*closed_);
    return {};
  }

  Result<McpMessage> exchange(std::int64_t id, const std::string& request, Deadline deadline,
                              const std::stop_token& stop) override {
    std::unique_lock lock(mutex_);
    PARLEY_CHECK(enqueue(request));
    answers_[id] = std::nullopt;
    const bool is_done =
        changed_.wait_until(lock, stop, deadline.at(), [&] { return answers_[id].has_value() || closed_; });
    std::optional<McpMessage> answer = std::move(answers_[id]);
    answers_.erase(id);
    if (answer) return *std::move(answer);
    if (closed_) return std::unexpected(*closed_);
    if (!is_done && stop.stop_requested()) return fail(Code::Cancelled, "the call was stopped");
    return fail(Code::Timeout, "the server '" + server_.name + "' did not answer in time");
  }

  Result<void> post(const std::string& message, Deadline) override {
    const std::lock_guard lock(mutex_);
    return enqueue(message);
  }

  Result<void> begin(const std::string&, const std::string& initialized, Deadline deadline) override {
    return post(initialized, deadline);
  }

  bool is_open() const override {
    const std::lock_guard lock(mutex_);
    return !closed_ && !is_leaving_;
  }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(wake_.get(), &one, sizeof one);
  }

  // REQUIRES: the lock is held.
  Result<void> enqueue(const std::string& message) {
    if (closed_) return fail(Code::Unavailable, closed_->message);
    if (is_leaving_) return fail(Code::Unavailable, "the server '" + server_.name + "' is shutting down");
    if (waiting_bytes_ + message.size() > 2 * max_bytes_) {
      return fail(Code::LimitExceeded, "the server '" + server_.name + "' does not read its input");
    }
    waiting_bytes_ += message.size() + 1;
    outgoing_.push_back(message + '\n');
    wake();
    return {};
  }

  void close(Error error) {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) closed_ = std::move(error);
    }
    changed_.notify_all();
  }

  void run(const SubprocessOptions& options) {
    block_signals();
    Result<Subprocess> child = Subprocess::start(options);
    if (!child) return close(child.error());
    {
      const std::lock_guard lock(mutex_);
      is_started_ = true;
    }
    changed_.notify_all();
    while (serve(*child)) {
    }
    {
      const std::lock_guard lock(mutex_);
      is_leaving_ = true;
    }
    const SubprocessExit end = leave(*child);
    close(failure_ ? *failure_ : ended(end));
  }

  // The error of calls that were waiting for a response.
  Error ended(const SubprocessExit& end) {
    std::string said = errors_.text();
    // A variable may be a key, and the server may print it.
    for (const McpVariable& variable : server_.env) {
      const std::string_view value = variable.value.reveal();
      for (std::size_t at = 0; value.size() >= 6 && (at = said.find(value, at)) != std::string::npos;) {
        said.replace(at, value.size(), "[redacted: " + variable.name + "]");
      }
    }
    std::string sentence = "the server '" + server_.name + "' disconnected: " + described(end);
    if (!said.empty()) sentence += "; stderr: " + said;
    return fail(Code::Unresolved, std::move(sentence)).error();
  }

  // Closes its input, then sends SIGTERM, then SIGKILL.
  static SubprocessExit leave(Subprocess& child) {
    child.input.close();
    child.output.close();
    child.errors.close();
    if (const auto end = child.wait(Deadline::in(kToLeave))) return *end;
    child.signal_group(SIGTERM);
    if (const auto end = child.wait(Deadline::in(kToLeave))) return *end;
    return child.end();
  }

  // Waits for one thing to happen and does what it asks for. False once the connection is over.
  bool serve(Subprocess& child) {
    if (!fill()) return false;
    const int input = writing_.empty() ? -1 : child.input.get();
    std::array<pollfd, 5> events = {pollfd{wake_.get(), POLLIN, 0}, pollfd{child.output.get(), POLLIN, 0},
                                    pollfd{child.errors.get(), POLLIN, 0}, pollfd{input, POLLOUT, 0},
                                    pollfd{child.exit_event(), POLLIN, 0}};
    if (poll(events.data(), events.size(), -1) < 0) return errno == EINTR;
    if (events[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = read(wake_.get(), &count, sizeof count);
    }
    if (events[2].revents != 0) take(child.errors, [this](std::string_view piece) { errors_.append(piece); });
    if (events[1].revents != 0) take(child.output, [this](std::string_view piece) { receive(piece); });
    if (events[3].revents != 0) give(child.input);
    // What a server said before it ended has been taken: it was there before the end was.
    return !failure_ && !is_over_ && child.output.is_open() && events[4].revents == 0;
  }

  // The next line to write. False if the connection is being closed.
  bool fill() {
    const std::lock_guard lock(mutex_);
    if (writing_.empty() && !outgoing_.empty()) {
      writing_ = std::move(outgoing_.front());
      written_ = 0;
      outgoing_.pop_front();
    }
    return !is_leaving_;
  }

  void give(Descriptor& to) {
    const ssize_t count = write(to.get(), writing_.data() + written_, writing_.size() - written_);
    if (count < 0) {
      is_over_ = errno != EAGAIN && errno != EINTR;
      return;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ < writing_.size()) return;
    const std::lock_guard lock(mutex_);
    waiting_bytes_ -= writing_.size();
    writing_.clear();
  }

  // Takes all there is, but no more than a megabyte at a time, so that a flood leaves time for the rest.
  template <typename Use>
  void take(Descriptor& from, Use use) {
    for (int i = 0; i < 16 && from.is_open(); ++i) {
      const ssize_t count = read(from.get(), piece_.data(), piece_.size());
      if (count > 0) {
        use(std::string_view(piece_.data(), static_cast<std::size_t>(count)));
      } else if (count == 0) {
        from.close();
      } else if (errno != EINTR) {
        if (errno != EAGAIN) from.close();
        return;
      }
    }
  }

  void receive(std::string_view bytes) {
    const Result<void> fed = framer_.feed(bytes, [this](std::string_view line) { take_line(line); });
    if (!fed && !failure_) {
      failure_ = fail(Code::LimitExceeded, "message of the server '" + server_.name + "' is larger than " +
                                               std::to_string(max_bytes_) + " bytes")
                     .error();
    }
  }

  void take_line(std::string_view line) {
    const Result<std::vector<McpMessage>> messages = read_mcp_messages(line, max_bytes_);
    if (!messages) {
      // Programs print other lines to standard output (MCP4).
      log(LogLevel::Debug, "mcp: ignored output of the server '" + server_.name + "': not a message");
      return;
    }
    for (const McpMessage& message : *messages) take_message(message);
  }

  void take_message(const McpMessage& message) {
    if (message.kind != McpMessage::Kind::Answer) {
      const std::optional<std::string> reply = on_message_(message);
      if (!reply) return;
      const std::lock_guard lock(mutex_);
      const Result<void> sent = enqueue(*reply);
      if (!sent) failure_ = sent.error();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      const auto waiting = answers_.find(message.id.as_int64().value_or(-1));
      if (waiting == answers_.end()) return;  // too late, or never asked for
      waiting->second = message;
    }
    changed_.notify_all();
  }

  const McpServer server_;
  const std::size_t max_bytes_;
  const OnMessage on_message_;
  const Descriptor wake_;

  // Of the thread.
  LineFramer framer_;
  BoundedBytes errors_{kErrorTail};
  std::string writing_;
  std::size_t written_ = 0;
  std::optional<Error> failure_;  // why the connection ends, if it is not the end of the server
  bool is_over_ = false;          // the server does not read any more
  std::array<char, kPiece> piece_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_started_ = false;
  bool is_leaving_ = false;
  std::optional<Error> closed_;
  std::deque<std::string> outgoing_;
  std::size_t waiting_bytes_ = 0;
  std::map<std::int64_t, std::optional<McpMessage>> answers_;  // by request
  std::jthread thread_;                                        // last: it ends before what it uses
};

}  // namespace

Result<std::unique_ptr<McpTransport>> start_mcp_stdio(const McpServer& server, const McpOptions& options,
                                                      McpTransport::OnMessage on_message) {
  auto transport = std::make_unique<StdioTransport>(server, options, std::move(on_message));
  PARLEY_CHECK(transport->wait_for_start());
  return transport;
}

}  // namespace parley
