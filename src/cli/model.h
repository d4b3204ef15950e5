// Which model a command means, opened.
#pragma once

#include <memory>
#include <string>

#include "cli/config.h"
#include "cli/exit.h"
#include "parley/model/http_model.h"
#include "parley/model/rehearsal.h"

namespace parley::cli {

struct OpenedModel {
  std::shared_ptr<Model> model;
  std::shared_ptr<Rehearsal> rehearsal = {};  // the server that plays it, if that is what it is
};

// `typed` is what --model said; empty: the configuration decides, and without a model, a key and a server it
// is rehearsal, which is said. Says what is wrong otherwise.
Outcome<OpenedModel> open_chosen_model(const std::string& typed, const Config& config,
                                       std::shared_ptr<UsageLedger> ledger);

// The same without a word, for `parley doctor`: what would be opened.
Result<ModelConfig> chosen_model(const std::string& name, const Config& config);

inline constexpr const char* kRehearsal = "rehearsal";

}  // namespace parley::cli
