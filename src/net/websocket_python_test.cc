// The WebSocket client of Python's package "websockets" (Debian: python3-websockets) against the server.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "net/child_testing.h"
#include "parley/net/async_server.h"
#include "parley/net/websocket.h"

namespace parley::net {
namespace {

constexpr const char* kClient = R"(
import asyncio, sys
import websockets

async def main(url):
    async with websockets.connect(url, subprotocols=["chat"], max_size=None) as socket:
        print("subprotocol", socket.subprotocol, "extensions", socket.extensions)
        for text in ["hello", "", "\u00e4\U0001f600", "x" * 126, "y" * 70000, "z" * 3000000]:
            await socket.send(text)
            assert await socket.recv() == text, len(text)
        await socket.send(["frag", "men", "", "ted"])
        print(await socket.recv())
        await (await socket.ping("now"))
        await asyncio.gather(*[socket.send(str(i)) for i in range(100)])
        assert [await socket.recv() for i in range(100)] == [str(i) for i in range(100)]
        await socket.send("close")
        await socket.wait_closed()
        print("closed", socket.close_code, socket.close_reason)
    async with websockets.connect(url, subprotocols=["chat"]) as socket:
        await socket.send(b"binary")
        await socket.wait_closed()
        print("closed", socket.close_code, socket.close_reason)

asyncio.run(asyncio.wait_for(main(sys.argv[1]), 60))
)";

TEST(WebSocket, TalksWithPython) {
  const AsyncServer server =
      AsyncServer::listen({}, [](const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
        const auto socket = responder->upgrade(request, {.headers = {{"Sec-WebSocket-Protocol", "chat"}}});
        ASSERT_NE(socket, nullptr);
        socket->on_message([socket](std::string text) {
          if (text.starts_with("close")) return socket->close(4000, "as you wish");
          socket->send(std::move(text));
        });
      }).value();
  Child client({"/usr/bin/python3", "-c", kClient, "ws://127.0.0.1:" + std::to_string(server.port()) + "/"});
  EXPECT_EQ(client.output(),
            "subprotocol chat extensions []\nfragmented\nclosed 4000 as you wish\nclosed 1003 text messages "
            "only\n");
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace parley::net
