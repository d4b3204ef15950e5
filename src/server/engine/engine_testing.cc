#include "server/engine/engine_testing.h"

#include <cstdlib>
#include <filesystem>
#include <future>
#include <system_error>

#include "parley/base/ids.h"

namespace parley::server::testing {

using std::chrono::seconds;

// ---- The model

void ManualCall::on_loop(const std::function<void()>& call) {
  std::promise<void> done_promise;
  loop.run([&] {
    call();
    done_promise.set_value();
  });
  done_promise.get_future().wait();
}

void ManualCall::emit(const StreamEvent& event) {
  accumulator.add(event);
  has_said = true;
  if (options.on_event) options.on_event(event);
}

void ManualCall::end(Called<ModelAnswer> answer) {
  if (const Model::Done then = std::exchange(done, {})) then(std::move(answer));
}

void ManualCall::say(const std::string& text) {
  on_loop([&] {
    if (!done) return;
    if (!std::exchange(has_text, true)) emit(stream::BlockStart{blocks, BlockType::Text, {}, {}});
    emit(stream::Delta{blocks, stream::DeltaKind::Text, text, false});
  });
}

void ManualCall::call_tool(const std::string& id, const std::string& name, const std::string& arguments) {
  on_loop([&] {
    if (!done) return;
    if (has_text) emit(stream::BlockEnd{blocks});
    has_text = false;
    emit(stream::BlockStart{
        .block = ++blocks, .type = BlockType::ToolUse, .id = Text(id), .name = Text(name)});
    emit(stream::Delta{blocks, stream::DeltaKind::Arguments, arguments, false});
    emit(stream::BlockEnd{blocks});
  });
}

void ManualCall::finish(Finish finish) {
  on_loop([&] {
    if (!done) return;
    if (has_text) emit(stream::BlockEnd{blocks});
    accumulator.add(stream::UsageUpdate{
        {.input = 10, .cache_read = {}, .cache_write = {}, .output = 5, .reasoning = {}}});
    accumulator.add(stream::Done{finish, Text(to_string(finish))});
    Accumulated said = accumulator.take();
    ModelAnswer answer{.message = said.message, .outcome = said.outcome};
    end(std::move(answer));
  });
}

void ManualCall::fail_with(FailureKind kind, bool in_stream) {
  on_loop([&] {
    if (!done) return;
    const Failure failure{.kind = kind, .message = "the model failed"};
    if (!in_stream) {
      return end(
          std::unexpected(CallError{fail(Code::Unavailable, "the model failed").error(), failure, {}}));
    }
    accumulator.add(stream::Truncated{});
    Accumulated said = accumulator.take();
    end(ModelAnswer{.message = said.message, .outcome = said.outcome, .cut = failure});
  });
}

void ManualCall::stop() {
  is_stopped = true;
  loop.post([self = shared_from_this()] {
    if (!self->done) return;
    const Failure failure{.kind = FailureKind::Transport, .message = "the call was stopped"};
    if (!self->has_said) {
      return self->end(
          std::unexpected(CallError{fail(Code::Cancelled, "the call was stopped").error(), failure, {}}));
    }
    self->accumulator.add(stream::Truncated{});
    Accumulated said = self->accumulator.take();
    self->end(ModelAnswer{.message = said.message, .outcome = said.outcome, .cut = failure});
  });
}

ManualModel::ManualModel(std::optional<std::size_t> window) {
  info_.provider = "test";
  info_.name = "manual";
  info_.window = window;
}

Called<ModelAnswer> ManualModel::complete(const ModelRequest&, const CallOptions&) {
  return std::unexpected(CallError{fail(Code::Unsupported, "only on a loop").error(), {}, {}});
}

Result<std::string> ManualModel::body_of(const ModelRequest& request) const {
  Conversation conversation = request.conversation;
  conversation.set_shape(DocumentShape::Envelope);
  PARLEY_TRY(const Writing written, write(conversation, Dialect::OpenAI));
  return written.text.str();
}

std::shared_ptr<ModelCall> ManualModel::start(ModelRequest request, CallOptions options, net::EventLoop& loop,
                                              Done done) {
  if (options.on_request) {
    const std::string body = body_of(request).value_or("");
    const std::string_view piece = body;
    options.on_request({&piece, 1});
  }
  auto call = std::make_shared<ManualCall>(std::move(request), std::move(options), loop, std::move(done));
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
  changed_.notify_all();
  return call;
}

std::shared_ptr<ManualCall> ManualModel::call(std::size_t number) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, seconds(10), [&] { return calls_.size() > number; })) std::abort();
  return calls_[number];
}

std::size_t ManualModel::calls() {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

Result<std::shared_ptr<Model>> OneModel::find(std::string_view name) {
  if (name == "manual") return model_;
  return fail(Code::NotFound, "there is no model '" + std::string(name) + "'", "/model");
}

// ---- The follower

void Listener::add(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
  changed_.notify_all();
}

void Listener::refused(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = error;
  }
  add("refused " + std::string(to_string(error.code)));
}

void Listener::begun(const TurnState& state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  add("begun");
}

void Listener::replay(const Journal& journal) {
  journal.replay(cursor_, [&](const StreamEvent& event) {
    if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
      add("start " + std::to_string(start->block) + " " + std::string(to_string(start->type)));
    } else if (const auto* delta = std::get_if<stream::Delta>(&event)) {
      {
        const std::lock_guard lock(mutex_);
        text_ += delta->text;
      }
      add("delta " + std::to_string(delta->block) + " " + std::string(delta->text));
    } else if (const auto* end = std::get_if<stream::BlockEnd>(&event)) {
      add("end " + std::to_string(end->block));
    }
  });
}

void Listener::progress(const Journal& journal) { replay(journal); }

void Listener::ended(const TurnState& state, const Journal& journal) {
  replay(journal);
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  add("ended " + std::string(to_string(state.status)));
}

std::string Listener::wait(const std::string& line) {
  std::unique_lock lock(mutex_);
  const auto find = [&]() -> std::string {
    for (const std::string& each : lines_) {
      if (each.starts_with(line)) return each;
    }
    return {};
  };
  changed_.wait_for(lock, seconds(10), [&] { return !find().empty(); });
  return find();
}

std::vector<std::string> Listener::lines() {
  const std::lock_guard lock(mutex_);
  return lines_;
}

std::string Listener::text() {
  const std::lock_guard lock(mutex_);
  return text_;
}

std::optional<TurnState> Listener::state() {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::optional<Error> Listener::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

// ---- The engine

namespace {

std::shared_ptr<store::Store> opened(const std::string& uri) {
  return std::make_shared<store::Store>(*store::open_store(uri));
}

}  // namespace

std::shared_ptr<store::Store> memory_store() { return opened("memory:"); }

StorePlace::StorePlace(std::string_view kind) {
  if (kind == "memory") {
    shared_ = memory_store();
    return;
  }
  folder_ = (std::filesystem::temp_directory_path() / "parley-turns-XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) std::abort();
}

StorePlace::~StorePlace() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::shared_ptr<store::Store> StorePlace::open() {
  return shared_ ? shared_ : opened("sqlite:" + folder_ + "/store.db");
}

Bench::Bench(std::shared_ptr<store::Store> given, TurnEngineOptions options,
             std::optional<std::size_t> window)
    : store(given ? std::move(given) : memory_store()), model(std::make_shared<ManualModel>(window)) {
  loop = *net::EventLoop::start();
  other_loop = *net::EventLoop::start();
  options.store = store;
  options.models = std::make_shared<OneModel>(model);
  engine = *TurnEngine::start(std::move(options));
}

Bench::~Bench() {
  engine.reset();
  loop.reset();
  other_loop.reset();
}

TurnRequest Bench::request(const std::string& session, const std::string& text) const {
  TurnRequest out;
  out.key.session.session = session;
  out.shape = "test";
  out.request = *Json::parse(R"({"a": 1})");
  out.input = {Message::user_message(text)};
  out.model = "manual";
  return out;
}

Bench::Started Bench::begin(TurnRequest request) {
  auto listener = std::make_shared<Listener>();
  return {engine->begin(std::move(request), *loop, listener), listener};
}

Bench::Started Bench::attach(const TurnKey& key) {
  auto listener = std::make_shared<Listener>();
  return {engine->attach(key, *other_loop, listener), listener};
}

TurnState Bench::ask(const std::string& session, const std::string& text, const std::string& answer) {
  const std::size_t number = model->calls();
  const Started started = begin(request(session, text));
  const auto call = model->call(number);
  call->say(answer);
  call->finish();
  const Result<TurnState> state = started.turn->wait();
  return state ? *state : TurnState();
}

std::vector<std::string> Bench::history(const std::string& session) {
  std::vector<std::string> out;
  const auto items = engine->items({"default", session});
  if (!items) return {"error: " + items.error().message};
  for (const TurnEngine::Item& item : *items) out.push_back(to_line(item.message));
  return out;
}

}  // namespace parley::server::testing
