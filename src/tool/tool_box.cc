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

// Tells the model which arguments the call has (TOOL7).
ToolOutput with_edit(ToolOutput output, const Text& arguments) {
  const std::string note = "[the user replaced the arguments of this call by " + arguments.str() + "]";
  output.edited_arguments = arguments;
  auto* const first = output.content.empty()
                          ? nullptr
                          : std::get_if<TextBlock>(static_cast<BlockVariant*>(&output.content.front()));
  if (first != nullptr) {
    first->text = Text(note + "\n" + first->text.str());
    return output;
  }
  // Without content, the model reads what is structured.
  const bool is_structured = output.content.empty() && output.structured;
  const std::string rest = is_structured ? "\n" + output.structured->text().str() : "";
  output.content.insert(output.content.begin(), TextBlock{Text(note + rest)});
  return output;
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

  // The arguments that the tool may get (TOOL2), or an output that explains why it gets none.
  std::expected<Json, ToolOutput> checked(const ToolUseBlock& use) const;
  static ToolOutput run(const std::shared_ptr<Entry>& self, const Json& arguments, ToolContext context);
};

struct ToolBox::Approver {
  Approve ask;
  std::mutex mutex = {};
};

std::expected<Json, ToolOutput> ToolBox::Entry::checked(const ToolUseBlock& use) const {
  const auto arguments = arguments_of(use);
  if (!arguments) {
    return std::unexpected(
        sentence(ToolStatus::NotJson, "the arguments are not JSON: " + arguments.error().message));
  }
  if (!arguments->is_object()) {
    return std::unexpected(sentence(ToolStatus::Broken, "invalid arguments: expected an object"));
  }
  if (const auto errors = schema.check(*arguments); !errors.empty()) {
    return std::unexpected(sentence(ToolStatus::Broken, explained(errors)));
  }
  return *arguments;
}

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
  approver_ = approve ? std::make_shared<Approver>(std::move(approve)) : nullptr;
}

std::shared_ptr<ToolBox::Entry> ToolBox::entry_of(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->name == name; });
  return found == entries_.end() ? nullptr : *found;
}

std::optional<FileChange> ToolBox::preview(const ToolUseBlock& use) const {
  const auto entry = entry_of(use.name);
  if (!entry) return std::nullopt;
  const auto arguments = entry->checked(use);
  if (!arguments) return std::nullopt;
  const bool is_alone = !entry->tool->is_parallel();
  if (is_alone && !entry->acquire(Deadline::in(kGrace), {})) return std::nullopt;
  std::optional<FileChange> change;
  try {
    change = entry->tool->preview(*arguments);
  } catch (...) {  // the call itself reports it
  }
  if (is_alone) entry->release();
  return change;
}

Approval ToolBox::approves(const ToolUseBlock& use) const {
  if (!approver_) return false;
  const std::scoped_lock lock(approver_->mutex);
  return approver_->ask(use);
}

// The approval to run the call with (TOOL3), or the output that refuses it.
std::expected<Approval, ToolOutput> ToolBox::permitted(const ToolUseBlock& use, const RunnableTool& tool,
                                                       const Json& arguments, const Approval& given) const
    try {
  const auto denied = [](const char* why) { return std::unexpected(sentence(ToolStatus::Denied, why)); };
  switch (policy_.of(use.name, tool.has_side_effects(arguments))) {
    case Permission::Allow:
      return given.allow ? given : Approval(true);
    case Permission::Deny:
      return denied("the permission policy denies this tool");
    case Permission::Ask:
      break;
  }
  if (given.allow) return given;
  if (!approver_) return denied("this call needs approval, and no approval callback is set");
  Approval answer = approves(use);
  if (!answer.allow) return denied("the user did not approve this call");
  return answer;
} catch (...) {
  return std::unexpected(sentence(ToolStatus::Denied, "the permission check threw an exception"));
}

ToolOutput ToolBox::run(const ToolUseBlock& use, const ToolContext& context) const {
  const auto bounded = [&](ToolOutput output) {
    return limited(std::move(output), context.max_output_bytes);
  };
  if (use.name.empty()) return sentence(ToolStatus::Unnamed, "the call has no tool name");
  const auto entry = entry_of(use.name);
  if (!entry) {
    std::string words = "unknown tool " + quoted(use.name) + "; known tools:";
    for (const auto& known : entries_) words += " " + quoted(known->name);
    return bounded(sentence(ToolStatus::Unknown, words));
  }
  auto arguments = entry->checked(use);
  if (!arguments) return bounded(std::move(arguments).error());
  auto approval = permitted(use, *entry->tool, *arguments, context.approval);
  if (!approval) return std::move(approval).error();
  ToolContext inner = context;
  inner.call_id = use.id;
  if (!approval->edited_arguments) return bounded(Entry::run(entry, *arguments, std::move(inner)));
  ToolUseBlock edited = use;
  edited.arguments = *approval->edited_arguments;
  arguments = entry->checked(edited);
  return bounded(
      with_edit(arguments ? Entry::run(entry, *arguments, std::move(inner)) : std::move(arguments).error(),
                edited.arguments));
}

}  // namespace parley
