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

// The same in two steps and without a word, for `parley doctor`: which model is meant, and what would be
// opened. The first fails with Missing if there is a key or a server and no model, the second with who chose
// what is wrong in the path, if that was not typed.
Result<std::string> chosen_name(const std::string& typed, const Config& config);
Result<ModelConfig> chosen_model(const std::string& name, const Config& config);

inline constexpr const char* kRehearsal = "rehearsal";

}  // namespace parley::cli
