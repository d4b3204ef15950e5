// The library's log. Silent unless the program sets a sink.
//
// Every line is redacted before the sink sees it (parley/base/secret.h).
//
// Safe from any thread; the sink may be called from several at once, and no lock is held while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace parley {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

// "debug", "info", "warning", "error".
std::string_view to_string(LogLevel level);

// The line has no line end and is valid only during the call.
using LogSink = std::function<void(LogLevel level, std::string_view line)>;

// Replaces the sink; an empty one turns logging off. A concurrent call may still reach the old sink.
void set_log_sink(LogSink sink);

// True if there is a sink: for lines that are costly to make.
bool is_logging();

void log(LogLevel level, std::string_view line);

}  // namespace parley
