// For tests of servers: a WebSocket client that sends any frames, also those that the protocol forbids.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "net/raw_client_testing.h"

namespace parley::net {

inline constexpr std::string_view kWebSocketRequest =
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

// `first` is the first byte of the frame: 0x80 if it is the last of its message, and the opcode.
inline std::string client_frame(int first, std::string_view payload, bool is_masked = true) {
  std::string out(1, static_cast<char>(first));
  const int mark = is_masked ? 0x80 : 0;
  if (payload.size() < 126) {
    out += static_cast<char>(mark | static_cast<int>(payload.size()));
  } else if (payload.size() <= 0xFFFF) {
    out += static_cast<char>(mark | 126);
    for (int shift = 8; shift >= 0; shift -= 8) out += static_cast<char>(payload.size() >> shift);
  } else {
    out += static_cast<char>(mark | 127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(payload.size() >> shift);
  }
  constexpr std::string_view kMask = "\x12\x34\x56\x78";
  if (is_masked) out += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out += static_cast<char>(is_masked ? payload[i] ^ kMask[i % 4] : payload[i]);
  }
  return out;
}

// The payload of a close frame.
inline std::string close_payload(int code, std::string_view reason = "") {
  return std::string{static_cast<char>(code >> 8), static_cast<char>(code)} + std::string(reason);
}

class WebSocketClient {
 public:
  explicit WebSocketClient(std::uint16_t port) : client_(port) {
    head = client_.say(kWebSocketRequest).hear("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
  }

  WebSocketClient& say(int first, std::string_view payload) {
    client_.say(client_frame(first, payload));
    return *this;
  }
  WebSocketClient& text(std::string_view payload) { return say(0x81, payload); }
  RawClient& raw() { return client_; }

  // One frame: "text:hello", "pong:x", "close:1000 reason", "ping:"; "end" at the end of the connection.
  std::string hear() {
    const std::string head_bytes = bytes(2);
    if (head_bytes.size() < 2) return "end";
    const auto first = static_cast<unsigned char>(head_bytes[0]);
    auto size = std::size_t{static_cast<unsigned char>(head_bytes[1])};
    EXPECT_LT(size, 128u) << "a server does not mask";
    if (size >= 126) {
      const std::string number = bytes(size == 126 ? 2 : 8);
      size = 0;
      for (const char c : number) size = size << 8 | static_cast<unsigned char>(c);
    }
    const std::string payload = bytes(size);
    if (first == 0x81) return "text:" + payload;
    if (first == 0x89) return "ping:" + payload;
    if (first == 0x8A) return "pong:" + payload;
    if (first != 0x88) return "unexpected frame";
    if (payload.size() < 2) return "close:";
    const int code = static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
    return "close:" + std::to_string(code) + (payload.size() > 2 ? " " + payload.substr(2) : "");
  }

  std::string head;

 private:
  std::string bytes(std::size_t count) { return client_.hear_bytes(count); }

  RawClient client_;
};

}  // namespace parley::net
