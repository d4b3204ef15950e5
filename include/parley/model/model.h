// A Model is asked for the next message of a conversation.
//
// Invariants (quoted by tests as MODEL1..MODEL7):
//   MODEL1  The answer to a request is the same message whether it came as a stream or whole.
//   MODEL2  A call is tried again only if its failure is retryable and no event of it was delivered.
//   MODEL3  What was delivered before a stream died is kept: the answer has it, and `cut` says why it is not all.
//       Its message can be stored and sent again: calls that are not whole are left out, with a note, and of
//       an answer that is larger than it may be the first MiB stays.
//   MODEL4  After a stop is asked for the call ends soon: with a cut answer if anything was delivered, with
//       Cancelled otherwise.
//   MODEL5  Every call, a failed one too, is in the ledger once, with all its attempts.
//   MODEL6  A conversation that does not fit the window is ContextTooLong, and is not tried again.
//   MODEL7  No error and no note repeats a key.
//
// A Model is safe from any thread; several calls may be under way at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/failure.h"
#include "parley/dialect/note.h"
#include "parley/dialect/stream.h"
#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"

namespace parley {

// What a call is for; the ledger keeps them apart.
enum class Purpose : std::uint8_t { Chat, Compression };
std::string_view to_string(Purpose purpose);  // "chat", "compression"

// What a reply must look like.
struct ReplySchema {
  Text name = Text("reply");
  Json schema;  // a JSON Schema
};

struct ModelRequest {
  // Messages, system part, tools and settings. What the settings do not say (the model, the most tokens), the
  // model's own configuration does.
  Conversation conversation;
  // Passed on to a provider that can keep to it. Whether the reply does is for the caller to check.
  std::optional<ReplySchema> reply = {};
  Purpose purpose = Purpose::Chat;
  bool stream = true;
};

// What one call cost, and how long it took.
struct CallRecord {
  Purpose purpose = Purpose::Chat;
  Text provider, model;
  Usage usage;
  std::chrono::microseconds latency{0};                       // until the end of the answer
  std::optional<std::chrono::microseconds> first_token = {};  // until the first delta
  unsigned attempts = 0;
  std::optional<FailureKind> failure = {};
  std::optional<double> cost = {};  // by the table of prices; nothing if it has no row for the model
};

struct ModelAnswer {
  Message message;
  Outcome outcome;
  std::optional<Failure> cut = {};  // why this is not all (MODEL3)
  std::vector<Note> notes = {};     // of writing the request and of reading the answer
  CallRecord call = {};
};

// Why there is no answer. The code is LimitExceeded for ContextTooLong, Cancelled for a stop, Timeout for a
// deadline, Unavailable for what may pass, and Invalid for everything that will not.
struct CallError : Error {
  Failure failure;
  CallRecord call;
};
template <typename T>
using Called = std::expected<T, CallError>;  // turns into a Result<T>'s error by itself

struct CallOptions {
  // Called while the call runs, on its thread; holding it up holds up the server.
  OnStreamEvent on_event = {};
  std::stop_token stop = {};
  // Whose span the call is (trace/context.h); sent as the header of this name, if it is not empty.
  std::string traceparent = {};
};

struct ModelInfo {
  Text provider;  // "openai", "anthropic", ... as `--model provider/name` has it
  Text name;      // "gpt-4o"
  Dialect dialect = Dialect::OpenAI;
  std::optional<std::size_t> window = {};  // tokens of a conversation and its answer, if known
  bool sees_images = true;
};

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  virtual Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options = {}) = 0;
};

}  // namespace parley
