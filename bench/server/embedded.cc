// A Server of the library in a process of its own, with limits that the command does not have.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

#include "parley/model/http_model.h"
#include "parley/server/server.h"
#include "server/process.h"
#include "server/wire.h"

namespace bench::server_task {
namespace {

using namespace parley;

// One model by any name.
class OneModel : public server::ModelDirectory {
 public:
  explicit OneModel(std::shared_ptr<Model> model) : model_(std::move(model)) {}
  Result<std::shared_ptr<Model>> find(std::string_view) override { return model_; }
  std::vector<Entry> list() override { return {}; }

 private:
  std::shared_ptr<Model> model_;
};

[[noreturn]] void serve(std::size_t connections, std::uint16_t port, const std::string& database,
                        const std::string& upstream) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ModelConfig config;
  config.model = "openai/gpt-4o-mini";
  config.base_url = upstream + "/v1";
  config.window = 128'000;
  auto model = open_model(std::move(config));
  check(model.has_value(), "opening a model");
  auto store = store::open_store("sqlite:" + database);
  check(store.has_value(), "opening a store");
  server::ServerConfig server;
  server.http = server::serve_limits();
  server.http.port = port;
  server.http.connections = connections;
  server.engine.store = std::make_shared<store::Store>(*std::move(store));
  server.engine.models = std::make_shared<OneModel>(*std::move(model));
  const auto started = server::Server::start(std::move(server));
  check(started.has_value(), "starting a server");
  for (;;) ::pause();
}

}  // namespace

std::unique_ptr<ServerProcess> start_parley_for(std::size_t connections, const Folder& folder,
                                                const std::string& upstream) {
  const std::string database = folder.file("parley.db");
  const std::uint16_t port = free_port();
  const pid_t process = ::fork();
  check(process >= 0, "starting a process");
  if (process == 0) serve(connections, port, database, upstream);
  auto out = std::make_unique<ServerProcess>(process, port, database);
  wait_for_port(port, "starting a server");
  return out;
}

}  // namespace bench::server_task
