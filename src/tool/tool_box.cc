// One call, step by step: which tool, which arguments, whether it may, and then its run in a thread of its
// own.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "parley/base/clock.h"
#include "parley/schema/schema.h"
#include "parley/tool/tool.h"
#include "tool/output_limit.h"

namespace parley {
namespace {

using std::chrono::milliseconds;

// How long a tool may take to return its output after its deadline or a stop.
constexpr milliseconds kGrace{1000};

ToolOutput sentence(ToolStatus status, const std::string& words) {
  return ToolOutput::of(status, Text(words));
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

// OpenManus and some models send an empty text for no arguments.
Result<Json> arguments_of(const ToolUseBlock& use) {
  const bool is_blank = use.arguments.view().find_first_not_of(" \t\r\n") == std::string_view::npos;
  return is_blank ? Json::trusted(Text("{}")) : use.input();
}

std::string explained(const std::vector<Error>& errors) {
  std::string out = "invalid arguments:";
  for (const Error& error : errors) {
    out += "\n- " + (error.path.empty() ? "" : error.path + ": ") + error.message;
  }
  return out;
}

// The schema to check the arguments with (TOOL2).
Result<Schema> schema_of(const RunnableTool& tool) {
  const Json anything = Json::trusted(Text("{}"));
  const Json& said = tool.accepted();
  Result<Schema> schema = Schema::of(said.is_null() ? anything : said);
  const bool is_beyond_us = !schema && schema.error().code == Code::Unsupported;
  return is_beyond_us && tool.checks_arguments() ? Schema::of(anything) : std::move(schema);
}

// Shared by the caller and the tool's thread. The thread keeps it alive if the caller returns first.
struct Call {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<ToolOutput> output;
  std::stop_source stop;
};

ToolOutput run_guarded(RunnableTool& tool, const Json& arguments, const ToolContext& context) {
  try {
    return tool.run(arguments, context);
  } catch (const std::exception& problem) {
    return sentence(ToolStatus::Broken, problem.what());
  } catch (...) {
    return sentence(ToolStatus::Broken, "the tool threw an unknown exception");
  }
}

}  // namespace

struct ToolBox::Entry {
  std::shared_ptr<RunnableTool> tool;
  std::string name;
  Schema schema;

  // Of a tool that is not parallel: one call at a time.
  std::mutex mutex = {};
  std::condition_variable_any freed = {};
  bool is_busy = false;

  bool acquire(Deadline deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    if (!freed.wait_until(lock, stop, deadline.at(), [&] { return !is_busy; })) return false;
    is_busy = true;
    return true;
  }
  void release() {
    const std::scoped_lock lock(mutex);
    is_busy = false;
    freed.notify_one();
  }

  static ToolOutput run(const std::shared_ptr<Entry>& self, const Json& arguments, ToolContext context);
};

struct ToolBox::Approval {
  Approve ask;
  std::mutex mutex = {};
};

// Waits for the tool until its deadline or a stop, and then for the grace period.
ToolOutput ToolBox::Entry::run(const std::shared_ptr<Entry>& self, const Json& arguments,
                               ToolContext context) {
  context.timeout = self->tool->timeout().value_or(context.timeout);
  const Deadline deadline = Deadline::in(context.timeout);
  const std::stop_token outer = context.stop;
  if (outer.stop_requested())
    return sentence(ToolStatus::Interrupted, "the call was stopped before it started");
  const bool is_alone = !self->tool->is_parallel();
  if (is_alone && !self->acquire(deadline, outer)) {
    return sentence(ToolStatus::Interrupted, "the call did not start: the tool is busy with another call");
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto timed = [&](ToolOutput output) {
    const auto time = std::chrono::steady_clock::now() - begin;
    // At least 1: it did run.
    output.time =
        std::max(std::chrono::duration_cast<std::chrono::microseconds>(time), std::chrono::microseconds(1));
    return output;
  };
  const auto call = std::make_shared<Call>();
  context.stop = call->stop.get_token();
  try {
    std::thread([own = self, call, arguments, context, is_alone]() mutable {
      ToolOutput output = run_guarded(*own->tool, arguments, context);
      if (is_alone) own->release();
      own.reset();  // before the output is visible: its reader may destroy the tool without waiting for this
                    // thread
      const std::scoped_lock lock(call->mutex);
      call->output = std::move(output);
      call->changed.notify_all();
    }).detach();
  } catch (const std::exception&) {
    if (is_alone) self->release();
    return sentence(ToolStatus::Broken, "cannot start another thread: the system's limit is reached");
  }

  const auto is_done = [&] { return call->output.has_value(); };
  std::unique_lock lock(call->mutex);
  call->changed.wait_until(lock, outer, deadline.at(), is_done);
  // A tool with its own deadline returns a better error; the others need a stop.
  if (!is_done() && !outer.stop_requested()) call->changed.wait_for(lock, outer, kGrace, is_done);
  if (!is_done()) {
    lock.unlock();
    call->stop.request_stop();
    lock.lock();
    call->changed.wait_for(lock, kGrace, is_done);
  }
  if (is_done()) return timed(*std::move(call->output));
  const std::string why = outer.stop_requested() ? "the call was stopped"
                                                 : "the tool did not end within " +
                                                       std::to_string(context.timeout.count()) + " ms";
  return timed(sentence(ToolStatus::Interrupted, why + "; the call may have had side effects"));
}

Result<void> ToolBox::add(std::shared_ptr<RunnableTool> tool) {
  if (!tool) return fail(Code::Invalid, "tool is null");
  const Tool& spec = tool->spec();
  if (spec.name.empty()) return fail(Code::Invalid, "tool has no name");
  if (spec.is_custom) return fail(Code::Unsupported, "a custom tool (free text input) cannot be run");
  if (entry_of(spec.name)) return fail(Code::Conflict, "there is a tool " + quoted(spec.name) + " already");
  PARLEY_TRY(Schema schema, schema_of(*tool));
  std::string name = spec.name.str();
  entries_.push_back(std::make_shared<Entry>(std::move(tool), std::move(name), std::move(schema)));
  return {};
}

bool ToolBox::remove(std::string_view name) {
  return std::erase_if(entries_, [&](const auto& entry) { return entry->name == name; }) > 0;
}

RunnableTool* ToolBox::find(std::string_view name) const {
  const auto entry = entry_of(name);
  return entry ? entry->tool.get() : nullptr;
}

std::vector<Tool> ToolBox::specs() const {
  std::vector<Tool> out;
  out.reserve(entries_.size());
  for (const auto& entry : entries_) out.push_back(entry->tool->spec());
  return out;
}

void ToolBox::set_approve(Approve approve) {
  approval_ = approve ? std::make_shared<Approval>(std::move(approve)) : nullptr;
}

std::shared_ptr<ToolBox::Entry> ToolBox::entry_of(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->name == name; });
  return found == entries_.end() ? nullptr : *found;
}

bool ToolBox::approves(const ToolUseBlock& use) const {
  if (!approval_) return false;
  const std::scoped_lock lock(approval_->mutex);
  return approval_->ask(use);
}

// nullopt if the call may run (TOOL3).
std::optional<ToolOutput> ToolBox::refused(const ToolUseBlock& use, const RunnableTool& tool,
                                           const Json& arguments, bool is_approved) const {
  switch (policy_.of(use.name, tool.has_side_effects(arguments))) {
    case Permission::Allow:
      return std::nullopt;
    case Permission::Deny:
      return sentence(ToolStatus::Denied, "the permission policy denies this tool");
    case Permission::Ask:
      break;
  }
  if (is_approved) return std::nullopt;
  if (!approval_) {
    return sentence(ToolStatus::Denied, "this call needs approval, and no approval callback is set");
  }
  if (approves(use)) return std::nullopt;
  return sentence(ToolStatus::Denied, "the user did not approve this call");
}

ToolOutput ToolBox::run(const ToolUseBlock& use, const ToolContext& context) const {
  if (use.name.empty()) return sentence(ToolStatus::Unnamed, "the call has no tool name");
  const auto entry = entry_of(use.name);
  if (!entry) {
    std::string words = "unknown tool " + quoted(use.name) + "; known tools:";
    for (const auto& known : entries_) words += " " + quoted(known->name);
    return limited(sentence(ToolStatus::Unknown, words), context.max_output_bytes);
  }
  const auto arguments = arguments_of(use);
  if (!arguments) {
    return sentence(ToolStatus::NotJson, "the arguments are not JSON: " + arguments.error().message);
  }
  if (!arguments->is_object()) {
    return sentence(ToolStatus::Broken, "invalid arguments: expected an object");
  }
  if (const auto errors = entry->schema.check(*arguments); !errors.empty()) {
    return limited(sentence(ToolStatus::Broken, explained(errors)), context.max_output_bytes);
  }
  try {
    if (auto refusal = refused(use, *entry->tool, *arguments, context.is_approved))
      return *std::move(refusal);
  } catch (...) {
    return sentence(ToolStatus::Denied, "the permission check threw an exception");
  }
  ToolContext inner = context;
  inner.call_id = use.id;
  return limited(Entry::run(entry, *arguments, std::move(inner)), context.max_output_bytes);
}

}  // namespace parley
