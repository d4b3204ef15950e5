#include "parley/model/http_model.h"

#include <utility>

#include "model/async_call.h"
#include "model/call.h"

namespace parley {
namespace {

// Does the steps of a call on the caller's thread.
Called<ModelAnswer> drive(model::Call& call, net::Connections& connections, Timer& timer,
                          const std::stop_token& stop) {
  model::Call::Step step = call.begin();
  while (!std::holds_alternative<model::Call::End>(step)) {
    if (const auto* send = std::get_if<model::Call::Send>(&step)) {
      step = call.sent(net::send(*send->request, connections));
    } else {
      step = call.waited(!timer.wait(std::get<model::Call::Wait>(step).time, stop));
    }
  }
  return call.result();
}

class HttpModel final : public Model {
 public:
  HttpModel(ModelConfig config, const ModelName& name) : client_(std::move(config), name) {}

  const ModelInfo& info() const override { return client_.info; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override {
    model::Call call(client_, request, options);
    return drive(call, connections_, *client_.config.timer, options.stop);
  }
  Result<std::string> body_of(const ModelRequest& request) const override {
    std::vector<Note> notes;
    PARLEY_TRY(const model::WireRequest wire,
               model::request_of(request, client_.info.name, client_.provider, client_.config, notes));
    std::string out;
    for (const std::string_view piece : wire.document.pieces) out += piece;
    return out;
  }
  Result<net::Request> request_to(std::string_view path) const override {
    return model::sibling_request(path, client_.info.name, client_.provider, client_.config);
  }
  std::shared_ptr<ModelCall> start(ModelRequest request, CallOptions options, net::EventLoop& loop,
                                   Done done) override {
    return model::start_on_loop(client_, std::move(request), std::move(options), loop, std::move(done));
  }

 private:
  model::Client client_;
  net::Connections connections_;
};

}  // namespace

Result<std::shared_ptr<Model>> open_model(ModelConfig config) {
  PARLEY_TRY(const ModelName name, parse_model_name(config.model));
  PARLEY_CHECK(url_of(*name.provider, {config.base_url, config.api_version, name.name, false}));
  const Provider& provider = *name.provider;
  const bool is_own = config.base_url.empty() || provider.base_url.empty();
  if (is_own && config.key.empty() && !provider.key_variable.empty()) {
    return fail(Code::Missing,
                "no key for " + std::string(provider.name) + ": set " + std::string(provider.key_variable));
  }
  return std::make_shared<HttpModel>(std::move(config), name);
}

}  // namespace parley
