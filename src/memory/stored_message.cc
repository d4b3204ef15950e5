#include "memory/stored_message.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley {
namespace {

// Below the limit of a document, with room for its brackets and commas.
constexpr std::size_t kMostDocumentBytes = std::size_t{48} << 20;

void put_line(std::string& out, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty()) out += '\n';
  out += text;
}

void put_texts(std::string& out, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (const auto* text = block.as<TextBlock>()) put_line(out, text->text);
    const auto* result = block.as<ToolResultBlock>();
    if (result == nullptr) continue;
    if (const auto* output = std::get_if<Text>(&result->output)) put_line(out, *output);
    // Results hold text and media only, so this goes one level down and no further.
    if (const auto* parts = std::get_if<std::vector<Block>>(&result->output)) put_texts(out, *parts);
  }
}

// Reads a list of bodies as one document. REQUIRES: there are some.
Result<std::vector<Message>> read_bodies(std::span<const store::StoredRecord* const> records) {
  std::size_t size = 1;
  for (const store::StoredRecord* record : records) size += record->body.size() + 1;
  json::Buffer document(size);
  char* end = document.data();
  for (const store::StoredRecord* record : records) {
    *end++ = record == records.front() ? '[' : ',';
    end += record->body.copy(end, record->body.size());
  }
  *end = ']';
  ReadOptions options;
  options.limits.bytes = size;
  options.limits.string = size;
  PARLEY_TRY(const Reading reading, read(std::move(document), Dialect::Parley, options));
  const std::span<const Message> messages = reading.conversation.messages();
  return std::vector<Message>(messages.begin(), messages.end());
}

Error at_record(const Error& error, const store::StoredRecord& record) {
  return {error.code, "record " + std::to_string(record.position) + " is not a message: " + error.message,
          "/" + std::to_string(record.position)};
}

// Which of several records cannot be read: each is read alone.
Error first_fault(std::span<const store::StoredRecord* const> records, const Error& error) {
  for (const store::StoredRecord* record : records) {
    if (const auto alone = from_dict(record->body, Dialect::Parley); !alone) {
      return at_record(alone.error(), *record);
    }
  }
  return error;
}

}  // namespace

Text stored_text(const Message& message) {
  std::string out;
  put_texts(out, message.blocks());
  return *Text::checked(std::move(out));
}

Result<store::Record> to_record(const Message& message) {
  PARLEY_TRY(const Json dict, to_dict(message, Dialect::Parley));
  store::Record out;
  out.dialect = to_string(Dialect::Parley);
  out.body = dict.text().str();
  out.message_id = message.id().value_or(Text()).str();
  out.role = to_string(message.role());
  out.name = message.name().value_or(Text()).str();
  out.text = stored_text(message).str();
  return out;
}

Result<std::vector<Message>> to_messages(std::span<const store::StoredRecord> records) {
  std::vector<const store::StoredRecord*> group;
  std::vector<Message> out;
  std::size_t bytes = 0;
  const auto read_group = [&]() -> Result<void> {
    if (group.empty()) return {};
    Result<std::vector<Message>> messages = read_bodies(group);
    if (!messages) return std::unexpected(first_fault(group, messages.error()));
    std::move(messages->begin(), messages->end(), std::back_inserter(out));
    group.clear();
    bytes = 0;
    return {};
  };
  for (const store::StoredRecord& record : records) {
    if (record.kind != store::RecordKind::Message) continue;
    if (record.dialect != to_string(Dialect::Parley)) {
      return std::unexpected(at_record(
          {Code::WrongDialect, "expected dialect 'parley', found '" + record.dialect + "'", {}}, record));
    }
    if (bytes + record.body.size() > kMostDocumentBytes) PARLEY_CHECK(read_group());
    group.push_back(&record);
    bytes += record.body.size() + 1;
  }
  PARLEY_CHECK(read_group());
  return out;
}

}  // namespace parley
