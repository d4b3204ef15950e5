// Opens the model of a command.
#pragma once

#include <memory>
#include <string>

#include "cli/config.h"
#include "cli/exit_code.h"
#include "cli/known_models.h"
#include "parley/model/http_model.h"
#include "parley/model/rehearsal.h"

namespace parley::cli {

struct OpenedModel {
  std::shared_ptr<Model> model;
  std::shared_ptr<Rehearsal> rehearsal = {};  // the server, if the model is rehearsal
};

// `typed` is the value of --model: PROVIDER/NAME, a known NAME (known_models.h), or an alias; empty: the
// configuration decides, and without a model, a key and a server it is rehearsal, with a message. Prints what
// is wrong.
CommandResult<OpenedModel> open_chosen_model(const std::string& typed, const Config& config,
                                             std::shared_ptr<UsageLedger> ledger);

// The same in two steps and without messages, for `parley doctor`. The first fails with Missing if there is
// a key or a server and no model, the second with the source of a wrong value in the path, unless typed.
Result<std::string> chosen_name(const std::string& typed, const Config& config);
Result<ModelConfig> chosen_model(const std::string& name, const Config& config);

// Opens the model that chosen_name() returned, without messages.
Result<OpenedModel> try_model(const std::string& name, const Config& config,
                              std::shared_ptr<UsageLedger> ledger = {});

// The published prices, with those of the configuration before them.
PriceTable prices_of(const Config& config);

}  // namespace parley::cli
