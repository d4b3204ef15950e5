// A Responder for tests: keeps what it is given.
//
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/fields.h"
#include "parley/net/async_server.h"

namespace parley::server {

class KeptResponse : public net::Responder {
 public:
  void whole(int given, std::vector<net::Header> fields, std::string text) override {
    start(given, std::move(fields));
    body = std::move(text);
    is_ended = true;
  }
  void start(int given, std::vector<net::Header> fields) override {
    status = given;
    headers = std::move(fields);
  }
  void send(std::string chunk) override {
    body += chunk;
    waiting += chunk.size();
    ++sends;
  }
  void end() override { is_ended = true; }
  void cut() override { is_cut = true; }
  std::shared_ptr<net::WebSocket> upgrade(const net::ServerRequest&, const net::WebSocketOptions&) override {
    return nullptr;
  }
  std::size_t backlog() const override { return waiting; }
  void on_gone(std::function<void()> call) override { gone = std::move(call); }
  void on_drained(std::function<void()> call) override { drained = std::move(call); }

  std::string_view header(std::string_view name) const {
    return net::find_header(headers, name).value_or("");
  }

  int status = 0;
  std::vector<net::Header> headers = {};
  std::string body = {};
  std::size_t sends = 0;
  std::size_t waiting = 0;
  bool is_ended = false, is_cut = false;
  std::function<void()> gone = {}, drained = {};
};

}  // namespace parley::server
