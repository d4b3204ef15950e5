// A server that speaks TLS, with the clients of libcurl, OpenSSL and Python.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "net/certificate_testing.h"
#include "net/child_testing.h"
#include "net/raw_client_testing.h"
#include "parley/net/async_server.h"
#include "parley/net/http.h"
#include "parley/net/websocket.h"

namespace parley::net {
namespace {

using namespace std::chrono_literals;

class TlsServer : public testing::Test {
 protected:
  ServerOptions options() const { return {.tls_certificate = made_.certificate(), .tls_key = made_.key()}; }
  AsyncServer serving(AsyncServer::Handler handler) const {
    return AsyncServer::listen(options(), std::move(handler)).value();
  }
  Result<Response> ask(const AsyncServer& server, std::string body = "") const {
    Request request;
    request.method = "POST";
    request.url = parse_url(server.url("/path")).value();
    request.ca_file = made_.certificate();
    request.body = std::move(body);
    return send(request);
  }
  // The output and the end of openssl's client, which says nothing.
  static std::pair<std::string, int> connect(const AsyncServer& server, std::vector<std::string> more) {
    std::vector<std::string> words = {"openssl", "s_client", "-connect",
                                      "127.0.0.1:" + std::to_string(server.port())};
    words.insert(words.end(), more.begin(), more.end());
    Child client(words);
    std::string output = client.output();
    return {std::move(output), client.end()};
  }

  TestCertificate made_;
};

void echo_body(const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
  responder->whole(200, {}, (request.is_tls ? "tls " : "plain ") + request.path + "|" + request.body);
}

// ASYNC_SERVER11
TEST_F(TlsServer, AnswersRequests) {
  const AsyncServer server = serving(echo_body);
  EXPECT_TRUE(server.url().starts_with("https://127.0.0.1:")) << server.url();
  for (const std::size_t size : {0U, 5U, 16'384U, 16'385U, 10'000'000U}) {
    const std::string body(size, 'x');
    const auto response = ask(server, body);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "tls /path|" + body);
  }
  Child curl({"curl", "--silent", "--cacert", made_.certificate(), "-w", " %{num_connects};",
              server.url("/1"), server.url("/2")});
  EXPECT_EQ(curl.output(), "tls /1| 1;tls /2| 0;") << "the connection is kept";
}

// ASYNC_SERVER11
TEST_F(TlsServer, SpeaksTls12AndLater) {
  const AsyncServer server = serving(echo_body);
  const auto of_version = [&](const std::string& version) {
    return connect(server, {version, "-cipher", "ALL:@SECLEVEL=0", "-alpn", "h2,http/1.1"});
  };
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    const auto [output, end] = of_version(version);
    EXPECT_EQ(end, 0);
    EXPECT_NE(output.find("ALPN protocol: http/1.1"), std::string::npos) << output;
  }
  for (const std::string version : {"-tls1", "-tls1_1"}) EXPECT_NE(of_version(version).second, 0);
  EXPECT_NE(connect(server, {"-alpn", "h2"}).second, 0) << "HTTP/2 alone";
}

// ASYNC_SERVER11
TEST_F(TlsServer, AnswersPlainHttpWithAnError) {
  const AsyncServer server = serving(echo_body);
  RawClient client(server.port());
  const std::string heard = client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").hear();
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 ")) << heard;
  EXPECT_TRUE(heard.ends_with("this port expects TLS: use https\n")) << heard;
  EXPECT_EQ(RawClient(server.port()).say("neither\r\n\r\n").hear().find("HTTP"), std::string::npos);
}

// ASYNC_SERVER11
TEST_F(TlsServer, EndsAHandshakeThatTakesTooLong) {
  ServerOptions limited = options();
  limited.head_timeout = 50ms;
  const AsyncServer server = AsyncServer::listen(limited, echo_body).value();
  RawClient silent(server.port());
  EXPECT_EQ(silent.hear(), "");
  RawClient half(server.port());
  EXPECT_EQ(half.say("\x16\x03\x01").hear(), "");
}

// ASYNC_SERVER11: a client must not take half a response for a whole one.
TEST_F(TlsServer, CutsAResponseWithoutTheEndOfTls) {
  const AsyncServer server = serving([](const ServerRequest& request, const auto& responder) {
    responder->start(200, {});
    responder->send("half");
    if (request.path == "/whole") responder->end();
  });
  const auto curl = [&](const std::string& path) {
    Child client({"curl", "--silent", "--http1.0", "--cacert", made_.certificate(), server.url(path)});
    EXPECT_EQ(client.output(), "half");
    return client.end();
  };
  EXPECT_EQ(curl("/whole"), 0);
  EXPECT_NE(curl("/half"), 0);
}

// ASYNC_SERVER5 with TLS.
TEST_F(TlsServer, BoundsTheMemoryOfASenderThatPauses) {
  constexpr std::size_t kAll = std::size_t{16} << 20;
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  std::size_t sent = 0;
  std::size_t most = 0;
  const AsyncServer server = serving([&](ServerRequest, const std::shared_ptr<Responder>& responder) {
    responder->start(200, {});
    const auto more = [&, responder] {
      while (sent < kAll && responder->backlog() < 4 * kChunk) {
        responder->send(std::string(kChunk, static_cast<char>('a' + sent / kChunk % 26)));
        sent += kChunk;
        most = std::max(most, responder->backlog());
      }
      if (sent == kAll) responder->end();
    };
    responder->on_drained(more);
    more();
  });
  const auto response = ask(server);
  ASSERT_TRUE(response) << response.error().message;
  ASSERT_EQ(response->body.size(), kAll);
  for (std::size_t i = 0; i < kAll; i += kChunk)
    EXPECT_EQ(response->body[i], 'a' + static_cast<int>(i / kChunk % 26));
  EXPECT_LE(most, 5 * kChunk);
}

TEST_F(TlsServer, NamesTheFileThatIsInvalid) {
  const auto error_of = [](const std::string& certificate, const std::string& key) {
    const auto server = AsyncServer::listen({.tls_certificate = certificate, .tls_key = key}, echo_body);
    EXPECT_FALSE(server);
    if (server) return std::string();
    EXPECT_EQ(server.error().code, Code::Invalid);
    return server.error().message;
  };
  const std::string missing = made_.folder() + "/missing.pem";
  EXPECT_EQ(error_of(missing, made_.key()),
            "cannot use the certificate '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of(made_.certificate(), missing),
            "cannot use the key '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of(made_.certificate(), ""), "cannot use the key '': No such file or directory");
  EXPECT_EQ(error_of(made_.key(), made_.key()),
            "cannot use the certificate '" + made_.key() + "': no start line");
  const TestCertificate other;
  EXPECT_EQ(error_of(made_.certificate(), other.key()), "cannot use the key '" + other.key() +
                                                            "': it does not belong to the certificate '" +
                                                            made_.certificate() + "'");
  const std::string rsa = made_.folder() + "/rsa.pem";
  Child make({"openssl", "genrsa", "-out", rsa, "2048"});
  ASSERT_EQ(make.end(), 0);
  EXPECT_TRUE(
      error_of(made_.certificate(), rsa).starts_with("cannot use the key '" + rsa + "': it does not belong"));
  const std::string locked = made_.folder() + "/locked.pem";
  Child lock({"openssl", "pkey", "-in", made_.key(), "-aes256", "-passout", "pass:x", "-out", locked});
  ASSERT_EQ(lock.end(), 0);
  EXPECT_EQ(error_of(made_.certificate(), locked),
            "cannot use the key '" + locked + "': it has a passphrase: remove it with 'openssl pkey'");
}

// ASYNC_SERVER12
TEST_F(TlsServer, ReloadsItsCertificate) {
  AsyncServer server = serving(echo_body);
  const auto name = [&] {
    const std::string output = connect(server, {}).first;
    const std::size_t start = output.find("subject=CN = ") + 13;
    return output.substr(start, output.find('\n', start) - start);
  };
  EXPECT_EQ(name(), "parley");
  made_.make("renewed");
  EXPECT_EQ(name(), "parley") << "until it is asked";
  ASSERT_TRUE(server.reload_tls());
  EXPECT_EQ(name(), "renewed");
  std::ofstream(made_.certificate()) << "broken";
  EXPECT_EQ(server.reload_tls().error().code, Code::Invalid);
  EXPECT_EQ(name(), "renewed") << "nothing has changed";
}

TEST_F(TlsServer, DrainsAndStops) {
  std::promise<std::shared_ptr<Responder>> arrived;
  AsyncServer server = serving(
      [&](ServerRequest, std::shared_ptr<Responder> responder) { arrived.set_value(std::move(responder)); });
  RawClient idle(server.port());
  std::thread client([&] { EXPECT_EQ(ask(server).value().body, "done"); });
  const auto responder = arrived.get_future().get();
  server.drain();
  EXPECT_EQ(idle.hear(), "");
  responder->whole(200, {}, "done");
  client.join();
  server.stop();
}

constexpr const char* kWebSocketOverTls = R"(
import asyncio, ssl, sys
import websockets

async def main(url, certificate):
    trust = ssl.create_default_context(cafile=certificate)
    async with websockets.connect(url, ssl=trust, max_size=None) as socket:
        for text in ["hello", "x" * 1000000]:
            await socket.send(text)
            assert await socket.recv() == text
        await socket.close(4000, "bye")
        print("closed", socket.close_code)

asyncio.run(asyncio.wait_for(main(sys.argv[1], sys.argv[2]), 60))
)";

// ASYNC_SERVER11
TEST_F(TlsServer, SpeaksWebSocket) {
  std::promise<int> closed;
  const AsyncServer server = serving([&](const ServerRequest& request, const auto& responder) {
    const auto socket = responder->upgrade(request);
    socket->on_message([socket](std::string text) { socket->send(std::move(text)); });
    socket->on_closed([&](int code, const std::string&) { closed.set_value(code); });
  });
  Child client(
      {"/usr/bin/python3", "-c", kWebSocketOverTls, "wss" + server.url("/").substr(5), made_.certificate()});
  EXPECT_EQ(client.output(), "closed 4000\n");
  EXPECT_EQ(closed.get_future().get(), 4000);
}

}  // namespace
}  // namespace parley::net
