// A chat: a stored session, a model, tools and an agent, for 'parley chat', 'parley run' and 'parley -p'.
//
// A function that returns an ExitCode has printed its error. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/config.h"
#include "cli/exit_code.h"
#include "cli/mcp.h"
#include "cli/model.h"
#include "cli/process.h"
#include "cli/screen.h"
#include "cli/store.h"
#include "cli/user_prompt.h"
#include "parley/agent/agent.h"
#include "parley/agent/flow.h"
#include "parley/base/clock.h"
#include "parley/model/usage_ledger.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"
#include "parley/trace/tracer.h"

namespace parley::cli {

// What was typed.
struct ChatOptions {
  StoreChoice store;
  std::string session;  // the id; empty: a new one
  bool continues_last = false;
  std::string model;                  // empty: from the configuration
  std::optional<std::string> system;  // nothing: from the configuration
  std::optional<std::string> tools;
  std::optional<std::size_t> max_steps;
  std::optional<std::size_t> max_calls;
  std::optional<std::size_t> max_input_tokens;
  std::optional<double> timeout;           // seconds, of a request
  std::vector<std::string> model_options;  // NAME=VALUE
  std::string template_name;               // empty: none; not for a chat
  std::vector<std::string> variables;      // of the template, NAME=VALUE
  std::optional<std::size_t> max_tokens, retries, window;
  std::string schema;          // of the reply; empty: from the configuration
  bool is_not_stored = false;  // the store is then memory:
  bool extracts_code = false;  // prints the last code block of an answer only
  std::vector<std::string> attachments;
  bool plan = false;    // make a plan and run its steps
  bool json = false;    // one object a run
  bool stream = false;  // with `json`: one a line for each event before it
  bool quiet = false;
  bool verbose = false;          // print what the library logs (verbose.h)
  bool raw = false;              // the answer as it came, also at a terminal
  std::string continue_command;  // what continues an answer that was cut, for people
  std::string output = "-";
};

class ChatSession {
 public:
  // `default_tools` are used unless the configuration or the command line names others.
  static CommandResult<std::unique_ptr<ChatSession>> open(const ChatOptions& options,
                                                          const std::vector<std::string>& default_tools);
  ChatSession(const ChatSession&) = delete;
  ChatSession& operator=(const ChatSession&) = delete;
  ~ChatSession();

  // Asks, shows what comes, and stores it. Interrupted if there was a Ctrl-C.
  ExitCode ask(const Message& request) { return ask(std::optional(request)); }
  // Lets the model make a plan for the request, which has no images, and runs its steps (chat_plan.cc).
  // Refused if a step is blocked.
  ExitCode ask_by_plan(const Message& request);
  // Continues a cut answer, or answers a request without an answer. Refused if there is neither.
  ExitCode continue_answer();
  // The last call: completes the output. `exit` is the exit code if that succeeds.
  ExitCode finish(ExitCode exit);

  // For the commands of a chat.
  const std::string& session() const { return key_.session; }
  const ModelInfo& model() const { return model_->info(); }
  std::string model_name() const;                            // provider/name
  const ToolBox& tools();                                    // those of MCP servers, too, which are started
  std::size_t tool_count() const { return tools_->size(); }  // without those of servers that are not started
  UsageTotals usage() const { return ledger_->total(); }
  std::size_t tokens_used() const;      // of the window
  std::vector<Message> window() const;  // what the model sees
  CommandResult<void> use_model(const std::string& name);
  std::string system_prompt() const;
  CommandResult<void> set_system_prompt(std::string text);
  std::optional<std::size_t> message_budget() const;  // tokens of the window for messages, if it is known
  CommandResult<std::size_t> undo();  // how many messages the last request and its answer were
  // Hides the answer to the last request from the model and asks again; the session keeps both answers.
  // Refused if there is no request.
  ExitCode retry();
  CommandResult<std::size_t> compact();                      // how many messages became a summary
  CommandResult<std::string> fork(const std::string& name);  // switches to it; returns its id
  // Switches to an empty session and returns its id. Refused if there is one of this name.
  CommandResult<std::string> start_new(const std::string& name);
  Screen& screen() { return *screen_; }
  Output& output() { return *output_; }

 private:
  explicit ChatSession(ChatOptions options) : options_(std::move(options)) {}

  CommandResult<void> take_options();
  CommandResult<void> choose_session();
  CommandResult<void> confirm_session();
  CommandResult<void> fill_toolbox(const ConfigValue<std::vector<std::string>>& names);
  CommandResult<void> choose_model(const std::string& name);
  CommandResult<StoredMemory> open_memory(std::shared_ptr<Compressor> compressor = {}) const;
  CommandResult<void> open_agent();
  // Does something to the session while no agent has it.
  CommandResult<Change> edit(const StoredMemory::Edit& edit, std::shared_ptr<Compressor> compressor = {});
  CommandResult<std::size_t> hide(std::span<const Message> messages);
  void on_event(const AgentEvent& event);
  void print_problem(const ModelAnswer& answer) const;
  void break_line_if_interrupted();
  ExitCode ask(const std::optional<Message>& request);
  Result<RunReport> run(const std::optional<Message>& request, const StopOnInterrupt& interrupt);
  // Around each run: opens the agent if there is none, and lets Ctrl-C stop the run.
  CommandResult<void> begin_run(StopOnInterrupt& interrupt);
  void end_run();
  ExitCode conclude(const Result<RunReport>& report, bool was_interrupted);
  ExitCode report_run_error(const Error& error);
  void show_plan(const FlowPlan& plan, const std::optional<FlowPlan>& before);
  ExitCode conclude_plan(const Result<FlowReport>& report);
  // Whether the answer is printed when it is complete, and not as it comes.
  bool prints_at_end() const { return reply_.has_value() || options_.extracts_code; }
  Screen::AnswerForm answer_form() const;
  void print_at_end(const RunReport& report);
  void show_status(const RunReport& report);
  void forget_failed_session();

  ChatOptions options_;
  Config config_;
  std::optional<ReplySchema> reply_;
  std::optional<Output> output_;
  std::unique_ptr<Screen> screen_;
  std::unique_ptr<UserPrompt> user_prompt_;
  std::shared_ptr<store::Store> store_;
  store::SessionKey key_;
  std::shared_ptr<UsageLedger> ledger_ = std::make_shared<UsageLedger>();
  OpenedModel opened_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<ToolBox> tools_ = std::make_shared<ToolBox>();
  std::unique_ptr<McpTools> mcp_;
  std::optional<trace::Tracer> tracer_;   // flushes at the end of the chat
  OnAgentEvent spans_;                    // of the agent, if there is a tracer
  std::shared_ptr<ToolCallAgent> agent_;  // null if the session could not be read again; ask() tries
  std::size_t calls_before_ = 0;          // this agent
  StopOnInterrupt* running_ = nullptr;    // while ask() is
  const std::int64_t started_ms_ = now_ms();
  bool has_failed_ = false;       // the last run
  std::size_t failed_tools_ = 0;  // in this run
  bool has_streamed_ = false;     // the answer that is coming
  bool line_is_broken_ = false;   // by the Ctrl-C that stops this run
};

}  // namespace parley::cli
