// 200 streams at once, and those who take them.
#pragma once

#include <cstddef>
#include <string>

namespace bench::agent_task {

inline constexpr std::size_t kStreams = 200;
inline constexpr std::size_t kTokens = 400;  // of a stream

// Asks the server for all streams at the same time, and ends when all have ended: the number of tokens, and
// of bytes without their frames.
std::size_t take_by_threads(const std::string& url);  // of Parley, as is the next
std::size_t take_by_loop(const std::string& url);
std::size_t take_by_libcurl(const std::string& url, const std::string& body);

}  // namespace bench::agent_task
