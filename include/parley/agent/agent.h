// Agents: a request becomes a message, the model is asked, tools are run, results go back, until the task is
// done.
//
//            run()                    a special tool, a final answer
//   IDLE ------------> RUNNING ----------------------------------------> FINISHED
//                         |   an error, out of steps, in circles
//                         +----------------------------------------------> ERROR
//                         |   a stop
//                         +----------------------------------------------> IDLE
//
// Invariants of the default profile (quoted by tests as AGENT1..AGENT13):
//   AGENT1   What a run came to is visible after it: state() and the report.
//   AGENT2   A final answer ends the run.
//   AGENT3   A model's call is stored before its tool runs, and its result before the next step.
//   AGENT4   However a run ends (answer, stop, error, kill -9), the stored history is valid: every call has a
//        result, or is the last message's and resume() answers it.
//   AGENT5   A call that cannot be run (unknown, bad arguments, denied, failing) becomes a result.
//   AGENT6   The calls of one step run in parallel where their tools can; results stand in their order.
//   AGENT7   A special tool ends the run: calls of the same step behind it are not run.
//   AGENT8   With ToolChoice::None nothing is run.
//   AGENT9   Equal calls, or equal words, again and again are met with one warning, and then end the run.
//   AGENT10  One run at a time has a session: it holds the lease.
//   AGENT11  Of an answer with more calls than AgentOptions::max_calls none runs: each gets an error result that
//        names the limit, and the run fails with LimitExceeded.
//   AGENT12  An answer that the model did not finish (Finish::Length, Finish::ContextFull) is marked in the
//        history, and resume() asks the model to go on where it ends.
//   AGENT13  With ToolChoice::Required an answer without a call fails the run; the answer is stored.
//
// The openmanus profile is OpenManus to the letter instead: its texts, its order, its states.
//
// One thread at a time, but for stop tokens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "parley/agent/event.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/memory/openmanus_memory.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/message.h"
#include "parley/message/role.h"
#include "parley/message/settings.h"
#include "parley/model/model.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"

namespace parley {

namespace agent {
struct Loop;  // src/agent/loop.h
}  // namespace agent

// Whose ways an agent has. One row of facts each in src/agent/profile.cc.
enum class Profile : std::uint8_t { Default, OpenManus };

// What resume() does with calls that a run left without a result: nobody knows whether they happened.
enum class PendingCalls : std::uint8_t {
  Interrupted,  // they get an error result that says so
  Rerun,
  Ask,  // as ToolBox's approval says, each: yes is Rerun, no is Interrupted
};

struct AgentOptions {
  Text name = Text("parley");
  Text description = {};
  Text system_prompt = {};
  std::optional<Text> next_step_prompt = {};  // OpenManus tells null and "" apart
  Profile profile = Profile::Default;
  std::size_t max_steps = 30;
  std::optional<std::chrono::milliseconds> timeout =
      {};                                       // of a run, which is then stopped; none if not given
  std::size_t duplicate_threshold = 2;          // so often steps may repeat those before them; 0: for ever
  std::optional<std::size_t> max_observe = {};  // code points of a result; a longer one is cut, and says so
  ToolChoice tool_choice = ToolChoice::Auto;
  std::vector<std::string> special_tools = {"terminate"};
  std::size_t parallel_tools = 8;
  std::size_t max_calls = 128;            // of one answer; of an answer with more, none runs (AGENT11)
  Settings settings = {};                 // of every request
  std::optional<ReplySchema> reply = {};  // the final answer must be JSON of this schema,
  std::size_t reply_attempts = 3;         // and is asked for again this often
  PendingCalls pending = PendingCalls::Interrupted;
  std::chrono::milliseconds lease{60'000};  // renewed while a run lasts
  store::LeaseMode lease_mode = store::LeaseMode::Reject;
  OnAgentEvent on_event = {};
};

struct RunReport {
  AgentState state = AgentState::Idle;
  RunEnd end = RunEnd::Answered;
  Finish finish = Finish::Unsaid;  // why the model ended its newest answer: Length if it is not all of it
  Text text;                       // the final answer, or the words a person should see instead
  std::optional<Json> reply;       // the final answer as JSON, if AgentOptions::reply asked for it
  std::size_t steps = 0;           // of this run
  std::optional<Error> error;      // why it failed; Timeout if it was stopped by AgentOptions::timeout
  std::vector<Text> records;       // OpenManus' "Step 1: ..." lines
  std::vector<CallRecord> calls;   // of the model
  Text joined() const;             // the records, a line feed between them: what OpenManus' run() returns
};

// What an agent is made of: a model, tools, and where its conversation is kept. An agent of one's own takes
// them and hands them on:
//
//   class Careful : public ToolCallAgent {
//    public:
//     using ToolCallAgent::ToolCallAgent;
//     Result<bool> think() override;  // whatever it throws ends the run, as failed
//   };
//   Careful agent(*AgentParts::of(model, tools, memory));
class AgentParts {
 public:
  // The default profile keeps its conversation in `memory`. Fails with Invalid if the parts do not fit each
  // other, and if the schema of the reply is none.
  static Result<AgentParts> of(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                               StoredMemory memory, AgentOptions options = {});
  // The openmanus profile keeps it in a list that nobody stores.
  static Result<AgentParts> of_openmanus(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                                         OpenManusMemory memory, AgentOptions options);
  AgentParts(AgentParts&&) noexcept;
  AgentParts& operator=(AgentParts&&) noexcept;
  ~AgentParts();

 private:
  friend class BaseAgent;
  explicit AgentParts(std::unique_ptr<agent::Loop> loop);
  std::unique_ptr<agent::Loop> loop_;
};

// What all agents share: states, steps, memory.
class BaseAgent {
 public:
  BaseAgent(const BaseAgent&) = delete;
  BaseAgent& operator=(const BaseAgent&) = delete;
  virtual ~BaseAgent();

  // Adds the request, if there is one, and steps until the run ends. Calls that an earlier run left without a
  // result are dealt with first, as AgentOptions::pending says. What goes wrong on the way is in the report.
  // Fails with Conflict if a run is under way, here or elsewhere (AGENT10).
  Result<RunReport> run(const std::optional<Message>& request = {}, std::stop_token stop = {});
  // Goes on where a run ended, or died.
  Result<RunReport> resume(std::stop_token stop = {}) { return run(std::nullopt, std::move(stop)); }

  // The seeds' verbs. `name` and `tool_call_id` are of a tool message.
  Result<void> update_memory(Role role, const Text& content, const std::optional<Text>& base64_image = {},
                             const Text& name = {}, const Text& tool_call_id = {});
  bool is_stuck() const;
  void handle_stuck_state();
  virtual Result<Text> step() = 0;

  AgentState state() const;
  std::size_t current_step() const;
  const AgentOptions& options() const;
  std::vector<Message> messages() const;  // what a model is shown

 protected:
  explicit BaseAgent(AgentParts parts);
  // Ends the run that is under way; the first end counts.
  void finish(RunEnd end, Text text);
  std::unique_ptr<agent::Loop> loop_;
};

// A step is to think and, if that asks for it, to act.
class ReActAgent : public BaseAgent {
 public:
  virtual Result<bool> think() = 0;
  virtual Result<Text> act() = 0;
  Result<Text> step() override;

 protected:
  using BaseAgent::BaseAgent;
};

// Thinks by asking a model, acts by running the tools it asks for.
class ToolCallAgent : public ReActAgent {
 public:
  explicit ToolCallAgent(AgentParts parts) : ReActAgent(std::move(parts)) {}
  // As AgentParts has it.
  static Result<std::unique_ptr<ToolCallAgent>> open(std::shared_ptr<Model> model,
                                                     std::shared_ptr<ToolBox> tools, StoredMemory memory,
                                                     AgentOptions options = {});
  static Result<std::unique_ptr<ToolCallAgent>> open_openmanus(std::shared_ptr<Model> model,
                                                               std::shared_ptr<ToolBox> tools,
                                                               OpenManusMemory memory, AgentOptions options);

  Result<bool> think() override;
  Result<Text> act() override;
  Text execute_tool(const ToolUseBlock& use);  // the words of OpenManus for the outcome of one call
};

// What OpenManus' ToolCallAgent is made with: its name and its prompts.
AgentOptions openmanus_options();

}  // namespace parley
