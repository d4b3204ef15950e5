#include "dialect/core/envelope.h"

#include <algorithm>
#include <array>
#include <set>

#include "dialect/core/setting_limits.h"
#include "dialect/core/write_blocks.h"
#include "json/pointer.h"
#include "parley/dialect/rules.h"

namespace parley::dialect {
namespace {

// ---- Reading

// The system part as a message, read by the dialect as one of its own.
Result<Message> system_message(const Envelope& envelope, Dialect dialect, const Json& value,
                               const json::Limits& limits) {
  std::string prefix = "/" + std::string(envelope.system);
  std::optional<Json> content = value;
  std::string_view member = envelope.content;
  if (envelope.system_form == SystemForm::Parts) {
    content = known(value, "parts");
    prefix += "/parts";
    if (!content)
      return fail(Code::Missing, "the member 'parts' is missing", prefix.substr(0, prefix.size() - 6));
  }
  json::Writer w;
  w.begin_object().key(envelope.role).string("system").key(member).value(*content).end_object();
  // The size of the whole document was looked at.
  auto message = from_dict(w.take(), dialect, {.limits = {kNoLimits.bytes, limits.string, limits.depth}});
  if (!message) {
    // The place in the document, not in what was made of it.
    std::string& path = message.error().path;
    const std::string own = "/" + std::string(member);
    if (path.starts_with(own)) path.replace(0, own.size(), prefix);
  } else if (message->has_content_blocks({BlockType::ToolUse, BlockType::ToolResult})) {
    return fail(Code::WrongType, "a system part holds neither tool uses nor results", std::move(prefix));
  }
  return message;
}

// ---- Writing

void put_texts(json::Writer& out, std::span<const Message> system) {
  std::string all;
  for (const Message& message : system) {
    for (const Block& block : message.blocks()) {
      const auto* text = block.as<TextBlock>();
      if (text == nullptr) continue;
      if (!all.empty()) all += "\n\n";
      all += text->text;
    }
  }
  out.string(all);
}

// The blocks of all messages, as the dialect spells them.
std::vector<Json> spelled_blocks(const Envelope& envelope, Dialect dialect, std::span<const Message> system) {
  std::vector<Json> blocks;
  for (const Message& message : system) {
    const auto spelled = natural_message(message, dialect);
    const auto content = spelled ? spelled->get(envelope.content) : std::nullopt;
    if (!content) continue;
    const std::vector<Json> own = content->elements();
    blocks.insert(blocks.end(), own.begin(), own.end());
  }
  return blocks;
}

void put_system(json::Writer& out, const Envelope& envelope, Dialect dialect,
                std::span<const Message> system) {
  if (system.empty() || envelope.system_form == SystemForm::Message) return;
  out.key(envelope.system);
  if (envelope.system_form == SystemForm::String) {
    put_texts(out, system);
    return;
  }
  if (envelope.system_form == SystemForm::Content) {
    const auto spelled = natural_message(system.front(), dialect);
    out.value(spelled ? spelled->get(envelope.content).value_or(Json()) : Json());
    return;
  }
  const std::vector<Json> blocks = spelled_blocks(envelope, dialect, system);
  const auto member = [&](std::string_view name) { return blocks.front().get(name).value_or(Json()); };
  const bool is_text = blocks.size() == 1 &&
                       blocks.front().members().size() == 2 &&  // no mark of a cache, and the like
                       member("type") == Json::string("text") && member("text").is_string();
  if (is_text && envelope.system_form == SystemForm::StringOrBlocks) {
    out.value(member("text"));
    return;
  }
  const bool is_parts = envelope.system_form == SystemForm::Parts;
  if (is_parts) out.begin_object().key("parts");
  out.begin_array();
  for (const Json& block : blocks) out.value(block);
  out.end_array();
  if (is_parts) out.end_object();
}

// Members below one parent go into one object.
void put_settings(json::Writer& out, std::span<const SettingRow> rows, const Settings& settings) {
  std::vector<std::string_view> open;
  for (const SettingRow& row : rows) {
    const auto value = row.with_tools ? std::nullopt : row.to(settings);
    if (!value) continue;
    std::vector<std::string_view> path;
    std::string_view rest = row.path;
    for (std::size_t at = rest.find('/'); at != std::string_view::npos; at = rest.find('/')) {
      path.push_back(rest.substr(0, at));
      rest.remove_prefix(at + 1);
    }
    const std::size_t common = static_cast<std::size_t>(std::ranges::mismatch(open, path).in1 - open.begin());
    for (; open.size() > common; open.pop_back()) out.end_object();
    for (std::size_t i = common; i < path.size(); ++i) {
      out.key(path[i]).begin_object();
      open.push_back(path[i]);
    }
    out.key(rest).value(value->compact());
  }
  for (; !open.empty(); open.pop_back()) out.end_object();
}

// The rows can say which tools may be called.
bool says_choice(const Envelope& envelope, const Settings& settings) {
  const ToolChoice choice = tool_choice(settings).value_or(ToolChoice());
  if (!choice.names.empty() && !choice.only() && !envelope.lists_allowed_tools) return false;
  return std::ranges::any_of(envelope.settings, [&](const SettingRow& row) {
    return (row.carries & bit(Setting::ToolChoice)) != 0 && row.to(settings).has_value();
  });
}

bool has_calls(const Conversation& conversation) {
  return std::ranges::any_of(conversation.messages(), [](const Message& message) {
    return message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult});
  });
}

// The tools that a history calls, as far as it tells what they are.
std::vector<Tool> tools_of_history(const Conversation& conversation) {
  std::vector<Tool> tools;
  std::set<std::string, std::less<>> known;
  for (const Message& message : conversation.messages()) {
    for (const ToolCall& call : message.tool_calls()) {
      const bool is_new = known.insert(call.function.name.str()).second;
      if (is_new) tools.push_back({call.function.name, {}, Json::trusted(Text(R"({"type":"object"})"))});
    }
  }
  return tools;
}

// What a custom tool takes, where calls have arguments.
constexpr char kCustomSchema[] =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"]})";

// The tools a request shows. Where a choice cannot be said, the choice is made by showing only what may be
// called; a history with calls keeps its tools, because providers ask for them.
std::vector<Tool> shown_tools(const Conversation& conversation, const Envelope& envelope) {
  std::vector<Tool> tools(conversation.tools().begin(), conversation.tools().end());
  for (Tool& tool : tools) {
    if (!tool.is_custom || envelope.has_custom_tools) continue;
    tool.is_custom = false;
    tool.parameters = Json::trusted(Text(kCustomSchema));
  }
  const auto choice = tool_choice(conversation.settings());
  if (tools.empty() && envelope.needs_tools) return tools_of_history(conversation);
  if (!choice || says_choice(envelope, conversation.settings()) || has_calls(conversation)) return tools;
  if (choice->word == "none") return {};
  if (choice->names.empty()) return tools;
  std::erase_if(tools, [&](const Tool& tool) {
    return std::ranges::find(choice->names, tool.name, [](const Json& name) {
             return name.as_string().value_or(Text());
           }) == choice->names.end();
  });
  return tools;
}

// The settings with tools named as they are declared.
Settings with_fitted_names(Settings settings, const Envelope& envelope) {
  const ToolChoice choice = tool_choice(settings).value_or(ToolChoice());
  if (!choice.has_names) return settings;
  std::vector<Json> names;
  names.reserve(choice.names.size());
  for (const Json& name : choice.names) {
    names.push_back(Json::string(envelope.fit_name(name.as_string().value_or(Text()))));
  }
  set_tool_choice(settings, names, choice.must);
  return settings;
}

void put_place(json::Writer& out, std::span<const std::string_view> path) {
  out.key(path.front());
  if (path.size() == 1) {
    out.begin_array().end_array();
    return;
  }
  out.begin_object();
  put_place(out, path.subspan(1));
  out.end_object();
}

}  // namespace

bool has_type_of(Setting setting, const Json& value) {
  switch (setting) {
    case Setting::Model:
    case Setting::ReasoningEffort:
    case Setting::User:
      return value.is_string();
    case Setting::Stream:
    case Setting::ParallelToolCalls:
    case Setting::StreamUsage:
      return value.type() == Json::Type::Bool;
    case Setting::Stop:
      return value.is_array() && std::ranges::all_of(value.elements(), &Json::is_string);
    case Setting::ToolChoice:
      return value.is_string() || value.is_object();
    case Setting::ReplySchema:
      return value.get("name").value_or(Json()).is_string() &&
             value.get("schema").value_or(Json()).is_object();
    default:
      return value.type() == Json::Type::Number;
  }
}

std::optional<ToolChoice> tool_choice(const Settings& settings) {
  const auto value = settings.get(Setting::ToolChoice);
  if (!value) return std::nullopt;
  const auto names = value->get("names");
  return ToolChoice{.word = value->as_string().value_or(Text()).str(),
                    .has_names = names.has_value(),
                    .names = names.value_or(Json()).elements(),
                    .must = value->get("must").value_or(Json()).as_bool().value_or(false)};
}

void set_tool_choice(Settings& settings, std::span<const Json> names, bool must) {
  json::Writer w;
  w.begin_object().key("names").begin_array();
  for (const Json& name : names) w.value(name);
  settings.set(Setting::ToolChoice, w.end_array().key("must").boolean(must).end_object().take());
}

void set_reply_schema(Settings& settings, const std::optional<Json>& name,
                      const std::optional<Json>& schema) {
  json::Writer w;
  w.begin_object().key("name").value(name.value_or(Json::string("")));
  w.key("schema").value(schema.value_or(Json()).compact()).end_object();
  Json value = w.take();
  if (has_type_of(Setting::ReplySchema, value)) settings.set(Setting::ReplySchema, std::move(value));
}

Json reply_schema(const Settings& settings) {
  return settings.get(Setting::ReplySchema).value_or(Json()).get("schema").value_or(Json());
}

Text reply_name(const Settings& settings) {
  const Text name = text_at(settings.get(Setting::ReplySchema).value_or(Json()), "/name");
  return name.empty() ? Text("reply") : name;
}

Result<Tool> read_tool(const Json& tool, const std::string& path, std::string_view schema) {
  if (!tool.is_object()) return fail(Code::WrongType, "a tool must be an object", path);
  const auto name = known(tool, "name");
  const auto description = known(tool, "description");
  if (!name) return fail(Code::Missing, "the member 'name' is missing", path);
  if (!name->is_string()) return fail(Code::WrongType, "'name' must be a string", path + "/name");
  if (description && !description->is_string()) {
    return fail(Code::WrongType, "'description' must be a string", path + "/description");
  }
  Json parameters = tool.get(schema).value_or(Json());
  if (!parameters.is_object() && !parameters.is_null()) {
    return fail(Code::WrongType, "'" + std::string(schema) + "' must be an object",
                path + "/" + std::string(schema));
  }
  return Tool{*name->as_string(), description ? *description->as_string() : Text(), std::move(parameters)};
}

Result<std::vector<Tool>> read_tools_of(const std::optional<Json>& list, const std::string& path,
                                        Result<Tool> (*read)(const Json& tool, const std::string& path)) {
  std::vector<Tool> tools;
  if (!list || list->is_null()) return tools;
  if (!list->is_array()) return fail(Code::WrongType, "'tools' must be a list", path);
  const std::vector<Json> each = list->elements();
  tools.reserve(each.size());
  for (std::size_t i = 0; i < each.size(); ++i) {
    PARLEY_TRY(Tool tool, read(each[i], path + "/" + std::to_string(i)));
    // A tool without a name is one that the provider runs: it stays in the document only.
    if (!tool.name.empty()) tools.push_back(std::move(tool));
  }
  return tools;
}

void write_tool(json::Writer& out, const Tool& tool, std::string_view schema) {
  out.key("name").string(tool.name);
  if (!tool.description.empty()) out.key("description").string(tool.description);
  if (!tool.parameters.is_null()) out.key(schema).value(tool.parameters.compact());
}

Json object_schema(const Tool& tool) {
  const bool says_nothing = tool.parameters.is_null() || tool.parameters.members().empty();
  return says_nothing ? Json::trusted(Text(R"({"type":"object"})")) : tool.parameters.compact();
}

Json as_usual(const Envelope& envelope, const Json& document) {
  return envelope.as_usual == nullptr ? document : envelope.as_usual(document);
}

Result<void> read_envelope(Dialect dialect, const Json& spelled, Conversation& conversation,
                           const json::Limits& limits) {
  const Envelope& envelope = format_of(dialect).envelope;
  const Json document = as_usual(envelope, spelled);
  if (conversation.shape() == DocumentShape::Response) {
    if (envelope.read_answer != nullptr)
      conversation.set_outcome(envelope.read_answer(document, has_calls(conversation)));
    return {};
  }
  if (envelope.system_form != SystemForm::Message) {
    const auto system = document.get(envelope.system);
    if (system && !system->is_null()) {
      PARLEY_TRY(Message message, system_message(envelope, dialect, *system, limits));
      conversation.set_system(std::move(message));
    }
  }
  if (envelope.read_tools != nullptr) {
    PARLEY_TRY(std::vector<Tool> tools, envelope.read_tools(document));
    conversation.set_tools(std::move(tools));
  }
  Settings settings;
  for (const SettingRow& row : envelope.settings) {
    const auto member = document.at("/" + std::string(row.path));
    if (member && !member->is_null()) row.from(*member, settings);
  }
  conversation.set_settings(std::move(settings));
  return {};
}

const MessagesLocation& place_of(const Envelope& envelope, DocumentShape shape) {
  const auto place = std::ranges::find(envelope.locations, shape, &MessagesLocation::shape);
  return place != envelope.locations.end() &&
                 (shape != DocumentShape::Response || envelope.write_answer != nullptr)
             ? *place
             : envelope.locations.front();
}

const MessagesLocation& place_in(const Envelope& envelope, DocumentShape shape, const Json& around) {
  const MessagesLocation& usual = place_of(envelope, shape);
  // As for readers, the one whose first name comes first.
  for (const Json::Member& member : around.members()) {
    for (const MessagesLocation& place : envelope.locations) {
      const bool begins =
          place.shape == usual.shape && !place.path.empty() && place.path[0] == member.key.view();
      if (begins && around.at(pointer_to(envelope, place)).value_or(Json()).is_array()) return place;
    }
  }
  return usual;
}

Json natural_envelope(const Conversation& conversation, Dialect dialect, std::span<const Message> system,
                      Names names) {
  const Envelope& envelope = format_of(dialect).envelope;
  const MessagesLocation& place = place_of(envelope, conversation.shape());
  json::Writer w;
  w.begin_object();
  if (place.shape == DocumentShape::Response) {
    envelope.write_answer(w, conversation.outcome().value_or(Outcome()));
    return w.end_object().take();
  }
  if (dialect == kCanonical) w.key("parley").number(1);
  const bool fits = names == Names::Fitted && envelope.fit_name != nullptr;
  std::vector<Note> unheard;
  Settings settings = names == Names::Fitted ? within_limits(conversation.settings(), dialect, unheard)
                                             : conversation.settings();
  if (fits) settings = with_fitted_names(std::move(settings), envelope);
  const std::span<const SettingRow> rows = envelope.settings;
  const std::size_t first = !rows.empty() && rows.front().path == "model" ? 1 : 0;
  put_settings(w, rows.first(first), settings);
  std::vector<Message> parts;
  if (conversation.system()) parts.push_back(*conversation.system());
  parts.insert(parts.end(), system.begin(), system.end());
  put_system(w, envelope, dialect, parts);
  if (!envelope.messages_last) put_place(w, place.path);
  if (envelope.write_tools != nullptr) {
    std::vector<Tool> tools = shown_tools(conversation, envelope);
    for (Tool& tool : tools) {
      if (fits) tool.name = *Text::checked(envelope.fit_name(tool.name));
    }
    if (!tools.empty()) envelope.write_tools(w, tools, settings);
  }
  put_settings(w, rows.subspan(first), settings);
  if (envelope.messages_last) put_place(w, place.path);
  if (envelope.write_media != nullptr) envelope.write_media(w, conversation.messages());
  return w.end_object().take();
}

Json wire_envelope(const Arena& document, bool tells_text) {
  const std::string_view all = document.text();
  const Slice whole = document.document();
  const Slice list = document.list();
  if (!list.present()) return document.value(whole);  // an answer without a message
  std::size_t begin = list.offset;
  std::size_t end = list.end();
  const bool is_text = tells_text && all[begin] == '"';
  if (list.offset == whole.offset) {  // the answer is the message, and its blocks are what is inside
    const Envelope& own = format_of(static_cast<Dialect>(document.dialect())).envelope;
    const auto content = document.value(whole).get(own.content);
    if (!content) return document.value(whole);
    begin = static_cast<std::size_t>(content->text().data() - all.data());
    end = begin + content->text().size();
  }
  std::string envelope(all.substr(whole.offset, begin - whole.offset));
  envelope += is_text ? R"("")" : "[]";
  envelope += all.substr(end, whole.end() - end);
  return Json::trusted(
      *Text::checked(std::move(envelope)));  // its bytes were validated, whatever the limits were
}

std::string pointer_to(const Envelope& envelope, const MessagesLocation& place) {
  if (place.path.empty()) return "/" + std::string(envelope.content);
  std::string out;
  for (const std::string_view each : place.path) out.append("/").append(each);
  return out;
}

void note_string(Draft& draft, const Message& system) {
  if (format_of(draft.target).envelope.system_form != SystemForm::String) return;
  std::erase_if(draft.notes, [](const Note& note) { return note.block_index || note.code == "text_joined"; });
  const auto blocks = Arena::of(system).blocks(Arena::record_of(system));
  std::size_t texts = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].type == BlockType::Text) {
      ++texts;
      if (blocks[i].cache != CacheMark::None) note_cache_mark(draft, i);
    } else {
      note_dropped_block(draft, Arena::of(system), blocks[i], i);
    }
  }
  if (texts < 2) return;
  draft.note("text_joined", Severity::Info, "joined",
             said(std::to_string(texts) + " texts are joined by empty lines into one"));
}

void note_system(const Conversation& conversation, Dialect target, std::vector<Note>& notes) {
  const std::optional<Message>& system = conversation.system();
  const bool has_place = format_of(target).envelope.system_form != SystemForm::Message;
  if (!system || !has_place || target == kCanonical || Arena::of(*system).dialect() == tag(target)) return;
  json::Out ignored;
  std::vector<Note> own;
  Draft draft{target, ignored, own};
  format_of(target).write_group(draft, {&*system, 1});
  note_string(draft, *system);
  for (Note& note : own) {
    note.message_index.reset();
    const bool is_undone =
        note.action == "corrected" || note.action == "minted" ||
        (note.action == "dropped" && note.severity == Severity::Info && note.code != "cache_mark_dropped");
    if (!is_undone) notes.push_back(std::move(note));
  }
}

void note_envelope(const Conversation& conversation, Dialect target, bool is_list, std::vector<Note>& notes) {
  const Envelope& envelope = format_of(target).envelope;
  const auto note = [&](std::string_view code, Severity severity, Text detail) {
    notes.push_back(
        {code, severity, std::nullopt, std::nullopt, to_string(target), "dropped", std::move(detail)});
  };
  const bool is_request = !is_list && conversation.shape() != DocumentShape::Response;
  if (conversation.tools().empty() && is_request && envelope.needs_tools && has_calls(conversation)) {
    notes.push_back({"tools_added", Severity::Info, std::nullopt, std::nullopt, to_string(target), "minted",
                     "the history calls tools that are not declared; they are declared by name"});
  }
  if (!conversation.tools().empty()) {
    const bool has_place = !is_list && envelope.write_tools != nullptr;
    if (!has_place) {
      note("tools_dropped", Severity::Major, "there is no place for the list of tools");
    } else if (shown_tools(conversation, envelope).size() != conversation.tools().size()) {
      note("tool_choice_as_tools", Severity::Info,
           "the choice of tools cannot be said; only tools that may be called are shown");
    }
  }
  const bool maps_custom = !envelope.has_custom_tools && !is_list && envelope.write_tools != nullptr &&
                           std::ranges::any_of(conversation.tools(), &Tool::is_custom);
  if (maps_custom) {
    notes.push_back({"custom_tool_mapped", Severity::Info, std::nullopt, std::nullopt, to_string(target),
                     "mapped", "a custom tool is declared with the one argument \"input\""});
  }
  std::string lost;
  const Settings taken =
      is_request ? within_limits(conversation.settings(), target, notes) : conversation.settings();
  for (const auto& [setting, value] : conversation.settings().all()) {
    const bool is_said = !is_list && std::ranges::any_of(envelope.settings, [&](const SettingRow& row) {
      return (row.carries & bit(setting)) != 0 && taken.get(setting) && row.to(taken).has_value();
    });
    if (!is_said) lost.append(lost.empty() ? "" : ", ").append(to_string(setting));
  }
  if (!lost.empty()) note("setting_dropped", Severity::Minor, said("there is no place for: " + lost));
  const bool says_outcome = envelope.write_answer != nullptr && !is_list;
  if (conversation.outcome() && !says_outcome) {
    note("outcome_dropped", Severity::Minor, "there is no place for the finish reason and the token counts");
  }
}

void note_outcome(const Conversation& conversation, Dialect target, const Json& around,
                  std::vector<Note>& notes) {
  const Envelope& envelope = format_of(target).envelope;
  if (!conversation.outcome() || envelope.write_answer == nullptr || envelope.read_answer == nullptr) return;
  const Outcome& said_here = *conversation.outcome();
  const Outcome there = envelope.read_answer(around, has_calls(conversation));
  const std::pair<std::string_view, bool> lost[] = {
      {"id", said_here.id != there.id},
      {"model", said_here.model != there.model},
      {"finish", said_here.finish != there.finish},
      {"input tokens", said_here.usage.input != there.usage.input},
      {"cache read tokens", said_here.usage.cache_read != there.usage.cache_read},
      {"cache write tokens", said_here.usage.cache_write != there.usage.cache_write},
      {"output tokens", said_here.usage.output != there.usage.output},
      {"reasoning tokens", said_here.usage.reasoning != there.usage.reasoning},
  };
  std::string names;
  for (const auto& [name, is_lost] : lost) {
    if (is_lost) names.append(names.empty() ? "" : ", ").append(name);
  }
  if (names.empty()) return;
  notes.push_back({"outcome_dropped", Severity::Minor, std::nullopt, std::nullopt, to_string(target),
                   "dropped", said("an answer cannot say as it was: " + names)});
}

Json media_apart(const Envelope& envelope, std::span<const Message> messages) {
  json::Writer w;
  w.begin_object();
  if (envelope.write_media != nullptr) envelope.write_media(w, messages);
  return w.end_object().take();
}

bool media_are_the_same(const Envelope& envelope, const Arena& document, std::span<const Message> messages) {
  if (envelope.write_media == nullptr) return true;
  std::vector<Message> read;
  read.reserve(document.messages().size());
  for (std::uint32_t i = 0; i < document.messages().size(); ++i)
    read.push_back(Arena::message(document.shared_from_this(), i));
  return media_apart(envelope, read) == media_apart(envelope, messages);
}

bool is_beneath(std::string_view place, std::string_view other) {
  return place.starts_with(other) && (place.size() == other.size() || place[other.size()] == '/');
}

bool is_said_otherwise(const Envelope& envelope, std::string_view place, const Json& a, const Json& b) {
  const bool is_schema = !envelope.other_schema.empty() && is_beneath(place, "/tools") &&
                         place.ends_with("/" + std::string(envelope.other_schema));
  if (is_schema || envelope.json_text.empty()) return is_schema;
  const auto said = [&](const Json& request) -> std::optional<Text> {
    const auto text = request.get(envelope.json_text).value_or(Json()).as_string();
    const auto json = text ? Json::parse(*text) : fail(Code::WrongType, "");
    return json ? std::optional(json->compact().text()) : std::nullopt;
  };
  const auto first = said(a);
  return is_beneath(place, "/" + std::string(envelope.json_text)) && first && first == said(b);
}

std::optional<std::string_view> model_path(Dialect dialect) {
  const auto rows = format_of(dialect).envelope.settings;
  if (rows.empty()) return "model";
  if ((rows.front().carries & bit(Setting::Model)) == 0) return std::nullopt;
  return rows.front().path;
}

std::optional<Json> natural_message(const Message& message, Dialect dialect, Form form) {
  json::Out out;
  std::vector<Note> ignored;
  Draft draft{dialect, out, ignored};
  draft.form = form;
  format_of(dialect).write_group(draft, {&message, 1});
  if (draft.written != 1) return std::nullopt;
  return Json::trusted(out.take());
}

}  // namespace parley::dialect

namespace parley {

bool continues_elsewhere(const Conversation& conversation) {
  const Arena* document = conversation.document().get();
  if (document == nullptr || document->shape() != DocumentShape::Envelope) return false;
  const auto& names = dialect::format_of(static_cast<Dialect>(document->dialect())).envelope.elsewhere;
  if (names.empty()) return false;
  const Json envelope = dialect::wire_envelope(*document, true);
  return std::ranges::any_of(
      names, [&](std::string_view name) { return dialect::known(envelope, name).has_value(); });
}

}  // namespace parley
