// What AgentScope's formatters differ in, one row per provider at the end of this file. Members are written
// in the order of the original's dicts.
#include <array>

#include "dialect/formatters/agentscope.h"

namespace parley::dialect::agentscope {
namespace {

using json::Writer;

// ---- Pieces

bool is_empty(const Writer& list) { return list.view().empty(); }

void put_list(Writer& out, const Writer& elements) {
  out.begin_array();
  if (!is_empty(elements)) out.raw(elements.view());
  out.end_array();
}

void put_list_or_null(Writer& out, const Writer& elements) {
  if (is_empty(elements)) {
    out.null();
  } else {
    put_list(out, elements);
  }
}

Writer& put_string(Writer& out, const std::optional<Text>& text) {
  return text ? out.string(*text) : out.null();
}

void put_string_or_null(Writer& out, std::string_view text) {
  if (text.empty()) {
    out.null();
  } else {
    out.string(text);
  }
}

std::string joined(const std::vector<Text>& texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i != 0) out += '\n';
    out += texts[i];
  }
  return out;
}

void put_calls(Writer& out, const Turn& turn) {
  if (is_empty(turn.calls)) return;
  out.key("tool_calls");
  put_list(out, turn.calls);
}

Writer& open_message(Writer& out, std::string_view role) {
  return out.begin_object().key("role").string(role);
}

// ---- Texts

Result<void> copied_text(Traversal&, Turn& turn, const Said& said) {
  if (!said.wire.empty()) {
    turn.parts.raw(json::python_json(said.wire));
    return {};
  }
  turn.parts.begin_object().key("type").string("text").key("text");
  put_string(turn.parts, said.text).end_object();
  return {};
}

Result<void> bare_text(Traversal&, Turn& turn, const Said& said) {
  turn.parts.begin_object().key("text");
  put_string(turn.parts, said.text).end_object();
  return {};
}

Result<void> responses_text(Traversal&, Turn& turn, const Said& said) {
  const std::string_view type = turn.role == "assistant" ? "output_text" : "input_text";
  turn.parts.begin_object().key("type").string(type).key("text");
  put_string(turn.parts, said.text).end_object();
  return {};
}

// The member "thought_signature" of a block, which the original decodes.
Result<void> put_signature(Traversal& traversal, Writer& out, std::string_view wire) {
  if (wire.empty()) return {};
  const auto member = Json::trusted(Text::trusted(nullptr, wire)).get("thought_signature");
  if (!member || member->is_null()) return {};
  const auto signature = member->as_string();
  if (!signature) return traversal.raises("TypeError", "'thought_signature' must be a string");
  const auto base64 = python_base64(*signature);
  if (!base64) return traversal.raises("binascii.Error", "'thought_signature' is no base64");
  out.key("thought_signature").string(*base64);
  return {};
}

Result<void> gemini_text(Traversal& traversal, Turn& turn, const Said& said) {
  put_string(turn.parts.begin_object().key("text"), said.text);
  PARLEY_CHECK(put_signature(traversal, turn.parts, said.wire));
  turn.parts.end_object();
  return {};
}

void copied_thinking(Turn& turn, const Said& thought) { turn.parts.raw(json::python_json(thought.wire)); }

void reasoning(Turn& turn, const Said& thought) { turn.thoughts.push_back(thought.text.value_or(Text())); }

// ---- Tools

Writer& open_call(Traversal& traversal, Writer& calls, const BlockRecord& use) {
  put_string(calls.begin_object().key("id"), traversal.string(use.id()));
  calls.key("type").string("function").key("function").begin_object();
  return put_string(calls.key("name"), traversal.string(use.name())).key("arguments");
}

Result<void> openai_call(Traversal& traversal, Turn& turn, const BlockRecord& use) {
  open_call(traversal, turn.calls, use)
      .string(traversal.input(use, json::Gaps::Spaces))
      .end_object()
      .end_object();
  return {};
}

Result<void> ollama_call(Traversal& traversal, Turn& turn, const BlockRecord& use) {
  open_call(traversal, turn.calls, use).raw(traversal.input(use)).end_object().end_object();
  return {};
}

Result<void> responses_call(Traversal& traversal, Turn& turn, const BlockRecord& use) {
  Writer& to = turn.after.begin_object().key("type").string("function_call");
  put_string(to.key("call_id"), traversal.string(use.id()));
  put_string(to.key("name"), traversal.string(use.name()));
  to.key("arguments").string(traversal.input(use, json::Gaps::Spaces)).end_object();
  return {};
}

Result<void> anthropic_call(Traversal& traversal, Turn& turn, const BlockRecord& use) {
  put_string(turn.parts.begin_object().key("id"), traversal.string(use.id()));
  turn.parts.key("type").string("tool_use");
  put_string(turn.parts.key("name"), traversal.string(use.name()));
  turn.parts.key("input").raw(traversal.input(use)).end_object();
  return {};
}

Result<void> gemini_call(Traversal& traversal, Turn& turn, const BlockRecord& use) {
  PARLEY_CHECK(traversal.require(!use.name().is_absent(), "name"));
  PARLEY_CHECK(traversal.require(use.input().present(), "input"));
  if (use.id().present()) {
    traversal.note("call_id_dropped", Severity::Minor, "dropped",
                   "AgentScope sends no ids of calls to Gemini");
  }
  Writer& to = turn.parts.begin_object().key("function_call").begin_object().key("id").null();
  put_string(to.key("name"), traversal.string(use.name()));
  to.key("args").raw(traversal.input(use)).end_object();
  PARLEY_CHECK(put_signature(traversal, to, traversal.said(use).wire));
  to.end_object();
  return {};
}

Result<void> tool_message(Traversal& traversal, Turn&, const BlockRecord& result) {
  PARLEY_TRY(const std::string text, traversal.result_text(result));
  Writer& out = open_message(traversal.out(), "tool");
  put_string(out.key("tool_call_id"), traversal.string(result.id()));
  out.key("content").string(text);
  put_string(out.key("name"), traversal.string(result.name())).end_object();
  return {};
}

Result<void> responses_result(Traversal& traversal, Turn& turn, const BlockRecord& result) {
  PARLEY_TRY(const std::string text, traversal.result_text(result));
  Writer& to = turn.after.begin_object().key("type").string("function_call_output");
  put_string(to.key("call_id"), traversal.string(result.id()));
  to.key("output").string(text).end_object();
  return {};
}

Result<void> gemini_result(Traversal& traversal, Turn&, const BlockRecord& result) {
  PARLEY_TRY(const std::string text, traversal.result_text(result));
  PARLEY_CHECK(traversal.require(!result.id().is_absent(), "id"));
  PARLEY_CHECK(traversal.require(!result.name().is_absent(), "name"));
  Writer& out = open_message(traversal.out(), "user").key("parts").begin_array();
  out.begin_object().key("function_response").begin_object();
  put_string(out.key("id"), traversal.string(result.id()));
  put_string(out.key("name"), traversal.string(result.name()));
  out.key("response").begin_object().key("output").string(text).end_object();
  out.end_object().end_object().end_array().end_object();
  return {};
}

// The content of a result: images as Anthropic takes them, everything else as it is.
Result<void> put_output(Traversal& traversal, Writer& out, const BlockRecord& result) {
  if (!result.is_list) {
    const Text text = traversal.string(result.output()).value_or(Text());
    out.begin_object().key("type").string("text").key("text").string(text).end_object();
    return {};
  }
  const auto children = traversal.children(result);
  for (std::size_t i = 0; i < children.size(); ++i) {
    traversal.at_child(i);
    const BlockRecord& child = children[i];
    if (child.type == BlockType::Image) {
      PARLEY_CHECK(anthropic_media(traversal, out, traversal.media(child)));
    } else if (child.type == BlockType::Raw && traversal.string(child.raw_type()) == Text("image")) {
      return traversal.raises("KeyError", "the source of an image must be 'base64' or 'url'");
    } else {
      out.raw(traversal.python(child.wire));
    }
  }
  traversal.at_child({});
  return {};
}

Result<void> anthropic_result(Traversal& traversal, Turn&, const BlockRecord& result) {
  Writer content;
  PARLEY_CHECK(put_output(traversal, content, result));
  Writer& out = open_message(traversal.out(), "user").key("content").begin_array();
  out.begin_object().key("type").string("tool_result");
  put_string(out.key("tool_use_id"), traversal.string(result.id()));
  put_list(out.key("content"), content);
  out.end_object().end_array().end_object();
  return {};
}

// ---- Whole messages

bool close_openai(Writer& out, Turn& turn) {
  if (is_empty(turn.parts) && is_empty(turn.calls)) return false;
  open_message(out, turn.role).key("name").string(turn.name);
  put_list_or_null(out.key("content"), turn.parts);
  put_calls(out, turn);
  out.end_object();
  return true;
}

bool close_responses(Writer& out, Turn& turn) {
  if (!is_empty(turn.parts)) {
    put_list(open_message(out, turn.role).key("content"), turn.parts);
    out.end_object();
  }
  if (!is_empty(turn.after)) out.raw(turn.after.view());
  return !is_empty(turn.parts) || !is_empty(turn.after);
}

// Only the first message of a list may be the system's.
bool close_anthropic(Writer& out, Turn& turn) {
  if (is_empty(turn.parts)) return false;
  const bool is_late_system = turn.role == "system" && !turn.is_first;
  put_list(open_message(out, is_late_system ? "user" : turn.role).key("content"), turn.parts);
  out.end_object();
  return true;
}

bool close_gemini(Writer& out, Turn& turn) {
  if (is_empty(turn.parts)) return false;
  put_list(open_message(out, turn.role == "assistant" ? "model" : "user").key("parts"), turn.parts);
  out.end_object();
  return true;
}

// Texts alone become one string, without the empty ones; a list of nothing but empty ones stays a list.
bool close_dashscope(Writer& out, Turn& turn) {
  if (is_empty(turn.parts) && is_empty(turn.calls)) return false;
  open_message(out, turn.role).key("content");
  std::erase_if(turn.texts, [](const Text& text) { return text.empty(); });
  if (!turn.has_media && !turn.texts.empty()) {
    out.string(joined(turn.texts));
  } else {
    put_list(out, turn.parts);
  }
  put_calls(out, turn);
  out.end_object();
  return true;
}

bool close_deepseek(Writer& out, Turn& turn) {
  const std::string text = joined(turn.texts);
  if (text.empty() && is_empty(turn.calls)) return false;
  put_string_or_null(open_message(out, turn.role).key("content"), text);
  const std::string thoughts = joined(turn.thoughts);
  if (!thoughts.empty()) out.key("reasoning_content").string(thoughts);
  put_calls(out, turn);
  out.end_object();
  return true;
}

bool close_ollama(Writer& out, Turn& turn) {
  const std::string text = joined(turn.texts);
  if (text.empty() && is_empty(turn.images) && is_empty(turn.calls)) return false;
  put_string_or_null(open_message(out, turn.role).key("content"), text);
  put_calls(out, turn);
  if (!is_empty(turn.images)) put_list(out.key("images"), turn.images);
  out.end_object();
  return true;
}

// ---- The system message before several agents

Result<void> system_blocks(Traversal& traversal, Writer& out) {
  Turn turn{.role = "system", .name = {}};
  for (const BlockRecord& block : traversal.blocks()) {
    if (block.type == BlockType::Text) PARLEY_CHECK(copied_text(traversal, turn, traversal.said(block)));
  }
  put_list(open_message(out, turn.role).key("content"), turn.parts);
  out.end_object();
  return {};
}

// The texts of the message at hand.
Result<std::vector<Text>> system_texts(Traversal& traversal) {
  std::vector<Text> texts;
  for (const BlockRecord& block : traversal.blocks()) {
    if (block.type != BlockType::Text) continue;
    PARLEY_CHECK(traversal.require(block.text().present(), "text"));
    texts.push_back(*traversal.string(block.text()));
  }
  return texts;
}

Result<void> system_input_texts(Traversal& traversal, Writer& out) {
  PARLEY_TRY(const std::vector<Text> texts, system_texts(traversal));
  open_message(out, "system").key("content").begin_array();
  for (const Text& text : texts) {
    out.begin_object().key("type").string("input_text").key("text").string(text).end_object();
  }
  out.end_array().end_object();
  return {};
}

void put_joined_or_null(Writer& out, const std::vector<Text>& texts) {
  if (texts.empty()) {
    out.null();
  } else {
    out.string(joined(texts));
  }
}

Result<void> system_string(Traversal& traversal, Writer& out) {
  PARLEY_TRY(const std::vector<Text> texts, system_texts(traversal));
  put_joined_or_null(open_message(out, "system").key("content"), texts);
  out.end_object();
  return {};
}

Result<void> system_part(Traversal& traversal, Writer& out) {
  PARLEY_TRY(const std::vector<Text> texts, system_texts(traversal));
  open_message(out, "user").key("parts").begin_array().begin_object().key("text");
  put_joined_or_null(out, texts);
  out.end_object().end_array().end_object();
  return {};
}

// ---- What several agents said

using Item = Run::Item;

void put_text_then_media(Writer& out, const Run& run, std::string_view type) {
  if (run.items.empty() && is_empty(run.images) && is_empty(run.audios)) return;
  open_message(out, "user").key("content").begin_array();
  for (const Item& item : run.items) {
    out.begin_object().key("type").string(type).key("text").string(item.value).end_object();
  }
  if (!is_empty(run.images)) out.raw(run.images.view());
  if (!is_empty(run.audios)) out.raw(run.audios.view());
  out.end_array().end_object();
}

void run_openai(Writer& out, const Run& run) { put_text_then_media(out, run, "text"); }
void run_responses(Writer& out, const Run& run) { put_text_then_media(out, run, "input_text"); }

// The original makes its tags in another order of members than its lines.
void run_anthropic(Writer& out, const Run& run) {
  if (run.items.empty()) return;
  open_message(out, "user").key("content").begin_array();
  for (const Item& item : run.items) {
    if (item.what == Item::Media) {
      out.raw(item.value);
    } else if (item.what == Item::Tag) {
      out.begin_object().key("type").string("text").key("text").string(item.value).end_object();
    } else {
      out.begin_object().key("text").string(item.value).key("type").string("text").end_object();
    }
  }
  out.end_array().end_object();
}

void put_bare_items(Writer& out, const Run& run) {
  out.begin_array();
  for (const Item& item : run.items) {
    if (item.what == Item::Media) {
      out.raw(item.value);
    } else {
      out.begin_object().key("text").string(item.value).end_object();
    }
  }
  out.end_array();
}

void run_gemini(Writer& out, const Run& run) {
  if (run.items.empty()) return;
  put_bare_items(open_message(out, "user").key("parts"), run);
  out.end_object();
}

// Without media there is one item.
void run_dashscope(Writer& out, const Run& run) {
  if (run.items.empty()) return;
  open_message(out, "user").key("content");
  if (run.items.size() == 1) {
    out.string(run.items.front().value);
  } else {
    put_bare_items(out, run);
  }
  out.end_object();
}

// Media leave an empty line in the text.
void run_lines(Writer& out, const Run& run) {
  if (run.items.empty()) return;
  std::string text;
  for (const Item& item : run.items) {
    if (&item != &run.items.front()) text += '\n';
    text += item.value;
  }
  open_message(out, "user").key("content").string(text);
  if (!is_empty(run.images)) put_list(out.key("images"), run.images);
  out.end_object();
}

}  // namespace

std::span<const Provider> providers() {
  static constexpr std::array<Provider, 7> kProviders = {{
      {.target = Dialect::OpenAI,
       .carries = kImage | kAudio,
       .promotes = kImage,
       .promoted_contents = "image",
       .writes_name = true,
       .drops_own_audio = true,
       .system_needs_types = true,
       .text = copied_text,
       .media = openai_media,
       .tool_use = openai_call,
       .tool_result = tool_message,
       .close = close_openai,
       .system = system_blocks,
       .run = run_openai},
      {.target = Dialect::Responses,
       .carries = kImage | kAudio,
       .promotes = kImage,
       .promoted_contents = "image",
       .promotes_at_once = true,
       .drops_own_audio = true,
       .system_needs_types = true,
       .text = responses_text,
       .media = responses_media,
       .tool_use = responses_call,
       .tool_result = responses_result,
       .close = close_responses,
       .system = system_input_texts,
       .run = run_responses},
      {.target = Dialect::Anthropic,
       .carries = kImage,
       .interleaves = true,
       .output_may_be_absent = true,
       .system_needs_types = true,
       .text = copied_text,
       .thinking = copied_thinking,
       .media = anthropic_media,
       .tool_use = anthropic_call,
       .tool_result = anthropic_result,
       .close = close_anthropic,
       .system = system_blocks,
       .run = run_anthropic},
      {.target = Dialect::Gemini,
       .carries = kAllMedia,
       .promotes = kImage,
       .promoted_contents = "image",
       .interleaves = true,
       .history_tag = "<history>",
       .text = gemini_text,
       .media = gemini_media,
       .tool_use = gemini_call,
       .tool_result = gemini_result,
       .close = close_gemini,
       .system = system_part,
       .run = run_gemini},
      {.target = Dialect::Ollama,
       .carries = kImage,
       .promotes = kImage,
       .promoted_contents = "image",
       .images_apart = true,
       .interleaves = true,
       .media = ollama_media,
       .tool_use = ollama_call,
       .tool_result = tool_message,
       .close = close_ollama,
       .system = system_string,
       .run = run_lines},
      {.target = Dialect::DeepSeek,
       .output_may_be_absent = true,
       .system_needs_types = true,
       .thinking = reasoning,
       .tool_use = openai_call,
       .tool_result = tool_message,
       .close = close_deepseek,
       .system = system_blocks,
       .run = run_lines},
      {.target = Dialect::DashScope,
       .carries = kAllMedia,
       .promotes = kAllMedia,
       .promoted_contents = "media",
       .interleaves = true,
       .text = bare_text,
       .media = dashscope_media,
       .tool_use = openai_call,
       .tool_result = tool_message,
       .close = close_dashscope,
       .system = system_string,
       .run = run_dashscope},
  }};
  return kProviders;
}

}  // namespace parley::dialect::agentscope
