#include "cli/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/lines.h"
#include "cli/notes.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dialect/core/envelope.h"
#include "parley/base/clock.h"
#include "parley/dialect/repair.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

class Conversion {
 public:
  Conversion(const ConvertOptions& options, NoteLog& notes) : options_(options), notes_(notes) {
    location_.file = options.input;
    reading_.strict = options.strict;
    writing_.strict = options.strict;
    writing_.keep = false;  // nothing is written twice
    from_ = options.from;
  }

  CommandResult<void> run() {
    CommandResult<void> outcome = options_.lines ? lines() : document();
    if (!detected_.empty() && !options_.quiet) {
      print_message(fmt::format("{}: detected dialect {}", options_.input, fmt::join(detected_, ", ")));
    }
    return outcome;
  }

  // Whether any output was delivered: all of it, or the lines before a bad one.
  bool output_stands() const { return output_stands_; }

 private:
  bool is_same_dialect() const { return from_ == options_.to; }

  CommandResult<void> document() {
    Result<json::Buffer> bytes = json::Buffer::from_file(options_.input.c_str(), reading_.limits.bytes);
    if (!bytes) return std::unexpected(report_error(bytes.error(), location_));
    const CommandResult<Text> text = converted(*std::move(bytes));
    if (!text) return std::unexpected(text.error());

    Result<Output> output = open_output();
    if (!output) return std::unexpected(report_error(output.error(), {options_.output}));
    if (options_.pretty) {
      const Result<Json> json = Json::parse(*text, reading_.limits);
      if (!json) return std::unexpected(report_error(json.error(), location_));
      return finish(*output, write(*output, json->pretty(), "\n"));
    }
    return finish(*output, write(*output, *text, is_as_read_ ? "" : "\n"));
  }

  CommandResult<void> lines() {
    Result<FileLines> reader = FileLines::open(options_.input, reading_.limits.bytes);
    if (!reader) return std::unexpected(report_error(reader.error(), location_));
    Result<Output> output = open_output();
    if (!output) return std::unexpected(report_error(output.error(), {options_.output}));

    // Output on the terminal shows the progress itself.
    Progress progress(!options_.quiet && !output->is_terminal(), reader->size());
    CommandResult<void> outcome = each_line(*reader, *output, progress);
    if (outcome) progress.finish(location_.line, reader->consumed());
    // Lines before a bad one are kept, unless the output file is written atomically.
    if (!outcome && !output->is_whole_or_nothing()) output_stands_ = output->flush().has_value();
    return finish(*output, std::move(outcome));
  }

  CommandResult<void> each_line(FileLines& reader, Output& output, Progress& progress) {
    for (;;) {
      if (!reader.is_ready()) {
        // Flushes before waiting for more input, so that a slow pipe gets each line at once.
        if (auto outcome = written(output, output.flush()); !outcome) return outcome;
        progress.update(location_.line, reader.consumed());
      }
      const Result<std::optional<FileLines::Line>> line = reader.next();
      if (line && !*line) return {};
      location_.line = reader.number();
      if (!line) return std::unexpected(report_error(line.error(), location_));
      if (auto outcome = one_line(**line, output); !outcome) return outcome;
    }
  }

  CommandResult<void> one_line(const FileLines::Line& line, Output& output) {
    if (is_blank(line.text)) {
      if (!is_same_dialect()) return {};
      return write(output, line.text, line.has_end ? "\n" : "");
    }
    const CommandResult<Text> text = converted(json::Buffer::copy_of(line.text));
    if (!text) return std::unexpected(text.error());
    return write(output, *text, line.has_end || !is_same_dialect() ? "\n" : "");
  }

  CommandResult<Text> converted(json::Buffer document) {
    if (!options_.from) {
      const Result<Dialect> dialect = detect(document.view(), reading_);
      if (!dialect) return std::unexpected(report_error(dialect.error(), location_));
      from_ = *dialect;
      detected_.insert(std::string(to_string(*dialect)));
    }
    is_as_read_ = is_same_dialect();
    Result<Reading> reading = parley::read(std::move(document), *from_, reading_);
    if (!reading) return std::unexpected(report_error(reading.error(), location_));
    if (auto outcome = notes_.add(std::move(reading->notes), location_.line); !outcome) {
      return std::unexpected(outcome.error());
    }
    if (auto outcome = set_model(*reading); !outcome) return std::unexpected(outcome.error());
    if (auto outcome = repair(reading->conversation); !outcome) return std::unexpected(outcome.error());
    Result<Writing> writing = written_by_policy(reading->conversation);
    if (!writing) return std::unexpected(report_error(writing.error(), location_));
    if (auto outcome = notes_.add(std::move(writing->notes), location_.line); !outcome) {
      return std::unexpected(outcome.error());
    }
    return std::move(writing->text);
  }

  // In the same dialect the rest of a request stays unchanged.
  CommandResult<void> set_model(Reading& reading) {
    Conversation& conversation = reading.conversation;
    if (options_.model.empty() || conversation.shape() == DocumentShape::Response) return {};
    const Result<Text> name = Text::checked(options_.model);
    if (!name) return std::unexpected(report_error(name.error(), location_));
    is_as_read_ = false;
    if (is_same_dialect() && conversation.shape() == DocumentShape::Envelope) {
      const Result<Writing> whole = parley::write(conversation, *from_, writing_);
      if (!whole) return std::unexpected(report_error(whole.error(), location_));
      Result<Reading> again =
          parley::read(with_model(Json::trusted(whole->text), *name).text(), *from_, reading_);
      if (!again) return std::unexpected(report_error(again.error(), location_));
      reading.conversation = std::move(again->conversation);
      return {};
    }
    Settings settings = conversation.settings();
    settings.set(Setting::Model, Json::string(*name));
    conversation.set_settings(std::move(settings));
    conversation.set_shape(DocumentShape::Envelope);
    return {};
  }

  // Where the URL names the model, the request has no member for it and stays as it is.
  Json with_model(const Json& request, const Text& name) const {
    const auto path = dialect::model_path(options_.to);
    if (!path) return request;
    const std::size_t slash = path->find('/');
    const Json value = Json::string(name);
    if (slash == std::string_view::npos) return with_member(request, *path, value);
    const std::string_view outer = path->substr(0, slash);
    const Json inner = request.get(outer).value_or(Json::trusted(Text("{}")));
    return with_member(request, outer, with_member(inner, path->substr(slash + 1), value));
  }

  // The object with this member replaced in place, or appended.
  static Json with_member(const Json& object, std::string_view name, const Json& value) {
    json::Writer w;
    w.begin_object();
    for (const Json::Member& member : object.members()) {
      w.key(member.key).value(member.key.view() == name ? value : member.value);
    }
    if (!object.get(name)) w.key(name).value(value);
    return w.end_object().take();
  }

  Result<Writing> written_by_policy(const Conversation& conversation) const {
    if (!options_.policy) return parley::write(conversation, options_.to, writing_);
    Result<Writing> writing = format(conversation, options_.to, *options_.policy);
    if (!writing || !options_.strict) return writing;
    for (const Note& note : writing->notes) {
      if (note.severity == Severity::Major) return fail(Code::Lossy, to_line(note));
    }
    return writing;
  }

  CommandResult<void> repair(Conversation& conversation) {
    if (!options_.repair && !options_.complete_pending) return {};
    Repairing repairing = parley::repair(
        conversation,
        {.history = options_.repair, .complete_pending = options_.complete_pending, .target = options_.to});
    for (const Note& note : repairing.notes) {
      if (!options_.strict || note.severity != Severity::Major) continue;
      return std::unexpected(report_error({Code::Lossy, to_line(note), {}}, location_));
    }
    is_as_read_ = is_as_read_ && repairing.notes.empty();
    conversation = std::move(repairing.conversation);
    return notes_.add(std::move(repairing.notes), location_.line);
  }

  Result<Output> open_output() const { return Output::open(options_.output); }

  static CommandResult<void> write(Output& output, std::string_view text, std::string_view end) {
    if (auto outcome = written(output, output.write(text)); !outcome) return outcome;
    return written(output, output.write(end));
  }

  static CommandResult<void> written(const Output& output, const Result<void>& result) {
    if (result) return {};
    return std::unexpected(output.end(result.error()));
  }

  CommandResult<void> finish(Output& output, CommandResult<void> outcome) {
    if (!outcome) return outcome;
    outcome = written(output, output.commit());
    output_stands_ = outcome.has_value();
    return outcome;
  }

  const ConvertOptions& options_;
  NoteLog& notes_;
  std::optional<Dialect> from_;     // of the current document
  std::set<std::string> detected_;  // dialects, by name
  Location location_;
  ReadOptions reading_;
  WriteOptions writing_;
  bool is_as_read_ = false;  // the document is written byte for byte, with or without its final line feed
  bool output_stands_ = false;
};

}  // namespace

ExitCode convert(const ConvertOptions& options) {
  std::optional<ScopedClock> clock;
  if (options.now) clock.emplace(*options.now);
  CommandResult<NoteLog> notes = NoteLog::open(options.notes, options.quiet);
  if (!notes) return notes.error();
  Conversion conversion(options, *notes);
  const CommandResult<void> outcome = conversion.run();
  const CommandResult<void> noted = notes->finish(conversion.output_stands());
  return worse(outcome ? ExitCode::Ok : outcome.error(), noted ? ExitCode::Ok : noted.error());
}

}  // namespace parley::cli
