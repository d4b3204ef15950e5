#include "cli/rehearse.h"

#include <fmt/format.h>

#include "cli/config.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/proxy.h"
#include "cli/say.h"
#include "parley/json/buffer.h"
#include "parley/json/limits.h"
#include "parley/model/recorder.h"
#include "parley/model/rehearsal.h"

namespace parley::cli {
namespace {

// Says where, at once: whoever waits for the line connects next.
void announce(const std::string& url) {
  Result<Output> out = Output::open("-");
  if (out && out->report("listening on " + url + "\n")) (void)out->flush();
}

Exit end_of(int signal) { return signal == SIGINT ? Exit::Interrupted : Exit::Ok; }

}  // namespace

Exit rehearse(const RehearseOptions& options) {
  RehearsalOptions rehearsal{.port = options.port};
  if (!options.script.empty()) {
    const Result<json::Buffer> text = json::Buffer::from_file(options.script.c_str(), json::Limits().bytes);
    if (!text) return complain(text.error(), {options.script});
    rehearsal.script.emplace(text->view());
  }
  EndSignals signals;
  const Result<Rehearsal> running = Rehearsal::start(rehearsal);
  if (!running) return complain(running.error(), {options.script.empty() ? "rehearse" : options.script});
  announce(running->url());
  return end_of(signals.wait());
}

Exit record(const RehearseOptions& options) {
  const Result<std::optional<Url>> proxy = proxy_for(*options.record);
  if (!proxy) return complain_of_choice(proxy.error().message, proxy.error().path);
  Result<Output> file = Output::open(options.output);
  if (!file) return complain(file.error(), {options.output});
  EndSignals signals;
  const Result<Recorder> running = Recorder::start({.target = *options.record,
                                                    .proxy = *proxy,
                                                    .ca_file = from_environment("SSL_CERT_FILE"),
                                                    .port = options.port});
  if (!running) return complain(running.error(), {"--record"});
  announce(running->url());
  const int signal = signals.wait();
  const Recorder::Tally tally = running->tally();
  Result<void> written = file->write(running->script());
  if (written) written = file->commit();
  if (!written) return file->end(written.error());
  say(fmt::format("{} recorded in {}{}", tally.recorded, options.output,
                  tally.left_out == 0 ? "" : fmt::format(", {} left out", tally.left_out)));
  return end_of(signal);
}

}  // namespace parley::cli
