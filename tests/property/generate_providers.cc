// Random documents in the dialects of providers.
#include "generate.h"

namespace parley::test {
namespace {

Tree str(std::string text) { return Tree::string(std::move(text)); }

bool is_chat(Dialect dialect) {
  return dialect == Dialect::DeepSeek || dialect == Dialect::Moonshot || dialect == Dialect::DashScope;
}

}  // namespace

bool Generator::is_provider(Dialect dialect) {
  return dialect == Dialect::Responses || dialect == Dialect::Anthropic || dialect == Dialect::Gemini ||
         dialect == Dialect::Ollama || dialect == Dialect::Converse || is_chat(dialect);
}

std::string Generator::model(const Wishes& wishes) { return wishes.quirks ? "claude-opus-4-8" : word(); }

// A word that names a part: a type, or the one member of an object.
Tree Generator::tagged(Dialect dialect, const std::string& type, Tree inner) {
  if (dialect == Dialect::Converse || dialect == Dialect::Gemini)
    return Tree::object({{type, std::move(inner)}});
  inner.members.insert(inner.members.begin(), {"type", str(type)});
  return inner;
}

Tree Generator::provider_text(Dialect dialect, bool is_model, const Wishes& wishes) {
  Tree text = Tree::object({{"text", str(this->text())}});
  if (dialect == Dialect::Anthropic) text = tagged(dialect, "text", std::move(text));
  if (dialect == Dialect::Responses)
    text = tagged(dialect, is_model ? "output_text" : "input_text", std::move(text));
  const bool may_be_marked = dialect == Dialect::Anthropic || (dialect == Dialect::Responses && !is_model);
  if (may_be_marked) text = marked(dialect, std::move(text));
  return finished(std::move(text), wishes);
}

Tree Generator::provider_media(Dialect dialect, const Wishes& wishes) {
  const std::string data = base64();
  const std::string url = maybe(50) ? "https://example.org/a.png" : "data:image/png;base64," + data;
  Tree part;
  if (dialect == Dialect::Anthropic) {
    Tree source =
        maybe(60)
            ? Tree::object({{"type", str("base64")}, {"media_type", str("image/png")}, {"data", str(data)}})
            : Tree::object({{"type", str("url")}, {"url", str("https://example.org/a.png")}});
    const bool is_image = maybe(80);
    if (wishes.quirks && !is_image) {
      source =
          Tree::object({{"type", str("text")}, {"media_type", str("text/plain")}, {"data", str(text())}});
    }
    part = tagged(dialect, is_image ? "image" : "document",
                  Tree::object({{"source", finished(std::move(source), wishes)}}));
    part = marked(dialect, std::move(part));
  } else if (dialect == Dialect::Responses) {
    part = maybe(70) ? tagged(dialect, "input_image", Tree::object({{"image_url", str(url)}}))
                     : tagged(dialect, "input_file",
                              Tree::object({{"filename", str(word())},
                                            {"file_data", str("data:application/pdf;base64," + data)}}));
  } else if (dialect == Dialect::Gemini) {
    Tree inline_data =
        Tree::object({{"mimeType", str(maybe(70) ? "image/png" : "audio/wav")}, {"data", str(data)}});
    part =
        Tree::object({{maybe(90) ? "inlineData" : "inline_data", finished(std::move(inline_data), wishes)}});
  } else {
    Tree image = Tree::object({{"format", str("png")}, {"source", Tree::object({{"bytes", str(data)}})}});
    part = Tree::object({{"image", finished(std::move(image), wishes)}});
  }
  return finished(std::move(part), wishes);
}

Tree Generator::provider_thinking(Dialect dialect, const Wishes& wishes) {
  Tree part;
  if (dialect == Dialect::Anthropic) {
    part = tagged(dialect, "thinking", Tree::object({{"thinking", str(text())}}));
    if (maybe(80)) part.add("signature", str(word()));
  } else if (dialect == Dialect::Gemini) {
    part = Tree::object({{"text", str(text())}, {"thought", Tree::literal("true")}});
    if (maybe(40)) part.add("thoughtSignature", str(word()));
  } else {
    Tree inner = Tree::object({{"text", str(text())}});
    if (maybe(80)) inner.add("signature", str(word()));
    part = Tree::object(
        {{"reasoningContent", Tree::object({{"reasoningText", finished(std::move(inner), wishes)}})}});
  }
  return finished(std::move(part), wishes);
}

Tree Generator::provider_use(Dialect dialect, const Call& call, const Wishes& wishes) {
  Tree use;
  if (dialect == Dialect::Anthropic) {
    use = tagged(dialect, "tool_use",
                 Tree::object({{"id", str(call.id)}, {"name", str(call.name)}, {"input", object_value()}}));
    use = marked(dialect, std::move(use));
  } else if (dialect == Dialect::Gemini) {
    Tree inner = Tree::object({{"name", str(call.name)}, {"args", object_value()}});
    if (!call.id.empty()) inner.add("id", str(call.id));
    use = Tree::object({{"functionCall", finished(std::move(inner), wishes)}});
    if (maybe(30)) use.add("thoughtSignature", str(word()));
  } else if (dialect == Dialect::Converse) {
    Tree inner =
        Tree::object({{"toolUseId", str(call.id)}, {"name", str(call.name)}, {"input", object_value()}});
    use = Tree::object({{"toolUse", finished(std::move(inner), wishes)}});
  } else {
    use = tagged(dialect, call.is_custom ? "custom_tool_call" : "function_call",
                 Tree::object({{"call_id", str(call.id)},
                               {"name", str(call.name)},
                               {call.is_custom ? "input" : "arguments", str(arguments())}}));
    if (maybe(50)) use.add("id", str(id()));
  }
  return finished(std::move(use), wishes);
}

Tree Generator::provider_result(Dialect dialect, const Call& call, const Wishes& wishes) {
  Tree parts = Tree::array();
  for (std::size_t i = random.below(3); i > 0; --i) {
    parts.elements.push_back(maybe(70) ? provider_text(dialect, false, wishes)
                                       : provider_media(dialect, wishes));
  }
  Tree result;
  if (dialect == Dialect::Anthropic) {
    result = tagged(dialect, "tool_result", Tree::object({{"tool_use_id", str(call.id)}}));
    if (maybe(90)) result.add("content", maybe(60) ? str(text()) : std::move(parts));
    if (maybe(30)) result.add("is_error", Tree::literal(maybe(50) ? "true" : "false"));
    result = marked(dialect, std::move(result));
  } else if (dialect == Dialect::Gemini) {
    Tree said = maybe(80)
                    ? Tree::object({{maybe(70) ? "output" : "error", maybe(70) ? str(text()) : value(2)}})
                    : object_value();
    Tree inner = Tree::object({{"name", str(call.name)}, {"response", std::move(said)}});
    if (!call.id.empty()) inner.add("id", str(call.id));
    if (maybe(20)) inner.add("parts", Tree::array({provider_media(dialect, wishes)}));
    result = Tree::object({{"functionResponse", finished(std::move(inner), wishes)}});
  } else if (dialect == Dialect::Converse) {
    if (maybe(10)) parts.elements.push_back(Tree::object({{"json", object_value()}}));
    Tree inner = Tree::object({{"toolUseId", str(call.id)}, {"content", std::move(parts)}});
    if (maybe(40)) inner.add("status", str(maybe(50) ? "error" : "success"));
    result = Tree::object({{"toolResult", finished(std::move(inner), wishes)}});
  } else {
    result = tagged(dialect, call.is_custom ? "custom_tool_call_output" : "function_call_output",
                    Tree::object({{"call_id", str(call.id)}}));
    result.add("output", maybe(60) ? str(text()) : std::move(parts));
  }
  return finished(std::move(result), wishes);
}

// What one provider has and others do not.
Tree Generator::provider_own(Dialect dialect, const Wishes& wishes) {
  const std::size_t kind = random.below(4);
  Tree part = tagged(dialect, "u_odd", Tree::object({{"u_value", str(word())}}));
  const auto texts = [&] {
    Tree text = Tree::object({{"text", str(this->text())}});
    return Tree::array({dialect == Dialect::Anthropic ? tagged(dialect, "text", std::move(text)) : text});
  };
  const auto found = [&] {
    return Tree::object({{"source", str(word())}, {"title", str(word())}, {"content", texts()}});
  };
  if (dialect == Dialect::Anthropic && kind == 0) part = tagged(dialect, "search_result", found());
  if (dialect == Dialect::Anthropic && kind == 1)
    part = tagged(dialect, "redacted_thinking", Tree::object({{"data", str(base64())}}));
  if (dialect == Dialect::Anthropic && kind == 2)
    part = tagged(dialect, "server_tool_use",
                  Tree::object({{"id", str(id())}, {"name", str(word())}, {"input", object_value()}}));
  if (dialect == Dialect::Converse && kind == 0) part = tagged(dialect, "searchResult", found());
  if (dialect == Dialect::Converse && kind == 1)
    part = tagged(dialect, "citationsContent", Tree::object({{"content", texts()}}));
  if (dialect == Dialect::Converse && kind == 2)
    part = tagged(dialect, "reasoningContent", Tree::object({{"redactedContent", str(base64())}}));
  if (dialect == Dialect::Gemini && kind == 0)
    part =
        tagged(dialect, "executableCode", Tree::object({{"language", str("PYTHON")}, {"code", str(text())}}));
  if (dialect == Dialect::Responses && kind == 0)
    part = tagged(dialect, "refusal", Tree::object({{"refusal", str(text())}}));
  return finished(std::move(part), wishes);
}

Tree Generator::provider_part(Dialect dialect, bool is_model, const Wishes& wishes) {
  const std::size_t kind = random.below(10);
  if (kind < 6) return provider_text(dialect, is_model, wishes);
  if (kind < 8 && is_model && dialect != Dialect::Responses) return provider_thinking(dialect, wishes);
  if (kind < 9 && !is_model) return provider_media(dialect, wishes);
  return provider_own(dialect, wishes);
}

Tree Generator::provider_message(Dialect dialect, const std::string& role, std::vector<Tree> parts,
                                 const Wishes& wishes) {
  if (dialect == Dialect::Converse && is_marked()) {
    Tree point = Tree::object({{"type", str("default")}});
    if (maybe(30)) point.add("ttl", str("1h"));
    const std::size_t behind = parts.empty() ? 0 : 1 + random.below(parts.size());  // it marks what is before
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(behind),
                 Tree::object({{"cachePoint", std::move(point)}}));
  }
  Tree message = Tree::object();
  const bool is_gemini = dialect == Dialect::Gemini;
  const std::string name = is_gemini && role == "assistant" ? "model" : role;
  if (!is_gemini || role != "user" || maybe(90)) message.add("role", str(name));
  if (dialect == Dialect::Responses && maybe(50)) message.add("type", str("message"));
  const bool takes_text = dialect == Dialect::Anthropic || dialect == Dialect::Responses;
  const bool is_text = parts.empty() && takes_text;
  message.add(is_gemini ? "parts" : "content", is_text ? str(text()) : Tree::array(std::move(parts)));
  return finished(std::move(message), wishes);
}

Tree Generator::ollama_message(const std::string& role, const std::vector<Call>& calls, const Call* answered,
                               const Wishes& wishes) {
  Tree message = Tree::object({{"role", str(role)}});
  if (maybe(90)) message.add("content", str(text()));
  if (role == "assistant" && maybe(30)) message.add("thinking", str(text()));
  if (role == "user" && maybe(30)) message.add("images", Tree::array({str(base64())}));
  if (!calls.empty()) {
    Tree list = Tree::array();
    for (const Call& call : calls) {
      Tree function = Tree::object({{"name", str(call.name)}, {"arguments", object_value()}});
      Tree one = Tree::object({{"function", finished(std::move(function), wishes)}});
      if (!call.id.empty()) one.add("id", str(call.id));
      list.elements.push_back(finished(std::move(one), wishes));
    }
    message.add("tool_calls", std::move(list));
  }
  if (answered != nullptr) {
    if (maybe(90)) message.add("tool_name", str(answered->name));
    if (!answered->id.empty()) message.add("tool_call_id", str(answered->id));
  }
  return finished(std::move(message), wishes);
}

// One thing somebody says.
std::vector<Tree> Generator::provider_said(Dialect dialect, const std::string& role, const Wishes& wishes) {
  if (dialect == Dialect::Ollama) return {ollama_message(role, {}, nullptr, wishes)};
  const bool is_model = role == "assistant";
  if (dialect == Dialect::Responses && is_model && maybe(30)) {
    Tree item = tagged(dialect, "reasoning", Tree::object({{"id", str(id())}}));
    Tree summary = Tree::array();
    for (std::size_t i = random.below(3); i > 0; --i) {
      summary.elements.push_back(Tree::object({{"type", str("summary_text")}, {"text", str(text())}}));
    }
    item.add("summary", std::move(summary));
    if (maybe(80)) item.add("encrypted_content", maybe(90) ? str(word()) : Tree::literal("null"));
    return {finished(std::move(item), wishes)};
  }
  std::vector<Tree> parts;
  for (std::size_t i = wishes.quirks && role == "user" && maybe(30) ? 25 : 0; i > 0; --i)
    parts.push_back(provider_media(dialect, wishes));
  for (std::size_t i = random.below(4); i > 0; --i) {
    parts.push_back(role == "system" ? provider_text(dialect, false, wishes)
                                     : provider_part(dialect, is_model, wishes));
  }
  return {provider_message(dialect, role, std::move(parts), wishes)};
}

// The calls of one step and what answers them.
std::vector<Tree> Generator::provider_exchange(Dialect dialect, std::vector<Call> calls,
                                               std::vector<Call> answers, const Wishes& wishes) {
  const bool may_lack_ids = dialect == Dialect::Gemini || dialect == Dialect::Ollama;
  if (may_lack_ids && maybe(30)) {  // then results answer the calls in their order
    for (Call& call : calls) call.id.clear();
    answers = calls;
  }
  std::vector<Tree> out;
  if (dialect == Dialect::Ollama) {
    out.push_back(ollama_message("assistant", calls, nullptr, wishes));
    for (const Call& answer : answers) out.push_back(ollama_message("tool", {}, &answer, wishes));
    return out;
  }
  std::vector<Tree> uses, results;
  for (const Call& call : calls) uses.push_back(provider_use(dialect, call, wishes));
  for (const Call& answer : answers) results.push_back(provider_result(dialect, answer, wishes));
  if (dialect == Dialect::Responses) {
    for (Tree& use : uses) out.push_back(std::move(use));
    for (Tree& result : results) out.push_back(std::move(result));
    return out;
  }
  std::vector<Tree> parts;
  for (std::size_t i = random.below(3); i > 0; --i) parts.push_back(provider_part(dialect, true, wishes));
  for (Tree& use : uses) parts.push_back(std::move(use));
  out.push_back(provider_message(dialect, "assistant", std::move(parts), wishes));
  if (maybe(30) && dialect != Dialect::Gemini) results.push_back(provider_text(dialect, false, wishes));
  out.push_back(provider_message(dialect, "user", std::move(results), wishes));
  return out;
}

std::vector<Tree> Generator::provider_history(Dialect dialect, const Wishes& wishes) {
  std::vector<Tree> out;
  const auto add = [&](std::vector<Tree> more) {
    for (Tree& each : more) out.push_back(std::move(each));
  };
  for (std::size_t steps = random.below(5); steps > 0; --steps) {
    if (maybe(60)) {
      const std::vector<std::string> roles = {"user", "user", "assistant", "system"};
      add(provider_said(dialect, random.one_of(roles), wishes));
      continue;
    }
    std::vector<Call> calls;
    for (std::size_t i = 1 + random.below(3); i > 0; --i) calls.push_back(call());
    std::vector<Call> answers = calls;
    random.shuffle(answers);
    if (!wishes.whole_history && maybe(40)) answers.pop_back();
    if (!wishes.whole_history && maybe(20)) answers.push_back(call());
    add(provider_exchange(dialect, std::move(calls), std::move(answers), wishes));
  }
  return out;
}

// What is around the messages of a request.
Tree Generator::provider_request(Dialect dialect, std::vector<Tree> messages, const Wishes& wishes) {
  Tree request = Tree::object();
  const auto schema = [&] { return Tree::object({{"type", str("object")}, {"properties", object_value()}}); };
  const std::string name = word();
  const std::string about = text();
  const auto thinking = [&] {
    return Tree::object({{"type", str("enabled")}, {"budget_tokens", Tree::literal("1024")}});
  };
  switch (dialect) {
    case Dialect::Responses:
      request.add("input", maybe(10) ? str(text()) : Tree::array(std::move(messages)));
      request.add("model", str(model(wishes)));
      if (wishes.quirks && maybe(50)) request.add("store", Tree::literal("false"));
      if (maybe(50)) request.add("instructions", str(text()));
      if (maybe(50)) request.add("max_output_tokens", Tree::literal("100"));
      break;
    case Dialect::Anthropic: {
      request.add("messages", Tree::array(std::move(messages))).add("model", str(model(wishes)));
      if (wishes.quirks) request.add("thinking", thinking());
      if (maybe(50)) request.add("max_tokens", Tree::literal("1024"));
      if (maybe(30)) request.add("system", str(text()));
      if (maybe(30)) request.add("tool_choice", Tree::object({{"type", str(maybe(50) ? "auto" : "any")}}));
      Tree tool =
          Tree::object({{"name", str(name)}, {"description", str(about)}, {"input_schema", schema()}});
      if (maybe(50)) request.add("tools", Tree::array({finished(std::move(tool), wishes)}));
      break;
    }
    case Dialect::Gemini: {
      request.add("contents", Tree::array(std::move(messages)));
      Tree text = provider_text(dialect, false, wishes);
      if (maybe(50))
        request.add("systemInstruction", Tree::object({{"parts", Tree::array({std::move(text)})}}));
      if (maybe(50))
        request.add("generationConfig",
                    Tree::object({{"temperature", Tree::literal("0.70")}, {"u_k", value(1)}}));
      break;
    }
    case Dialect::Converse: {
      request.add("messages", Tree::array(std::move(messages)));
      Tree text = provider_text(dialect, false, wishes);
      if (maybe(50)) request.add("system", Tree::array({std::move(text)}));
      if (maybe(50)) request.add("inferenceConfig", Tree::object({{"maxTokens", Tree::literal("5")}}));
      Tree spec = Tree::object({{"name", str(name)}, {"inputSchema", Tree::object({{"json", schema()}})}});
      Tree config = Tree::object(
          {{"tools", Tree::array({Tree::object({{"toolSpec", finished(std::move(spec), wishes)}})})}});
      if (maybe(50)) request.add("toolConfig", std::move(config));
      break;
    }
    default:
      request.add("messages", Tree::array(std::move(messages))).add("model", str(model(wishes)));
      if (wishes.quirks && maybe(50)) request.add("thinking", Tree::object({{"type", str("enabled")}}));
      if (wishes.quirks && maybe(50)) request.add("tool_choice", str("required"));
      if (maybe(50)) request.add("stream", Tree::literal("true"));
      break;
  }
  return finished(std::move(request), wishes);
}

// A model's answer, now and then without a message.
Tree Generator::provider_answer(Dialect dialect, const Wishes& wishes) {
  const Tree count = Tree::literal(std::to_string(random.below(1000)));
  const auto text = [&](std::string word) {
    return maybe(90) ? str(std::move(word)) : Tree::literal("null");
  };
  if (dialect == Dialect::Responses) {
    Tree answer =
        Tree::object({{"id", str(id())}, {"object", str("response")}, {"status", str("completed")}});
    answer.add("output",
               Tree::array(maybe(90) ? provider_said(dialect, "assistant", wishes) : std::vector<Tree>()));
    if (maybe(70)) answer.add("usage", Tree::object({{"input_tokens", count}, {"output_tokens", count}}));
    return finished(std::move(answer), wishes);
  }
  Tree message = is_chat(dialect) ? flat_message(Dialect::OpenAI, "assistant", {}, nullptr, wishes)
                                  : std::move(provider_said(dialect, "assistant", wishes).front());
  const bool has_message = maybe(90);
  Tree answer = Tree::object();
  switch (dialect) {
    case Dialect::Anthropic:
      message.add("id", str(id())).add("type", str("message")).add("model", str(word()));
      message.add("stop_reason", text(maybe(50) ? "end_turn" : "max_tokens"));
      if (maybe(70)) message.add("usage", Tree::object({{"input_tokens", count}, {"output_tokens", count}}));
      return message;
    case Dialect::Gemini: {
      Tree candidate = Tree::object({{"content", std::move(message)}, {"finishReason", str("STOP")}});
      answer.add("candidates",
                 has_message ? Tree::array({finished(std::move(candidate), wishes)}) : Tree::array());
      if (maybe(70)) answer.add("usageMetadata", Tree::object({{"promptTokenCount", count}}));
      break;
    }
    case Dialect::Ollama:
      answer.add("message", std::move(message)).add("done", Tree::literal("true")).add("model", str(word()));
      if (maybe(70)) answer.add("prompt_eval_count", count);
      break;
    case Dialect::Converse:
      answer.add("output", has_message ? Tree::object({{"message", std::move(message)}}) : Tree::object());
      answer.add("stopReason", str("end_turn"));
      break;
    default: {
      Tree choice = Tree::object({{"index", Tree::literal("0")}, {"message", std::move(message)}});
      choice.add("finish_reason", text("stop"));
      answer.add("choices", has_message ? Tree::array({finished(std::move(choice), wishes)}) : Tree::array());
      if (maybe(70))
        answer.add("usage", Tree::object({{"prompt_tokens", count}, {"completion_tokens", count}}));
      break;
    }
  }
  return finished(std::move(answer), wishes);
}

Tree Generator::provider_tree(Dialect dialect, const Wishes& wishes) {
  if (maybe(15)) return provider_answer(dialect, wishes);
  std::vector<Tree> messages =
      is_chat(dialect) ? history(Dialect::OpenAI, wishes) : provider_history(dialect, wishes);
  if (maybe(60)) return Tree::array(std::move(messages));
  return provider_request(dialect, std::move(messages), wishes);
}

}  // namespace parley::test
