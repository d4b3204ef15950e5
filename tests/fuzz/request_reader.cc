// Reading HTTP requests. The first byte says how the rest is cut into chunks; the requests are the same as
// from the whole, and a request that is read keeps the promises of request_reader.h.
#include "net/request_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"

namespace {

using parley::net::RequestReader;
using parley::net::ServerRequest;

constexpr std::size_t kHead = 512;
constexpr std::size_t kFields = 16;
constexpr std::size_t kBody = 256;

void judge(const ServerRequest& request) {
  const auto count = [&](std::string_view name) {
    return std::ranges::count_if(request.headers, [&](const auto& header) {
      return std::ranges::equal(header.name, name, {}, [](char c) { return static_cast<char>(c | 0x20); });
    });
  };
  require(count("host") <= 1, "at most one Host");
  require(count("content-length") + count("transfer-encoding") <= 1, "one length");
  require(request.body.size() <= kBody, "the limit of a body");
  require(request.headers.size() <= kFields, "the limit of fields");
  require(request.path.starts_with('/') || request.path == "*", "a path");
  for (const auto& header : request.headers) {
    require(header.value.find_first_of("\r\n") == std::string::npos && !header.name.empty(), "whole fields");
  }
}

// What was read, and how it ended.
std::vector<std::string> read_all(std::string_view bytes, std::size_t chunk) {
  std::vector<std::string> out;
  std::string kept;
  auto reader = std::make_unique<RequestReader>(parley::net::RequestLimits{kHead, kFields, kBody});
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    kept += bytes.substr(at, chunk);
    while (!kept.empty()) {
      const std::size_t used = reader->read(kept);
      require(used <= kept.size(), "reads no more than there is");
      kept.erase(0, used);
      if (reader->state() == RequestReader::State::Refused) {
        out.push_back("refused");
        return out;
      }
      if (reader->state() != RequestReader::State::Whole) break;
      const ServerRequest request = reader->release();
      judge(request);
      out.push_back(request.method + " " + request.path + "?" + request.query + " " + request.body);
      reader = std::make_unique<RequestReader>(parley::net::RequestLimits{kHead, kFields, kBody});
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read_all(bytes, bytes.size());
  const auto in_chunks = read_all(bytes, data[0] % 32 + 1U);
  require(whole == in_chunks, "the same however it is cut");
  return 0;
}
