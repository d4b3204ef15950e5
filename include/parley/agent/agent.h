// Agents: the think-act loop. A request becomes a message, the model answers, its tools run, and their
// results go back to the model, until the task is done.
//
//            run()                    a special tool, a final answer
//   IDLE ------------> RUNNING ----------------------------------------> FINISHED
//                         |   an error, out of steps, a loop
//                         +----------------------------------------------> ERROR
//                         |   a stop
//                         +----------------------------------------------> IDLE
//
// Invariants of the default profile (quoted by tests as AGENT1..AGENT16):
//   AGENT1   The outcome of a run is visible after it: state() and the report.
//   AGENT2   A final answer ends the run.
//   AGENT3   A tool use is stored before its tool runs, and its result before the next step.
//   AGENT4   However a run ends (answer, stop, error, kill -9), the stored history is valid: every tool use
//            has a result, or is in the last message and resume() adds its result.
//   AGENT5   A call that cannot run (unknown, bad arguments, denied, failing) becomes an error result.
//   AGENT6   The calls of one step run in parallel if their tools allow it; results keep the order of the
//            calls.
//   AGENT7   A special tool ends the run: later calls of the same step do not run.
//   AGENT8   With ToolChoice::None no tool runs.
//   AGENT9   A loop (steps with equal calls, or equal text) causes one warning, and then ends the run.
//   AGENT10  A session has one run at a time: the run holds the lease.
//   AGENT11  If an answer has more calls than AgentOptions::max_calls, none runs: each gets an error result
//            that names the limit, and the run fails with LimitExceeded.
//   AGENT12  An answer that the model did not finish (Finish::Length, Finish::ContextFull) is marked in the
//            history, and resume() asks the model to continue it.
//   AGENT13  With ToolChoice::Required an answer without a call fails the run; the answer is stored.
//   AGENT14  A request that would exceed AgentOptions::max_input_tokens is not sent, and the run fails with
//            LimitExceeded.
//   AGENT15  The input tokens that the provider reports correct later estimates: of AGENT14, and of a
//            memory whose token cost is an estimate (Memory::calibrate()).
//   AGENT16  A stored answer names its model and its usage in its metadata, and the requests and tokens of
//            the session up to it. Metadata never enters a prompt.
//
// The openmanus profile behaves exactly like OpenManus instead: its texts, its order, its states.
//
// One thread at a time, except for stop tokens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "parley/memory/compressor.h"
#include "parley/memory/openmanus_memory.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/block.h"
#include "parley/message/message.h"
#include "parley/message/settings.h"
#include "parley/model/model.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"

namespace parley {

namespace agent {
struct Loop;  // src/agent/loop.h
}  // namespace agent

// The behaviour of an agent; src/agent/profile.cc has one row for each.
enum class AgentProfile : std::uint8_t { Default, OpenManus };

// What resume() does with calls that an earlier run left without a result: they may or may not have run.
enum class PendingCalls : std::uint8_t {
  Interrupted,  // adds an error result
  Rerun,
  Ask,  // calls the approval callback of ToolBox for each: yes is Rerun, no is Interrupted
};

struct AgentOptions {
  Text name = Text("parley");
  Text description = {};
  Text system_prompt = {};
  OptionalText next_step_prompt = {};  // OpenManus treats null and "" differently
  AgentProfile profile = AgentProfile::Default;
  std::size_t max_steps = 30;
  std::optional<std::chrono::milliseconds> timeout = {};  // of a run; nullopt: no timeout
  std::size_t duplicate_threshold = 2;                    // how often steps may repeat; 0: no limit
  std::optional<std::size_t> max_observe = {};  // code points of a result; a longer one is cut, with a note
  ToolChoice tool_choice = ToolChoice::Auto;
  std::vector<std::string> special_tools = {"terminate"};
  std::size_t parallel_tools = 8;
  std::size_t max_calls = 128;  // of one answer (AGENT11)
  // Of all requests of a run together; in the openmanus profile, of all runs (AGENT14). nullopt: no limit.
  std::optional<std::size_t> max_input_tokens = {};
  Settings settings = {};                 // of every request
  std::optional<ReplySchema> reply = {};  // the final answer must be JSON that matches this schema,
  std::size_t reply_attempts = 3;         // and is requested again this often
  PendingCalls pending = PendingCalls::Interrupted;
  std::chrono::milliseconds lease{60'000};  // renewed during a run
  store::LeaseMode lease_mode = store::LeaseMode::Reject;
  OnAgentEvent on_event = {};
};

// A call as the model wrote it, and the arguments that it ran with instead (Approval).
struct EditedCall {
  ToolUseBlock use;
  Text arguments;
};

struct RunReport {
  AgentState state = AgentState::Idle;
  RunEnd end = RunEnd::Answered;
  Finish finish = Finish::Unknown;   // why the model ended its last answer: Length if it is incomplete
  Text text;                         // the final answer, or a sentence for the user
  std::optional<Json> reply;         // the final answer as JSON, if AgentOptions::reply is set
  std::size_t steps = 0;             // of this run
  std::optional<Error> error;        // why it failed; Timeout after AgentOptions::timeout
  std::vector<Text> records;         // OpenManus' "Step 1: ..." lines
  std::vector<CallRecord> calls;     // of the model
  std::vector<ToolUseBlock> denied;  // calls that the policy or the user denied; the model was told
  std::vector<EditedCall> edited;    // calls whose arguments the user edited; the model was told
  Text joined() const;               // the records joined by line feeds: what OpenManus' run() returns
};

// The parts of an agent: a model, tools, and the memory of its conversation. A custom agent class passes them
// to its base:
//
//   class Careful : public ToolCallAgent {
//    public:
//     using ToolCallAgent::ToolCallAgent;
//     Result<bool> think() override;  // an exception ends the run as failed
//   };
//   Careful agent(*AgentParts::of(model, tools, memory));
class AgentParts {
 public:
  // For the default profile. Fails with Invalid if model or tools is null, if an option is invalid, or if the
  // reply schema is invalid.
  static Result<AgentParts> of(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                               StoredMemory memory, AgentOptions options = {});
  // For the openmanus profile, which does not store its conversation.
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

  // Adds the request, if any, and runs steps until the run ends. First handles calls that an earlier run left
  // without a result, as AgentOptions::pending says. Errors of the run are in the report. Fails with Conflict
  // if the agent or the session already has a run (AGENT10).
  Result<RunReport> run(const std::optional<Message>& request = {}, std::stop_token stop = {});
  // Continues a run that ended or was killed.
  Result<RunReport> resume(std::stop_token stop = {}) { return run(std::nullopt, std::move(stop)); }

  // OpenManus' functions. `name` and `tool_call_id` are for tool messages.
  Result<void> update_memory(Role role, const Text& content, const OptionalText& base64_image = {},
                             const Text& name = {}, const Text& tool_call_id = {});
  bool is_stuck() const;
  void handle_stuck_state();
  virtual Result<Text> step() = 0;

  AgentState state() const;
  std::size_t current_step() const;
  const AgentOptions& options() const;
  std::vector<Message> window() const;  // what the model sees

 protected:
  explicit BaseAgent(AgentParts parts);
  // Ends the current run; only the first call has an effect.
  void finish(RunEnd end, Text text);
  std::unique_ptr<agent::Loop> loop_;
};

// A step thinks and, if think() returns true, acts.
class ReActAgent : public BaseAgent {
 public:
  virtual Result<bool> think() = 0;
  virtual Result<Text> act() = 0;
  Result<Text> step() override;

 protected:
  using BaseAgent::BaseAgent;
};

// Thinks by calling a model, acts by running the tools that the model calls.
class ToolCallAgent : public ReActAgent {
 public:
  explicit ToolCallAgent(AgentParts parts) : ReActAgent(std::move(parts)) {}
  // See AgentParts.
  static Result<std::unique_ptr<ToolCallAgent>> open(std::shared_ptr<Model> model,
                                                     std::shared_ptr<ToolBox> tools, StoredMemory memory,
                                                     AgentOptions options = {});
  static Result<std::unique_ptr<ToolCallAgent>> open_openmanus(std::shared_ptr<Model> model,
                                                               std::shared_ptr<ToolBox> tools,
                                                               OpenManusMemory memory, AgentOptions options);

  Result<bool> think() override;
  Result<Text> act() override;
  Text execute_tool(const ToolUseBlock& use);  // OpenManus' text for the outcome of one call
};

// The options of OpenManus' ToolCallAgent: its name and its prompts.
AgentOptions openmanus_options();

// A part of an Agent: a name, or an object of your own.
template <typename T>
struct Part {
  Part(const char* a_name) : name(a_name) {}
  Part(std::string a_name) : name(std::move(a_name)) {}
  Part(std::shared_ptr<T> an_object) : object(std::move(an_object)) {}

  std::string name;
  std::shared_ptr<T> object;  // null: by its name
};

struct AgentSetup {
  Part<Model> model = "rehearsal";  // a name as open_model() takes it
  std::vector<std::shared_ptr<RunnableTool>> tools = {};
  Part<store::Store> store = "memory:";  // a URI as open_store() takes it
  std::string session = {};              // empty: a new one
  MemoryOptions memory = {};
  ToolPolicy policy = {};
  Approve approve = {};                                     // without it, calls that need approval are denied
  std::function<void(std::string_view text)> on_text = {};  // the text of answers as it arrives
  AgentOptions options = {};
};

// An agent from names, in one call:
//
//   auto sum = tool("add", "Adds two numbers", add, {"a", "b"});
//   auto agent = Agent::open({.model = "openai/gpt-4o", .tools = {sum}, .store = "sqlite:task.db"});
//   auto report = agent->run("add 2 and 3");
//
// One thread at a time, except for stop tokens.
class Agent {
 public:
  // Fails like open_model(), open_store(), StoredMemory::open(), ToolBox::add() and ToolCallAgent::open().
  static Result<Agent> open(AgentSetup setup);

  Result<RunReport> run(const Text& request, std::stop_token stop = {});
  Result<RunReport> run(const Message& request, std::stop_token stop = {});
  Result<RunReport> resume(std::stop_token stop = {});

  const std::string& session() const { return session_; }
  ToolCallAgent& agent() { return *agent_; }
  ToolBox& tools() { return *tools_; }

 private:
  Agent(std::string session, std::shared_ptr<ToolBox> tools, std::unique_ptr<ToolCallAgent> agent)
      : session_(std::move(session)), tools_(std::move(tools)), agent_(std::move(agent)) {}
  std::string session_;
  std::shared_ptr<ToolBox> tools_;
  std::unique_ptr<ToolCallAgent> agent_;
};

// A Compressor that asks a model, with ExtractiveCompressor as its fallback.
//
// Invariants (quoted by tests as COMPRESSOR1..COMPRESSOR4):
//   COMPRESSOR1  The call is in the ledger of the model, as Purpose::Compression.
//   COMPRESSOR2  The model sees roles, texts, tool uses and results: no metadata, no ids, no thinking, no
//                media.
//   COMPRESSOR3  If the model fails, returns nothing, is cut off or is late, ExtractiveCompressor is used.
//   COMPRESSOR4  A summary is at most CompressionRequest::most_bytes long.
//
// As a Compressor: called by one thread at a time.
class LlmCompressor : public Compressor {
 public:
  // REQUIRES: model is not null.
  explicit LlmCompressor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  Result<CompressionAnswer> compress(const CompressionRequest& request) override;

 private:
  std::shared_ptr<Model> model_;
};

}  // namespace parley
