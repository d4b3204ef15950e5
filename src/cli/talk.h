// A talk: a session of a store, a model, tools and the agent between them, as 'parley chat', 'parley run' and
// 'parley -p' need it.
//
// Whatever goes wrong was said on stderr when a function gives an Exit. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config.h"
#include "cli/exit.h"
#include "cli/mcp.h"
#include "cli/model.h"
#include "cli/person.h"
#include "cli/process.h"
#include "cli/screen.h"
#include "cli/store.h"
#include "parley/agent/agent.h"
#include "parley/model/usage_ledger.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"
#include "parley/trace/tracer.h"

namespace parley::cli {

// What was typed.
struct TalkOptions {
  StoreChoice store;
  std::string session;  // the id; empty: a new one
  bool continues_last = false;
  std::string model;                  // empty: as the configuration says
  std::optional<std::string> system;  // nothing: as the configuration says
  std::optional<std::string> tools;
  std::optional<std::size_t> max_steps;
  std::optional<std::size_t> max_calls;
  std::optional<double> timeout;  // seconds, of a request
  std::vector<std::string> attachments;
  bool json = false;    // one object a run
  bool stream = false;  // with `json`: one a line for each event before it
  bool quiet = false;
  std::string continue_command;  // what continues an answer that was cut, for people
  std::string output = "-";
};

class Talk {
 public:
  // `default_tools`: those that are offered if nobody says which.
  static Outcome<std::unique_ptr<Talk>> open(const TalkOptions& options,
                                             const std::vector<std::string>& default_tools);
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  ~Talk();

  // Asks, shows what comes, and stores it. Interrupted if there was a Ctrl-C.
  Exit ask(const Message& request) { return ask(std::optional(request)); }
  // Goes on with an answer that was cut, or with a request that has no answer yet. Refused if there is none.
  Exit continue_answer();
  // The last call: what was written is whole. `exit` is how the command would end without that.
  Exit finish(Exit exit);

  // For the commands of a chat.
  const std::string& session() const { return key_.session; }
  const ModelInfo& model() const { return model_->info(); }
  std::string model_name() const;  // provider/name
  const ToolBox& tools();          // those of MCP servers, too, which are started
  UsageTotals usage() const { return ledger_->total(); }
  std::size_t tokens_used() const;        // of the window
  std::vector<Message> messages() const;  // what the model is shown
  Outcome<void> use_model(const std::string& name);
  Outcome<std::size_t> undo();     // how many messages the last request and its answer were
  Outcome<std::size_t> compact();  // how many messages became a summary
  Outcome<std::string> fork(const std::string& name);  // goes on there; its id
  Screen& screen() { return *screen_; }
  Output& output() { return *output_; }

 private:
  explicit Talk(TalkOptions options) : options_(std::move(options)) {}

  Outcome<void> choose_session();
  Outcome<void> fill_toolbox(const Chosen<std::vector<std::string>>& names);
  Outcome<void> choose_model(const std::string& name);
  Outcome<StoredMemory> open_memory(std::shared_ptr<Compressor> compressor = {}) const;
  Outcome<void> open_agent();
  // Does something to the session while no agent has it.
  Outcome<Change> edit(const StoredMemory::Edit& edit, std::shared_ptr<Compressor> compressor = {});
  void on_event(const AgentEvent& event);
  void say_problem(const ModelAnswer& answer) const;
  void break_line_if_interrupted();
  Exit ask(const std::optional<Message>& request);
  Result<RunReport> run(const std::optional<Message>& request, const StopOnInterrupt& interrupt);
  Exit conclude(const Result<RunReport>& report, bool was_interrupted);

  TalkOptions options_;
  Config config_;
  std::optional<Output> output_;
  std::unique_ptr<Screen> screen_;
  std::unique_ptr<Person> person_;
  std::shared_ptr<store::Store> store_;
  store::SessionKey key_;
  std::shared_ptr<UsageLedger> ledger_ = std::make_shared<UsageLedger>();
  OpenedModel opened_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<ToolBox> tools_ = std::make_shared<ToolBox>();
  std::unique_ptr<McpTools> mcp_;
  std::optional<trace::Tracer> tracer_;   // sends what is left when the talk ends
  OnAgentEvent spans_;                    // of the agent, if there is a tracer
  std::unique_ptr<ToolCallAgent> agent_;  // null if the session could not be read again; ask() tries
  std::size_t calls_before_ = 0;          // this agent
  StopOnInterrupt* running_ = nullptr;    // while ask() is
  bool has_streamed_ = false;             // the answer that is coming
  bool line_is_broken_ = false;           // by the Ctrl-C that stops this run
};

}  // namespace parley::cli
