#include "net/traffic_log.h"

#include <cstdint>
#include <string>

#include "parley/base/log.h"

namespace parley::net {
namespace {

// "340 ms", "1.2 s"
std::string shown(std::chrono::microseconds time) {
  const std::int64_t ms = time.count() / 1000;
  if (ms < 1000) return std::to_string(ms) + " ms";
  return std::to_string(ms / 1000) + "." + std::to_string(ms / 100 % 10) + " s";
}

// Where a request goes: no user, no query, no fragment.
std::string shown(Url url) {
  url.username.clear();
  url.password.clear();
  url.query.reset();
  url.fragment.reset();
  return url.href();
}

std::string bytes_of(std::size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

}  // namespace

void log_request(const Request& request, std::size_t bytes) {
  if (!is_logging()) return;
  log(LogLevel::Debug, "http: " + request.method + " " + shown(request.url) + ", " + bytes_of(bytes) +
                           (request.proxy ? ", by the proxy " + request.proxy->host : ""));
}

void log_start(const Request& request, int status, std::optional<std::chrono::microseconds> connect,
               std::chrono::microseconds first_byte) {
  if (!is_logging()) return;
  log(LogLevel::Debug, "http: " + std::to_string(status) + " from " + request.url.host + ", " +
                           (connect ? "connect " + shown(*connect) : "connection kept") + ", first byte " +
                           shown(first_byte));
}

void log_end(const Request& request, std::size_t bytes, std::chrono::microseconds total) {
  if (!is_logging()) return;
  log(LogLevel::Debug, std::string(kEndOfResponse) + " of " + request.url.host + ", " + bytes_of(bytes) +
                           ", total " + shown(total));
}

void log_failure(const Error& error, std::chrono::microseconds total) {
  if (!is_logging()) return;
  log(LogLevel::Debug, "http: failed after " + shown(total) + ": " + error.message);
}

}  // namespace parley::net
