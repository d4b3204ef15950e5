// The models that `parley serve` offers: those that the configuration has a key or a server for, and
// rehearsal if it has none.
//
// Names come from clients, and are asked for on event loops. So no lock is held while a model is opened, and
// secret-tool is asked for the key of a provider once for each configuration, when it is given; if it does not
// give the key, once in half a minute.
//
// Safe from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/config.h"
#include "cli/model.h"
#include "parley/base/clock.h"
#include "parley/server/turn_engine.h"

namespace parley::cli {

class ServedModels : public server::ModelDirectory {
 public:
  explicit ServedModels(Config config) { reload(std::move(config)); }

  // "openai/gpt-4o", "gpt-4o", an alias, "rehearsal". A model is opened when it is first asked.
  Result<std::shared_ptr<Model>> find(std::string_view name) override;
  std::vector<Entry> list() override;
  std::string default_model() override;  // the configured one

  // The first of list(), for messages to people.
  std::string example();
  // Later requests go by this configuration; running ones keep their model. Waits for secret-tool.
  void reload(Config config);

 private:
  using SharedConfig = std::shared_ptr<const Config>;
  SharedConfig present();
  SharedConfig with_key_of(const std::string& model, SharedConfig config);
  std::shared_ptr<Model> keep(std::string_view name, OpenedModel opened, const SharedConfig& config);

  std::mutex mutex_;
  SharedConfig config_;
  std::map<std::string, std::shared_ptr<Model>, std::less<>> opened_;
  std::map<std::string, Deadline, std::less<>> pauses_;  // of providers whose key secret-tool did not give
};

}  // namespace parley::cli
