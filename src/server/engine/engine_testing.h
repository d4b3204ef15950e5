// For tests of turns: a model that does what a test says, a follower that writes down what it hears, and an
// engine with a store and a loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/server/turn_engine.h"

namespace parley::server::testing {

// A call of the model: a test lets it say words and end.
class ManualCall : public ModelCall, public std::enable_shared_from_this<ManualCall> {
 public:
  ManualCall(ModelRequest asked, CallOptions given, net::EventLoop& on, Model::Done then)
      : request(std::move(asked)), options(std::move(given)), loop(on), done(std::move(then)) {}

  void stop() override;
  void pause() override { ++pauses; }
  void resume() override { ++resumes; }

  // From a test's thread; return when the loop has done it.
  void say(const std::string& text);
  void call_tool(const std::string& id, const std::string& name, const std::string& arguments);
  void finish(Finish finish = Finish::Stop);
  void fail_with(FailureKind kind, bool in_stream);

  const ModelRequest request;
  const CallOptions options;
  net::EventLoop& loop;
  std::atomic<int> pauses = 0, resumes = 0;
  std::atomic<bool> is_stopped = false;

 private:
  void on_loop(const std::function<void()>& call);
  void emit(const StreamEvent& event);
  void end(Called<ModelAnswer> answer);

  Model::Done done;
  Accumulator accumulator{Dialect::OpenAI};
  bool has_text = false, has_said = false;
  std::uint64_t blocks = 0;
};

class ManualModel : public Model {
 public:
  explicit ManualModel(std::optional<std::size_t> window = {});
  const ModelInfo& info() const override { return info_; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override;
  std::shared_ptr<ModelCall> start(ModelRequest request, CallOptions options, net::EventLoop& loop,
                                   Done done) override;
  Result<std::string> body_of(const ModelRequest& request) const override;

  // Waits for the call with this number, from 0. Fails the test after ten seconds.
  std::shared_ptr<ManualCall> call(std::size_t number);
  std::size_t calls();

 private:
  ModelInfo info_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<ManualCall>> calls_;
};

class OneModel : public ModelDirectory {
 public:
  explicit OneModel(std::shared_ptr<Model> model) : model_(std::move(model)) {}
  Result<std::shared_ptr<Model>> find(std::string_view name) override;
  std::vector<Entry> list() override { return {{"manual", "test", 0}}; }

 private:
  std::shared_ptr<Model> model_;
};

// What a follower hears, as lines: "begun", "start 0 text", "delta 0 hello", "end 0", "ended completed".
class Listener : public TurnFollower {
 public:
  void refused(const Error& error) override;
  void begun(const TurnState& state) override;
  void progress(const Journal& journal) override;
  void ended(const TurnState& state, const Journal& journal) override;
  std::size_t backlog() const override { return backlog_bytes; }

  // Waits until a line that begins with this was heard; the line. "" after ten seconds.
  std::string wait(const std::string& line);
  std::vector<std::string> lines();
  std::string text();                // all deltas
  std::optional<TurnState> state();  // the last one
  std::optional<Error> error();

  std::atomic<std::size_t> backlog_bytes = 0;

 private:
  void add(std::string line);
  void replay(const Journal& journal);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::string text_;
  Journal::Cursor cursor_;
  std::optional<TurnState> state_;
  std::optional<Error> error_;
};

// Where the sessions of a test are: in memory, or in a database in a folder, which goes with the place.
class StorePlace {
 public:
  static constexpr const char* kKinds[] = {"memory", "sqlite"};
  explicit StorePlace(std::string_view kind);
  ~StorePlace();
  StorePlace(const StorePlace&) = delete;
  StorePlace& operator=(const StorePlace&) = delete;

  // One more opening of the same sessions; in memory the same store.
  std::shared_ptr<store::Store> open();

 private:
  std::string folder_ = {};
  std::shared_ptr<store::Store> shared_ = {};  // in memory
};

// An engine on a store.
class Bench {
 public:
  explicit Bench(std::shared_ptr<store::Store> store = {}, TurnEngineOptions options = {},
                 std::optional<std::size_t> window = {});
  ~Bench();

  TurnRequest request(const std::string& session, const std::string& text) const;
  struct Started {
    std::shared_ptr<Turn> turn;
    std::shared_ptr<Listener> listener;
  };
  Started begin(TurnRequest request);
  Started attach(const TurnKey& key);
  // A whole turn: asks, answers, and waits for its end.
  TurnState ask(const std::string& session, const std::string& text, const std::string& answer);
  std::vector<std::string> history(const std::string& session);  // "user: hi", "assistant: hello"

  std::shared_ptr<store::Store> store;
  std::shared_ptr<ManualModel> model;
  std::unique_ptr<net::EventLoop> loop, other_loop;
  std::unique_ptr<TurnEngine> engine;
};

std::shared_ptr<store::Store> memory_store();

}  // namespace parley::server::testing
