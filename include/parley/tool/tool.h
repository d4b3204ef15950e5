// A RunnableTool is a Tool (its description, which a model reads) and what it does.
//
// Invariants (quoted by tests as TOOL1..TOOL6):
//   TOOL1  Whatever a call is (an unknown name, arguments that are no JSON or break the schema, a tool that
//       throws, hangs, floods or dies), ToolBox::run gives an output the model can read. It never throws and
//       never fails.
//   TOOL2  A tool sees only arguments that its schema allows; one that checks_arguments() itself may have a
//       schema that cannot be checked here, and then sees any object.
//   TOOL3  A tool that changes the world runs only if the policy allows it or a person approved.
//   TOOL4  An output is UTF-8 and within its limit; what was cut is said in it.
//   TOOL5  A stop or a deadline ends a tool soon, its child processes included; the output says so.
//   TOOL6  Names are unique in a ToolBox.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  Failed,       // the tool says that it could not do it
  Broken,       // the tool threw, died, or was given arguments its schema refuses
  NotJson,      // the arguments are no JSON
  Unnamed,      // the call has no tool name
  Unknown,      // there is no tool of this name
  Denied,       // the policy or a person said no
  Interrupted,  // a stop or a deadline; it is not known what was done
};
std::string_view to_string(ToolStatus status);  // "ok", "failed", ...

// What a tool gave back.
struct ToolOutput {
  ToolStatus status = ToolStatus::Ok;
  std::vector<Block> content = {};      // texts and media
  std::optional<Json> structured = {};  // the same for programs, if the tool has it

  static ToolOutput text(Text text);
  static ToolOutput failure(Text sentence) { return of(ToolStatus::Failed, std::move(sentence)); }
  static ToolOutput of(ToolStatus status, Text sentence);
  bool is_error() const { return status != ToolStatus::Ok; }
  std::string joined_text() const;  // the texts, a line feed between them
};

// The result a conversation keeps.
ToolResultBlock to_result(const ToolUseBlock& use, const ToolOutput& output);

// What a call may use while it runs.
struct ToolContext {
  Text call_id = {};
  std::stop_token stop = {};
  std::chrono::milliseconds timeout{120'000};
  std::size_t max_output_bytes = std::size_t{64} * 1024;
  bool is_approved = false;  // by a person, before the call: who must be asked has been
};

// Safe from any thread, unless is_parallel() says no.
class RunnableTool {
 public:
  RunnableTool() = default;
  RunnableTool(const RunnableTool&) = delete;
  RunnableTool& operator=(const RunnableTool&) = delete;
  virtual ~RunnableTool() = default;

  virtual const Tool& spec() const = 0;
  // Whether this call does more than to look.
  virtual bool has_side_effects(const Json& arguments) const = 0;
  virtual bool is_parallel() const { return true; }
  // How long a call may take, if that is for the tool to say: whoever asks a person waits longer.
  virtual std::optional<std::chrono::milliseconds> timeout() const { return std::nullopt; }
  // The schema that arguments are checked against (TOOL2). The schema shown to the model may be stricter.
  virtual const Json& accepted() const { return spec().parameters; }
  // Whether run() refuses wrong arguments by itself, as a server elsewhere does.
  virtual bool checks_arguments() const { return false; }
  // `arguments` is an object that accepted() allows (TOOL2).
  virtual ToolOutput run(const Json& arguments, const ToolContext& context) = 0;
};

enum class Permission : std::uint8_t { Allow, Ask, Deny };
std::string_view to_string(Permission permission);  // "allow", "ask", "deny"
std::optional<Permission> permission_named(std::string_view name);

// Who may do what. A rule names a tool, or "*" for all; the last rule that fits decides. Without one, what
// only looks is allowed and what changes the world is asked for.
struct ToolPolicy {
  struct Rule {
    std::string tool;
    Permission permission = Permission::Ask;
  };
  std::vector<Rule> rules = {};

  Permission of(std::string_view tool, bool has_side_effects) const;
};

// Asks a person; true is yes. Called by one thread at a time.
using Approve = std::function<bool(const ToolUseBlock& use)>;

// The tools of one agent. Built by one thread; run() is safe from any.
//
// A tool runs in a thread of its own, so that one that heeds neither its stop nor its deadline can be left
// behind (TOOL5): it is kept until it returns, and nobody waits for it.
class ToolBox {
 public:
  // Fails with Conflict if the name is taken, and as Schema::of() does if the schema is none that can be
  // checked; with Unsupported only if nobody else does.
  Result<void> add(std::shared_ptr<RunnableTool> tool);
  bool remove(std::string_view name);
  RunnableTool* find(std::string_view name) const;
  std::vector<Tool> specs() const;  // in the order they were added
  std::size_t size() const { return entries_.size(); }

  void set_policy(ToolPolicy policy) { policy_ = std::move(policy); }
  const ToolPolicy& policy() const { return policy_; }
  void set_approve(Approve approve);  // without one, what must be asked for is denied

  // Runs one call (TOOL1).
  ToolOutput run(const ToolUseBlock& use, const ToolContext& context = {}) const;
  // Asks the person, whatever the policy says: false if there is nobody to ask.
  bool approves(const ToolUseBlock& use) const;

 private:
  struct Entry;     // a tool, its schema, and who is using it
  struct Approval;  // whom to ask, one at a time
  std::shared_ptr<Entry> entry_of(std::string_view name) const;
  std::optional<ToolOutput> refused(const ToolUseBlock& use, const RunnableTool& tool, const Json& arguments,
                                    bool is_approved) const;

  std::vector<std::shared_ptr<Entry>> entries_;
  ToolPolicy policy_;
  std::shared_ptr<Approval> approval_;
};

}  // namespace parley
