// A Model generates the next message of a conversation.
//
// Invariants (quoted by tests as MODEL1..MODEL7):
//   MODEL1  The answer to a request is the same message whether it is streamed or not.
//   MODEL2  A call is retried only if its failure is retryable and none of its events was delivered.
//   MODEL3  If a stream breaks, the answer has what was delivered, and `cut` says why it is incomplete. Its
//           message can be stored and sent again: incomplete calls are left out, with a note, and of an
//           answer over the size limit the first MiB stays.
//   MODEL4  After a stop the call ends soon: with an incomplete answer if anything was delivered, with
//           Cancelled otherwise.
//   MODEL5  Every call, also a failed one, is in the ledger once, with all its attempts.
//   MODEL6  A conversation that does not fit the context window is ContextTooLong, and is not retried.
//   MODEL7  No error and no note contains a key.
//
// A Model is safe from any thread; calls may run concurrently.
#pragma once

#include <chrono>
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
#include "parley/dialect/dialect.h"
#include "parley/dialect/failure.h"
#include "parley/dialect/stream.h"
#include "parley/json/json.h"
#include "parley/json/typed.h"
#include "parley/message/block.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/token/ledger.h"

namespace parley::net {
class EventLoop;
struct Request;
}  // namespace parley::net

namespace parley {

// The purpose of a call; the ledger has totals for each.
enum class Purpose : std::uint8_t { Chat, Compression };
std::string_view to_string(Purpose purpose);  // "chat", "compression"

// The schema of a reply.
struct ReplySchema {
  Text name = Text("reply");
  Json schema;  // a JSON Schema
};

struct ModelRequest {
  // Messages, system part, tools and settings. The model's configuration provides missing settings (the
  // model, the most tokens).
  Conversation conversation;
  // Sent to providers that support it. The caller must check the reply.
  std::optional<ReplySchema> reply = {};
  Purpose purpose = Purpose::Chat;
  bool stream = true;
};

// Cost and duration of one call.
struct CallRecord {
  Purpose purpose = Purpose::Chat;
  Text provider, model;
  Usage usage;
  std::chrono::microseconds latency{0};                       // until the end of the answer
  std::optional<std::chrono::microseconds> first_token = {};  // until the first delta
  unsigned attempts = 0;
  std::optional<FailureKind> failure = {};
  std::optional<double> cost = {};  // by the price table; nullopt if it has no row for the model
};

struct ModelAnswer {
  Message message;
  Outcome outcome;
  std::optional<Failure> cut = {};  // why the answer is incomplete (MODEL3)
  std::vector<Note> notes = {};     // of writing the request and of reading the answer
  CallRecord call = {};
};

// A failed call. The code is LimitExceeded for ContextTooLong, Cancelled for a stop, Timeout for a deadline,
// Unavailable for temporary failures, and Invalid for permanent ones.
struct CallError : Error {
  Failure failure;
  CallRecord call;
};
template <typename T>
using Called = std::expected<T, CallError>;  // converts to the error of a Result<T>

struct CallOptions {
  // Called during the call, on its thread; blocking it blocks the stream.
  OnStreamEvent on_event = {};
  // Called with the body of each request before it is sent, if the model is asked over HTTP.
  std::function<void(std::span<const std::string_view> body)> on_request = {};
  std::stop_token stop = {};
  // The span of the call (trace/context.h); sent as the header of this name, if not empty.
  std::string traceparent = {};
};

struct ModelInfo {
  Text provider;  // "openai", "anthropic", ... as in `--model provider/name`
  Text name;      // "gpt-4o"
  Dialect dialect = Dialect::OpenAI;
  std::optional<std::size_t> window = {};  // tokens of a conversation and its answer, if known
  bool sees_images = true;
};

// A call that runs on an event loop.
class ModelCall {
 public:
  ModelCall() = default;
  ModelCall(const ModelCall&) = delete;
  ModelCall& operator=(const ModelCall&) = delete;
  virtual ~ModelCall() = default;

  // Safe from any thread. The call ends soon (MODEL4), and `done` is called.
  virtual void stop() = 0;
  // On the loop: after pause() few events more come, then none until resume(). A server that sends is made to
  // wait; memory is bounded.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  virtual Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options = {}) = 0;
  // The body that complete() sends for this request, byte for byte. Fails like complete() for what cannot be
  // written, and with Unsupported if the model is not asked over HTTP.
  virtual Result<std::string> body_of(const ModelRequest& request) const;
  // A request to another path of the same provider ("/embeddings"), with its address, key, proxy and
  // timeouts, without a body. Fails with Unsupported if the provider's API is not OpenAI's or the model is
  // not asked over HTTP.
  virtual Result<net::Request> request_to(std::string_view path) const;

  // The same call on an event loop, without blocking. on_event and `done` are called on the loop, after this
  // has returned; `done` once, with what complete() would return. The model must outlive the call, and the
  // loop must not finish before it. This form runs complete() on a thread of its own; models over HTTP need
  // none.
  using Done = std::function<void(Called<ModelAnswer> answer)>;
  virtual std::shared_ptr<ModelCall> start(ModelRequest request, CallOptions options, net::EventLoop& loop,
                                           Done done);
};

// Requests to any Model: a text, a text about images, a reply of a type, and OpenManus' step that may call
// tools.
//
// Invariants (quoted by tests as ASK1..ASK5):
//   ASK1  A text is the model's output, byte for byte. An incomplete answer (a broken stream, the output
//         limit, a filter) and an empty answer are errors. With AskOptions::openmanus a text that the model
//         or its provider ended early is a success, as in OpenManus.
//   ASK2  The answer of ask_tool() has everything: thinking, finish reason, usage, calls.
//   ASK3  No message that was passed in is changed or left out.
//   ASK4  An image is checked before it is sent, and its media type is that of its bytes. URLs are not
//         fetched.
//   ASK5  A reply of ask_json() and ask_as() matches its schema.
//
// Functions are safe from any thread.
struct AskOptions {
  std::span<const Message> system = {};  // before the messages
  std::optional<double> temperature = {};
  // Called with the text of the answer as it arrives, beside CallOptions::on_event.
  std::function<void(std::string_view text)> on_text = {};
  bool stream = true;
  CallOptions call = {};
  // Errors have OpenManus' texts.
  bool openmanus = false;
  // OpenManus' limit on the input tokens of all requests together: a request that would exceed it fails with
  // LimitExceeded; the cost of others is added. One thread at a time.
  TokenLedger* limit = nullptr;
};

// A prompt to a model by its name (open_model): ask("openai/gpt-4o", "What is a fence?").
Called<Text> ask(std::string_view model, const Text& prompt, const AskOptions& options = {});
Called<Text> ask(Model& model, const Text& prompt, const AskOptions& options = {});

// Fails like the model; an incomplete answer fails with its cause, an empty answer with Unavailable.
Called<Text> ask(Model& model, std::span<const Message> messages, const AskOptions& options = {});

// Adds the images (base64, data URLs, http or https URLs) after the text of the last message, which must be a
// user message. Fails with Unsupported if the model does not accept images, with Invalid if the last message
// is not a user message, and like parse_user_request() for an invalid image.
Called<Text> ask_with_images(Model& model, std::span<const Message> messages,
                             std::span<const std::string_view> images, const AskOptions& options = {});

// A reply that is JSON and matches the schema. A reply that does not is requested again, at most three times
// in all; then fails with Malformed or Invalid.
Called<Json> ask_json(Model& model, std::span<const Message> messages, const ReplySchema& schema,
                      const AskOptions& options = {});

// The same as a C++ type of json/typed.h.
template <typename T>
Called<T> ask_as(Model& model, std::span<const Message> messages, const AskOptions& options = {}) {
  Called<Json> json = ask_json(model, messages, {.schema = schema_of<T>()}, options);
  if (!json) return std::unexpected(std::move(json).error());
  Result<T> value = from_json<T>(*json);
  if (!value) return std::unexpected(CallError{std::move(value).error(), {}, {}});
  return *std::move(value);
}
template <typename T>
Called<T> ask_as(Model& model, const Text& prompt, const AskOptions& options = {}) {
  const Message message = Message::user_message(prompt);
  return ask_as<T>(model, {&message, 1}, options);
}

Called<ModelAnswer> ask_tool(Model& model, std::span<const Message> messages, std::span<const Tool> tools,
                             ToolChoice choice = ToolChoice::Auto, const AskOptions& options = {});

}  // namespace parley
