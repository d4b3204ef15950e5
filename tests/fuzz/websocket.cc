// The server's side of WebSockets. The first byte says how the rest is cut into chunks and whether the client
// is slow to read; the rest are bytes of the client. Messages and the end are the same as from the whole, and
// what is written to the client are frames that a server may write.
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/websocket_codec.h"
#include "parley/base/text.h"
#include "require.h"

namespace {

using parley::net::ServerRequest;
using parley::net::WebSocketCodec;

constexpr std::size_t kMessage = 300;

const ServerRequest& handshake() {
  static const ServerRequest request = {.method = "GET",
                                        .path = "/",
                                        .query = "",
                                        .headers = {{"Host", "x"},
                                                    {"Connection", "Upgrade"},
                                                    {"Upgrade", "websocket"},
                                                    {"Sec-WebSocket-Version", "13"},
                                                    {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}},
                                        .body = ""};
  return request;
}

// Does what the first character of a message says: sends it back, closes, or goes away.
class Server final : public WebSocketCodec::Sink {
 public:
  Server(boost::asio::io_context& context, bool is_slow)
      : is_slow_(is_slow), codec_(std::make_unique<WebSocketCodec>(context, *this, kMessage)) {
    codec_->accept(handshake(), {});
  }

  bool write(std::string_view bytes) override {
    written_ += bytes;
    return !is_slow_;
  }
  void want_bytes() override {}
  bool may_keep(std::size_t bytes) override {
    kept_ += bytes;
    return kept_ < 4 * kMessage;
  }
  void message(std::string text) override {
    require(!is_closed_, "nothing after the end");
    require(text.size() <= kMessage, "the limit of a message");
    require(parley::is_utf8(text), "valid UTF-8");
    heard.push_back("message " + text);
    kept_ -= text.size();
    if (text.starts_with('s')) codec_->send(text);
    if (text.starts_with('p')) codec_->ping();
    if (text.starts_with('c')) codec_->close(4000, text);
    if (text.starts_with('d')) codec_.reset();
  }
  void closed(int code, std::string_view reason) override {
    require(!is_closed_, "one end");
    require(parley::is_utf8(reason), "a reason in UTF-8");
    is_closed_ = true;
    heard.push_back("closed " + std::to_string(code));
    codec_.reset();
  }

  // False if it is gone.
  bool read(std::string_view bytes) {
    if (!codec_) return false;
    codec_->read(bytes);
    if (codec_ && is_slow_) codec_->written();
    return codec_ != nullptr;
  }
  void drained() {
    if (codec_) codec_->written();
  }
  void judge() const;

  std::vector<std::string> heard;

 private:
  bool is_slow_;
  bool is_closed_ = false;
  std::size_t kept_ = 0;
  std::string written_;
  std::unique_ptr<WebSocketCodec> codec_;
};

// The response of the handshake, whole frames of a server, and at most one close frame, which is the last.
void Server::judge() const {
  const std::size_t head = written_.find("\r\n\r\n");
  require(written_.starts_with("HTTP/1.1 101 ") && head != std::string::npos, "accepts");
  std::string_view rest = std::string_view(written_).substr(head + 4);
  bool is_over = false;
  while (!rest.empty()) {
    require(!is_over, "nothing after a close frame");
    require(rest.size() >= 2, "a whole head");
    const auto first = static_cast<unsigned char>(rest[0]);
    std::size_t size = static_cast<unsigned char>(rest[1]);
    require(size <= 126, "no mask, and no message over 64 KiB");
    std::size_t start = 2;
    if (size == 126) {
      require(rest.size() >= 4 && first == 0x81, "control frames are short");
      size = static_cast<unsigned char>(rest[2]) * 256U + static_cast<unsigned char>(rest[3]);
      start = 4;
    }
    require(first == 0x81 || (first >= 0x88 && first <= 0x8A), "a known frame");
    require(rest.size() >= start + size, "a whole frame");
    is_over = first == 0x88;
    rest.remove_prefix(start + size);
  }
}

std::vector<std::string> serve(std::string_view bytes, std::size_t chunk, bool is_slow) {
  boost::asio::io_context context(1);
  Server server(context, is_slow);
  const auto run = [&] {
    // Each turn of a client that is slow takes what waits.
    for (int i = 0; i < (is_slow ? 8 : 1); ++i) {
      context.restart();
      context.poll();
      server.drained();
    }
  };
  run();
  for (std::size_t at = 0; at < bytes.size() && server.read(bytes.substr(at, chunk)); at += chunk) run();
  for (int i = 0; i < 64; ++i) run();
  server.judge();
  return server.heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = serve(bytes, bytes.size(), false);
  const auto in_chunks = serve(bytes, data[0] % 32 + 1U, data[0] >= 128);
  require(whole == in_chunks, "the same however it is cut");
  return 0;
}
