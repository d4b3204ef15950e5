#include "net/response_head.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <tuple>
#include <utility>

#include "net/fields.h"

namespace parley::net {
namespace {

namespace http = boost::beast::http;

// The server alone sets the framing of a response.
bool is_framing(const Header& header) {
  return same_name(header.name, "Content-Length") || same_name(header.name, "Transfer-Encoding") ||
         same_name(header.name, "Connection");
}

}  // namespace

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

bool are_headers(const std::vector<Header>& headers) {
  return std::ranges::all_of(
      headers, [](const Header& each) { return is_token(each.name) && is_header_value(each.value); });
}

std::string head_of(int status, const std::vector<Header>& headers, std::string_view framing) {
  const std::string_view reason = http::obsolete_reason(static_cast<http::status>(status));
  std::string out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const Header& header : headers) {
    if (!is_framing(header)) out.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  return out.append(framing).append("\r\n");
}

std::string length_line(std::size_t length) { return "Content-Length: " + std::to_string(length) + "\r\n"; }

std::string refusal_response(const Refusal& refusal, const RefusalMaker& make) {
  std::vector<Header> headers = {{"Content-Type", "text/plain"}};
  std::string body = std::string(refusal.reason) + "\n";
  if (make) {
    auto made = make(refusal.status, refusal.reason);
    if (are_headers(made.first)) std::tie(headers, body) = std::move(made);
  }
  if (refusal.status == 503) headers.push_back({"Retry-After", "1"});
  return head_of(refusal.status, headers, length_line(body.size()) + "Connection: close\r\n") + body;
}

void append_chunk(std::string& out, std::string_view chunk) {
  std::array<char, 20> size;
  char* const end = std::to_chars(size.data(), size.data() + size.size(), chunk.size(), 16).ptr;
  out.append(size.data(), end).append("\r\n").append(chunk).append("\r\n");
}

}  // namespace parley::net
