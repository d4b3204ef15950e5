#include "cli/rehearse.h"

#include <fmt/format.h>

#include "cli/config.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/json_line.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/proxy.h"
#include "parley/json/json.h"
#include "parley/model/rehearsal.h"

namespace parley::cli {
namespace {

// Prints the address at once: a script waits for the line before it connects.
void announce(const std::string& url, bool json) {
  Result<Output> out = Output::open("-");
  if (out && out->report(json ? json_line({{"url", url}}) : "listening on " + url + "\n",
                         json ? ReportFormat::Json : ReportFormat::Lines))
    (void)out->flush();
}

ExitCode end_of(int signal) { return signal == SIGINT ? ExitCode::Interrupted : ExitCode::Ok; }

}  // namespace

ExitCode rehearse(const RehearseOptions& options) {
  RehearsalOptions rehearsal{.port = options.port};
  if (!options.script.empty()) {
    const Result<json::Buffer> text = json::Buffer::from_file(options.script.c_str(), json::Limits().bytes);
    if (!text) return report_error(text.error(), {options.script});
    rehearsal.script.emplace(text->view());
  }
  EndSignals signals;
  const Result<Rehearsal> running = Rehearsal::start(rehearsal);
  if (!running) return report_error(running.error(), {options.script.empty() ? "rehearse" : options.script});
  announce(running->url(), options.json);
  return end_of(signals.wait());
}

ExitCode record(const RehearseOptions& options) {
  const Result<std::optional<Url>> proxy = proxy_for(*options.record);
  if (!proxy) return report_choice_error(proxy.error().message, proxy.error().path);
  Result<Output> file = Output::open(options.output);
  if (!file) return report_error(file.error(), {options.output});
  EndSignals signals;
  const Result<Recorder> running = Recorder::start({.target = *options.record,
                                                    .proxy = *proxy,
                                                    .ca_file = from_environment("SSL_CERT_FILE"),
                                                    .port = options.port});
  if (!running) return report_error(running.error(), {"--record"});
  announce(running->url(), options.json);
  const int signal = signals.wait();
  const Recorder::Tally tally = running->tally();
  Result<void> written = file->write(running->script());
  if (written) written = file->commit();
  if (!written) return file->end(written.error());
  print_message(fmt::format("wrote {}: {} recorded{}", options.output, tally.recorded,
                            tally.left_out == 0 ? "" : fmt::format(", {} left out", tally.left_out)));
  return end_of(signal);
}

}  // namespace parley::cli
