#include <ostream>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::Info:
      return "info";
    case Severity::Minor:
      return "minor";
    case Severity::Major:
      break;
  }
  return "major";
}

Json to_json(const Note& note) {
  json::Writer w;
  const auto index = [&](std::string_view key, std::optional<std::size_t> value) {
    w.key(key);
    if (value) {
      w.number(static_cast<std::int64_t>(*value));
    } else {
      w.null();
    }
  };
  w.begin_object().key("code").string(note.code).key("severity").string(to_string(note.severity));
  if (note.line) index("line", note.line);
  index("message", note.message_index);
  index("block", note.block_index);
  w.key("dialect").string(note.dialect).key("action").string(note.action).key("detail").string(note.detail);
  w.end_object();
  return w.take();
}

std::string to_line(const Note& note) {
  std::string line(note.code);
  line.append(" (").append(to_string(note.severity));
  if (note.line) line += ", line " + std::to_string(*note.line);
  if (note.message_index) line += ", message " + std::to_string(*note.message_index);
  if (note.block_index) line += ", block " + std::to_string(*note.block_index);
  return line.append("): ").append(note.detail.view());
}

std::ostream& operator<<(std::ostream& out, const Note& note) { return out << to_line(note); }

}  // namespace parley
