// A server in a program of your own: the offline model behind OpenAI's API, with conversations in a store.
#include <parley/model/http_model.h>
#include <parley/net/http.h>
#include <parley/server/server.h>

#include <iostream>
#include <memory>
using namespace parley;

// Any model under any name; here one.
class Models : public server::ModelDirectory {
 public:
  Result<std::shared_ptr<Model>> find(std::string_view name) override { return open_model(name); }
  std::vector<Entry> list() override { return {{"rehearsal", "parley", 0}}; }
};

int main() {
  server::ServerConfig config;
  config.engine.store = std::make_shared<store::Store>(*store::open_store("memory:"));
  config.engine.models = std::make_shared<Models>();
  Result<server::Server> server = server::Server::start(std::move(config));
  if (!server) return std::cerr << server.error() << '\n', 1;

  net::Request request;
  request.method = "POST";
  request.url = *parse_url(server->url("/v1/responses"));
  request.body = R"({"model": "rehearsal", "input": "hello there"})";
  const Result<net::Response> response = net::send(request);
  std::cout << (response ? response->body : response.error().message) << '\n';
  server->drain(std::chrono::seconds(5));
}
