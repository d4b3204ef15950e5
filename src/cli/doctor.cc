#include "cli/doctor.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/say.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

std::string for_people(const store::Health& health) {
  const std::string engine = health.version.empty() ? health.backend : health.backend + " " + health.version;
  std::string out =
      fmt::format("store  {}  {}, durability {}, {} us, circuit {}\n", health.is_ok ? "ok" : "not ok", engine,
                  to_string(health.durability), health.latency_us, to_string(health.circuit));
  if (health.error) out += fmt::format("       error: {}\n", visible(health.error->message));
  for (const std::string& warning : health.warnings)
    out += fmt::format("       warning: {}\n", visible(warning));
  return out;
}

std::string for_machines(const store::Health& health) {
  json::Writer w;
  w.begin_object().key("store").begin_object().key("ok").boolean(health.is_ok);
  w.key("backend")
      .string(Text::repaired(health.backend))
      .key("version")
      .string(Text::repaired(health.version));
  w.key("durability").string(Text::repaired(to_string(health.durability)));
  w.key("latency_us").number(health.latency_us);
  w.key("circuit").string(Text::repaired(to_string(health.circuit)));
  if (health.error) w.key("error").string(Text::repaired(health.error->message));
  w.key("warnings").begin_array();
  for (const std::string& warning : health.warnings) w.string(Text::repaired(warning));
  return w.end_array().end_object().end_object().take().text().str() + "\n";
}

}  // namespace

Exit doctor(const DoctorOptions& options) {
  Outcome<store::Store> store = open_store(options.store);
  if (!store) return store.error();
  const store::Health health = store->health();
  Result<Output> output = Output::open(options.output);
  if (!output) return complain(output.error(), {options.output});
  Result<void> printed = output->write(options.json ? for_machines(health) : for_people(health));
  if (printed) printed = output->commit();
  if (!printed) return output->end(printed.error());
  return health.is_ok ? Exit::Ok : Exit::Environment;
}

}  // namespace parley::cli
