#include "cli/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cli/config.h"
#include "cli/diagnostics.h"
#include "cli/known_models.h"
#include "cli/look.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/table.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

struct ListedModel {
  std::string model;  // provider/name
  std::optional<std::size_t> window;
  std::optional<Price> price;
  std::string key;  // its source, or what to do
  bool is_ready = false;
  bool is_default = false;
};

// ---- The lists of the servers

// Where a server lists its models, and what a list looks like: {LIST: [{NAME: "..."}, ...]}.
struct ListApi {
  std::string_view provider, path, list, name;
};
constexpr ListApi kListApis[] = {
    {"anthropic", "/v1/models?limit=1000", "data", "id"},
    {"gemini", "/v1beta/models?pageSize=1000", "models", "name"},
    {"ollama", "/api/tags", "models", "name"},
    {"", "/models", "data", "id"},  // any other
};

std::vector<std::string> names_in(const Json& reply, const ListApi& api) {
  constexpr std::string_view kGeminiPrefix = "models/";
  std::vector<std::string> out;
  for (const Json& each : reply.get(api.list).value_or(Json()).elements()) {
    const std::optional<Json> name = each.get(api.name);
    std::string text = name ? name->as_string().value_or(Text()).str() : "";
    if (text.starts_with(kGeminiPrefix)) text.erase(0, kGeminiPrefix.size());
    if (!text.empty()) out.push_back(std::move(text));
  }
  std::ranges::sort(out);
  return out;
}

Result<std::vector<std::string>> listed_by_server(const Provider& provider, const Config& config) {
  const ListApi& api = *std::ranges::find_if(kListApis, [&](const ListApi& each) {
    return each.provider.empty() || each.provider == provider.name;
  });
  Provider listing = provider;
  listing.path = api.path;
  PARLEY_TRY(ModelConfig model, chosen_model(fmt::format("{}/NAME", provider.name), config));
  net::Request request;
  PARLEY_TRY(request.url, url_of(listing, {.base_url = model.base_url}));
  if (!provider.version_header.empty()) {
    request.headers.push_back({std::string(provider.version_header), std::string(provider.version)});
  }
  const bool is_other =
      !provider.other_key_header.empty() && model.key_variable == provider.other_key_variable;
  if (!model.key.empty()) {
    request.secret_headers.push_back({std::string(is_other ? provider.other_key_header : provider.key_header),
                                      std::string(is_other ? provider.other_key_prefix : provider.key_prefix),
                                      model.key});
  }
  request.proxy = model.proxy;
  request.ca_file = model.ca_file;
  request.connect_timeout = std::chrono::seconds(3);
  request.timeout = std::chrono::seconds(20);
  PARLEY_TRY(const net::Response response, net::send(request));
  if (response.status == 401 || response.status == 403) {
    return fail(Code::Invalid, fmt::format("the server refused the key (HTTP {})", response.status));
  }
  if (response.status != 200) {
    return fail(Code::Invalid, fmt::format("cannot list the models: HTTP {}", response.status));
  }
  PARLEY_TRY(const Json reply, Json::parse(response.body));
  return names_in(reply, api);
}

// ---- The list

bool is_local(const Provider& provider) {
  return provider.key_variable.empty() && !provider.base_url.empty();
}

// What can be said of all models of a provider.
ListedModel listed(const Provider& provider, const Config& config) {
  const ProviderChoice choice = config.provider(provider.name);
  ListedModel out;
  out.is_ready = choice.key.is_set() || choice.base_url.is_set() || is_local(provider);
  if (choice.key.is_set()) {
    out.key = choice.key.from;
  } else if (out.is_ready) {
    out.key = "no key needed";
  } else {
    out.key = fmt::format("set {}",
                          provider.key_variable.empty() ? provider.base_url_variable : provider.key_variable);
  }
  return out;
}

std::vector<std::string> known_names(const Provider& provider) {
  std::vector<std::string> out;
  for (const KnownModel& each : known_models()) {
    if (each.provider == provider.name) out.emplace_back(each.name);
  }
  return out;
}

// The known models, or those that the server lists. A provider without either is one row.
std::vector<std::string> names_of(const Provider& provider, const Config& config, const ListedModel& common,
                                  bool is_online) {
  const bool has_list = provider.name != "azure" && provider.name != "responses";  // deployments; openai's
  if (is_online && common.is_ready && has_list) {
    Result<std::vector<std::string>> names = listed_by_server(provider, config);
    if (names) return *std::move(names);
    // A local server that is not running is no failure, unless it was configured.
    if (!is_local(provider) || config.provider(provider.name).base_url.is_set()) {
      print_message(fmt::format("{}: {}", provider.name, names.error().message));
    } else {
      return {};
    }
  }
  std::vector<std::string> names = known_names(provider);
  if (names.empty() && common.is_ready) names.emplace_back("NAME");
  return names;
}

std::vector<ListedModel> all_models(const Config& config, bool is_online) {
  const PriceTable prices = prices_of(config);
  const std::string chosen = chosen_name("", config).value_or("");
  std::vector<ListedModel> out;
  for (const Provider& provider : providers()) {
    const ListedModel common = listed(provider, config);
    for (const std::string& name : names_of(provider, config, common, is_online)) {
      ListedModel& row = out.emplace_back(common);
      row.model = fmt::format("{}/{}", provider.name, name);
      row.window = known_window(provider.name, name);
      if (const Price* price = prices.find(provider.name, name)) row.price = *price;
      row.is_default = row.model == chosen;
    }
  }
  if (std::ranges::none_of(out, &ListedModel::is_default) && chosen != kRehearsal && !chosen.empty()) {
    const Result<ModelName> name = parse_model_name(chosen);
    ListedModel row = name ? listed(*name->provider, config) : ListedModel{};
    row.model = chosen;
    row.is_default = true;
    if (name) row.window = known_window(name->provider->name, name->name.view());
    out.push_back(std::move(row));
  }
  ListedModel rehearsal;
  rehearsal.model = kRehearsal;
  rehearsal.key = "offline, built in";
  rehearsal.price = Price{.model = kRehearsal};
  rehearsal.is_ready = true;
  rehearsal.is_default = chosen == kRehearsal;
  out.push_back(std::move(rehearsal));
  std::ranges::stable_partition(out, &ListedModel::is_ready);
  return out;
}

// ---- Printing

std::string for_people(const std::vector<ListedModel>& models, const Config& config) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(models.size());
  for (const ListedModel& each : models) {
    rows.push_back({each.is_default ? "*" : " ", each.model, each.window ? with_commas(*each.window) : "",
                    each.price ? fmt::format("{:.2f}", each.price->input) : "",
                    each.price ? fmt::format("{:.2f}", each.price->output) : "", each.key});
  }
  std::string out =
      table({{""}, {"MODEL"}, {"WINDOW", true}, {"$/M IN", true}, {"$/M OUT", true}, {"KEY"}}, rows);
  for (const auto& [name, alias] : config.aliases) {
    out += fmt::format("   {} = {}\n", visible(name), visible(alias.value));
  }
  return out;
}

std::string as_json(const std::vector<ListedModel>& models, const Config& config) {
  json::Writer w;
  w.begin_object().key("schema").string("parley.models/1").key("models").begin_array();
  for (const ListedModel& each : models) {
    w.begin_object().key("model").string(Text(each.model));
    if (each.window) w.key("window").number(static_cast<std::int64_t>(*each.window));
    if (each.price) {
      w.key("input_price").raw(fmt::format("{}", each.price->input));
      w.key("output_price").raw(fmt::format("{}", each.price->output));
    }
    w.key("key").string(Text(each.key)).key("ready").boolean(each.is_ready);
    w.key("default").boolean(each.is_default).end_object();
  }
  w.end_array().key("aliases").begin_object();
  for (const auto& [name, alias] : config.aliases) {
    w.key(Text(name)).string(Text(alias.value));
  }
  return w.end_object().end_object().take_string() + "\n";
}

}  // namespace

ExitCode list_models(const ModelsOptions& options) {
  const Result<Config> config = read_config();
  if (!config) return report_config_error(config.error());
  const std::vector<ListedModel> models = all_models(*config, options.is_online);
  return options.json ? print(as_json(models, *config), options.output, ReportFormat::Json)
                      : print(for_people(models, *config), options.output);
}

}  // namespace parley::cli
