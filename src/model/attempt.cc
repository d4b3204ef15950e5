#include "model/attempt.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/append_large.h"
#include "dialect/format.h"
#include "model/left_out.h"
#include "parley/base/clock.h"

namespace parley::model {
namespace {

// Enough of an unreadable response to describe it.
constexpr std::size_t kBeginning = std::size_t{64} * 1024;
constexpr std::size_t kMostNames = 8;                        // of events that are not known, in a note
constexpr std::size_t kShortestKey = 4;                      // replacing less would only garble the text
constexpr std::size_t kMostHeld = 4096;                      // events before the first word
constexpr std::size_t kMostBlocks = std::size_t{64} * 1024;  // of an answer
constexpr std::size_t kMostKept = std::size_t{1024} * 1024;  // bytes of an answer that is too long

// What a server repeats of the key is taken out before a text is cut: half a key would not be found.
void remove_key(std::string& text, const Secret& key) {
  constexpr std::string_view kInstead = "[redacted: key]";
  if (key.reveal().size() < kShortestKey) return;
  for (std::size_t at = text.find(key.reveal()); at != std::string::npos;
       at = text.find(key.reveal(), at + kInstead.size())) {
    text.replace(at, key.reveal().size(), kInstead);
  }
}

Text without_key(const Text& text, const Secret& key) {
  if (key.empty() || !text.view().contains(key.reveal())) return text;
  std::string copy = text.str();
  remove_key(copy, key);
  return Text(copy);
}

bool is_empty_text(const Block& block) {
  const auto* text = block.as<TextBlock>();
  return text != nullptr && text->text.empty();
}

// The blocks of all messages of an answer as one message, as a stream of it would have them.
Message joined(std::span<const Message> messages) {
  std::vector<Block> blocks;
  for (const Message& message : messages) {
    for (Block& block : message.blocks()) {
      if (!is_empty_text(block)) blocks.push_back(std::move(block));
    }
  }
  return MessageBuilder(Role::Assistant).blocks(std::move(blocks)).build().value();
}

// The beginning of a stream, or of what claims to be one.
bool is_event(std::string_view body) {
  constexpr std::array<std::string_view, 3> kFields = {"data:", "event:", ":"};
  return std::ranges::any_of(kFields, [&](std::string_view field) { return body.starts_with(field); });
}

// An error with a success status has its own text.
bool says_error(std::string_view body) {
  const auto json = Json::parse(body);
  return json && (json->get("error") || json->get("detail") || json->get("code"));
}

// The same result as for a stream with this content.
Failure unreadable(const Error& error) {
  std::string message = "cannot read the answer: " + error.message;
  if (!error.path.empty()) message += " (" + error.path + ")";
  // What is too long comes again as long.
  return {
      .kind = FailureKind::Server, .retryable = error.code != Code::LimitExceeded, .message = Text(message)};
}

// The failure that a finish reason means. REQUIRES: failure_kind() has a value for it.
Failure failure_of(const stream::Done& done) {
  Failure failure;
  failure.kind = failure_kind(done.finish).value_or(FailureKind::Server);
  failure.retryable = is_retryable(failure.kind);
  failure.message = Text("the model ended with '" + done.raw.str() + "'");
  failure.code = done.raw;
  return failure;
}

Note note_of(const std::set<std::string>& unknown, Dialect dialect) {
  std::string detail = "events with content that a message cannot hold:";
  for (const std::string& name : unknown) detail += ' ' + name;
  return {"event_dropped",    Severity::Minor, std::nullopt, std::nullopt,
          to_string(dialect), "dropped",       Text(detail)};
}

}  // namespace

Code code_of(const Failure& failure) {
  if (failure.kind == FailureKind::ContextTooLong) return Code::LimitExceeded;
  return failure.retryable ? Code::Unavailable : Code::Invalid;
}

std::optional<Attempted> Attempt::begin(net::Request& request) {
  if (!reader_) return broken(reader_.error());
  request.stop = question_.stop;
  request.on_start = [this](int status, const std::vector<net::Header>&) -> Result<void> {
    is_good_ = status >= 200 && status < 300;
    return {};
  };
  request.on_body = [this](std::string_view piece) { return take_bytes(piece); };
  return std::nullopt;
}

Attempted Attempt::end(const Result<net::Response>& response) {
  return response ? ended(*response) : broken(response.error());
}

// Whether an answer is a stream shows in its first byte. What was asked for and what its headers say does not
// count: some servers answer whole, or always stream, and gateways lose or invent types. (A stream of lines
// is JSON, and a whole answer is such a stream of one line.)
void Attempt::judge(std::string_view piece) {
  const std::size_t first = piece.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return;
  const bool is_json = piece[first] == '{' || piece[first] == '[';
  const dialect::StreamFormat* format = dialect::stream_of(question_.dialect);
  const bool is_in_lines = format != nullptr && format->framing == dialect::FramingKind::Lines;
  is_stream_ = !is_json || (question_.stream && is_in_lines);
  is_judged_ = true;
}

Result<void> Attempt::take_bytes(std::string_view piece) {
  if (is_good_ && !is_judged_) judge(piece);
  const bool is_answer = is_good_ && !is_stream_;
  append_large(body_, is_answer ? piece : piece.substr(0, kBeginning - std::min(body_.size(), kBeginning)));
  if (is_stream_) reader_->feed(piece, [this](const StreamEvent& event) { take(event); });
  if (held_.size() > kMostHeld || gathered_.block_count() > kMostBlocks) {
    return fail(Code::LimitExceeded, "the answer has more than " +
                                         std::to_string(held_.size() > kMostHeld ? kMostHeld : kMostBlocks) +
                                         (held_.size() > kMostHeld ? " events without content" : " blocks"));
  }
  if (question_.stop.stop_requested()) return fail(Code::Cancelled, "the call was stopped");
  return {};
}

void Attempt::take(const StreamEvent& event) {
  // The end of a broken stream is delivered once its outcome is known.
  if (std::holds_alternative<stream::Truncated>(event)) return;
  if (const auto* failed = std::get_if<stream::Failed>(&event)) {
    failed_ = *failed;
    remove_key(failed_->error.message, question_.key);
    failed_->kind = without_key(failed_->kind, question_.key);
    return;
  }
  // A failure without any content is not an answer.
  const auto* done = std::get_if<stream::Done>(&event);
  if (done != nullptr && !has_delivered_ && failure_kind(done->finish)) {
    refused_ = failure_of(*done);
    return;
  }
  const bool says_something = done != nullptr || std::holds_alternative<stream::Delta>(event);
  if (!says_something && !has_delivered_) {
    held_.push_back(event);
    return;
  }
  for (const StreamEvent& earlier : std::exchange(held_, {})) deliver(earlier);
  deliver(event);
}

void Attempt::deliver(const StreamEvent& event) {
  if (question_.stop.stop_requested()) return;  // the event before was the last one wanted
  gathered_.add(event);
  is_done_ = is_done_ || std::holds_alternative<stream::Done>(event);
  has_delivered_ = true;
  if (!first_delta_ && is_stream_ && std::holds_alternative<stream::Delta>(event)) {
    first_delta_ = question_.timer.now();
  }
  if (const auto* unknown = std::get_if<stream::Unknown>(&event)) {
    if (unknown_.size() < kMostNames) unknown_.insert(unknown->name.str());
  }
  if (question_.on_event) question_.on_event(event);
}

// The same way as a stream, so that the answer is the same (MODEL1).
void Attempt::read_whole() {
  Result<Reading> reading = read(body_, question_.dialect);
  if (!reading && !says_error(body_)) refused_ = unreadable(reading.error());
  if (!reading || reading->conversation.shape() != DocumentShape::Response) return;
  const Conversation& answer = reading->conversation;
  notes_ = std::move(reading->notes);
  const auto on_event = [this](const StreamEvent& event) { take(event); };
  // Where a chunk of a stream is an answer, the stream's reader has a place for the signatures of calls.
  const dialect::StreamFormat* format = dialect::stream_of(question_.dialect);
  if (format != nullptr && format->chunks_are_answers) {
    reader_->feed("data: " + Json::parse(body_).value_or(Json()).compact().text().str() + "\n\n", on_event);
    return reader_->finish(on_event);
  }
  constexpr std::size_t kAtOnce = std::numeric_limits<std::size_t>::max();
  std::vector<Note> lost =
      to_events(joined(answer.messages()), answer.outcome().value_or(Outcome()), on_event, kAtOnce);
  notes_.insert(notes_.end(), lost.begin(), lost.end());
}

Attempted Attempt::ended(const net::Response& response) {
  if (!is_good_) {
    Failure failure = failure_in(response);
    const Code code = code_of(failure);
    return failed(std::move(failure), code);
  }
  if (is_stream_) {
    reader_->finish([this](const StreamEvent& event) { take(event); });
  } else {
    read_whole();
  }
  const bool has_ended = is_done_ || failed_ || refused_;
  if (question_.stop.stop_requested() && !has_ended) {
    return broken(fail(Code::Cancelled, "the call was stopped").error());
  }
  if (is_done_) return done();
  Failure failure;
  if (failed_) {
    failure = parley::failure_of(question_.dialect, *failed_);
  } else if (refused_) {
    failure = *refused_;
  } else if (has_delivered_ || is_event(body_)) {
    failure = {.kind = FailureKind::Transport,
               .retryable = true,
               .message = "the stream ended before its last event"};
  } else {
    failure = failure_in(response);  // a web page, an error without a status, nothing
  }
  const Code code = code_of(failure);
  return failed(std::move(failure), code);
}

// The connection ended, by itself or by us. An answer that had said that it is complete is complete.
Attempted Attempt::broken(const Error& error) {
  if (is_done_) return done();
  Failure failure;
  failure.kind = FailureKind::Transport;
  failure.retryable = error.retryable();
  failure.message = Text(error.message);
  // What is too large is that again. It has no end that could be waited for, so its beginning must do.
  if (error.code == Code::LimitExceeded) {
    failure.kind = FailureKind::Server;
    gathered_.shorten(kMostKept);
  }
  if (error.code == Code::Invalid) failure.kind = FailureKind::InvalidRequest;
  const bool is_ours = error.code == Code::Cancelled || error.code == Code::Timeout;
  const Code code = is_ours ? error.code : code_of(failure);
  return failed(std::move(failure), code);
}

Attempted Attempt::failed(Failure failure, Code code) {
  failure.message = without_key(failure.message, question_.key);
  failure.code = without_key(failure.code, question_.key);
  failure.request_id = without_key(failure.request_id, question_.key);
  Attempted out{.failure = std::move(failure), .code = code, .has_delivered = has_delivered_};
  for (const StreamEvent& event : held_) {
    if (const auto* update = std::get_if<stream::UsageUpdate>(&event)) out.usage = update->usage;
  }
  if (!has_delivered_) return out;
  // Every started stream gets an end event (S2).
  if (question_.on_event) {
    question_.on_event(failed_ ? StreamEvent(*failed_) : StreamEvent(stream::Truncated{}));
  }
  out.said = gathered();
  return out;
}

// Drops empty texts: streams do not have them, and some providers refuse them.
Accumulated Attempt::gathered() {
  Accumulated out = gathered_.take();
  const std::vector<Block> blocks = out.message.blocks();
  if (std::ranges::any_of(blocks, is_empty_text)) out.message = joined({&out.message, 1});
  if (!unknown_.empty()) out.notes.push_back(note_of(unknown_, question_.dialect));
  for (Note& note : out.notes) note.detail = without_key(note.detail, question_.key);
  return out;
}

Attempted Attempt::done() {
  Attempted out{.said = gathered(), .has_delivered = has_delivered_};
  const Outcome& outcome = out.said->outcome;
  if (!is_stream_) {
    auto note = left_out(body_, question_.dialect, out.said->message, outcome);
    if (note) notes_.push_back(*std::move(note));
  }
  out.said->notes.insert(out.said->notes.begin(), notes_.begin(), notes_.end());
  // A filter or a full window is a finish reason; a failure of the provider is a cut.
  if (failure_kind(outcome.finish) == FailureKind::Server) {
    out.failure = failure_of({outcome.finish, outcome.raw_finish});
    out.code = code_of(*out.failure);
  }
  return out;
}

Failure Attempt::failure_in(const net::Response& response) const {
  std::string body = body_.substr(0, kBeginning);
  remove_key(body, question_.key);
  std::vector<HeaderField> headers;
  headers.reserve(response.headers.size());
  for (const net::Header& header : response.headers) headers.push_back({header.name, header.value});
  return parley::failure_of(question_.dialect, response.status, headers, body, now_ms());
}

}  // namespace parley::model
