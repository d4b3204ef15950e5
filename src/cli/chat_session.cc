#include "cli/chat_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "cli/code_block.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/look.h"
#include "cli/reply_schema.h"
#include "cli/run_json.h"
#include "cli/session_ids.h"
#include "cli/tool_choice.h"
#include "cli/tracing.h"
#include "cli/verbose.h"
#include "parley/agent/agent.h"
#include "parley/agent/event.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/base/text.h"
#include "parley/net/http.h"

namespace parley::cli {
namespace {

// The share of a model's window that messages may have; the rest is for tools, the system part and the
// answer.
constexpr double kShareOfWindow = 0.75;

MemoryOptions memory_options(const ModelInfo& model, std::shared_ptr<Compressor> compressor) {
  MemoryOptions options;
  options.budget = Budget::unlimited();
  // Tokens are counted where they are limited: a long session takes a tenth of a second.
  if (model.window) {
    options.token_cost = cost_by(TokenCounter::for_model(model.name.view()));
    options.budget.tokens = static_cast<std::size_t>(static_cast<double>(*model.window) * kShareOfWindow);
  }
  options.compressor = std::move(compressor);
  return options;
}

// The message about an answer that did not end normally; nothing if it did.
std::string_view problem_of(Finish finish) {
  switch (finish) {
    case Finish::Length:
      return "the answer is cut: the model reached its output limit";
    case Finish::ContextFull:
      return "the answer is cut: the context window of the model is full";
    case Finish::Filtered:
      return "the answer is cut: a content filter stopped it";
    case Finish::Refused:
      return "the model refused to answer";
    case Finish::MalformedCall:
      return "the model wrote a malformed tool call";
    case Finish::Error:
      return "the model ended with an error: the answer may be incomplete";
    case Finish::Unknown:
    case Finish::Stop:
    case Finish::StopSequence:
    case Finish::ToolCalls:
    case Finish::Paused:
      break;
  }
  return {};
}

bool is_final(const ModelAnswer& answer) {
  return answer.message.get_content_blocks({BlockType::ToolUse}).empty();
}

bool is_final_and_whole(const ModelAnswer& answer) {
  return is_final(answer) && !answer.cut && problem_of(answer.outcome.finish).empty();
}

ExitCode exit_of(const RunReport& report) {
  switch (report.end) {
    case RunEnd::Answered:
    case RunEnd::Terminated:
      return ExitCode::Ok;
    case RunEnd::MaxSteps:
    case RunEnd::Stuck:
      return ExitCode::Refused;
    case RunEnd::Cancelled:
      return report.error ? ExitCode::Refused : ExitCode::Interrupted;  // by a timeout or a stop
    case RunEnd::Failed:
      break;
  }
  return ExitCode::Environment;
}

}  // namespace

ChatSession::~ChatSession() = default;

CommandResult<std::unique_ptr<ChatSession>> ChatSession::open(const ChatOptions& options,
                                                              const std::vector<std::string>& default_tools) {
  expect_large_buffers();
  std::unique_ptr<ChatSession> chat(new ChatSession(options));
  Result<Config> config = read_config();
  if (!config) return std::unexpected(report_config_error(config.error()));
  chat->config_ = *std::move(config);
  for (const std::string& warning : chat->config_.warnings) {
    if (!options.quiet) print_message("warning: " + warning);
  }
  if (const auto taken = chat->take_options(); !taken) return std::unexpected(taken.error());
  resolve(chat->options_.store, chat->config_);
  set_configured_colour(colour_choice_named(chat->config_.color.value).value_or(ColourChoice::Auto));
  Result<Output> output = Output::open(options.output);
  if (!output) return std::unexpected(report_error(output.error(), {options.output}));
  chat->output_.emplace(*std::move(output));
  chat->screen_ =
      std::make_unique<Screen>(*chat->output_, options.quiet || options.json, chat->answer_form());
  chat->user_prompt_ = std::make_unique<UserPrompt>(*chat->screen_);
  catch_interrupts();

  CommandResult<store::Store> store = open_store(chat->options_.store);
  if (!store) return std::unexpected(store.error());
  chat->store_ = std::make_shared<store::Store>(*std::move(store));
  // In parallel with reading the session, not with opening the store: a thread cannot be started while
  // libraries are loaded. If it fails, the first request reports it.
  const std::jthread preparation([] { static_cast<void>(net::prepare()); });
  if (const auto chosen = chat->choose_session(); !chosen) return std::unexpected(chosen.error());
  if (const auto used = chat->choose_model(options.model); !used) return std::unexpected(used.error());

  ConfigValue<std::vector<std::string>> names{.value = default_tools};
  if (chat->config_.tools.is_set() && !default_tools.empty()) names = chat->config_.tools;
  if (options.tools) names.set(names_in(*options.tools), "--tools");
  if (const auto filled = chat->fill_toolbox(names); !filled) return std::unexpected(filled.error());
  if (!default_tools.empty() && !options.tools) {
    CommandResult<std::unique_ptr<McpTools>> servers = open_mcp(chat->config_);
    if (!servers) return std::unexpected(servers.error());
    chat->mcp_ = *std::move(servers);
  }
  CommandResult<std::optional<trace::Tracer>> tracer = open_tracer(chat->config_);
  if (!tracer) return std::unexpected(tracer.error());
  chat->tracer_ = *std::move(tracer);
  if (const auto opened = chat->open_agent(); !opened) return std::unexpected(opened.error());
  return chat;
}

// What was typed comes before the configuration (CONFIG1).
CommandResult<void> ChatSession::take_options() {
  for (const std::string& typed : options_.model_options) {
    const std::size_t equals = std::min(typed.find('='), typed.size());
    Result<void> taken =
        equals == typed.size()
            ? fail(Code::Invalid, fmt::format("invalid option '{}': expected NAME=VALUE", typed))
            : take_option(config_, typed.substr(0, equals), typed.substr(equals + 1), "--option");
    if (!taken) return std::unexpected(report_choice_error(taken.error().message, "--option"));
  }
  if (options_.max_tokens) {
    static_cast<void>(
        take_option(config_, "max_tokens", std::to_string(*options_.max_tokens), "--max-tokens"));
  }
  if (options_.retries) config_.retries.set(*options_.retries, "--retries");
  if (options_.window) config_.window.set(*options_.window, "--window");
  if (!options_.timeout && config_.timeout.value > 0) {
    options_.timeout = static_cast<double>(config_.timeout.value);
  }
  if (!options_.schema.empty()) config_.schema.set(options_.schema, "--schema");
  if (!config_.schema.is_set()) return {};
  Result<Json> schema = read_reply_schema(config_.schema.value);
  if (!schema) return std::unexpected(report_choice_error(schema.error().message, config_.schema.from));
  reply_ = ReplySchema{.schema = *std::move(schema)};
  return {};
}

CommandResult<void> ChatSession::choose_session() {
  key_ = {options_.store.tenant, options_.session};
  if (!options_.continues_last) {
    if (!key_.session.empty()) {
      const auto id = session_id(*store_, key_.tenant, key_.session, PrefixOf::Generated);
      if (!id) return std::unexpected(id.error());
      key_.session = *id;
      if (const auto confirmed = confirm_session(); !confirmed) return confirmed;
    }
    if (key_.session.empty()) key_.session = new_ulid(static_cast<std::uint64_t>(now_ms()));
    return {};
  }
  const auto latest = store_->latest(key_.tenant);
  if (!latest) return std::unexpected(report_store_error(latest.error()));
  if (*latest) {
    key_.session = (*latest)->session;
    return {};
  }
  print_message("no session to continue");
  return std::unexpected(ExitCode::Refused);
}

// A new session is not what was meant if the name of another is almost the same.
CommandResult<void> ChatSession::confirm_session() {
  if (!UserPrompt::is_available() || !is_terminal(STDERR_FILENO) || store_->head(key_)) return {};
  const auto similar = similar_session(*store_, key_.tenant, key_.session);
  if (!similar) return std::unexpected(similar.error());
  if (!*similar) return {};
  const std::string question = fmt::format("no session '{}': open '{}'? [Y/n/new] ", key_.session, **similar);
  while (true) {
    const std::optional<std::string> answer = user_prompt_->choice(question);
    if (!answer) return std::unexpected(take_interrupt() ? ExitCode::Interrupted : ExitCode::Refused);
    if (*answer == "new") return {};
    if (*answer == "n" || *answer == "no") return std::unexpected(ExitCode::Refused);
    if (!answer->empty() && *answer != "y" && *answer != "yes") continue;
    key_.session = **similar;
    return {};
  }
}

CommandResult<void> ChatSession::fill_toolbox(const ConfigValue<std::vector<std::string>>& names) {
  for (const std::string& name : names.value) {
    Result<std::shared_ptr<RunnableTool>> tool = tool_named(name, {store_, key_.tenant, *user_prompt_});
    if (!tool && tool.error().code == Code::NotFound) {
      return std::unexpected(report_choice_error(tool.error().message, names.from));
    }
    if (!tool) {
      print_message(tool.error().message);
      return std::unexpected(ExitCode::Environment);
    }
    if (*tool == nullptr) continue;  // it needs a terminal
    if (const auto added = tools_->add(*std::move(tool)); !added) {
      return std::unexpected(report_choice_error(added.error().message, names.from));
    }
  }
  tools_->set_policy(config_.policy);
  if (UserPrompt::is_available()) {
    tools_->set_approve([this](const ToolUseBlock& use) {
      return user_prompt_->approve(use, [this](const ToolUseBlock& each) { return tools_->preview(each); });
    });
  }
  return {};
}

CommandResult<void> ChatSession::choose_model(const std::string& name) {
  CommandResult<OpenedModel> opened = open_chosen_model(name, config_, ledger_);
  if (!opened) return std::unexpected(opened.error());
  agent_.reset();  // before the rehearsal server that it may use
  opened_ = *std::move(opened);
  model_ = opened_.model;
  return {};
}

CommandResult<void> ChatSession::use_model(const std::string& name) {
  if (auto chosen = choose_model(name); !chosen) return chosen;
  return open_agent();
}

// Compresses offline when a budget is exceeded: no model call is made without a request.
CommandResult<StoredMemory> ChatSession::open_memory(std::shared_ptr<Compressor> compressor) const {
  if (!compressor) compressor = std::make_shared<ExtractiveCompressor>();
  Result<StoredMemory> memory =
      StoredMemory::open(store_, key_, memory_options(model_->info(), std::move(compressor)));
  if (!memory) return std::unexpected(report_store_error(memory.error()));
  return *std::move(memory);
}

CommandResult<void> ChatSession::open_agent() {
  CommandResult<StoredMemory> memory = open_memory();
  if (!memory) return std::unexpected(memory.error());
  AgentOptions options;
  options.system_prompt = Text(system_prompt());
  options.max_steps = options_.max_steps.value_or(config_.max_steps.value);
  options.max_calls = options_.max_calls.value_or(config_.max_calls.value);
  const std::size_t max_input = options_.max_input_tokens.value_or(config_.max_input_tokens.value);
  if (max_input != 0) options.max_input_tokens = max_input;
  options.settings = config_.settings;
  options.reply = reply_;
  if (options_.timeout) {
    options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*options_.timeout * 1000));
  }
  if (tracer_) {
    spans_ = spans(*tracer_, {.agent = options.name,
                              .conversation_id = Text(key_.session),
                              .model = model_->info(),
                              .traceparent = from_environment("TRACEPARENT")});
  }
  options.on_event = [this](const AgentEvent& event) {
    if (spans_) spans_(event);
    on_event(event);
  };
  Result<std::unique_ptr<ToolCallAgent>> agent =
      ToolCallAgent::open(model_, tools_, *std::move(memory), std::move(options));
  if (!agent) return std::unexpected(report_store_error(agent.error()));
  agent_ = *std::move(agent);
  calls_before_ = ledger_->records().size();
  return {};
}

const ToolBox& ChatSession::tools() {
  const StopOnInterrupt interrupt;
  if (mcp_) update_mcp(*mcp_, *tools_, interrupt.token());
  return *tools_;
}

ExitCode ChatSession::continue_answer() {
  if (agent_ && agent_->window().empty()) {
    print_message("nothing to continue: the session is empty");
    return ExitCode::Refused;
  }
  return ask(std::nullopt);
}

CommandResult<void> ChatSession::begin_run(StopOnInterrupt& interrupt) {
  if (!agent_) {
    if (const auto opened = open_agent(); !opened) return opened;
  }
  if (mcp_) update_mcp(*mcp_, *tools_, interrupt.token());
  running_ = &interrupt;
  line_is_broken_ = false;
  failed_tools_ = 0;
  screen_->begin_request();
  return {};
}

void ChatSession::end_run() {
  break_line_if_interrupted();
  running_ = nullptr;
  screen_->stop_waiting();
}

ExitCode ChatSession::ask(const std::optional<Message>& request) {
  StopOnInterrupt interrupt;
  if (const auto begun = begin_run(interrupt); !begun) return begun.error();
  const Result<RunReport> report = run(request, interrupt);
  end_run();
  if (report && prints_at_end() && !options_.json) print_at_end(*report);
  screen_->end_answer();
  print_held_log_lines();
  if (!request && report && report->steps == 0 && !report->error) {
    print_message("nothing to continue: the last answer is complete");
    return ExitCode::Refused;
  }
  return conclude(report, StopOnInterrupt::was_interrupted());
}

// Reloads the session if another process has changed it since it was read.
Result<RunReport> ChatSession::run(const std::optional<Message>& request, const StopOnInterrupt& interrupt) {
  Result<RunReport> report = agent_->run(request, interrupt.token());
  if (report || report.error().code != Code::Conflict) return report;
  const std::size_t known = agent_->window().size();
  if (!open_agent()) return report;
  if (agent_->window().size() != known)
    screen_->status_line("  another process changed this session: reloaded it");
  return agent_->run(request, interrupt.token());
}

void ChatSession::break_line_if_interrupted() {
  if (running_ == nullptr || !StopOnInterrupt::was_interrupted()) return;
  if (!std::exchange(line_is_broken_, true)) screen_->break_line();
}

ExitCode ChatSession::report_run_error(const Error& error) {
  if (error.code != Code::Conflict) return report_store_error(error);
  print_message(error.message + ": try again when it ends, or one minute after it was killed");
  return ExitCode::Refused;
}

ExitCode ChatSession::conclude(const Result<RunReport>& report, bool was_interrupted) {
  if (!report) return report_run_error(report.error());
  has_failed_ = report->end == RunEnd::Failed;
  if (options_.json) screen_->lines(json_of(*report, key_.session, model_name()));
  if (!screen_->failure()) return ExitCode::Ok;  // finish() prints the reason
  if (report->error) {
    print_message(report->error->message);
  } else if (report->end == RunEnd::MaxSteps || report->end == RunEnd::Stuck) {
    print_message(report->text.view());
  }
  if (screen_->is_spaced()) show_status(*report);
  return was_interrupted ? ExitCode::Interrupted : exit_of(*report);
}

void ChatSession::show_status(const RunReport& report) {
  if (report.calls.empty()) return;
  AnswerStatus status{.tokens = tokens_used(), .window = model().window, .failed_tools = failed_tools_};
  double cost = 0;
  bool is_priced = true;
  for (const CallRecord& call : report.calls) {
    status.time += call.latency;
    is_priced = is_priced && call.cost;
    cost += call.cost.value_or(0);
  }
  if (is_priced) status.cost = cost;
  screen_->answer_status(status);
}

// Code and JSON are for programs.
Screen::AnswerForm ChatSession::answer_form() const {
  const bool is_raw = options_.raw || !config_.markdown.value || options_.json || prints_at_end();
  return is_raw ? Screen::AnswerForm::Raw : Screen::AnswerForm::Markdown;
}

void ChatSession::print_at_end(const RunReport& report) {
  if (report.end != RunEnd::Answered && report.end != RunEnd::Terminated) return;
  if (reply_) {
    if (report.reply) screen_->answer(report.reply->text().view());
    return;
  }
  const std::optional<std::string> code = last_code_block(report.text.view());
  if (!code) print_message("no code block in the answer: printing the whole answer");
  screen_->answer(code ? *code : report.text.view());
}

// A request that failed before anything was said leaves no session, if it made one.
void ChatSession::forget_failed_session() {
  const std::vector<Message> shown = window();
  if (!has_failed_ ||
      std::ranges::any_of(shown, [](const Message& each) { return each.role() == Role::Assistant; })) {
    return;
  }
  const auto head = store_->head(key_);
  if (head && head->created_ms >= started_ms_ && head->size == shown.size())
    static_cast<void>(store_->remove(key_));
}

ExitCode ChatSession::finish(ExitCode exit) {
  forget_failed_session();
  Result<void> outcome = screen_->failure();
  if (outcome) outcome = output_->commit();
  return outcome ? exit : output_->end(outcome.error());
}

// An unfinished answer looks like any other.
void ChatSession::print_problem(const ModelAnswer& answer) const {
  const Finish finish = answer.outcome.finish;
  const std::string_view problem = problem_of(finish);
  if (problem.empty() || answer.cut) return;
  const bool is_kept = !options_.store.uri.starts_with("memory:");
  const bool can_continue = is_final(answer) && is_kept && finish == Finish::Length;
  print_message(can_continue ? fmt::format("{}; {} continues it", problem, options_.continue_command)
                             : std::string(problem));
}

void ChatSession::on_event(const AgentEvent& event) {
  break_line_if_interrupted();
  const auto* answered = std::get_if<agent_event::Answered>(&event);
  if (options_.json) {
    if (answered != nullptr) print_problem(answered->answer);
    if (!options_.stream) return;
    if (const auto line = json_of(event); line && !screen_->lines(*line) && running_ != nullptr)
      running_->stop();
    return;
  }
  if (std::holds_alternative<agent_event::Asking>(event)) {
    has_streamed_ = false;
    screen_->end_answer();
    screen_->wait("thinking");
  } else if (const auto* streaming = std::get_if<agent_event::Streaming>(&event)) {
    const auto* delta = std::get_if<stream::Delta>(&streaming->event);
    if (delta == nullptr) return;
    if (delta->kind == stream::DeltaKind::Thinking) screen_->thinking(delta->text);
    if (delta->kind != stream::DeltaKind::Text) return;
    has_streamed_ = true;
    if (prints_at_end()) return;
    if (!screen_->answer(delta->text) && running_ != nullptr) running_->stop();
  } else if (answered != nullptr) {
    screen_->stop_waiting();
    if (!has_streamed_ && !prints_at_end())
      screen_->answer(answered->answer.message.get_text_content().value_or(Text()).view());
    // The end of the final answer is printed when the run has ended: the session is free then, too.
    if (!is_final_and_whole(answered->answer)) screen_->end_answer();
    if (answered->answer.cut && screen_->failure()) screen_->status_line("  (the answer was cut)");
    print_problem(answered->answer);
  } else if (const auto* started = std::get_if<agent_event::ToolStarted>(&event)) {
    screen_->wait(fmt::format("running {}", started->use.name.view()));
  } else if (const auto* ended = std::get_if<agent_event::ToolEnded>(&event)) {
    failed_tools_ += ended->output.is_error() ? 1 : 0;
    screen_->aside(tool_line(*ended));
  } else if (const auto* shortened = std::get_if<agent_event::Shortened>(&event)) {
    screen_->status_line(
        fmt::format("  {} left the window; still stored", counted(shortened->evicted.size(), "message")));
  }
}

std::optional<std::size_t> ChatSession::message_budget() const {
  if (!model().window) return std::nullopt;
  return memory_options(model(), nullptr).budget.tokens;
}

std::string ChatSession::model_name() const {
  return opened_.rehearsal ? kRehearsal : fmt::format("{}/{}", model().provider.view(), model().name.view());
}

}  // namespace parley::cli
