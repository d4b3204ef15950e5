#include "trace/queue.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "parley/base/log.h"
#include "trace/otlp.h"

namespace parley::trace {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{4} * 1024 * 1024;  // what receivers take
constexpr std::chrono::milliseconds kFirstPause{1'000}, kLongestPause{60'000};
constexpr std::size_t kAnswerBytes = std::size_t{64} * 1024;

// OTLP: only these statuses are retryable.
bool may_pass(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

// The seconds of Retry-After, or nothing. A date is not worth a clock here.
std::optional<std::chrono::milliseconds> wait_asked_for(const net::Response& answer) {
  const std::optional<std::string_view> text = answer.header("Retry-After");
  unsigned seconds = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), seconds).ec != std::errc()) {
    return std::nullopt;
  }
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(seconds), kLongestPause);
}

}  // namespace

Tracer::Queue::Queue(TracerOptions options, Url receiver)
    : options_(std::move(options)),
      receiver_(std::move(receiver)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Tracer::Queue::add(std::string span) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = counts_.ended++;
  if (is_closed_) {
    ++counts_.dropped;
    return;
  }
  waiting_bytes_ += span.size();
  waiting_.push_back({number, std::move(span)});
  drop_oldest();
  if (waiting_.size() >= options_.batch_spans) wake_.notify_all();
}

// Brings the queue within its bounds (TRACE2).
void Tracer::Queue::drop_oldest() {
  while (waiting_.size() > options_.queue_spans || waiting_bytes_ > options_.queue_bytes) {
    waiting_bytes_ -= waiting_.front().span.size();
    waiting_.pop_front();
    ++counts_.dropped;
  }
}

// The number of the oldest span that is neither sent nor given up.
std::uint64_t Tracer::Queue::oldest() const {
  if (!batch_.empty()) return batch_.front().number;
  return waiting_.empty() ? counts_.ended : waiting_.front().number;
}

Result<void> Tracer::Queue::flush(std::chrono::milliseconds time) {
  const Deadline deadline = Deadline::in(time);
  std::unique_lock lock(mutex_);
  const std::uint64_t target = counts_.ended, failures = failures_;
  wanted_ = std::max(wanted_, target);
  wake_.notify_all();
  settled_.wait_until(lock, deadline.at(),
                      [&] { return oldest() >= target || failures_ != failures || is_closed_; });
  if (failures_ != failures) return std::unexpected(*failure_);
  if (oldest() < target) return fail(Code::Timeout, "the trace receiver did not accept all spans in time");
  return {};
}

void Tracer::Queue::close() {
  (void)flush(options_.at_the_end);  // what is left is counted as dropped
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
  }
  thread_.request_stop();
  thread_.join();
  const std::lock_guard lock(mutex_);
  counts_.dropped += batch_.size() + waiting_.size();
  batch_.clear();
  waiting_.clear();
  settled_.notify_all();
}

TraceCounts Tracer::Queue::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Tracer::Queue::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    // During a pause a full batch does not trigger an attempt; a flush does.
    const bool pauses = pause_.count() > 0;
    wake_.wait_for(lock, stop, pauses ? pause_ : options_.interval, [&] {
      return oldest() < wanted_ || (!pauses && waiting_.size() >= options_.batch_spans);
    });
    if (stop.stop_requested()) return;
    take_batch();
    if (batch_.empty()) continue;
    net::Request request = {.method = "POST",
                            .url = receiver_,
                            .headers = {{"Content-Type", "application/json"}},
                            .secret_headers = options_.headers,
                            .timeout = options_.timeout,
                            .max_wire_bytes = kAnswerBytes,
                            .max_bytes = kAnswerBytes,
                            .stop = stop};
    lock.unlock();
    request.body = written_batch();
    const Result<net::Response> answer = net::send(request);
    lock.lock();
    settle(answer);
    settled_.notify_all();
  }
}

void Tracer::Queue::take_batch() {
  std::size_t bytes = 0;
  while (!waiting_.empty() && batch_.size() < std::max<std::size_t>(options_.batch_spans, 1)) {
    bytes += waiting_.front().span.size();
    if (!batch_.empty() && bytes > kBatchBytes) return;
    waiting_bytes_ -= waiting_.front().span.size();
    batch_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

std::string Tracer::Queue::written_batch() const {
  std::vector<std::string_view> spans;
  spans.reserve(batch_.size());
  for (const Entry& entry : batch_) spans.emplace_back(entry.span);
  return write_request(options_.service_name, spans);
}

// Counts the batch, or puts it back.
void Tracer::Queue::settle(const Result<net::Response>& answer) {
  const std::uint64_t size = batch_.size();
  if (answer && answer->status / 100 == 2) {
    const std::uint64_t refused = std::min(size, refused_spans(answer->body));
    counts_.refused += refused;
    counts_.sent += size - refused;
    batch_.clear();
    pause_ = {};
    return;
  }
  ++failures_;
  wanted_ = 0;
  failure_ =
      answer ? fail(Code::Unavailable, "the trace receiver returned status " + std::to_string(answer->status))
                   .error()
             : answer.error();
  if (pause_.count() == 0) log(LogLevel::Warning, "spans could not be sent: " + failure_->message);
  if (answer && !may_pass(answer->status)) {
    counts_.refused += size;
    batch_.clear();
    return;
  }
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  if (answer) pause_ = wait_asked_for(*answer).value_or(pause_);
  for (; !batch_.empty(); batch_.pop_back()) {
    waiting_bytes_ += batch_.back().span.size();
    waiting_.push_front(std::move(batch_.back()));
  }
  drop_oldest();
}

}  // namespace parley::trace
