#include "server/openai/responses_compact.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/compression_request.h"
#include "memory/state.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/json/writer.h"
#include "server/http/body.h"
#include "server/openai/items.h"
#include "server/openai/models.h"
#include "server/openai/responses_compaction.h"
#include "server/openai/responses_input.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_request.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostSummaryBytes = std::size_t{8} * 1024;
constexpr std::size_t kMostBytesPerCall = std::size_t{192} * 1024;  // of messages
constexpr std::chrono::minutes kMostExcerptTime{1};

// What a request wants summarized.
struct CompactRequest {
  std::string model, id;
  std::vector<Message> messages = {};
  std::vector<Json> said = {};  // the items of the user
};

ApiResult<CompactRequest> read_compact_request(const Exchange& exchange, ResponsesLookup& lookup) {
  const Result<Json> json = body_object(exchange.request);
  if (!json) return std::unexpected(api_error(json.error()));
  const Members body(*json);
  auto fields = responses_fields(body);
  if (!fields) return std::unexpected(std::move(fields).error());
  if (fields->model.empty()) return std::unexpected(missing_parameter("model"));
  if (!exchange.identity.may_ask(fields->model)) return std::unexpected(no_model(fields->model));
  auto history = stored_history(*fields, exchange.identity, lookup);
  if (!history) return std::unexpected(std::move(history).error());
  CompactRequest out{.model = fields->model, .id = new_ulid(static_cast<std::uint64_t>(now_ms()))};
  const TurnKey turn{exchange.session("resp_" + out.id), out.id};
  auto input = responses_input(
      body,
      {.identity = exchange.identity, .turn = turn, .history = history->session, .after = history->after},
      lookup);
  if (!input) return std::unexpected(std::move(input).error());
  out.messages = std::move(history->messages);
  for (Message& message : input->messages) out.messages.push_back(std::move(message));
  for (std::size_t i = 0; i < out.messages.size(); ++i) {
    if (out.messages[i].role() != Role::User) continue;
    for (Json& item : input_items(out.messages[i], {turn.session.session, turn.id, "i" + std::to_string(i)}))
      out.said.push_back(std::move(item));
  }
  return out;
}

void add_usage(Usage& sum, const Usage& more) {
  const auto add = [&](std::optional<std::uint64_t> Usage::* count) {
    if (more.*count) sum.*count = (sum.*count).value_or(0) + *(more.*count);
  };
  for (const auto count :
       {&Usage::input, &Usage::cache_read, &Usage::cache_write, &Usage::output, &Usage::reasoning})
    add(count);
}

// Asks the model, part by part.
class CompactTask : public std::enable_shared_from_this<CompactTask> {
 public:
  CompactTask(std::shared_ptr<Exchange> exchange, std::shared_ptr<Model> model, CompactRequest request)
      : exchange_(std::move(exchange)), model_(std::move(model)), request_(std::move(request)) {}

  void run() {
    exchange_->responder->on_gone([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->call_) self->call_->stop();
    });
    next();
  }

 private:
  void next() {
    const std::span<const Message> part = next_part();
    if (part.empty()) return finish();
    const CompressionRequest wanted = summary_request(part);
    call_ = model_->start(agent::compression_request(wanted), {}, *exchange_->loop,
                          [self = shared_from_this(), part](Called<ModelAnswer> answer) {
                            self->call_.reset();
                            self->take(part, std::move(answer));
                          });
  }

  std::span<const Message> next_part() {
    const std::size_t first = done_;
    std::size_t bytes = 0;
    while (done_ < request_.messages.size()) {
      bytes += memory::content_bytes(request_.messages[done_]);
      if (done_ != first && bytes > kMostBytesPerCall) break;
      ++done_;
    }
    return std::span(request_.messages).subspan(first, done_ - first);
  }

  CompressionRequest summary_request(std::span<const Message> part) const {
    return {.messages = part,
            .previous = summary_.empty() ? std::nullopt : std::optional(summary_),
            .most_bytes = kMostSummaryBytes,
            .deadline = std::chrono::steady_clock::now() + kMostExcerptTime};
  }

  void take(std::span<const Message> part, Called<ModelAnswer> said) {
    if (!said) {
      const Failure& failure = said.error().failure;
      return answer(*exchange_,
                    api_error(TurnFailure{failure.kind, failure.code.str(), said.error().message}));
    }
    add_usage(usage_, said->outcome.usage);
    const Text text = said->message.get_text_content().value_or(Text());
    const bool is_whole = !said->cut && said->outcome.finish != Finish::Length && !text.empty();
    if (is_whole) {
      summary_ = text.slice(0, kMostSummaryBytes);
    } else {
      const auto excerpts = ExtractiveCompressor().compress(summary_request(part));
      if (!excerpts) return answer(*exchange_, api_error(excerpts.error()));
      summary_ = excerpts->text;
    }
    next();
  }

  void finish() {
    json::Writer w;
    w.begin_object().key("id").string("resp_" + request_.id).key("object").string("response.compaction");
    w.key("created_at").number(now_ms() / 1000).key("output").begin_array();
    for (const Json& item : request_.said) w.value(item);
    w.value(compaction_item("cmp_" + request_.id, exchange_->identity.tenant, summary_)).end_array();
    usage_.input = usage_.input.value_or(0);  // a usage is never missing here
    put_usage(w, usage_);
    exchange_->answer(200, w.end_object().take());
  }

  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Model> model_;
  CompactRequest request_;
  std::size_t done_ = 0;  // messages that were summarized
  Text summary_ = {};
  Usage usage_ = {};
  std::shared_ptr<ModelCall> call_ = {};
};

struct ReadingCompact {
  std::optional<ApiResult<CompactRequest>> request = {};
  bool is_gone = false;
};

}  // namespace

void compact_response(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const auto reading = std::make_shared<ReadingCompact>();
  exchange->responder->on_gone([reading] { reading->is_gone = true; });
  service.engine.run(
      *exchange->loop,
      [reading, exchange, &engine = service.engine] {
        EngineLookup lookup(engine);
        reading->request = read_compact_request(*exchange, lookup);
      },
      [&service, reading, exchange] {
        if (reading->is_gone) return;
        if (!*reading->request) return answer(*exchange, reading->request->error());
        CompactRequest request = **std::move(reading->request);
        auto model = service.engine.models().find(request.model);
        if (!model) return answer(*exchange, no_model(request.model));
        std::make_shared<CompactTask>(exchange, *std::move(model), std::move(request))->run();
      });
}

}  // namespace parley::server
