#include "stream/task.h"

#include <string_view>

namespace bench::stream_task {
namespace {

constexpr std::size_t kChunks = 10'000;
// What one read of a TLS connection gives.
constexpr std::size_t kRecord = 16 * 1024;

// OpenAI's chunks as they are today, padding included: 9,000 of text and 1,000 of the arguments of a call.
std::string make_stream() {
  constexpr std::string_view kWords[] = {" the", " of", " agent", " \\\"quoted\\\"", " caf\xC3\xA9", ",\\n",
                                         " 42",  " is", " and",   " memory",         "ing",          "."};
  std::string out;
  const auto chunk = [&](const std::string& delta, std::string_view finish, std::size_t i) {
    out +=
        R"(data: {"id":"chatcmpl-CcB0d6Qk3TqXvYh8sJ9bF2LzRw1mN","object":"chat.completion.chunk","created":1763200000,"model":"gpt-5.1-2025-11-13","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{)" +
        delta + R"(},"logprobs":null,"finish_reason":)" + std::string(finish) +
        R"(}],"usage":null,"obfuscation":")" + std::string(3 + i % 9, 'x') + "\"}\n\n";
  };
  chunk(R"("role":"assistant","content":"","refusal":null)", "null", 0);
  for (std::size_t i = 1; i < kChunks - 1; ++i) {
    const std::string word(kWords[i % std::size(kWords)]);
    if (i < kChunks * 9 / 10) {
      chunk(R"("content":")" + word + "\"", "null", i);
    } else if (i == kChunks * 9 / 10) {
      chunk(
          R"("tool_calls":[{"index":0,"id":"call_abc123","type":"function","function":{"name":"write","arguments":""}}])",
          "null", i);
    } else {
      chunk(R"("tool_calls":[{"index":0,"function":{"arguments":")" + word + "\"}}]", "null", i);
    }
  }
  chunk("", "\"tool_calls\"", kChunks - 1);
  out +=
      "data: "
      "{\"id\":\"chatcmpl-CcB0d6Qk3TqXvYh8sJ9bF2LzRw1mN\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
      "\"completion_tokens\":10000,\"total_tokens\":10009}}\n\ndata: [DONE]\n\n";
  return out;
}

}  // namespace

std::vector<Group> groups() {
  static const std::string bytes = make_stream();
  static const std::vector<Stream> streams = {{"10,000 chunks", bytes, kRecord},
                                              {"10,000 chunks, each cut", bytes, bytes.size() / kChunks}};
  std::vector<Group> out;
  for (const Stream& stream : streams) {
    out.push_back({"stream", stream.name, stream.bytes.size(), all_of(stream, parley, nlohmann)});
  }
  return out;
}

}  // namespace bench::stream_task
