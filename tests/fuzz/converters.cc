// Documents of any dialect in every other: the first byte chooses the dialect, the rest is the document.
// Written as it is, a document is refused for its history or comes out as JSON that the target reads.
// Repaired for the target it is never refused, repairing it again changes nothing, and the target's rules
// (rules.h) have nothing against it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/dialect/repair.h"
#include "parley/dialect/rules.h"
#include "parley/message/validate.h"
#include "rearrange.h"
#include "require.h"

namespace {

using namespace parley;

// What a document may hold that nobody changes on its way to the target: in `parley`, patches and raw blocks
// that somebody made by hand.
struct Source {
  std::string_view document;
  Conversation conversation;
  Dialect dialect;
  bool has_raw, has_patches;
};

// What is written is JSON, by a second opinion, and the target reads it.
void check_document(const Source& source, const Text& text, Dialect target, std::string_view how) {
  const std::string what = std::string(how) + " for " + std::string(to_string(target));
  require(json::judge::Document(text.view()).accepted, what + " is JSON");
  if (source.has_raw) return;
  const Result<Reading> again = read(text.view(), target);
  require(again.has_value(),
          what + " can be read" + (again ? "" : ": " + again.error().message + " at " + again.error().path));
}

void check_as_it_is(const Source& source, Dialect target) {
  for (const Form form : {Form::AsRead, Form::Canonical}) {
    const Result<Writing> written = write(source.conversation, target, {.form = form});
    if (written) {
      check_document(source, written->text, target, "what is written");
    } else {
      require(written.error().code == Code::BrokenHistory, "only a broken history is refused");
    }
  }
}

bool is_excused(const Finding& finding, const Source& source) {
  const auto is_said = [&](std::string_view mark) {
    return source.document.find(mark) != std::string_view::npos;
  };
  const bool is_in_schema = finding.path.find("/input_schema/") != std::string::npos ||
                            finding.path.find("/parameters/") != std::string::npos;
  const bool is_mark = finding.code == "sharegpt_placeholder" &&  // noted: a mark cannot be said to be text
                       (is_said("<image>") || is_said("<audio>") || is_said("<video>"));
  return finding.level == FindingLevel::Warning || is_mark ||
         is_in_schema ||                         // schemas of tools are the caller's
         finding.code == "a7_no_messages" ||     // nothing was said, or nothing that may be sent
         finding.code == "sharegpt_position" ||  // noted: nobody is made to speak in turn
         finding.code == "sharegpt_system";
}

// A request of one's own stays as it was, whatever is wrong with it; one message, or an answer, is no
// request.
bool is_judged(const Source& source, Dialect target) {
  const DocumentShape shape = source.conversation.shape();
  const bool is_request = shape == DocumentShape::List || shape == DocumentShape::Envelope;
  return is_request && source.dialect != target && !source.has_raw && !source.has_patches;
}

void check_repaired(const Source& source, Dialect target) {
  const RepairOptions options{.complete_pending = true, .target = target};
  const Repairing once = repair(source.conversation, options);
  require(validate_history(once.conversation.messages()).empty(), "a repaired history is whole (R1)");
  const Repairing twice = repair(once.conversation, options);
  require(
      twice.notes.empty() && std::ranges::equal(once.conversation.messages(), twice.conversation.messages()),
      "repairing again changes nothing (R2)");
  const Result<Writing> written = write(once.conversation, target);
  require(written.has_value(), "what was repaired is written");
  check_document(source, written->text, target, "what was repaired");
  const Result<Writing> again = write(twice.conversation, target);
  require(again.has_value() && again->text == written->text, "and always the same (D4)");
  if (!is_judged(source, target)) return;
  for (const Finding& finding : check_rules(Json::parse(written->text.view()).value(), target)) {
    require(is_excused(finding, source), std::string(to_string(target)) + " takes it: " + finding.code +
                                             " at " + finding.path + " of " + written->text.str());
  }
}

bool holds_raw(const Conversation& conversation) {
  const auto is_raw = [](const Block& block) { return block.type() == BlockType::Raw; };
  const auto holds = [&](const Message& message) {
    const std::vector<Block> blocks = message.blocks();
    return std::ranges::any_of(blocks, [&](const Block& block) {
      const auto* result = block.as<ToolResultBlock>();
      const auto* list = result != nullptr ? std::get_if<std::vector<Block>>(&result->output) : nullptr;
      return is_raw(block) || (list != nullptr && std::ranges::any_of(*list, is_raw));
    });
  };
  return std::ranges::any_of(conversation.messages(), holds) ||
         (conversation.system() && holds(*conversation.system()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Dialect dialect = dialects()[data[0] % dialects().size()].dialect;
  const std::string_view document = rearrange::document_of(data, size);
  const Result<Reading> reading = read(document, dialect);
  if (!reading) return 0;
  const bool is_parley = dialect == Dialect::Parley;
  const bool may_hold_patches =
      document.find("extra") != std::string_view::npos || document.find("\\u") != std::string_view::npos;
  const Source source{document, reading->conversation, dialect, is_parley && holds_raw(reading->conversation),
                      is_parley && may_hold_patches};
  for (const DialectInfo& target : dialects()) {
    check_as_it_is(source, target.dialect);
    check_repaired(source, target.dialect);
  }
  return 0;
}
