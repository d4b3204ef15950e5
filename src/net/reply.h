// The Responder of one request of a Connection. Calls from other threads go through the loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/connection.h"
#include "net/response_head.h"
#include "net/websocket.h"

namespace parley::net {

class Reply final : public Responder {
 public:
  Reply(std::shared_ptr<Connection> connection, std::uint64_t serial)
      : connection_(std::move(connection)), serial_(serial) {}
  // Nothing happens if the response has ended. After all calls of other threads, also if this is the loop.
  ~Reply() override {
    connection_->loop()->post([c = connection_, n = serial_] { c->drop(n); });
  }

  void whole(int status, std::vector<Header> headers, std::string body) override {
    if (!are_headers(headers)) return;
    run([c = connection_, n = serial_, status, headers = std::move(headers), body = std::move(body)] {
      c->whole(n, status, headers, body);
    });
  }
  void start(int status, std::vector<Header> headers) override {
    if (!are_headers(headers)) return;
    run([c = connection_, n = serial_, status, headers = std::move(headers)] {
      c->start(n, status, headers);
    });
  }
  void send(std::string chunk) override {
    *backlog_ += chunk.size();
    run([c = connection_, n = serial_, b = backlog_, chunk = std::move(chunk)] { c->send(n, chunk, b); });
  }
  void end() override {
    run([c = connection_, n = serial_] { c->end(n); });
  }
  void cut() override {
    run([c = connection_, n = serial_] { c->cut(n); });
  }
  std::shared_ptr<WebSocket> upgrade(const ServerRequest& request, const WebSocketOptions& options) override {
    return open_websocket(connection_, serial_, request, options);
  }
  std::size_t backlog() const override { return *backlog_; }
  void on_gone(std::function<void()> call) override { connection_->on_gone(serial_, std::move(call)); }
  void on_drained(std::function<void()> call) override { connection_->on_drained(serial_, std::move(call)); }

  std::uint64_t serial() const { return serial_; }

 private:
  template <typename Call>
  void run(Call&& call) {
    connection_->loop()->run(std::forward<Call>(call));
  }

  std::shared_ptr<Connection> connection_;
  const std::uint64_t serial_;
  const Connection::Backlog backlog_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace parley::net
