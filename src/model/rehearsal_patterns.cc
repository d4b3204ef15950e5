#include "model/rehearsal_patterns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "parley/json/writer.h"

namespace parley::rehearsal {
namespace {

constexpr std::string_view kWhoIAm =
    "I am rehearsal, the built-in offline model, and I understand nothing. I know a few patterns: \"add 2 "
    "and "
    "3\", "
    "\"what time is it\", \"run: COMMAND\", \"recall WORDS\" and \"call TOOL {...}\" use the tools I am "
    "offered; "
    "\"think about X\" thinks. Anything else I repeat.";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// What follows `words` in `text`, whatever their case; nothing if it does not have them.
std::optional<std::string_view> text_after(std::string_view text, std::string_view words) {
  const std::size_t found = lower(text).find(words);
  if (found == std::string::npos) return std::nullopt;
  return trimmed(text.substr(found + words.size()));
}

std::vector<Json::Member> properties(const Tool& tool) {
  const std::optional<Json> all = tool.parameters.get("properties");
  return all ? all->members() : std::vector<Json::Member>();
}

using Tools = std::span<const Tool>;

// The first tool with one of these in its name.
const Tool* named(Tools tools, std::initializer_list<std::string_view> names) {
  const auto found = std::ranges::find_if(tools, [&](const Tool& tool) {
    return std::ranges::any_of(
        names, [&](std::string_view name) { return lower(tool.name).find(name) != std::string::npos; });
  });
  return found == tools.end() ? nullptr : &*found;
}

// A call of the first tool that takes an argument of this name, with this value for it.
std::optional<Call> call_taking(Tools tools, std::string_view property, std::string_view value) {
  for (const Tool& tool : tools) {
    for (const Json::Member& each : properties(tool)) {
      if (each.key.view() != property) continue;
      json::Writer w;
      w.begin_object().key(property).string(value).end_object();
      return Call{.name = tool.name, .arguments = w.take().text()};
    }
  }
  return std::nullopt;
}

// ---- The patterns. Each gives a call if the text is meant for it and a tool is there.

std::optional<Call> call_by_name(std::string_view text, Tools tools) {
  if (!text.starts_with("call ")) return std::nullopt;
  text = trimmed(text.substr(5));
  const std::string_view name = text.substr(0, text.find(' '));
  const auto tool = std::ranges::find_if(tools, [&](const Tool& each) { return each.name.view() == name; });
  if (tool == tools.end()) return std::nullopt;
  const Text arguments = Text(trimmed(text.substr(name.size())));
  return Call{.name = tool->name, .arguments = arguments.empty() ? Text("{}") : arguments};
}

// A plan with a step for each part of the text, which line feeds and the word "then" separate.
std::optional<Call> make_plan(std::string_view text, Tools tools) {
  const auto tool =
      std::ranges::find_if(tools, [](const Tool& each) { return each.name.view() == "create_plan"; });
  if (tool == tools.end()) return std::nullopt;
  json::Writer w;
  w.begin_object().key("title").string(Text(text.substr(0, text.find('\n'))));
  w.key("steps").begin_array();
  while (!text.empty()) {
    constexpr std::string_view kThen = " then ";
    const std::size_t then = std::min(lower(text).find(kThen), text.size());
    const std::size_t line = std::min(text.find('\n'), text.size());
    std::string_view step = text.substr(0, std::min(then, line));
    text.remove_prefix(std::min(text.size(), then < line ? then + kThen.size() : line + 1));
    while (step.ends_with(',') || step.ends_with(' ')) step.remove_suffix(1);
    if (step = trimmed(step); !step.empty()) w.string(Text(step));
  }
  w.end_array().end_object();
  return Call{.name = tool->name, .arguments = w.take().text()};
}

std::optional<Call> run_command(std::string_view text, Tools tools) {
  const auto command = text_after(text, "run:");
  return command ? call_taking(tools, "command", *command) : std::nullopt;
}

std::optional<Call> tell_time(std::string_view text, Tools tools) {
  if (!text_after(text, "what time is it")) return std::nullopt;
  if (const Tool* clock = named(tools, {"time", "clock"})) return Call{clock->name, Text("{}")};
  return call_taking(tools, "command", "date -u");
}

// "weather like in Oslo?": the place is what the tool takes first.
std::optional<Call> tell_weather(std::string_view text, Tools tools) {
  const auto rest = text_after(text, "weather");
  const Tool* tool = rest ? named(tools, {"weather"}) : nullptr;
  if (tool == nullptr) return std::nullopt;
  std::string_view place = text_after(*rest, "in ").value_or("");
  while (place.ends_with('?') || place.ends_with('.')) place.remove_suffix(1);
  const std::vector<Json::Member> takes = properties(*tool);
  if (place.empty() || takes.empty()) return Call{tool->name, Text("{}")};
  json::Writer w;
  return Call{tool->name, w.begin_object().key(takes[0].key).string(place).end_object().take().text()};
}

std::optional<std::int64_t> number_at(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Call> add(std::string_view text, Tools tools) {
  std::string_view rest = text_after(text, "add ").value_or("");
  const auto first = number_at(rest);
  if (!first || !rest.starts_with(" and ")) return std::nullopt;
  rest.remove_prefix(5);
  const auto second = number_at(rest);
  if (!second) return std::nullopt;
  const Tool* adder = named(tools, {"add", "sum"});
  if (adder != nullptr && properties(*adder).size() >= 2) {
    json::Writer w;
    w.begin_object().key(properties(*adder)[0].key).number(*first);
    w.key(properties(*adder)[1].key).number(*second).end_object();
    return Call{adder->name, w.take().text()};
  }
  const std::string sum = std::to_string(*first) + " + " + std::to_string(*second);
  if (auto call = call_taking(tools, "code", "print(" + sum + ")")) return call;
  return call_taking(tools, "command", "echo $((" + sum + "))");
}

std::optional<Call> recall(std::string_view text, Tools tools) {
  for (const std::string_view words : {"recall ", "do you remember "}) {
    const auto what = text_after(text, words);
    if (what && named(tools, {"recall"}) != nullptr) return call_taking(tools, "query", *what);
  }
  return std::nullopt;
}

constexpr std::array kPatterns = {call_by_name, make_plan, run_command, tell_time, tell_weather, add, recall};

// ---- Answers without a tool call

Text join(std::string_view before, std::string_view text, std::string_view after) {
  return Text(std::string(before).append(text).append(after));
}

std::string shown(const ToolResultBlock& result) {
  if (const auto* text = std::get_if<Text>(&result.output)) return text->str();
  std::string out;
  if (const auto* blocks = std::get_if<std::vector<Block>>(&result.output)) {
    for (const Block& block : *blocks) {
      const auto* text = block.as<TextBlock>();
      out += text != nullptr ? text->text.str() : "[" + std::string(to_string(block.type())) + "]";
    }
  }
  return out;
}

Answer answer_from_results(std::span<const Message> results) {
  std::string out;
  for (const Message& message : results) {
    for (const Block& block : message.blocks()) {
      const auto* result = block.as<ToolResultBlock>();
      if (result == nullptr) continue;
      out +=
          (out.empty() ? "" : "\n") + ("Rehearsal: " + result->name.str()) + " gave back: " + shown(*result);
    }
  }
  return {.text = Text(out)};
}

// What PlanningFlow writes around the step that it wants, and after all steps.
std::string_view step_in(std::string_view text) {
  const auto step = text_after(text, " and no other: ");
  return step ? step->substr(0, step->find('\n')) : text;
}
std::optional<std::string_view> finished_plan(std::string_view text) {
  if (!text.ends_with("Summarize the results of this plan in a few sentences.")) return std::nullopt;
  const auto title = text_after(text, "plan: ");
  return title ? std::optional(title->substr(0, title->find('\n'))) : std::nullopt;
}

Answer answer_in_words(std::string_view text) {
  if (const auto title = finished_plan(text))
    return {.text = join("Rehearsal finished the plan: ", *title, "")};
  const std::string plain = lower(text);
  for (const std::string_view question : {"who are you", "what are you", "help"}) {
    if (plain.find(question) != std::string::npos) return {.text = Text(kWhoIAm)};
  }
  if (const auto topic = text_after(text, "think about ")) {
    return {.think = join("Rehearsal thinks about ", *topic, ", as far as it can."),
            .text = join("Rehearsal has thought about ", *topic, " and come to nothing.")};
  }
  return {.text = join("Rehearsal heard: ", text, "")};
}

}  // namespace

Answer answer_by_pattern(const Conversation& conversation) {
  const std::span<const Message> messages = conversation.messages();
  std::size_t results = 0;
  while (results < messages.size() && messages[messages.size() - results - 1].role() == Role::Tool) ++results;
  if (results > 0) return answer_from_results(messages.last(results));

  std::string heard;
  for (const Message& message : messages) {
    if (message.role() == Role::User) heard = message.get_text_content().value_or(Text()).str();
  }
  const std::string_view text = step_in(trimmed(heard));
  const auto choice = conversation.settings().get(Setting::ToolChoice);
  const bool may_call = !choice || choice->as_string().value_or(Text()).view() != "none";
  const Tools tools = may_call ? conversation.tools() : Tools();
  for (const auto pattern : kPatterns) {
    if (std::optional<Call> call = pattern(text, tools)) return {.calls = {*std::move(call)}};
  }
  return answer_in_words(text);
}

}  // namespace parley::rehearsal
