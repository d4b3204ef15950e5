// Reads HTTP requests as Parley's server does, for tests/judges/requests.sh. A line of input is what a client
// sends, in hexadecimal digits. A line of output is JSON: the requests that were read, each as [method,
// target, body], the target without scheme and host, the body in hexadecimal digits; then how it ended:
// "more", "refused" or "end".
#include <iostream>
#include <string>

#include "net/request_reader.h"

namespace {

using parley::net::RequestReader;

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

void read_all(std::string_view bytes) {
  std::string line = "[";
  while (true) {
    RequestReader reader(
        {.head_bytes = std::size_t{64} << 10, .fields = 100, .body_bytes = std::size_t{1} << 20});
    bytes.remove_prefix(reader.read(bytes));
    if (reader.state() != RequestReader::State::Whole) {
      const bool is_refused = reader.state() == RequestReader::State::Refused;
      std::cout << line << (is_refused ? "\"refused\"]\n" : bytes.empty() ? "\"end\"]\n" : "\"more\"]\n");
      return;
    }
    const bool keeps_alive = reader.keeps_alive();
    const parley::net::ServerRequest request = reader.release();
    const std::string target = request.path + (request.query.empty() ? "" : "?" + request.query);
    line +=
        "[\"" + hex_of(request.method) + "\",\"" + hex_of(target) + "\",\"" + hex_of(request.body) + "\"],";
    if (!keeps_alive) bytes = {};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) read_all(bytes_of(line));
}
