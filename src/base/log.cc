#include "parley/base/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "parley/base/secret.h"

namespace parley {
namespace {

struct Hook {
  std::atomic<bool> is_set = false;  // so that silence costs one load
  std::mutex mutex;                  // of `sink`
  std::shared_ptr<const LogSink> sink;
};

Hook& hook() {
  static Hook one;
  return one;
}

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      return "error";
  }
  return "";
}

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  const std::lock_guard lock(hook().mutex);
  hook().is_set = next != nullptr;
  hook().sink.swap(next);
}

bool is_logging() { return hook().is_set.load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view line) {
  if (!is_logging()) return;
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard lock(hook().mutex);
    sink = hook().sink;
  }
  if (sink != nullptr) (*sink)(level, redacted(line));
}

}  // namespace parley
