#include "generate.h"

#include "parley/base/text.h"
#include "parley/media/data_url.h"

namespace parley::test {
namespace {

Tree str(std::string text) { return Tree::string(std::move(text)); }

// Calls are members of a message and results are messages.
bool is_flat(Dialect dialect) { return dialect == Dialect::OpenManus || dialect == Dialect::OpenAI; }

bool is_agentscope(Dialect dialect) {
  return dialect == Dialect::AgentScope || dialect == Dialect::AgentScope2;
}

}  // namespace

// ---- Texts and values

std::string Generator::word() {
  static const std::vector<std::string> kWords = {"weather",
                                                  "Oslo",
                                                  "f",
                                                  "web_search",
                                                  "\xE6\x97\xA5\xE8\x90\xBD",
                                                  "\xF0\x9F\x98\x80",
                                                  "na\xC3\xAFve",
                                                  "x y",
                                                  "\"",
                                                  "\\",
                                                  "/",
                                                  "Error: no",
                                                  "Error",
                                                  "line\nbreak",
                                                  "tab\t",
                                                  "\x7F",
                                                  "\xE2\x80\xA8",
                                                  "\xEF\xBF\xBD",
                                                  "{\"a\":1}",
                                                  "</script>",
                                                  "null",
                                                  "0",
                                                  "\x01",
                                                  "e\xCC\x81",
                                                  "https://example.org/a.png"};
  return random.one_of(kWords);
}

std::string Generator::text() {
  std::string out;
  const std::size_t kind = random.below(20);
  if (kind == 0) return out;
  if (kind == 1) return std::string(1, '\0') + word() + std::string(1, '\0');
  if (kind == 2) {  // any characters at all
    for (std::size_t i = random.below(40); i > 0; --i) {
      char32_t c = 0;
      do {
        c = static_cast<char32_t>(random.below(random.chance(50) ? 0x80 : 0x110000));
      } while (c >= 0xD800 && c <= 0xDFFF);
      append_utf8(out, c);
    }
    return out;
  }
  const std::size_t words = kind == 3 ? 200 + random.below(600) : 1 + random.below(8);
  for (std::size_t i = 0; i < words; ++i) out += (i == 0 ? "" : " ") + word();
  return out;
}

std::string Generator::id() {
  switch (random.below(8)) {
    case 0:
      return "";
    case 1:
      return word() + std::to_string(random.below(1000));
    case 2:
      return std::string(300, 'x') + std::to_string(random.below(1000));
    default:
      return "id_" + std::to_string(random.below(1'000'000));
  }
}

std::string Generator::base64() {
  std::string bytes;
  switch (random.below(6)) {
    case 0:
      bytes = "\x89PNG\r\n\x1A\n";
      break;
    case 1:
      bytes = "\xFF\xD8\xFF\xE0";
      break;
    case 2:
      bytes = "%PDF-1.7";
      break;
    case 3:
      bytes = "RIFF....WAVE";
      break;
    default:
      break;
  }
  for (std::size_t i = random.below(40); i > 0; --i) bytes += static_cast<char>(random.below(256));
  return base64_encode(bytes);
}

Tree Generator::value(int depth) {
  static const std::vector<std::string> kLiterals = {"null",
                                                     "true",
                                                     "false",
                                                     "0",
                                                     "-0",
                                                     "1",
                                                     "1.0",
                                                     "1e400",
                                                     "-1E-400",
                                                     "9007199254740993",
                                                     "0.10",
                                                     "1e+2",
                                                     "123456789012345678901234567890",
                                                     "-0.0"};
  switch (random.below(depth > 0 ? 6 : 3)) {
    case 0:
    case 1:
      return Tree::literal(random.one_of(kLiterals));
    case 2:
      return str(text());
    case 3:
      return object_value();
    default: {
      Tree out = random.chance(50) ? Tree::array() : Tree::object();
      for (std::size_t i = random.below(4); i > 0; --i) {
        if (out.kind == Tree::Kind::Array) {
          out.elements.push_back(value(depth - 1));
        } else {
          out.add("k" + std::to_string(i) + word(), value(depth - 1));
        }
      }
      return out;
    }
  }
}

Tree Generator::object_value() {
  Tree out = Tree::object();
  for (std::size_t i = random.below(4); i > 0; --i) out.add("k" + std::to_string(i), value(1));
  return out;
}

std::string Generator::arguments() {
  switch (random.below(6)) {
    case 0:
      return "";
    case 1:
      return "{}";
    case 2:
      return text();  // most likely no JSON
    case 3:
      return "[1, 2]";
    default:
      return spelled(object_value());
  }
}

Tree Generator::string_or_null(unsigned percent_null) {
  return maybe(percent_null) ? Tree::literal("null") : str(text());
}

Tree Generator::finished(Tree object, const Wishes& wishes) {
  while (maybe(15)) object.add(unknown_name(), value());
  if (wishes.duplicates && maybe(20)) {
    const std::string name = unknown_name();
    object.add(name, value());
    object.add(name, value());
  }
  if (maybe(50)) random.shuffle(object.members);
  return object;
}

Tree Generator::marked(Dialect dialect, Tree block) {
  if (!is_marked()) return block;
  if (dialect == Dialect::Parley) {
    block.add("cache", str(random.one_of<std::string>({"default", "5m", "1h"})));
    return block;
  }
  const bool is_openais = dialect == Dialect::OpenAI || dialect == Dialect::Responses;
  Tree mark =
      is_openais ? Tree::object({{"mode", str("explicit")}}) : Tree::object({{"type", str("ephemeral")}});
  if (dialect == Dialect::Anthropic && maybe(40)) mark.add("ttl", str(maybe(50) ? "5m" : "1h"));
  block.add(is_openais ? "prompt_cache_breakpoint" : "cache_control", std::move(mark));
  return block;
}

// ---- Blocks

Generator::Call Generator::call() {
  std::string unique = std::to_string(++calls_);
  if (maybe(20)) unique = std::string(300, 'x') + unique;
  if (maybe(20)) unique = "\xC3\xBC\xF0\x9F\x98\x80/\"" + unique;
  return {"call_" + unique, maybe(5) ? "" : word(), maybe(8)};
}

Tree Generator::use_block(Dialect dialect, const Call& call, const Wishes& wishes) {
  if (dialect == Dialect::OTel) return otel_call(call, wishes);
  Tree block = Tree::object();
  const bool is_second = dialect == Dialect::AgentScope2;
  block.add("type", str(is_second ? "tool_call" : "tool_use"));
  block.add("id", str(call.id)).add("name", str(call.name));
  if (dialect == Dialect::Parley) {
    const bool has_text = maybe(70);
    if (has_text) block.add("arguments", str(arguments()));
    if (!has_text || maybe(20)) block.add("input", maybe(80) ? object_value() : value());
    if (call.is_custom) block.add("custom", Tree::literal("true"));
    block = marked(dialect, std::move(block));
  } else if (is_second) {
    block.add("input", str(arguments()));
    if (maybe(50))
      block.add("state", str(random.one_of<std::string>({"pending", "asking", "allowed", "finished"})));
  } else {
    const Tree input = object_value();
    block.add("input", input);
    if (maybe(40))
      block.add("raw_input", maybe(70)   ? str(spelled(input))
                             : maybe(50) ? str(arguments())
                                         : Tree::literal("null"));
  }
  return finished(std::move(block), wishes);
}

Tree Generator::result_block(Dialect dialect, const Call& call, const Wishes& wishes) {
  if (dialect == Dialect::OTel) return otel_result(call, wishes);
  Tree block = Tree::object();
  block.add("type", str("tool_result")).add("id", str(call.id));
  if (maybe(90)) block.add("name", maybe(95) ? str(call.name) : Tree::literal("null"));
  if (maybe(95)) {
    const std::size_t form = random.below(10);
    if (form < 5) {
      block.add("output", str(text()));
    } else if (form < 6) {
      block.add("output", Tree::literal("null"));
    } else {
      Tree list = Tree::array();
      for (std::size_t i = random.below(4); i > 0; --i)
        list.elements.push_back(plain_block(dialect, true, wishes));
      block.add("output", std::move(list));
    }
  }
  if (dialect == Dialect::AgentScope2 && maybe(80)) {
    block.add(
        "state",
        str(random.one_of<std::string>({"success", "error", "interrupted", "denied", "running", "new"})));
  }
  if (dialect == Dialect::Parley && maybe(30))
    block.add("is_error", Tree::literal(maybe(50) ? "true" : "false"));
  if (dialect == Dialect::Parley && call.is_custom) block.add("custom", Tree::literal("true"));
  if (dialect == Dialect::Parley) block = marked(dialect, std::move(block));
  return finished(std::move(block), wishes);
}

Tree Generator::media_block(Dialect dialect, const Wishes& wishes) {
  Tree source = Tree::object();
  const bool is_second = dialect == Dialect::AgentScope2;
  static const std::vector<std::string> kTypes = {"image/png", "image/jpeg",      "audio/wav",
                                                  "video/mp4", "application/pdf", "image/x-odd"};
  static const std::vector<std::string> kUrls = {"https://example.org/a.png",
                                                 "https://example.org/clip.mp4?x=1",
                                                 "/tmp/a.WAV",
                                                 "file:///tmp/x",
                                                 "data:text/plain,hello",
                                                 "relative.pdf"};
  const std::size_t kind = random.below(10);
  if (kind < 5) {
    source.add("type", str("base64"));
    if (maybe(95)) source.add("data", str(base64()));
  } else if (kind < 9) {
    source.add("type", str("url"));
    if (maybe(95))
      source.add("url", str(maybe(20) ? "data:image/png;base64," + base64() : random.one_of(kUrls)));
  } else {
    source.add("type", str("file")).add("u_file_id", str(id()));
  }
  if (maybe(is_second ? 95 : 70)) source.add("media_type", str(random.one_of(kTypes)));
  Tree block = Tree::object();
  std::vector<std::string> types = {"image", "audio", "video"};
  if (dialect == Dialect::Parley) types.push_back("document");
  block.add("type", str(is_second ? "data" : random.one_of(types)));
  block.add("source", finished(std::move(source), wishes));
  if (dialect != Dialect::AgentScope && maybe(30)) block.add("name", string_or_null(20));
  return finished(std::move(block), wishes);
}

// Any block but calls and results.
Tree Generator::plain_block(Dialect dialect, bool in_result, const Wishes& wishes) {
  if (dialect == Dialect::OTel) return otel_part(wishes);
  const std::size_t kind = random.below(10);
  if (kind < 5) {
    Tree block = Tree::object({{"type", str("text")}, {"text", str(text())}});
    if (dialect == Dialect::Parley && maybe(5)) block.add("refusal", Tree::literal("true"));
    if (dialect == Dialect::Parley) block = marked(dialect, std::move(block));
    return finished(std::move(block), wishes);
  }
  if (kind < 8) return media_block(dialect, wishes);
  if (kind < 9 && !in_result) {
    Tree block = Tree::object({{"type", str("thinking")}, {"thinking", str(text())}});
    if (maybe(50)) block.add("signature", string_or_null(20));
    if (dialect == Dialect::Parley && maybe(50)) block.add("origin", string_or_null(20));
    return finished(std::move(block), wishes);
  }
  if (dialect == Dialect::Parley && maybe(50)) {
    return finished(
        Tree::object({{"type", str("raw")},
                      {"dialect", str(random.one_of<std::string>({"agentscope", "agentscope2", "openai"}))},
                      {"value", Tree::object({{"type", str("u_odd")}, {"u_more", value()}})}}),
        wishes);
  }
  if (dialect == Dialect::AgentScope2 && maybe(50))
    return finished(Tree::object({{"type", str("hint")}, {"hint", str(text())}}), wishes);
  return finished(maybe(80) ? Tree::object({{"type", str("u_odd")}}) : Tree::object(), wishes);
}

// ---- Messages

std::string Generator::role_of(Dialect dialect) {
  std::vector<std::string> roles = {"user", "assistant", "system"};
  if (!is_agentscope(dialect)) roles.push_back("tool");
  if (dialect == Dialect::Parley || dialect == Dialect::OpenAI || dialect == Dialect::OTel)
    roles.push_back("developer");
  return random.one_of(roles);
}

// A part of content as OpenAI has it.
Tree Generator::openai_part(const Wishes& wishes) {
  Tree part = Tree::object();
  const std::size_t kind = random.below(10);
  if (kind < 4) {
    part.add("type", str("text")).add("text", str(text()));
    part = marked(Dialect::OpenAI, std::move(part));
  } else if (kind < 6) {
    const std::string url = maybe(50) ? "data:image/png;base64," + base64() : "https://example.org/a.png";
    Tree image = Tree::object({{"url", str(url)}});
    if (maybe(30)) image.add("u_detail", str("low"));
    part.add("type", str("image_url"));
    part.add("image_url", maybe(90) ? finished(std::move(image), wishes) : str(url));
    part = marked(maybe(80) ? Dialect::OpenAI : Dialect::DashScope, std::move(part));
  } else if (kind < 7) {
    Tree audio = Tree::object({{"data", str(base64())}, {"format", str("wav")}});
    part.add("type", str("input_audio")).add("input_audio", finished(std::move(audio), wishes));
  } else if (kind < 8) {
    Tree file = Tree::object();
    if (maybe(50)) file.add("filename", str(word()));
    if (maybe(70)) file.add("file_data", str((maybe(70) ? "data:application/pdf;base64," : "") + base64()));
    if (maybe(20)) file.add("u_file_id", str(id()));
    part.add("type", str("file")).add("file", finished(std::move(file), wishes));
  } else if (kind < 9) {
    part.add("type", str("refusal")).add("refusal", str(text()));
  } else {
    part.add("type", str("u_odd"));
  }
  return finished(std::move(part), wishes);
}

Tree Generator::flat_call(Dialect dialect, const Call& call, const Wishes& wishes) {
  const bool is_custom = dialect == Dialect::OpenAI && call.is_custom;
  Tree function =
      Tree::object({{"name", str(call.name)}, {is_custom ? "input" : "arguments", str(arguments())}});
  Tree one = Tree::object({{"id", str(call.id)}});
  one.add(is_custom ? "custom" : "function", finished(std::move(function), wishes));
  if (maybe(90)) one.add("type", str(is_custom || maybe(5) ? "custom" : "function"));
  return finished(std::move(one), wishes);
}

Tree Generator::flat_message(Dialect dialect, std::string role, std::vector<Call> calls, const Call* answered,
                             const Wishes& wishes) {
  const bool is_openai = dialect == Dialect::OpenAI;
  Tree message = Tree::object();
  message.add("role", str(std::move(role)));
  if (is_openai && maybe(50)) {
    Tree parts = Tree::array();
    for (std::size_t i = random.below(4); i > 0; --i) parts.elements.push_back(openai_part(wishes));
    message.add("content", std::move(parts));
  } else if (maybe(85)) {
    message.add("content", string_or_null(15));
  }
  if (!calls.empty()) {
    Tree list = Tree::array();
    for (const Call& call : calls) list.elements.push_back(flat_call(dialect, call, wishes));
    message.add("tool_calls", std::move(list));
  } else if (maybe(15)) {
    message.add("tool_calls", maybe(50) ? Tree::literal("null") : Tree::array());
  }
  if (answered != nullptr) {
    message.add("tool_call_id", str(answered->id));
    if (!is_openai && maybe(80)) message.add("name", str(answered->name));
  } else {
    if (maybe(20)) message.add("name", string_or_null(20));
    if (!wishes.whole_history && maybe(20))
      message.add("tool_call_id", !is_openai && maybe(20) ? Tree::literal("null") : str(id()));
    if (!is_openai && wishes.whole_history && maybe(10)) message.add("tool_call_id", Tree::literal("null"));
  }
  if (is_openai && answered == nullptr) {
    if (maybe(10)) message.add("refusal", string_or_null(50));
    if (maybe(10)) message.add(maybe(50) ? "reasoning_content" : "reasoning", string_or_null(10));
  }
  if (!is_openai && maybe(20)) {
    message.add("base64_image", maybe(20) ? Tree::literal("null")
                                          : str((maybe(30) ? "data:image/png;base64," : "") + base64()));
  }
  return finished(std::move(message), wishes);
}

Tree Generator::agentscope_message(Dialect dialect, std::string role, std::vector<Tree> blocks,
                                   const Wishes& wishes) {
  const bool is_second = dialect == Dialect::AgentScope2;
  Tree message = Tree::object();
  message.add("name", str(maybe(30) ? role : word())).add("role", str(std::move(role)));
  if (blocks.empty() && !is_second && maybe(70)) {
    message.add("content", str(text()));
  } else if (blocks.empty() && maybe(10)) {
    message.add("content", Tree::literal("null"));
  } else {
    message.add("content", Tree::array(std::move(blocks)));
  }
  if (maybe(70)) message.add("id", !is_second && maybe(10) ? Tree::literal("null") : str(id()));
  if (maybe(70)) message.add("metadata", maybe(20) ? Tree::literal("null") : object_value());
  static const std::vector<std::string> kOldTimes = {"2025-06-01 09:30:00.125", "2025-06-01 09:30:00.000",
                                                     "some day", ""};
  static const std::vector<std::string> kNewTimes = {"2025-06-01T09:30:00.125000", "2025-06-01T09:30:00",
                                                     "2025-06-01T09:30:00.000001", "some day"};
  if (is_second) {
    if (maybe(80)) message.add("created_at", str(random.one_of(kNewTimes)));
    if (maybe(30)) message.add("usage", maybe(30) ? Tree::literal("null") : object_value());
    if (maybe(30)) message.add("finished_at", string_or_null(50));
  } else {
    if (maybe(70))
      message.add("timestamp",
                  maybe(10) ? Tree::literal("null") : str(random.one_of(maybe(90) ? kOldTimes : kNewTimes)));
    if (maybe(20)) message.add("invocation_id", string_or_null(30));
  }
  return finished(std::move(message), wishes);
}

Tree Generator::message(Dialect dialect, const std::string& role, std::vector<Tree> blocks,
                        const Wishes& wishes) {
  if (is_agentscope(dialect)) return agentscope_message(dialect, role, std::move(blocks), wishes);
  if (dialect == Dialect::OTel) return otel_message(role, std::move(blocks), wishes);
  Tree message = Tree::object();
  message.add("role", str(role));
  if (maybe(10)) message.add("wire_role", str(role_of(dialect)));
  if (maybe(50)) message.add("id", maybe(10) ? Tree::literal("null") : str(id()));
  if (maybe(30)) message.add("name", string_or_null(10));
  if (!blocks.empty()) {
    message.add("content", Tree::array(std::move(blocks)));
  } else if (maybe(90)) {
    message.add("content", maybe(60) ? str(text()) : maybe(50) ? Tree::literal("null") : Tree::array());
  }
  if (maybe(10)) message.add("tool_calls", Tree::array());
  if (maybe(30)) message.add("metadata", maybe(20) ? Tree::literal("null") : object_value());
  if (maybe(30)) message.add("timestamp", maybe(10) ? Tree::literal("null") : str("2025-06-01 09:30:00.125"));
  if (maybe(20)) message.add("invocation_id", string_or_null(20));
  if (wishes.extras && maybe(50)) {
    Tree extra = Tree::object();
    for (const std::string_view each :
         {"openmanus", "agentscope", "agentscope2", "openai", "otel", "sharegpt"}) {
      if (maybe(50)) continue;
      Tree patch = maybe(20) ? value() : Tree::object();
      if (patch.kind == Tree::Kind::Object && maybe(30)) patch.add("is", value());
      if (patch.kind == Tree::Kind::Object && maybe(50)) {
        patch.add("order", Tree::array({str("role"), str("u_x"), maybe(50) ? str("content") : value(1)}));
      }
      if (patch.kind == Tree::Kind::Object && maybe(70)) {
        patch.add("in", Tree::object({{"u_x", Tree::object({{"is", value()}})}, {"content", value()}}));
      }
      extra.add(std::string(each), std::move(patch));
    }
    message.add("extra", std::move(extra));
  }
  return finished(std::move(message), wishes);
}

std::vector<Tree> Generator::history(Dialect dialect, const Wishes& wishes) {
  std::vector<Tree> out;
  for (std::size_t steps = random.below(5); steps > 0; --steps) {
    std::vector<Call> calls;
    if (maybe(40)) {
      for (std::size_t i = 1 + random.below(3); i > 0; --i) calls.push_back(call());
      if (dialect == Dialect::OTel && maybe(20)) {  // told apart by their order
        for (Call& each : calls) each.id.clear();
      }
    }
    if (calls.empty()) {
      std::string role = role_of(dialect);
      if (wishes.whole_history && role == "tool") role = "user";
      std::vector<Tree> blocks;
      if (maybe(60)) {
        for (std::size_t i = random.below(4); i > 0; --i)
          blocks.push_back(plain_block(dialect, false, wishes));
      }
      out.push_back(is_flat(dialect) ? flat_message(dialect, role, {}, nullptr, wishes)
                                     : message(dialect, role, std::move(blocks), wishes));
      continue;
    }
    std::vector<Call> answers = calls;
    random.shuffle(answers);
    const bool is_broken = !wishes.whole_history && maybe(50);
    if (is_broken) {
      switch (random.below(4)) {
        case 0:
          answers.pop_back();
          break;
        case 1:
          answers.push_back(answers.front());
          break;
        case 2:
          answers.push_back(call());
          break;
        default:
          calls.push_back(calls.front());
          break;
      }
    }
    const std::string asker = is_broken && maybe(30) ? role_of(dialect) : "assistant";
    if (is_flat(dialect)) {
      out.push_back(flat_message(dialect, asker, calls, nullptr, wishes));
      if (is_broken && maybe(30)) out.push_back(flat_message(dialect, "user", {}, nullptr, wishes));
      for (const Call& answer : answers) out.push_back(flat_message(dialect, "tool", {}, &answer, wishes));
      continue;
    }
    std::vector<Tree> blocks;
    if (maybe(60)) blocks.push_back(plain_block(dialect, false, wishes));
    for (const Call& each : calls) blocks.push_back(use_block(dialect, each, wishes));
    if (maybe(20)) blocks.push_back(plain_block(dialect, false, wishes));
    // The results: in the same message, in one behind it, or one by one.
    std::vector<Tree> results;
    for (const Call& answer : answers) results.push_back(result_block(dialect, answer, wishes));
    const std::size_t place = random.below(3);
    if (place == 0) {
      for (Tree& result : results) blocks.push_back(std::move(result));
      if (maybe(50)) blocks.push_back(plain_block(dialect, false, wishes));
    }
    out.push_back(message(dialect, asker, std::move(blocks), wishes));
    const auto answerer = [&] {
      return (dialect == Dialect::Parley || dialect == Dialect::OTel) && maybe(60) ? std::string("tool")
             : maybe(70)                                                           ? "system"
                                                                                   : role_of(dialect);
    };
    if (is_broken && maybe(30)) out.push_back(message(dialect, "user", {}, wishes));
    if (place == 1) {
      if (!results.empty()) out.push_back(message(dialect, answerer(), std::move(results), wishes));
    } else if (place == 2) {
      for (Tree& result : results) {
        std::vector<Tree> one;
        one.push_back(std::move(result));
        out.push_back(message(dialect, answerer(), std::move(one), wishes));
      }
    }
  }
  return out;
}

// ---- Documents

Tree Generator::tree(Dialect dialect, const Wishes& wishes) {
  if (is_provider(dialect)) return provider_tree(dialect, wishes);
  if (dialect == Dialect::ShareGPT) return sharegpt_tree(wishes);
  std::vector<Tree> messages = history(dialect, wishes);
  const std::size_t shape = random.below(10);
  if (shape < 6) return Tree::array(std::move(messages));
  if (shape < 7) {
    const auto calls_nothing = [&] {
      return is_flat(dialect) ? flat_message(dialect, "user", {}, nullptr, wishes)
                              : message(dialect, "user", {}, wishes);
    };
    if (messages.size() != 1) return calls_nothing();
    return std::move(messages.front());
  }
  Tree envelope = Tree::object();
  const bool is_otel = dialect == Dialect::OTel;
  envelope.add(is_otel ? "gen_ai.input.messages" : "messages", Tree::array(std::move(messages)));
  if (is_otel && maybe(50)) envelope.add("gen_ai.request.model", str(word()));
  if (is_otel && maybe(50))
    envelope.add("gen_ai.system_instructions", Tree::array({otel_part(wishes), otel_part(wishes)}));
  if (is_otel && maybe(50)) {
    envelope.add(
        "gen_ai.tool.definitions",
        Tree::array({Tree::object(
            {{"type", str("function")}, {"name", str("web_search")}, {"parameters", object_value()}})}));
  }
  if (dialect == Dialect::Parley && maybe(60)) envelope.add("parley", Tree::literal("1"));
  if (dialect == Dialect::Parley && maybe(30))
    envelope.add("system", maybe(20) ? Tree::literal("null") : str(text()));
  if (dialect == Dialect::Parley && maybe(30)) {
    envelope.add(
        "tools",
        Tree::array({Tree::object(
            {{"name", str(word())}, {"description", str(text())}, {"parameters", object_value()}})}));
  }
  if (dialect == Dialect::OpenManus && maybe(50)) envelope.add("max_messages", Tree::literal("100"));
  if (dialect == Dialect::OpenAI && maybe(50)) {
    Tree function = Tree::object({{"name", str(word())}});
    if (maybe(70)) function.add("description", str(text()));
    if (maybe(70)) function.add("parameters", object_value());
    if (maybe(20)) function.add("u_strict", Tree::literal("true"));
    Tree tool =
        Tree::object({{"type", str("function")}, {"function", finished(std::move(function), wishes)}});
    envelope.add("u_model", str(word())).add("tools", Tree::array({finished(std::move(tool), wishes)}));
  }
  return finished(std::move(envelope), wishes);
}

std::string Generator::document(Dialect dialect, const Wishes& wishes) {
  return spelled(tree(dialect, wishes));
}

// ---- Spelling

std::string Generator::spelled(const Tree& tree) {
  Style style;
  switch (random.below(4)) {
    case 0:
      style = {",", ":"};
      break;
    case 1:
      style = {", ", ": "};
      break;
    case 2:
      style = {",", ": ", true};
      break;
    default:
      style = {",", ":", false, true};
      break;
  }
  style.escapes = maybe(50) ? 0 : maybe(80) ? 10 : 100;
  std::string out;
  spell(tree, style, 0, out);
  return out;
}

void Generator::space(const Style& style, std::string& out) {
  while (style.noisy && maybe(20)) out += " \n\r\t"[random.below(4)];
}

void Generator::spell(const Tree& tree, const Style& style, int depth, std::string& out) {
  const auto line = [&](int indent) {
    if (style.pretty) out.append("\n").append(static_cast<std::size_t>(2 * indent), ' ');
  };
  space(style, out);
  if (tree.kind == Tree::Kind::Literal) {
    out += tree.text;
  } else if (tree.kind == Tree::Kind::String) {
    spell_string(tree.text, style, out);
  } else {
    const bool is_object = tree.kind == Tree::Kind::Object;
    const std::size_t count = is_object ? tree.members.size() : tree.elements.size();
    out += is_object ? '{' : '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) out += style.comma;
      line(depth + 1);
      if (is_object) {
        space(style, out);
        spell_string(tree.members[i].first, style, out);
        space(style, out);
        out += style.colon;
      }
      spell(is_object ? tree.members[i].second : tree.elements[i], style, depth + 1, out);
    }
    if (count != 0) line(depth);
    space(style, out);
    out += is_object ? '}' : ']';
  }
  space(style, out);
}

void Generator::spell_string(std::string_view utf8, const Style& style, std::string& out) {
  static constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const auto unit = [&](unsigned u) {
    const std::size_t upper = maybe(50) ? 6 : 0;
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      const std::size_t digit = u >> shift & 15;
      out += kHex[digit < 10 ? digit : digit + upper];
    }
  };
  out += '"';
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t length = utf8_sequence_length(utf8, i);
    const std::string_view bytes = utf8.substr(i, length);
    i += length;
    const char c = bytes.front();
    const bool must = length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\');
    if (!must && !maybe(style.escapes)) {
      out += bytes;
      continue;
    }
    const std::size_t letter = std::string_view("\"\\/\b\f\n\r\t").find(c);
    if (letter != std::string_view::npos && maybe(80)) {
      (out += '\\') += "\"\\/bfnrt"[letter];
      continue;
    }
    unsigned point = static_cast<unsigned char>(c);
    if (length > 1) {
      point &= 0x7FU >> length;
      for (std::size_t k = 1; k < length; ++k)
        point = point << 6 | (static_cast<unsigned char>(bytes[k]) & 63U);
    }
    if (point < 0x10000) {
      unit(point);
    } else {
      unit(0xD800 + ((point - 0x10000) >> 10));
      unit(0xDC00 + ((point - 0x10000) & 1023));
    }
  }
  out += '"';
}

}  // namespace parley::test
