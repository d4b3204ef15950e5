// One step of an agent over 1,000 messages: the request is made as HttpModel makes it, the answer asks for a
// tool, the tool answers, everything is stored. What is left without the time of model, tool and commit is
// Parley's own.
#include <chrono>
#include <cstring>
#include <memory>

#include "agent/task.h"
#include "harness.h"
#include "model/request.h"
#include "parley/agent/agent.h"
#include "parley/dialect/dialect.h"
#include "parley/store/backend.h"
#include "parley/token/counter.h"
#include "parley/tool/function_tool.h"
#include "store/backends.h"

namespace bench::agent_task {
namespace {

using namespace ::parley;
using Clock = std::chrono::steady_clock;
constexpr std::size_t kShown = 1'000;
constexpr std::size_t kTurns = 12;
constexpr std::size_t kSteps = 10;  // of a turn
constexpr std::size_t kMost = kShown + 3 * kTurns * kSteps;
constexpr double kLowWater = double{kShown} / kMost;

// The time that is not Parley's own, since the step began.
struct Others {
  double us = 0;

  template <typename Work>
  auto time(Work work) {
    const Clock::time_point began = Clock::now();
    auto out = work();
    us += std::chrono::duration<double, std::micro>(Clock::now() - began).count();
    return out;
  }
};

// Keeps everything in memory, and notes how long it takes.
class TimedBackend final : public store::Backend {
 public:
  explicit TimedBackend(Others& others) : others_(others) {}
  Result<store::Appended> append(const store::SessionKey& key, const store::RowBatch& batch,
                                 Deadline deadline) override {
    return others_.time([&] { return kept_->append(key, batch, deadline); });
  }
  Result<std::optional<store::Appended>> find_batch(const store::SessionKey& key, std::string_view batch,
                                                    Deadline deadline) override {
    return kept_->find_batch(key, batch, deadline);
  }
  Result<std::optional<store::Appended>> resolve(const store::SessionKey& key, std::string_view batch,
                                                 Deadline deadline) override {
    return kept_->resolve(key, batch, deadline);
  }
  Result<store::RowPage> read(const store::SessionKey& key, const store::Range& range,
                              Deadline deadline) override {
    return kept_->read(key, range, deadline);
  }
  Result<store::SessionInfo> head(const store::SessionKey& key, Deadline deadline) override {
    return kept_->head(key, deadline);
  }
  Result<store::SessionInfo> fork(const store::SessionKey& from, const std::string& to, store::Position size,
                                  Deadline deadline) override {
    return kept_->fork(from, to, size, deadline);
  }
  Result<store::SessionList> list(const std::string& tenant, const store::ListOptions& options,
                                  Deadline deadline) override {
    return kept_->list(tenant, options, deadline);
  }
  Result<std::vector<store::Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                         std::size_t count, Deadline deadline) override {
    return kept_->search(tenant, phrases, count, deadline);
  }
  Result<void> remove(const store::SessionKey& key, Deadline deadline) override {
    return kept_->remove(key, deadline);
  }
  Result<void> expire(const store::SessionKey& key, std::optional<std::int64_t> at_ms,
                      Deadline deadline) override {
    return kept_->expire(key, at_ms, deadline);
  }
  Result<std::size_t> sweep(Deadline deadline) override { return kept_->sweep(deadline); }
  Result<store::Lease> lease(const store::SessionKey& key, const store::LeaseRequest& request,
                             Deadline deadline) override {
    return kept_->lease(key, request, deadline);
  }
  Result<store::Lease> checkpoint(const store::SessionKey& key, const store::LeaseRequest& request,
                                  std::string_view bytes, Deadline deadline) override {
    return kept_->checkpoint(key, request, bytes, deadline);
  }
  Result<std::optional<store::HeldLease>> holder(const store::SessionKey& key, Deadline deadline) override {
    return kept_->holder(key, deadline);
  }
  Result<std::vector<store::HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                               Deadline deadline) override {
    return kept_->leases(tenant, count, deadline);
  }
  Result<void> release(const store::SessionKey& key, const std::string& token, Deadline deadline) override {
    return kept_->release(key, token, deadline);
  }
  store::Health health(Deadline deadline) override { return kept_->health(deadline); }

 private:
  Others& others_;
  std::unique_ptr<store::Backend> kept_ = store::memory_backend();
};

// Asks for the tool again and again, for something else each time. The request is Parley's own work.
class PreparedModel final : public Model {
 public:
  explicit PreparedModel(Others& others) : others_(others) {
    info_.provider = Text("openai");
    info_.name = Text("gpt-4o");
    config_.model = "openai/gpt-4o";
  }
  const ModelInfo& info() const override { return info_; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& /*options*/) override {
    std::vector<Note> notes;
    const auto made =
        ::parley::model::request_of(request, info_.name, *provider_named("openai").value(), config_, notes);
    check(made.has_value(), "making a request");
    return others_.time([&] { return answer(made->http.body_chunks); });
  }

  std::vector<double> copies;  // memcpys of the bodies

 private:
  Called<ModelAnswer> answer(const std::vector<std::string_view>& pieces) {
    std::string body;
    for (const std::string_view piece : pieces) body += piece;
    copy_.resize(std::max(copy_.size(), body.size()));
    std::memcpy(copy_.data(), body.data(), body.size());
    const Clock::time_point began = Clock::now();
    std::memcpy(copy_.data(), body.data(), body.size());
    keep(copy_.data());
    copies.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
    const std::string number = std::to_string(++count_);
    const ToolCall call{.id = Text("call_bench_" + number),
                        .function = {Text("look"), Text(R"({"at": ")" + number + R"("})")}};
    ModelAnswer out{.message = Message::from_tool_calls({&call, 1}, Text("I look at the next one.")),
                    .outcome = {}};
    out.outcome.finish = Finish::ToolCalls;
    return out;
  }

  Others& others_;
  ModelInfo info_;
  ModelConfig config_;
  std::string copy_;
  std::size_t count_ = 0;
};

// Gives the results of the document, one after the other, so that what is shown stays as large as it was.
std::shared_ptr<ToolBox> tools_of(Others& others, const Document& document) {
  std::vector<Text> results;
  for (const Turn& turn : document.turns) {
    if (turn.role == "tool") results.push_back(Text(turn.content));
  }
  auto tools = std::make_shared<ToolBox>();
  auto look = function_tool(
      Text("look"), Text("Looks at one thing."), {param(Text("at"), Text("What to look at.")).string()},
      [&others, results, next = std::size_t{0}](const Args& /*args*/) mutable {
        return others.time([&] { return ToolOutput::text(results[next++ % results.size()]); });
      },
      {.has_side_effects = false});
  check(tools->add(look).has_value(), "making a tool");
  return tools;
}

// A session whose newest messages are those of the document.
StoredMemory memory_of(std::shared_ptr<store::Store> store, std::size_t log, const std::string& document) {
  MemoryOptions options;
  // What is older leaves the window when the document is added, and nothing while steps are measured.
  options.budget = {.messages = kMost, .tokens = std::size_t{1} << 30, .low_water = kLowWater};
  options.token_cost = cost_by(TokenCounter::for_model("gpt-4o"));
  auto memory = StoredMemory::open(std::move(store), {.session = "long"}, options);
  check(memory.has_value(), "opening a memory");
  const auto add = [&](const std::string& json) {
    const auto reading = read(json, Dialect::OpenManus);
    check(reading.has_value() && memory->add(reading->conversation.messages()).has_value(),
          "filling a memory");
  };
  if (log > kShown) add(to_document(make_tiny_conversation(log - kShown), Spelling::Raw));
  add(document);
  return *std::move(memory);
}

// An agent over a log of this size, and the times of its steps.
class Scene {
 public:
  Scene(std::size_t log, const Document& document) {
    AgentOptions options;
    options.max_steps = kSteps;
    options.on_event = [this](const AgentEvent& event) { on_event(event); };
    auto store = std::make_shared<store::Store>(std::make_unique<TimedBackend>(others_));
    auto agent = ToolCallAgent::open(model_, tools_of(others_, document),
                                     memory_of(std::move(store), log, document.json), std::move(options));
    check(agent.has_value(), "opening an agent");
    agent_ = *std::move(agent);
  }

  void run() {
    const auto report = agent_->run(Message::user_message(Text("Look at everything.")));
    check(report && report->end == RunEnd::MaxSteps, "running an agent");
  }

  std::vector<double> times;
  std::vector<double>& copies() { return model_->copies; }

 private:
  void on_event(const AgentEvent& event) {
    if (std::holds_alternative<agent_event::StepStarted>(event)) {
      others_.us = 0;
      began_ = Clock::now();
    } else if (std::holds_alternative<agent_event::StepEnded>(event)) {
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began_).count() - others_.us);
    }
  }

  Others others_;
  std::shared_ptr<PreparedModel> model_ = std::make_shared<PreparedModel>(others_);
  Clock::time_point began_;
  std::unique_ptr<ToolCallAgent> agent_;
};

}  // namespace

void measure_step(std::vector<Measured>& all, const Document& document) {
  std::vector<std::unique_ptr<Scene>> scenes;
  for (const std::size_t log : kLogs) scenes.push_back(std::make_unique<Scene>(log, document));
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (const auto& scene : scenes) scene->run();
  }
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    all.push_back(measured(step_of(kLogs[i]), kParley, std::move(scenes[i]->times)));
    all.push_back(measured(step_of(kLogs[i]), kMemcpy, std::move(scenes[i]->copies())));
  }
}

}  // namespace bench::agent_task
