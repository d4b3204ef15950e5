#include "model/rehearsal_script.h"

#include <algorithm>
#include <functional>

#include "parley/base/secret.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"

namespace parley::rehearsal {
namespace {

// ---- Reading

std::unexpected<Error> wrong(std::string_view what, const std::string& path) {
  return fail(Code::Invalid, std::string(what), path);
}

// Reads the members of an object by a table of names; an unknown name is an error, so that a typo does not
// silently change the script.
template <typename T>
struct Field {
  std::string_view name;
  Result<void> (*read)(T& into, const Json& value, const std::string& path);
};

template <typename T, std::size_t N>
Result<T> read_object(const Json& json, const std::string& path, const Field<T> (&fields)[N]) {
  if (!json.is_object()) return wrong("expected an object", path);
  T out;
  for (const Json::Member& member : json.members()) {
    const std::string place = path + "/" + member.key.str();
    const auto field = std::ranges::find(fields, member.key.view(), &Field<T>::name);
    if (field == std::end(fields)) return wrong("unknown member of a script", place);
    PARLEY_CHECK(field->read(out, member.value, place));
  }
  return out;
}

Result<void> read_text(Text& into, const Json& json, const std::string& path) {
  const std::optional<Text> text = json.as_string();
  if (!text) return wrong("expected a string", path);
  into = *text;
  return {};
}

Result<void> read_text(std::string& into, const Json& json, const std::string& path) {
  Text text;
  PARLEY_CHECK(read_text(text, json, path));
  into = text.str();
  return {};
}

template <typename Number>
Result<void> read_number(Number& into, const Json& json, const std::string& path) {
  constexpr std::int64_t kMost = 1 << 30;
  const std::optional<std::int64_t> number = json.as_int64();
  if (!number || *number < 0 || *number > kMost) return wrong("expected a number from 0 to 2^30", path);
  into = static_cast<Number>(*number);
  return {};
}

template <typename T>
Result<void> read_list(std::vector<T>& into, const Json& json, const std::string& path,
                       Result<T> (*read)(const Json& json, const std::string& path)) {
  if (!json.is_array()) return wrong("expected a list", path);
  for (const Json& element : json.elements()) {
    PARLEY_TRY(T each, read(element, path + "/" + std::to_string(into.size())));
    into.push_back(std::move(each));
  }
  return {};
}

Result<void> read_headers(std::vector<net::Header>& into, const Json& json, const std::string& path) {
  if (!json.is_object()) return wrong("expected an object", path);
  for (const Json::Member& member : json.members()) {
    std::string value;
    PARLEY_CHECK(read_text(value, member.value, path + "/" + member.key.str()));
    into.push_back({member.key.str(), std::move(value)});
  }
  return {};
}

// A string is a body itself; any other JSON is the text of one.
Result<void> read_body(std::string& into, const Json& json, const std::string&) {
  const std::optional<Text> text = json.as_string();
  into = text ? text->str() : json.compact().text().str();
  return {};
}

Result<Call> read_call(const Json& json, const std::string& path) {
  using F = Field<Call>;
  static constexpr F kFields[] = {
      {"name",
       [](Call& call, const Json& value, const std::string& p) { return read_text(call.name, value, p); }},
      {"id",
       [](Call& call, const Json& value, const std::string& p) { return read_text(call.id, value, p); }},
      {"arguments",
       [](Call& call, const Json& value, const std::string&) -> Result<void> {
         // A string is the arguments as they are, JSON or not.
         call.arguments = value.as_string().value_or(value.text());
         return {};
       }},
  };
  PARLEY_TRY(Call call, read_object(json, path, kFields));
  if (call.name.empty()) return wrong("call has no name", path);
  if (call.arguments.empty()) call.arguments = Text("{}");
  return call;
}

Result<Usage> read_usage(const Json& json, const std::string& path) {
  using F = Field<Usage>;
  static constexpr F kFields[] = {
      {"input", [](Usage& u, const Json& value,
                   const std::string& p) { return read_number(u.input.emplace(), value, p); }},
      {"output", [](Usage& u, const Json& value,
                    const std::string& p) { return read_number(u.output.emplace(), value, p); }},
      {"cache_read", [](Usage& u, const Json& value,
                        const std::string& p) { return read_number(u.cache_read.emplace(), value, p); }},
      {"reasoning", [](Usage& u, const Json& value,
                       const std::string& p) { return read_number(u.reasoning.emplace(), value, p); }},
  };
  return read_object(json, path, kFields);
}

template <Fault::Kind kind>
Result<void> read_break(Fault& fault, const Json& value, const std::string& path) {
  fault.kind = kind;
  return read_number(fault.after, value, path);
}

Result<Fault> read_fault(const Json& json, const std::string& path) {
  using F = Field<Fault>;
  static constexpr F kFields[] = {
      {"status",
       [](Fault& f, const Json& value, const std::string& p) { return read_number(f.status, value, p); }},
      {"headers",
       [](Fault& f, const Json& value, const std::string& p) { return read_headers(f.headers, value, p); }},
      {"body", [](Fault& f, const Json& value, const std::string& p) { return read_body(f.body, value, p); }},
      {"times",
       [](Fault& f, const Json& value, const std::string& p) { return read_number(f.times, value, p); }},
      {"cut_after", read_break<Fault::Kind::Cut>},
      {"stall_after", read_break<Fault::Kind::Stall>},
      {"garbage_after", read_break<Fault::Kind::Garbage>},
  };
  PARLEY_TRY(Fault fault, read_object(json, path, kFields));
  if (fault.status < 200 || fault.status > 599)
    return wrong("invalid status: expected a number from 200 to 599", path + "/status");
  return fault;
}

Answer& answer_of(Turn& turn) { return turn.answer ? *turn.answer : turn.answer.emplace(); }

Result<Turn> read_turn(const Json& json, const std::string& path) {
  using F = Field<Turn>;
  static constexpr F kFields[] = {
      {"when", [](Turn& t, const Json& value,
                  const std::string& p) { return read_text(t.when.emplace(), value, p); }},
      {"think", [](Turn& t, const Json& value,
                   const std::string& p) { return read_text(answer_of(t).think, value, p); }},
      {"text", [](Turn& t, const Json& value,
                  const std::string& p) { return read_text(answer_of(t).text, value, p); }},
      {"calls", [](Turn& t, const Json& value,
                   const std::string& p) { return read_list(answer_of(t).calls, value, p, read_call); }},
      {"finish",
       [](Turn& t, const Json& value, const std::string& p) -> Result<void> {
         const std::optional<Finish> finish = finish_named(value.as_string().value_or(Text()));
         if (!finish)
           return wrong("expected \"stop\", \"tool_calls\", \"length\" or another finish reason", p);
         answer_of(t).finish = *finish;
         return {};
       }},
      {"usage",
       [](Turn& t, const Json& value, const std::string& p) -> Result<void> {
         PARLEY_TRY(answer_of(t).usage, read_usage(value, p));
         return {};
       }},
      {"fault",
       [](Turn& t, const Json& value, const std::string& p) -> Result<void> {
         PARLEY_TRY(t.fault, read_fault(value, p));
         return {};
       }},
  };
  PARLEY_TRY(Turn turn, read_object(json, path, kFields));
  if (!turn.answer && !turn.fault) return wrong("turn has no text, calls or fault", path);
  if (!turn.answer && turn.fault->kind != Fault::Kind::Status) {
    return wrong("a turn that breaks off needs a text", path);
  }
  return turn;
}

struct Request {
  std::string method = "POST", path, body;
};

Result<Recorded> read_recorded(const Json& json, const std::string& path) {
  using F = Field<Recorded>;
  static constexpr Field<Request> kRequest[] = {
      {"method",
       [](Request& r, const Json& value, const std::string& p) { return read_text(r.method, value, p); }},
      {"path",
       [](Request& r, const Json& value, const std::string& p) { return read_text(r.path, value, p); }},
      {"body",
       [](Request& r, const Json& value, const std::string& p) { return read_body(r.body, value, p); }},
  };
  static constexpr F kResponse[] = {
      {"status",
       [](Recorded& r, const Json& value, const std::string& p) { return read_number(r.status, value, p); }},
      {"headers", [](Recorded& r, const Json& value,
                     const std::string& p) { return read_headers(r.headers, value, p); }},
      {"body",
       [](Recorded& r, const Json& value, const std::string& p) { return read_body(r.answer, value, p); }},
  };
  const std::optional<Json> request = json.get("request");
  const std::optional<Json> response = json.get("response");
  if (!request || !response) return wrong("recording has no \"request\" or \"response\"", path);
  PARLEY_TRY(Request asked, read_object(*request, path + "/request", kRequest));
  PARLEY_TRY(Recorded out, read_object(*response, path + "/response", kResponse));
  out.method = std::move(asked.method);
  out.path = std::move(asked.path);
  out.body = std::move(asked.body);
  return out;
}

// ---- Choosing

// The consecutive turns from the one entered at `place`, for the user text `heard`. A turn with a `when` is
// entered only by a text that contains it.
std::span<const Turn> scene(std::span<const Turn> turns, std::size_t place, std::string_view heard) {
  const auto is_entry = [](const Turn& turn) { return turn.when.has_value(); };
  const auto is_meant = [&](const Turn& turn) {
    return turn.when && !heard.empty() && heard.find(turn.when->view()) != std::string_view::npos;
  };
  auto first = std::ranges::find_if(turns, is_meant);
  if (first == turns.end() && place < turns.size() && !is_entry(turns[place])) {
    first = turns.begin() + static_cast<std::ptrdiff_t>(place);
  }
  if (first == turns.end()) return {};
  return {first, std::find_if(first + 1, turns.end(), is_entry)};
}

}  // namespace

Result<Script> parse_script(std::string_view text) {
  using F = Field<Script>;
  static constexpr F kFields[] = {
      {"turns", [](Script& s, const Json& value,
                   const std::string& p) { return read_list(s.turns, value, p, read_turn); }},
      {"recorded", [](Script& s, const Json& value,
                      const std::string& p) { return read_list(s.recorded, value, p, read_recorded); }},
  };
  PARLEY_TRY(const Json json, Json::parse(text));
  return read_object(json, "", kFields);
}

std::string comparable(std::string_view body) {
  const Result<Json> json = Json::parse(body);
  return redacted(json ? json->compact().text().view() : body);
}

std::string write_script(std::span<const Recorded> recorded) {
  json::Writer w;
  w.begin_object().key("recorded").begin_array();
  for (const Recorded& each : recorded) {
    w.begin_object().key("request").begin_object();
    w.key("method").string(Text(each.method)).key("path").string(Text(each.path)).key("body");
    // JSON is easier to read as such; but a string would be read as what it holds.
    const Result<Json> json = Json::parse(each.body);
    json && !json->is_string() ? w.value(*json) : w.string(Text(each.body));
    w.end_object()
        .key("response")
        .begin_object()
        .key("status")
        .number(each.status)
        .key("headers")
        .begin_object();
    for (const net::Header& header : each.headers) {
      w.key(Text(header.name)).string(Text(header.value));
    }
    w.end_object().key("body").string(Text(each.answer)).end_object().end_object();
  }
  return w.end_array().end_object().take().pretty() + "\n";
}

std::span<const Turn> next_turns(std::span<const Turn> turns, std::span<const Message> messages) {
  const auto has_answer = [](const Turn& turn) { return turn.answer.has_value(); };
  std::size_t place = 0;
  std::string heard;  // what the user said since the assistant did
  for (const Message& message : messages) {
    if (message.role() == Role::User) heard.append(message.get_text_content().value_or(Text())).append("\n");
    if (message.role() != Role::Assistant) continue;
    // A fault alone produces no message.
    const std::span<const Turn> here = scene(turns, place, heard);
    const auto taken = std::ranges::find_if(here, has_answer);
    if (taken != here.end()) place = static_cast<std::size_t>(&*taken - turns.data()) + 1;
    heard.clear();
  }
  const std::span<const Turn> here = scene(turns, place, heard);
  const auto last = static_cast<std::size_t>(std::ranges::find_if(here, has_answer) - here.begin());
  return here.first(std::min(here.size(), last + 1));
}

}  // namespace parley::rehearsal
