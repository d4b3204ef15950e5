#include "mcp/client.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace parley {
namespace {

constexpr std::chrono::milliseconds kToCancel{500};  // to tell a server that a call is cancelled
constexpr std::chrono::milliseconds kLongestPause{60'000};

// How a call ends that has no answer (the codes of McpTransport::exchange).
ToolStatus status_of(Code code) {
  switch (code) {
    case Code::Cancelled:
    case Code::Timeout:
    case Code::Unresolved:
      return ToolStatus::Interrupted;
    case Code::LimitExceeded:
      return ToolStatus::Broken;
    default:
      return ToolStatus::Failed;
  }
}

ToolOutput output_of(const Error& error) {
  const ToolStatus status = status_of(error.code);
  std::string sentence = error.message;
  if (status == ToolStatus::Interrupted) sentence += "; the call may or may not have run";
  return ToolOutput::of(status, Text(sentence));
}

// Unresolved is for calls: a failed start has no effects.
Error cannot_start(const Error& error) {
  return {error.code == Code::Unresolved ? Code::Unavailable : error.code, error.message, error.path};
}

std::string seconds(std::chrono::milliseconds time) {
  const std::string tenths = std::to_string((time.count() + 50) / 100);
  const std::string whole = tenths.size() > 1 ? tenths.substr(0, tenths.size() - 1) : "0";
  return tenths.ends_with('0') ? whole + " s" : whole + "." + tenths.back() + " s";
}

}  // namespace

McpClient::McpClient(McpServer server, McpOptions options)
    : server_(std::move(server)), options_(std::move(options)) {}

// From threads of the transport.
std::optional<std::string> McpClient::take(const McpMessage& message) {
  if (message.kind == McpMessage::Kind::Request) return mcp_reply(message);
  if (message.method.view() == "notifications/tools/list_changed") is_stale_ = true;
  return std::nullopt;
}

Result<std::shared_ptr<McpTransport>> McpClient::start(Deadline deadline, const std::stop_token& stop) {
  const auto on_message = [this](const McpMessage& message) { return take(message); };
  std::shared_ptr<McpTransport> transport;
  if (server_.url) {
    transport = make_mcp_http(server_, options_, on_message);
  } else {
    PARLEY_TRY(transport, start_mcp_stdio(server_, options_, on_message));
  }
  const std::int64_t id = ++last_id_;
  PARLEY_TRY(const McpMessage answer,
             transport->exchange(id, mcp_request(id, "initialize", mcp_initialize_params()), deadline, stop));
  if (answer.error) {
    return fail(Code::Unavailable,
                "the server '" + server_.name + "' refused to initialize: " + answer.error->message.str());
  }
  PARLEY_TRY(const McpHello hello, read_mcp_hello(answer.result));
  PARLEY_CHECK(transport->begin(hello.version, mcp_notification("notifications/initialized", {}), deadline));
  has_tools_ = hello.has_tools;
  is_stale_ = true;  // it may be another version of the server
  return transport;
}

// The second start in a row needs no pause: a server may crash once. REQUIRES: the lock is held.
Result<void> McpClient::may_start() const {
  if (starts_ < 2 || next_start_.has_passed()) return {};
  return fail(Code::Unavailable, "the server '" + server_.name + "' failed to start " +
                                     std::to_string(starts_) + " times; next attempt in " +
                                     std::to_string(next_start_.left().count() / 1000 + 1) +
                                     " s; last error: " + last_failure_);
}

// REQUIRES: the lock is held.
void McpClient::count_start(const Result<std::shared_ptr<McpTransport>>& started) {
  ++starts_;
  last_failure_ = started ? "no response" : started.error().message;
  const int doublings = std::clamp(starts_ - 2, 0, 16);
  next_start_ = Deadline::in(std::min(options_.pause * (1 << doublings), kLongestPause));
  if (!started && started.error().code == Code::Timeout) rest();
}

// A slow start blocks its callers, so the longest pause follows. REQUIRES: the lock is held.
void McpClient::rest() {
  starts_ = std::max(starts_, 2);
  next_start_ = Deadline::in(kLongestPause);
}

Result<std::shared_ptr<McpTransport>> McpClient::connected(Deadline deadline, const std::stop_token& stop) {
  std::shared_ptr<McpTransport> old;  // ends without the lock
  if (stop.stop_requested()) {
    return fail(Code::Cancelled, "the start of the server '" + server_.name + "' was stopped");
  }
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, stop, deadline.at(), [&] { return !is_starting_; })) {
    return fail(stop.stop_requested() ? Code::Cancelled : Code::Timeout,
                "the server '" + server_.name + "' did not start in time");
  }
  if (transport_ && transport_->is_open()) return transport_;
  PARLEY_CHECK(may_start());
  old = std::exchange(transport_, nullptr);
  is_starting_ = true;
  lock.unlock();
  old.reset();
  const bool has_whole_time = deadline.left() >= options_.start_timeout;
  const Deadline until = has_whole_time ? Deadline::in(options_.start_timeout) : deadline;
  Result<std::shared_ptr<McpTransport>> started = start(until, stop);
  lock.lock();
  is_starting_ = false;
  changed_.notify_all();
  // A start that its caller stopped, or gave too little time, is not a failure of the server.
  const bool is_ended_by_caller = !started && (started.error().code == Code::Cancelled ||
                                               (started.error().code == Code::Timeout && !has_whole_time));
  if (!is_ended_by_caller) count_start(started);
  if (!started) return std::unexpected(cannot_start(started.error()));
  transport_ = *started;
  return started;
}

void McpClient::forget(const std::shared_ptr<McpTransport>& transport) {
  const std::lock_guard lock(mutex_);
  if (transport_ == transport) transport_.reset();
}

Result<McpMessage> McpClient::ask(std::string_view method, const Json& params, Deadline deadline,
                                  const std::stop_token& stop) {
  for (bool is_again = false;; is_again = true) {
    if (stop.stop_requested()) return fail(Code::Cancelled, "the call was stopped before it was sent");
    PARLEY_TRY(const std::shared_ptr<McpTransport> transport, connected(deadline, stop));
    const std::int64_t id = ++last_id_;
    Result<McpMessage> answer = transport->exchange(id, mcp_request(id, method, params), deadline, stop);
    if (answer) {
      const std::lock_guard lock(mutex_);
      starts_ = 0;
      return answer;
    }
    const Code code = answer.error().code;
    if (code == Code::Cancelled || code == Code::Timeout) {
      const Json cancel = mcp_cancel_params(id, answer.error().message);
      (void)transport->post(mcp_notification("notifications/cancelled", cancel), Deadline::in(kToCancel));
    }
    // The server does not know the session any more, so the call did not run: start a session and retry once.
    if (code == Code::NotFound) forget(transport);
    if (code != Code::NotFound || is_again) return answer;
  }
}

Result<std::vector<McpTool>> McpClient::list(const std::stop_token& stop) {
  Result<std::vector<McpTool>> tools = list_pages(Deadline::in(options_.start_timeout), stop);
  has_listed_ = has_listed_ || tools;
  if (tools) return tools;
  is_stale_ = true;
  Error error = cannot_start(tools.error());
  if (error.code == Code::Timeout) {
    std::shared_ptr<McpTransport> old;  // ends without the lock
    const std::lock_guard lock(mutex_);
    if (!has_listed_ || !transport_) {  // it did not start, or has not responded since
      old = std::exchange(transport_, nullptr);
      last_failure_ = error.message;
      rest();
    }
    error.message =
        "the server '" + server_.name + "' did not answer within " + seconds(options_.start_timeout);
  }
  return std::unexpected(std::move(error));
}

Result<std::vector<McpTool>> McpClient::list_pages(Deadline deadline, const std::stop_token& stop) {
  PARLEY_CHECK(connected(deadline, stop));
  is_stale_ = false;  // before it is asked, so that no change is missed
  std::vector<McpTool> tools;
  if (!has_tools_) return tools;
  std::unordered_set<std::string> names;
  std::optional<Text> cursor;
  for (std::size_t pages = 0; pages < options_.max_tools; ++pages) {
    PARLEY_TRY(const McpMessage answer, ask("tools/list", mcp_list_params(cursor), deadline, stop));
    if (answer.error) return fail(Code::Unavailable, "tools/list failed: " + answer.error->message.str());
    PARLEY_TRY(McpPage page, read_mcp_page(answer.result));
    for (McpTool& tool : page.tools) {
      if (names.insert(tool.name.str()).second) tools.push_back(std::move(tool));
    }
    if (tools.size() > options_.max_tools) break;
    if (!page.next) return tools;
    cursor = page.next;
  }
  return fail(Code::LimitExceeded, "the server '" + server_.name + "' lists more than " +
                                       std::to_string(options_.max_tools) + " tools or pages");
}

ToolOutput McpClient::call(std::string_view tool, const Json& arguments, const ToolContext& context) {
  const Result<McpMessage> answer =
      ask("tools/call", mcp_call_params(tool, arguments), Deadline::in(context.timeout), context.stop);
  if (!answer) return output_of(answer.error());
  if (answer->error) {
    return ToolOutput::failure(Text(answer->error->message.str() + " (error " +
                                    std::to_string(answer->error->code) + " of the server '" + server_.name +
                                    "')"));
  }
  Result<ToolOutput> output = read_mcp_output(answer->result);
  if (!output) {
    return ToolOutput::of(
        ToolStatus::Broken,
        Text("the server '" + server_.name + "' sent an invalid tool result: " + output.error().message));
  }
  return *std::move(output);
}

}  // namespace parley
