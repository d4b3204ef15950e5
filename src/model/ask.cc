#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "model/attempt.h"
#include "model/reply.h"
#include "parley/guard/request.h"
#include "parley/model/http_model.h"
#include "parley/model/model.h"
#include "parley/token/counter.h"

namespace parley {
namespace {

// OpenManus' sentences where its own code has one.
enum class AskError : std::uint8_t { Empty, EmptyStream, NoImages, NoUserMessage };

std::string sentence(AskError error, const Model& model, bool openmanus) {
  const std::string name = model.info().name.str();
  switch (error) {
    case AskError::Empty:
      return openmanus ? "Empty or invalid response from LLM" : "the model returned an empty answer";
    case AskError::EmptyStream:
      return openmanus ? "Empty response from streaming LLM" : "the model returned an empty answer";
    case AskError::NoImages:
      return openmanus ? "Model " + name +
                             " does not support images. Use a model from ['gpt-4-vision-preview', 'gpt-4o', "
                             "'gpt-4o-mini', 'claude-3-opus-20240229', 'claude-3-sonnet-20240229', "
                             "'claude-3-haiku-20240307']"
                       : "the model " + name + " does not accept images";
    case AskError::NoUserMessage:
      return openmanus ? "The last message must be from the user to attach images"
                       : "cannot attach images: the last message is not a user message";
  }
  return {};
}

// OpenManus takes what there is.
bool is_unfinished(Finish finish) {
  return finish == Finish::Length || finish == Finish::MalformedCall || failure_kind(finish).has_value();
}

std::unexpected<CallError> refused(const Model& model, Error error, Failure failure,
                                   const CallRecord& call = {}) {
  CallRecord record = call;
  record.provider = model.info().provider;
  record.model = model.info().name;
  record.failure = failure.kind;
  return std::unexpected(CallError{std::move(error), std::move(failure), std::move(record)});
}

std::unexpected<CallError> refused(const Model& model, Error error, FailureKind kind,
                                   const CallRecord& call = {}) {
  Failure failure{.kind = kind, .retryable = is_retryable(kind), .message = Text(error.message)};
  return refused(model, std::move(error), std::move(failure), call);
}

// One call, with OpenManus' limit around it if there is one.
class Asking {
 public:
  Asking(Model& model, const AskOptions& options) : model_(model), options_(options) {}

  Called<ModelAnswer> put(std::span<const Message> messages, std::span<const Tool> tools, Settings settings,
                          const std::optional<ReplySchema>& reply = {}) {
    ModelRequest request;
    request.reply = reply;
    request.stream = options_.stream;
    request.conversation.reserve(options_.system.size() + messages.size());
    for (const Message& message : options_.system) request.conversation.append(message);
    for (const Message& message : messages) request.conversation.append(message);
    if (!tools.empty()) request.conversation.set_tools({tools.begin(), tools.end()});
    if (options_.temperature) settings.set(Setting::Temperature, number(*options_.temperature));
    request.conversation.set_settings(std::move(settings));
    std::size_t estimate = 0;
    if (options_.limit != nullptr) {
      estimate = TokenCounter::for_model(model_.info().name).count(request.conversation);
      if (!options_.limit->check(estimate)) {
        return refused(model_, fail(Code::LimitExceeded, options_.limit->message(estimate)).error(),
                       FailureKind::ContextTooLong);
      }
    }
    Called<ModelAnswer> answer = model_.complete(request, call_options());
    if (options_.limit != nullptr && answer) {
      const Usage& usage = answer->outcome.usage;
      options_.limit->update(usage.input.value_or(estimate), usage.output.value_or(0));
    }
    return answer;
  }

  Called<Text> put_for_text(std::span<const Message> messages, const std::optional<ReplySchema>& reply = {}) {
    Called<ModelAnswer> answer = put(messages, {}, {}, reply);
    if (!answer) return std::unexpected(std::move(answer).error());
    if (answer->cut) {
      const Code code = options_.call.stop.stop_requested() ? Code::Cancelled : model::code_of(*answer->cut);
      const std::string why = "incomplete answer: " + answer->cut->message.str();
      return refused(model_, fail(code, why).error(), *answer->cut, answer->call);
    }
    Text text = answer->message.get_text_content("").value_or(Text());
    const Finish finish = answer->outcome.finish;
    if (!text.empty() && !options_.openmanus && is_unfinished(finish)) {
      const std::string why =
          "incomplete answer: the model ended with '" + std::string(to_string(finish)) + "'";
      const Code code = finish == Finish::Length ? Code::LimitExceeded : Code::Invalid;
      return refused(model_, fail(code, why).error(),
                     failure_kind(finish).value_or(FailureKind::InvalidRequest), answer->call);
    }
    if (!text.empty()) return text;
    const auto kind = failure_kind(answer->outcome.finish).value_or(FailureKind::Server);
    const AskError error = options_.stream ? AskError::EmptyStream : AskError::Empty;
    return refused(model_, fail(Code::Unavailable, sentence(error, model_, options_.openmanus)).error(), kind,
                   answer->call);
  }

 private:
  CallOptions call_options() const {
    CallOptions call = options_.call;
    if (!options_.on_text) return call;
    call.on_event = [this](const StreamEvent& event) {
      if (options_.call.on_event) options_.call.on_event(event);
      const auto* delta = std::get_if<stream::Delta>(&event);
      if (delta != nullptr && delta->kind == stream::DeltaKind::Text) options_.on_text(delta->text);
    };
    return call;
  }

  static Json number(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return Json::parse(std::string_view(digits.data(), end)).value_or(Json::number(0));
  }

  Model& model_;
  const AskOptions& options_;
};

bool is_web_url(std::string_view text) { return text.starts_with("https://") || text.starts_with("http://"); }

Result<Block> image_of(std::string_view image, std::size_t index) {
  if (is_web_url(image)) {
    PARLEY_TRY(Text url, Text::checked(image));
    return Block(ImageBlock{URLSource{std::move(url), {}}});
  }
  // The request's own text is checked elsewhere; here only the image is.
  Result<UserRequest> checked = parse_user_request("image", image);
  if (!checked)
    return fail(checked.error().code, checked.error().message, "/images/" + std::to_string(index));
  return checked->message.get_content_blocks({BlockType::Image}).front();
}

}  // namespace

Called<Text> ask(Model& model, std::span<const Message> messages, const AskOptions& options) {
  return Asking(model, options).put_for_text(messages);
}

Called<Text> ask(Model& model, const Text& prompt, const AskOptions& options) {
  const Message message = Message::user_message(prompt);
  return ask(model, {&message, 1}, options);
}

Called<Text> ask(std::string_view model, const Text& prompt, const AskOptions& options) {
  const Result<std::shared_ptr<Model>> opened = open_model(model);
  if (!opened) {
    return std::unexpected(CallError{
        opened.error(), {.kind = FailureKind::InvalidRequest, .message = opened.error().message}, {}});
  }
  return ask(**opened, prompt, options);
}

Called<Json> ask_json(Model& model, std::span<const Message> messages, const ReplySchema& schema,
                      const AskOptions& options) {
  constexpr int kAttempts = 3;
  const Result<Schema> compiled = Schema::of(schema.schema);
  if (!compiled) return refused(model, compiled.error(), FailureKind::InvalidRequest);
  std::vector<Message> all(messages.begin(), messages.end());
  for (int attempt = 1;; ++attempt) {
    Called<Text> text = Asking(model, options).put_for_text(all, schema);
    if (!text) return std::unexpected(std::move(text).error());
    Result<Json> json = model::read_reply(*compiled, *text);
    if (json) return *std::move(json);
    if (attempt == kAttempts) return refused(model, std::move(json).error(), FailureKind::Server);
    all.push_back(Message::assistant_message(*text));
    all.push_back(Message::user_message(model::ask_again(json.error())));
  }
}

Called<Text> ask_with_images(Model& model, std::span<const Message> messages,
                             std::span<const std::string_view> images, const AskOptions& options) {
  const auto no = [&](Code code, AskError error) {
    return refused(model, fail(code, sentence(error, model, options.openmanus)).error(),
                   FailureKind::InvalidRequest);
  };
  if (!model.info().sees_images) return no(Code::Unsupported, AskError::NoImages);
  if (messages.empty() || messages.back().role() != Role::User)
    return no(Code::Invalid, AskError::NoUserMessage);
  std::vector<Block> blocks = messages.back().blocks();
  for (std::size_t i = 0; i < images.size(); ++i) {
    Result<Block> block = image_of(images[i], i);
    if (!block) return refused(model, std::move(block).error(), FailureKind::InvalidRequest);
    blocks.push_back(*std::move(block));
  }
  std::vector<Message> all(messages.begin(), messages.end() - 1);
  all.push_back(
      MessageBuilder::like(messages.back()).blocks(std::move(blocks)).build().value_or(messages.back()));
  return Asking(model, options).put_for_text(all);
}

Called<ModelAnswer> ask_tool(Model& model, std::span<const Message> messages, std::span<const Tool> tools,
                             ToolChoice choice, const AskOptions& options) {
  Settings settings;
  if (!tools.empty()) settings.set(Setting::ToolChoice, Json::string(to_string(choice)));
  return Asking(model, options).put(messages, tools, std::move(settings));
}

}  // namespace parley
