// Conversions as most programs have them: parsed values in, parsed values out, dumped.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "convert/task.h"

namespace bench::convert_task {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of members, as Parley does

const std::string& text_of(const Json& value) { return value.get_ref<const std::string&>(); }

// A list of messages in which those of one role stand as one.
struct Joined {
  const char* content;
  Json messages = Json::array();

  Json& blocks(const char* role) {
    if (messages.empty() || messages.back()["role"] != role) {
      messages.push_back({{"role", role}, {content, Json::array()}});
    }
    return messages.back()[content];
  }
};

struct DataUrl {
  std::string media_type, data;
};
DataUrl split(const std::string& url) {
  const std::size_t type = url.find(':') + 1;
  const std::size_t end = url.find(';');
  return {url.substr(type, end - type), url.substr(url.find(',') + 1)};
}

template <typename OnText, typename OnImage>
void each_part(const Json& content, OnText on_text, OnImage on_image) {
  if (content.is_string()) return on_text(content);
  for (const Json& part : content) {
    if (part["type"] == "text") {
      on_text(part["text"]);
    } else {
      on_image(split(text_of(part["image_url"]["url"])));
    }
  }
}

// ---- OpenAI to Anthropic

Json text_block(const Json& text) { return {{"type", "text"}, {"text", text}}; }

void put_image(Json& blocks, DataUrl url) {
  blocks.push_back(
      {{"type", "image"},
       {"source",
        {{"type", "base64"}, {"media_type", std::move(url.media_type)}, {"data", std::move(url.data)}}}});
}

Json openai_to_anthropic(const Json& request) {
  Json out = {{"model", request["model"]}};
  Joined joined{"content"};
  for (const Json& message : request["messages"]) {
    const std::string& role = text_of(message["role"]);
    if (role == "system") {
      out["system"] = message["content"];
      continue;
    }
    if (role == "tool") {
      joined.blocks("user").push_back({{"type", "tool_result"},
                                       {"tool_use_id", message["tool_call_id"]},
                                       {"content", message["content"]}});
      continue;
    }
    Json& blocks = joined.blocks(role == "user" ? "user" : "assistant");
    each_part(
        message["content"], [&](const Json& text) { blocks.push_back(text_block(text)); },
        [&](DataUrl url) { put_image(blocks, std::move(url)); });
    if (!message.contains("tool_calls")) continue;
    for (const Json& call : message["tool_calls"]) {
      blocks.push_back({{"type", "tool_use"},
                        {"id", call["id"]},
                        {"name", call["function"]["name"]},
                        {"input", Json::parse(text_of(call["function"]["arguments"]))}});
    }
  }
  out["messages"] = std::move(joined.messages);
  for (const Json& tool : request["tools"]) {
    const Json& function = tool["function"];
    out["tools"].push_back({{"name", function["name"]},
                            {"description", function["description"]},
                            {"input_schema", function["parameters"]}});
  }
  out["max_tokens"] = request["max_tokens"];
  return out;
}

// ---- OpenAI to Gemini

Json openai_to_gemini(const Json& request) {
  Json out = Json::object();
  Json contents = Json::array();
  std::map<std::string, Json> names;  // of tools, by the ids of their calls
  bool after_results = false;
  for (const Json& message : request["messages"]) {
    const std::string& role = text_of(message["role"]);
    if (role == "system") {
      out["systemInstruction"] = {{"parts", {{{"text", message["content"]}}}}};
      continue;
    }
    if (role == "tool") {
      // Results stand in a message of their own.
      if (!after_results) contents.push_back({{"role", "user"}, {"parts", Json::array()}});
      after_results = true;
      const Json& id = message["tool_call_id"];
      contents.back()["parts"].push_back(
          {{"functionResponse",
            {{"id", id}, {"name", names[text_of(id)]}, {"response", {{"output", message["content"]}}}}}});
      continue;
    }
    const char* const speaker = role == "user" ? "user" : "model";
    const bool goes_on = !after_results && !contents.empty() && contents.back()["role"] == speaker;
    if (!goes_on) contents.push_back({{"role", speaker}, {"parts", Json::array()}});
    after_results = false;
    Json& parts = contents.back()["parts"];
    each_part(
        message["content"], [&](const Json& text) { parts.push_back({{"text", text}}); },
        [&](DataUrl url) {
          parts.push_back(
              {{"inlineData", {{"mimeType", std::move(url.media_type)}, {"data", std::move(url.data)}}}});
        });
    if (!message.contains("tool_calls")) continue;
    bool is_first = true;
    for (const Json& call : message["tool_calls"]) {
      const Json& function = call["function"];
      names[text_of(call["id"])] = function["name"];
      Json part = {{"functionCall",
                    {{"id", call["id"]},
                     {"name", function["name"]},
                     {"args", Json::parse(text_of(function["arguments"]))}}}};
      if (is_first) part["thoughtSignature"] = "skip_thought_signature_validator";
      is_first = false;
      parts.push_back(std::move(part));
    }
  }
  out["contents"] = std::move(contents);
  Json declared = Json::array();
  for (const Json& tool : request["tools"]) {
    const Json& function = tool["function"];
    declared.push_back({{"name", function["name"]},
                        {"description", function["description"]},
                        {"parametersJsonSchema", function["parameters"]}});
  }
  out["tools"] = Json::array({{{"functionDeclarations", std::move(declared)}}});
  out["generationConfig"] = {{"maxOutputTokens", request["max_tokens"]}};
  return out;
}

// ---- Anthropic to OpenAI

Json image_part(const Json& block) {
  const Json& source = block["source"];
  return {{"type", "image_url"},
          {"image_url",
           {{"url", "data:" + text_of(source["media_type"]) + ";base64," + text_of(source["data"])}}}};
}

Json user_message(Json parts) {
  const bool is_text = parts.size() == 1 && parts[0]["type"] == "text";
  return {{"role", "user"}, {"content", is_text ? std::move(parts[0]["text"]) : std::move(parts)}};
}

// A result, and the images it cannot hold, which move behind all results.
Json tool_message(const Json& result, const Json& name, Json& moved) {
  const Json& id = result["tool_use_id"];
  const Json& content = result["content"];
  if (content.is_string()) return {{"role", "tool"}, {"tool_call_id", id}, {"content", content}};
  std::string said;
  std::size_t images = 0;
  for (const Json& part : content) {
    if (!said.empty()) said += '\n';
    if (part["type"] == "text") {
      said += text_of(part["text"]);
      continue;
    }
    const std::string number = std::to_string(++images);
    moved.push_back(text_block("Image " + number + " from the result of call " + text_of(id) + " (" +
                               text_of(name) + "):"));
    moved.push_back(image_part(part));
    said += "[image " + number + " of this result is in the next user message]";
  }
  return {{"role", "tool"}, {"tool_call_id", id}, {"content", std::move(said)}};
}

Json anthropic_to_openai(const Json& request) {
  Json out = {{"model", request["model"]}};
  Json messages = Json::array({{{"role", "system"}, {"content", request["system"]}}});
  std::map<std::string, Json> names;  // of tools, by the ids of their calls
  for (const Json& message : request["messages"]) {
    Json parts = Json::array();
    Json moved = Json::array();
    Json calls = Json::array();
    for (const Json& block : message["content"]) {
      const std::string& type = text_of(block["type"]);
      if (type == "text") {
        parts.push_back(block);
      } else if (type == "image") {
        parts.push_back(image_part(block));
      } else if (type == "tool_result") {
        messages.push_back(tool_message(block, names[text_of(block["tool_use_id"])], moved));
      } else {
        names[text_of(block["id"])] = block["name"];
        calls.push_back({{"id", block["id"]},
                         {"type", "function"},
                         {"function", {{"name", block["name"]}, {"arguments", block["input"].dump()}}}});
      }
    }
    if (!moved.empty()) messages.push_back(user_message(std::move(moved)));
    if (message["role"] == "user") {
      if (!parts.empty()) messages.push_back(user_message(std::move(parts)));
      continue;
    }
    Json said = user_message(std::move(parts));
    said["role"] = "assistant";
    if (!calls.empty()) said["tool_calls"] = std::move(calls);
    messages.push_back(std::move(said));
  }
  out["messages"] = std::move(messages);
  for (const Json& tool : request["tools"]) {
    out["tools"].push_back({{"type", "function"},
                            {"function",
                             {{"name", tool["name"]},
                              {"description", tool["description"]},
                              {"parameters", tool["input_schema"]}}}});
  }
  out["max_tokens"] = request["max_tokens"];
  return out;
}

struct Row {
  std::string_view from, to;
  Json (*convert)(const Json& request);
};
constexpr Row kRows[] = {{"openai", "anthropic", openai_to_anthropic},
                         {"openai", "gemini", openai_to_gemini},
                         {"anthropic", "openai", anthropic_to_openai}};

struct State {
  Json value;
  std::string out;
};

}  // namespace

std::vector<Contender> nlohmann(const Conversion& conversion) {
  for (const Row& row : kRows) {
    if (row.from != conversion.from || row.to != conversion.to) continue;
    auto state = std::make_shared<State>();
    state->value = Json::parse(conversion.source);
    return {{"nlohmann, from its parsed value", [=] { state->out = {}; },
             [state, convert = row.convert] {
               state->out = convert(state->value).dump();
               return state->out.size();
             }}};
  }
  return {};
}

}  // namespace bench::convert_task
