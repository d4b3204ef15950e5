#include "tool/program_output.h"

#include "parley/json/writer.h"

namespace parley {
namespace {

std::string ending(const SubprocessRun& run, const ToolContext& context) {
  switch (run.ending) {
    case SubprocessRun::Ending::Deadline:
      return "[killed: timeout after " + std::to_string(context.timeout.count()) + " ms]";
    case SubprocessRun::Ending::Stop:
      return "[killed: the call was stopped]";
    case SubprocessRun::Ending::Itself:
      break;
  }
  if (run.end.signal != 0) return "[killed by signal " + std::to_string(run.end.signal) + "]";
  if (run.end.status < 0) return "[exit status unknown]";
  return "[exit status " + std::to_string(run.end.status) + "]";
}

void append_lines(std::string& out, std::string_view lines) {
  out += lines;
  if (!lines.empty() && !lines.ends_with('\n')) out += '\n';
}

Json structured(const SubprocessRun& run) {
  json::Writer w;
  w.begin_object().key("stdout").string(run.output).key("stderr").string(run.errors).key("exit_status");
  const bool has_status =
      run.ending == SubprocessRun::Ending::Itself && run.end.signal == 0 && run.end.status >= 0;
  has_status ? w.number(run.end.status) : w.null();
  return w.end_object().take();
}

}  // namespace

ToolOutput run_program(const SubprocessOptions& options, std::string_view input, const ToolContext& context) {
  // Room for both streams and the text around them, so that the exit status is not cut again.
  constexpr std::size_t kAround = 512;
  const std::size_t room =
      context.max_output_bytes > 2 * kAround ? context.max_output_bytes - kAround : kAround;
  const auto run = run_subprocess(options, input, room / 2, Deadline::in(context.timeout), context.stop);
  if (!run) return ToolOutput::failure(Text(run.error().message));
  std::string text;
  append_lines(text, run->output);
  if (!run->errors.empty()) text += "[stderr]\n";
  append_lines(text, run->errors);
  text += ending(*run, context);
  const bool is_whole = run->ending == SubprocessRun::Ending::Itself;
  ToolOutput out = ToolOutput::of(!is_whole            ? ToolStatus::Interrupted
                                  : run->end.is_good() ? ToolStatus::Ok
                                                       : ToolStatus::Failed,
                                  Text(text));
  out.structured = structured(*run);
  return out;
}

}  // namespace parley
