// Documents that are made to be kept: OpenTelemetry's messages and ShareGPT's records.
#include "generate.h"
#include "parley/json/writer.h"

namespace parley::test {
namespace {

Tree str(std::string text) { return Tree::string(std::move(text)); }

}  // namespace

// ---- OpenTelemetry

Tree Generator::otel_media(const Wishes& wishes) {
  const bool is_uri = maybe(50);
  Tree part = Tree::object({{"type", str(is_uri ? "uri" : "blob")}});
  // A media type tells some dialects what it is, so it fits where documents are to come back.
  static const std::vector<std::pair<std::string, std::string>> kKinds = {{"image", "image/png"},
                                                                          {"audio", "audio/wav"},
                                                                          {"video", "video/mp4"},
                                                                          {"document", "application/pdf"},
                                                                          {"smell", "application/x-odd"}};
  const auto& [modality, type] = random.one_of(kKinds);
  if (wishes.whole_history || maybe(95)) part.add("modality", str(modality));
  if (maybe(60)) part.add("mime_type", str(wishes.whole_history || maybe(80) ? type : "image/png"));
  if (maybe(95))
    part.add(is_uri ? "uri" : "content", str(is_uri ? "https://example.org/" + word() : base64()));
  return finished(std::move(part), wishes);
}

// Any part but calls and results.
Tree Generator::otel_part(const Wishes& wishes) {
  const std::size_t kind = random.below(10);
  if (kind < 5) return finished(Tree::object({{"type", str("text")}, {"content", str(text())}}), wishes);
  if (kind < 8) return otel_media(wishes);
  if (kind < 9) return finished(Tree::object({{"type", str("reasoning")}, {"content", str(text())}}), wishes);
  return finished(maybe(80) ? Tree::object({{"type", str("compaction")}, {"id", str(id())}}) : Tree::object(),
                  wishes);
}

Tree Generator::otel_call(const Call& call, const Wishes& wishes) {
  Tree part = Tree::object({{"type", str("tool_call")}});
  if (!call.id.empty()) part.add("id", str(call.id));
  part.add("name", str(call.name));
  if (maybe(90)) part.add("arguments", maybe(60) ? object_value() : maybe(70) ? str(arguments()) : value());
  return finished(std::move(part), wishes);
}

Tree Generator::otel_result(const Call& call, const Wishes& wishes) {
  Tree part = Tree::object({{"type", str("tool_call_response")}});
  if (!call.id.empty()) part.add("id", str(call.id));
  const std::size_t form = random.below(10);
  if (form < 5) {
    part.add("response", str(text()));
  } else if (form < 7) {
    part.add("response", value());
  } else if (form < 9) {
    Tree list = Tree::array();
    for (std::size_t i = random.below(4); i > 0; --i) {
      list.elements.push_back(
          maybe(50) ? finished(Tree::object({{"type", str("text")}, {"content", str(text())}}), wishes)
                    : otel_media(wishes));
    }
    part.add("response", std::move(list));
  }
  if (maybe(20)) part.add("parley.is_error", Tree::literal(maybe(50) ? "true" : "false"));
  return finished(std::move(part), wishes);
}

Tree Generator::otel_message(const std::string& role, std::vector<Tree> parts, const Wishes& wishes) {
  Tree message = Tree::object({{"role", str(role)}});
  // Some dialects say nothing by an empty text.
  if (wishes.whole_history && parts.empty())
    parts.push_back(Tree::object({{"type", str("text")}, {"content", str(text())}}));
  if (!parts.empty() || maybe(80)) {
    message.add("parts", parts.empty() && maybe(20) ? Tree::literal("null") : Tree::array(std::move(parts)));
  }
  if (maybe(20)) message.add("name", string_or_null(20));
  if (maybe(10)) message.add("finish_reason", str("stop"));
  return finished(std::move(message), wishes);
}

// ---- ShareGPT

// A call as the JSON that stands in the text, as its writer has it unless oddities are allowed.
std::string Generator::sharegpt_call(const Call& call, bool is_odd) {
  std::string out = "{\"name\":";
  json::append_string(out, call.name);
  if (!is_odd || maybe(90))
    out += (is_odd ? " ,\"arguments\": " : ",\"arguments\":") + spelled_inside(object_value());
  if (is_odd && maybe(30)) out += ",\"id\":1";
  return out + "}";
}

// Without white space around it.
std::string Generator::spelled_inside(const Tree& tree) {
  std::string out = spelled(tree);
  out.erase(0, out.find_first_not_of(" \n\r\t"));
  out.erase(out.find_last_not_of(" \n\r\t") + 1);
  return out;
}

Tree Generator::sharegpt_message(const std::string& from, std::string said, const Wishes& wishes) {
  Tree message = Tree::object({{"from", str(from)}});
  if (maybe(98)) message.add("value", maybe(2) ? Tree::literal("null") : str(std::move(said)));
  return finished(std::move(message), wishes);
}

std::vector<Tree> Generator::sharegpt_history(const Wishes& wishes, std::vector<std::string>& marks) {
  std::vector<Tree> out;
  const auto thinking = [&] { return maybe(30) ? "<think>" + word() + "</think>" : std::string(); };
  for (std::size_t steps = random.below(5); steps > 0; --steps) {
    if (maybe(60)) {
      std::string said = text();
      if (maybe(30)) {
        marks.push_back(random.one_of<std::string>({"<image>", "<video>", "<audio>"}));
        said.insert(maybe(50) ? said.size() : 0, marks.back());
      }
      out.push_back(Tree::object({{"from", str("human")}, {"value", str(std::move(said))}}));
      if (maybe(80)) out.push_back(sharegpt_message("gpt", thinking() + text(), wishes));
      if (maybe(5)) out.push_back(sharegpt_message("system", text(), wishes));
      continue;
    }
    const bool is_odd = !wishes.whole_history && maybe(50);
    const std::size_t count = 1 + random.below(3);
    std::string calls, results;
    for (std::size_t i = 0; i < count; ++i) {
      calls += (i == 0 ? "" : ",") + sharegpt_call(call(), is_odd);
      if (!is_odd || maybe(70)) results += (i == 0 ? "" : "\n</tool_response>\n<tool_response>\n") + text();
    }
    if (count > 1 || (is_odd && maybe(20))) calls.insert(0, "[").append("]");
    if (is_odd && maybe(20)) calls = text();
    out.push_back(Tree::object({{"from", str("function_call")}, {"value", str(thinking() + calls)}}));
    if (is_odd && maybe(30)) continue;
    out.push_back(Tree::object({{"from", str("observation")}, {"value", str(results)}}));
  }
  return out;
}

Tree Generator::sharegpt_tree(const Wishes& wishes) {
  std::vector<std::string> marks;
  std::vector<Tree> messages = sharegpt_history(wishes, marks);
  const std::size_t shape = random.below(10);
  if (shape < 3) return Tree::array(std::move(messages));
  if (shape < 4) return sharegpt_message("human", text(), wishes);
  Tree record = Tree::object();
  record.add("conversations", Tree::array(std::move(messages)));
  if (maybe(30)) record.add("system", maybe(20) ? Tree::literal("null") : str(text()));
  if (maybe(30)) {
    Tree tool = Tree::object({{"name", str("web_search")}, {"parameters", object_value()}});
    if (maybe(70)) tool.add("description", str(text()));
    record.add("tools", str(maybe(90) ? spelled(Tree::array({tool})) : text()));
  }
  for (const std::string& mark : {std::string("<image>"), std::string("<video>"), std::string("<audio>")}) {
    Tree list = Tree::array();
    for (const std::string& each : marks) {
      if (each == mark)
        list.elements.push_back(str("https://example.org/" + std::to_string(random.below(99))));
    }
    if (!wishes.whole_history && maybe(10)) list.elements.push_back(maybe(50) ? str(word()) : value());
    if (!list.elements.empty()) record.add(mark.substr(1, mark.size() - 2) + "s", std::move(list));
  }
  if (maybe(10)) record.add("kto_tag", Tree::literal("true"));
  return finished(std::move(record), wishes);
}

}  // namespace parley::test
