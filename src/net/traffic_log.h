// Lines about HTTP traffic, for the log of the library (parley/base/log.h, LogLevel::Debug).
//
//   http: POST https://api.example.com/v1/chat, 812 bytes          before a request is sent
//   http: 200 from api.example.com, connect 12 ms, first byte 340 ms      when its response starts
//   http: end of api.example.com, 2048 bytes, total 1.2 s                 when the response is complete
//   http: failed after 31 ms: cannot connect to api.example.com           instead of one of the latter two
//
// No line has a header, a body, a query, a user or a password (HTTP12). A URL whose path is a secret is left
// to the sink.
//
// Functions are safe from any thread, and do nothing if there is no sink.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "parley/base/error.h"
#include "parley/net/http.h"

namespace parley::net {

// How the last line of a successful request begins.
inline constexpr std::string_view kEndOfResponse = "http: end";

void log_request(const Request& request, std::size_t bytes);
// `connect` is nullopt on a connection that was kept.
void log_start(const Request& request, int status, std::optional<std::chrono::microseconds> connect,
               std::chrono::microseconds first_byte);
void log_end(const Request& request, std::size_t bytes, std::chrono::microseconds total);
void log_failure(const Error& error, std::chrono::microseconds total);

}  // namespace parley::net
