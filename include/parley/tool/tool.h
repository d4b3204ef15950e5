// A RunnableTool is a Tool (the description for the model) with an implementation; a ToolBox is the registry
// of an agent's tools.
//
// Invariants (quoted by tests as TOOL1..TOOL7):
//   TOOL1  For any call (an unknown name, arguments that are not JSON or violate the schema, a tool that
//          throws, hangs, floods or dies), ToolBox::run returns an output that the model can read. It never
//          throws.
//   TOOL2  A tool receives only arguments that match its schema. If checks_arguments() is true and the schema
//          is not supported here, it receives any object.
//   TOOL3  A tool with side effects runs only if the policy allows it or the user approved.
//   TOOL4  An output is UTF-8 and within its limit; a note marks where it was cut.
//   TOOL5  A stop or a deadline ends a tool soon, with its subprocesses; the output says so.
//   TOOL6  Names are unique in a ToolBox.
//   TOOL7  If the user edited the arguments of a call, it runs with these only, and TOOL2 holds for them. The
//          output has them, and begins with a note for the model.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/message/block.h"
#include "parley/message/conversation.h"

namespace parley {

// How a call of a tool ended.
enum class ToolStatus : std::uint8_t {
  Ok,
  Failed,       // the tool reports a failure
  Broken,       // the tool threw, died, or the arguments violate its schema
  NotJson,      // the arguments are not JSON
  Unnamed,      // the call has no tool name
  Unknown,      // no tool has this name
  Denied,       // by the policy or the user
  Interrupted,  // by a stop or a deadline; the call may or may not have had side effects
};
std::string_view to_string(ToolStatus status);  // "ok", "failed", ...

// The output of a tool.
struct ToolOutput {
  ToolStatus status = ToolStatus::Ok;
  std::vector<Block> content = {};            // texts and media
  std::optional<Json> structured = {};        // the same as JSON, if the tool provides it
  std::optional<Text> edited_arguments = {};  // the arguments of the call, if the user edited them (TOOL7)

  // How long the tool ran, without the time for its approval; ToolBox::run() sets it. 0 if it did not run.
  std::chrono::microseconds time{0};

  static ToolOutput text(Text text);
  static ToolOutput failure(Text sentence) { return of(ToolStatus::Failed, std::move(sentence)); }
  static ToolOutput of(ToolStatus status, Text sentence);
  bool is_error() const { return status != ToolStatus::Ok; }
  std::string joined_text() const;  // the texts, joined by line feeds
};

// The result block for the conversation.
ToolResultBlock to_result(const ToolUseBlock& use, const ToolOutput& output);

// The user's answer to a request for approval. A bool is an answer without an edit.
struct Approval {
  bool allow = false;
  std::optional<Text> edited_arguments = {};  // run the call with these; nullopt: as the model wrote them

  Approval(bool is_allowed = false) : allow(is_allowed) {}
  static Approval edited(Text arguments);  // allows the call with other arguments
};

// The context of one call.
struct ToolContext {
  Text call_id = {};
  std::stop_token stop = {};
  std::chrono::milliseconds timeout{120'000};
  std::size_t max_output_bytes = std::size_t{64} * 1024;
  Approval approval = {};  // if it allows the call, the user is not asked again
};

// What a call would do to a file.
struct FileChange {
  std::string path;                   // as the call names it
  std::optional<std::string> before;  // nullopt: there is no file
  std::optional<std::string> after;   // nullopt: the file is removed
};

// Safe from any thread, unless is_parallel() is false.
class RunnableTool {
 public:
  RunnableTool() = default;
  RunnableTool(const RunnableTool&) = delete;
  RunnableTool& operator=(const RunnableTool&) = delete;
  virtual ~RunnableTool() = default;

  virtual const Tool& spec() const = 0;
  // Whether this call does more than read.
  virtual bool has_side_effects(const Json& arguments) const = 0;
  virtual bool is_parallel() const { return true; }
  // The timeout of a call, if the tool sets its own: a tool that asks the user waits longer.
  virtual std::optional<std::chrono::milliseconds> timeout() const { return std::nullopt; }
  // The schema of the arguments (TOOL2). The schema shown to the model may be stricter.
  virtual const Json& accepted() const { return spec().parameters; }
  // Whether run() checks the arguments itself, as a remote server does.
  virtual bool checks_arguments() const { return false; }
  // What run() would do to a file now, for a user who is asked to approve the call. Changes nothing. nullopt
  // if the call would fail, or does something else.
  virtual std::optional<FileChange> preview(const Json& /*arguments*/) const { return std::nullopt; }
  // `arguments` is an object that matches accepted() (TOOL2).
  virtual ToolOutput run(const Json& arguments, const ToolContext& context) = 0;
};

enum class Permission : std::uint8_t { Allow, Ask, Deny };
std::string_view to_string(Permission permission);  // "allow", "ask", "deny"
std::optional<Permission> permission_named(std::string_view name);

// Permissions of tools. A rule names a tool, or "*" for all; the last matching rule decides. Without a rule,
// calls without side effects are allowed, and calls with side effects need approval.
struct ToolPolicy {
  struct Rule {
    std::string tool;
    Permission permission = Permission::Ask;
  };
  std::vector<Rule> rules = {};

  Permission of(std::string_view tool, bool has_side_effects) const;
};

// Asks the user to approve a call. Called by one thread at a time.
using Approve = std::function<Approval(const ToolUseBlock& use)>;

// The registry of the tools of one agent. Build it on one thread; run() is safe from any.
//
// Each call runs on its own thread, so that run() can return although a tool ignores its stop and its
// deadline (TOOL5): the tool stays alive until its thread returns.
class ToolBox {
 public:
  // Fails with Conflict if the name is taken, and like Schema::of() if the schema is invalid; with
  // Unsupported unless the tool checks its own arguments.
  Result<void> add(std::shared_ptr<RunnableTool> tool);
  bool remove(std::string_view name);
  RunnableTool* find(std::string_view name) const;
  std::vector<Tool> specs() const;  // in the order they were added
  std::size_t size() const { return entries_.size(); }

  void set_policy(ToolPolicy policy) { policy_ = std::move(policy); }
  const ToolPolicy& policy() const { return policy_; }
  void set_approve(Approve approve);  // without one, calls that need approval are denied

  // Runs one call (TOOL1).
  ToolOutput run(const ToolUseBlock& use, const ToolContext& context = {}) const;
  // RunnableTool::preview() of a call; nullopt also if the call is not valid or the tool is busy. The
  // approval callback may use it.
  std::optional<FileChange> preview(const ToolUseBlock& use) const;
  // Calls the approval callback, regardless of the policy; does not allow the call without a callback.
  Approval approves(const ToolUseBlock& use) const;

 private:
  struct Entry;     // a tool, its schema, and its running calls
  struct Approver;  // the callback and its lock
  std::shared_ptr<Entry> entry_of(std::string_view name) const;
  std::expected<Approval, ToolOutput> permitted(const ToolUseBlock& use, const RunnableTool& tool,
                                                const Json& arguments, const Approval& given) const;

  std::vector<std::shared_ptr<Entry>> entries_;
  ToolPolicy policy_;
  std::shared_ptr<Approver> approver_;
};

}  // namespace parley
