// For tests of the APIs: a whole server on the loopback address, with a model that a test drives ("manual")
// and the offline model ("rehearsal"), and a client.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/raw_client_testing.h"
#include "parley/json/json.h"
#include "parley/net/async_server.h"
#include "parley/net/http.h"
#include "server/engine/engine_testing.h"
#include "server/http/exchange.h"
#include "server/http/gate.h"
#include "server/http/router.h"

namespace parley::server::testing {

struct TestServerOptions {
  std::shared_ptr<store::Store> store = memory_store();
  GateOptions gate = {};
  TurnEngineOptions engine = {};
  std::chrono::milliseconds ping = std::chrono::seconds(15);
  std::vector<Route> routes = {};
  std::shared_ptr<ModelDirectory> models = {};  // instead of the two
};

// A response as a test reads it.
struct Got {
  int status = 0;
  std::string text = {};
  Json body = {};  // null if the text is not JSON
  std::vector<net::Header> headers = {};

  std::string header(std::string_view name) const;  // "" if it is absent
  std::string at(
      std::string_view pointer) const;  // a string unescaped, anything else as its JSON; "" if absent
  std::vector<Json> events() const;     // the JSON of the "data:" lines
};

class TestServer {
 public:
  explicit TestServer(TestServerOptions options);
  ~TestServer();

  using Headers = std::vector<net::Header>;
  Got send(std::string method, std::string_view path, std::string body = {}, Headers headers = {});
  Got get(std::string_view path, Headers headers = {}) { return send("GET", path, {}, std::move(headers)); }
  Got post(std::string_view path, std::string body, Headers headers = {}) {
    return send("POST", path, std::move(body), std::move(headers));
  }
  Got remove(std::string_view path) { return send("DELETE", path); }
  // A client that has sent this request and read nothing.
  std::unique_ptr<net::RawClient> raw_post(std::string_view path, std::string_view body);

  std::uint16_t port() const { return server_->port(); }
  TurnEngine& engine() { return *engine_; }
  store::Store& store() { return *options_.store; }
  ManualModel& model() { return *model_; }

 private:
  TestServerOptions options_;
  std::shared_ptr<ManualModel> model_ = std::make_shared<ManualModel>();
  std::vector<std::unique_ptr<net::EventLoop>> loops_;
  std::unique_ptr<TurnEngine> engine_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Gate> gate_;
  std::shared_ptr<const Router> router_;
  std::optional<net::AsyncServer> server_;
};

}  // namespace parley::server::testing
