#include "cli/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/config.h"
#include "cli/diagnostics.h"
#include "cli/doctor_places.h"
#include "cli/mcp.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/tool_choice.h"
#include "cli/tracing.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

// "MESSAGE (LOCATION or SOURCE)"
std::string error_text(const Error& error) {
  return error.path.empty() ? error.message : fmt::format("{} ({})", error.message, error.path);
}

// ---- The store

std::string for_people(const store::Health& health) {
  if (health.backend.empty()) {
    return fmt::format("store   not ok\n        error: {}\n", visible(error_text(*health.error)));
  }
  const std::string engine = health.version.empty() ? health.backend : health.backend + " " + health.version;
  std::string out =
      fmt::format("store   {}  {}, durability {}, {} us, circuit {}\n", health.is_ok ? "ok" : "not ok",
                  engine, to_string(health.durability), health.latency_us, to_string(health.circuit));
  if (health.error) out += fmt::format("        error: {}\n", visible(error_text(*health.error)));
  for (const std::string& warning : health.warnings)
    out += fmt::format("        warning: {}\n", visible(warning));
  return out;
}

void put(json::Writer& w, const store::Health& health) {
  w.begin_object().key("ok").boolean(health.is_ok);
  w.key("backend").string(Text(health.backend)).key("version").string(Text(health.version));
  w.key("durability").string(Text(to_string(health.durability)));
  w.key("latency_us").number(health.latency_us);
  w.key("circuit").string(Text(to_string(health.circuit)));
  if (health.error) w.key("error").string(Text(error_text(*health.error)));
  w.key("warnings").begin_array();
  for (const std::string& warning : health.warnings) w.string(Text(warning));
  w.end_array().end_object();
}

// A store that cannot even be opened.
store::Health health_of(const StoreChoice& choice) {
  Result<store::Store> store = try_store(choice);
  if (store) return store->health();
  store::Health out;
  out.error = store.error();
  if (!choice.uri.empty()) out.error->path = choice.from;
  return out;
}

// ---- The configuration

// The values that were chosen, and their sources.
std::vector<ConfigChoice> chosen_values(const Config& config) {
  std::vector<ConfigChoice> out = choices_of(config);
  std::erase_if(out, [](const ConfigChoice& each) { return each.from.empty(); });
  return out;
}

// Problems that a command would only find at first use.
std::vector<std::string> failures_of(const Config& config) {
  std::vector<std::string> out;
  const auto put = [&](const std::string& what, const std::string& from) {
    out.push_back(fmt::format("{} ({})", what, from));
  };
  for (const std::string& name : config.tools.value) {
    if (const Result<void> known = check_tool_name(name); !known)
      put(known.error().message, config.tools.from);
  }
  if (const Result<McpConfig> servers = mcp_servers(config); !servers) {
    const Error& error = servers.error();
    put(fmt::format("{}: {}{}{}", config.mcp_file.value, error.message, error.path.empty() ? "" : " at ",
                    error.path),
        config.mcp_file.from);
  }
  if (const auto tracer = try_tracer(config); !tracer) put(tracer.error().message, tracer.error().path);
  return out;
}

// Settings that are allowed but not safe.
std::vector<std::string> warnings_of(const Config& config) {
  std::vector<std::string> out = config.warnings;
  const Result<McpConfig> servers = mcp_servers(config);
  std::string exposure = servers ? mcp_exposure(config, *servers) : "";
  if (!exposure.empty()) out.push_back(std::move(exposure));
  return out;
}

// The configuration, or the error of reading it, and its problems.
struct ConfigHealth {
  Result<Config> config;
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
  bool is_ok() const { return config && failures.empty(); }
};

std::string for_people(const ConfigHealth& health) {
  const Result<Config>& config = health.config;
  if (!config) {
    return fmt::format("config  not ok\n        error: {} ({})\n", visible(config.error().message),
                       visible(config.error().path));
  }
  std::string out = fmt::format(
      "config  {}  {}\n", health.is_ok() ? "ok" : "not ok",
      config->files.empty() ? "no file" : visible(fmt::format("{}", fmt::join(config->files, ", "))));
  for (const std::string& trouble : health.failures)
    out += fmt::format("        error: {}\n", visible(trouble));
  for (const std::string& warning : health.warnings)
    out += fmt::format("        warning: {}\n", visible(warning));
  for (const ConfigChoice& each : chosen_values(*config)) {
    out += fmt::format("        {} = {} ({})\n", each.key, visible(each.value), visible(each.from));
  }
  return out;
}

void put(json::Writer& w, const ConfigHealth& health) {
  const Result<Config>& config = health.config;
  w.begin_object().key("ok").boolean(health.is_ok());
  if (!config) {
    w.key("error").string(Text(config.error().message)).key("place").string(Text(config.error().path));
  } else {
    w.key("files").begin_array();
    for (const std::string& file : config->files) w.string(Text(file));
    w.end_array().key("choices").begin_array();
    for (const ConfigChoice& each : chosen_values(*config)) {
      w.begin_object().key("key").string(Text(each.key)).key("value").string(Text(each.value));
      w.key("from").string(Text(each.from)).end_object();
    }
    w.end_array().key("errors").begin_array();
    for (const std::string& trouble : health.failures) w.string(Text(trouble));
    w.end_array().key("warnings").begin_array();
    for (const std::string& warning : health.warnings) w.string(Text(warning));
    w.end_array();
  }
  w.end_object();
}

// ---- The model

struct ModelHealth {
  std::string name;                    // empty: no model is set
  std::string base_url;                // empty: the provider's own
  std::string key_from;                // empty: no key
  std::optional<std::string> trouble;  // what is wrong, and what to do about it
  std::optional<std::string> reply;    // of the model
};

// Sends a short request.
void ask_online(ModelHealth& health, Model& model) {
  Conversation conversation({Message::user_message(Text("Say: ok"))});
  const Called<ModelAnswer> answer = model.complete({.conversation = std::move(conversation)});
  if (answer) {
    health.reply = answer->message.get_text_content().value_or(Text()).str();
  } else {
    health.trouble = answer.error().message;
  }
}

ModelHealth health_of(const Config& config, bool is_online) {
  ModelHealth health;
  const Result<std::string> name = chosen_name("", config);
  health.name = name.value_or("");
  if (!name) health.trouble = name.error().message;
  if (!name || *name == kRehearsal) return health;
  Result<ModelConfig> chosen = chosen_model(health.name, config);
  if (!chosen) {
    health.trouble = error_text(chosen.error());
    return health;
  }
  health.base_url = chosen->base_url;
  health.key_from = chosen->key.empty() ? "" : chosen->key_variable;
  const Result<std::shared_ptr<Model>> model = open_model(*std::move(chosen));
  if (!model) {
    health.trouble = model.error().message;
  } else if (is_online) {
    ask_online(health, **model);
  }
  return health;
}

std::string for_people(const ModelHealth& health) {
  if (health.name.empty())
    return fmt::format("model   not ok\n        error: {}\n", visible(*health.trouble));
  std::string out =
      fmt::format("model   {}  {}, {}, {}\n", health.trouble ? "not ok" : "ok", visible(health.name),
                  health.key_from.empty() ? "no key" : "key from " + visible(health.key_from),
                  health.base_url.empty() ? "default server" : visible(health.base_url));
  if (health.trouble) out += fmt::format("        error: {}\n", visible(*health.trouble));
  if (health.reply) out += fmt::format("        reply: {}\n", visible(*health.reply));
  return out;
}

void put(json::Writer& w, const ModelHealth& health) {
  w.begin_object().key("ok").boolean(!health.trouble).key("name").string(Text(health.name));
  w.key("key_from").string(Text(health.key_from)).key("base_url").string(Text(health.base_url));
  if (health.trouble) w.key("error").string(Text(*health.trouble));
  if (health.reply) w.key("said").string(Text(*health.reply));
  w.end_object();
}

}  // namespace

ExitCode doctor(const DoctorOptions& options) {
  ConfigHealth config{.config = read_config(), .failures = {}, .warnings = {}};
  if (config.config) {
    if (!options.model.empty()) config.config->model.set(options.model, "--model");
    config.failures = failures_of(*config.config);
    config.warnings = warnings_of(*config.config);
  }
  // Without a valid configuration the model is unknown, so it is not checked.
  std::optional<store::Health> store;
  std::optional<ModelHealth> model;
  StoreChoice choice = options.store;
  if (config.config) resolve(choice, *config.config);
  if (config.config || !choice.uri.empty()) store = health_of(choice);
  if (config.config) model = health_of(*config.config, options.is_online);
  std::optional<DoctorPlaces> places;
  if (config.config) places = places_of(*config.config, choice);
  std::string out;
  if (options.json) {
    json::Writer w;
    w.begin_object().key("schema").string("parley.doctor/1");
    w.key("store");
    store ? put(w, *store) : void(w.null());
    put(w.key("config"), config);
    w.key("model");
    model ? put(w, *model) : void(w.null());
    if (places) put(w, *places);
    out = w.end_object().take_string() + "\n";
  } else {
    if (store) out += for_people(*store);
    out += for_people(config);
    if (model) out += for_people(*model);
    if (places) out += for_people(*places);
  }
  const ExitCode printed =
      print(out, options.output, options.json ? ReportFormat::Json : ReportFormat::Lines);
  const bool is_well = config.is_ok() && store && store->is_ok && model && !model->trouble && places->is_ok();
  return is_well ? printed : worse(printed, ExitCode::Environment);
}

}  // namespace parley::cli
