// Writes what the Responses API answers, for judges that know the types of OpenAI's SDK. Each line is
// {"is": "response" | "event" | "items", "json"}. The turns are made up from the seed: texts, refusals,
// thinking, calls, custom calls, items of hosted tools, every status.
//
//   responses_samples [TURNS [SEED]]
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "parley/json/writer.h"
#include "server/openai/items.h"
#include "server/openai/paging.h"
#include "server/openai/responses_events.h"
#include "server/openai/responses_fields.h"
#include "server/openai/responses_input.h"
#include "server/openai/responses_lookup_testing.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_states_testing.h"

namespace parley::server {
namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t end) { return random() % end; }
bool chance(Random& random, std::size_t of) { return below(random, of) == 0; }

template <std::size_t N>
std::string_view one_of(Random& random, const std::string_view (&list)[N]) {
  return list[below(random, N)];
}

std::string words(Random& random) {
  static constexpr std::string_view kWords[] = {"Oslo",         " ",       "\n",     "\"quoted\"",       "\\",
                                                "\xE2\x80\xA8", "1.5e3",   "{\"a\"", "\xF0\x9F\x8E\xB6", "\t",
                                                "</script>",    "\xC2\x85"};
  std::string out;
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) out += one_of(random, kWords);
  return out;
}

void write(std::string_view what, std::string_view json) {
  std::cout << "{\"is\":\"" << what << "\",\"json\":" << json << "}\n";
}

void say_block(Random& random, Said& said, std::uint64_t number) {
  using stream::DeltaKind;
  const auto deltas = [&](DeltaKind kind) {
    for (std::size_t i = below(random, 4); i > 0; --i) said.add(stream::Delta{number, kind, words(random)});
  };
  const std::string call = "call_" + std::to_string(number);
  switch (below(random, 6)) {
    case 0:
      said.add(stream::BlockStart{number, BlockType::Thinking, {}, {}});
      deltas(DeltaKind::Thinking);
      if (chance(random, 2)) said.add(stream::Delta{number, DeltaKind::Signature, "c2ln", true});
      break;
    case 1:
      said.add(stream::BlockStart{number, BlockType::ToolUse, Text(call), "get_weather"});
      deltas(DeltaKind::Arguments);
      break;
    case 2:
      said.add(stream::BlockStart{number, BlockType::ToolUse, Text(call), "shell", false, true});
      deltas(DeltaKind::Arguments);
      break;
    case 3:
      said.add(stream::BlockStart{number, BlockType::Raw, {}, {}});
      said.add(stream::Delta{number, DeltaKind::Json,
                             R"({"id":"ws_1","type":"web_search_call","status":"completed",)"
                             R"("action":{"type":"search","query":"x"}})"});
      break;
    default:
      said.add(stream::BlockStart{number, BlockType::Text, {}, {}, chance(random, 4)});
      deltas(DeltaKind::Text);
  }
  if (!chance(random, 8)) said.add(stream::BlockEnd{number});
}

Said said_by_chance(Random& random, bool is_cut) {
  Said said(chance(random, 2) ? Dialect::Responses : Dialect::Anthropic);
  const std::size_t blocks = below(random, 5);
  for (std::uint64_t i = 0; i < blocks; ++i) say_block(random, said, i);
  is_cut ? said.cut() : said.finish();
  return said;
}

constexpr std::string_view kBodies[] = {
    R"({"input":"hi"})",
    R"({"input":[{"role":"user","content":"hi"}],"instructions":"Be brief.","temperature":0.2,"top_p":1,"user":"u"})",
    R"({"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://x/y.png"},)"
    R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}]},)"
    R"({"type":"message","role":"assistant","phase":"commentary","content":"b"},)"
    R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"ok"},)"
    R"({"type":"custom_tool_call","call_id":"d","name":"g","input":"x"},{"type":"custom_tool_call_output","call_id":"d","output":"ok"},)"
    R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}],"include":["reasoning.encrypted_content"],)"
    R"("tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}},{"type":"custom","name":"g"},)"
    R"({"type":"web_search"},{"type":"function","name":"h","strict":true,"description":"d","parameters":null}]})",
    R"({"input":"x","tool_choice":{"type":"function","name":"f"},"tools":[{"type":"function","name":"f"}],"parallel_tool_calls":false,)"
    R"("max_output_tokens":64,"max_tool_calls":3,"truncation":"auto","metadata":{"a":"b"},"service_tier":"flex"})",
    R"({"input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},)"
    R"("reasoning":{"effort":"low","summary":"auto"},"top_logprobs":2,"safety_identifier":"s","prompt_cache_key":"p"})",
    R"({"input":"x","text":{"format":{"type":"json_object"}},"tool_choice":{"type":"allowed_tools","mode":"auto",)"
    R"("tools":[{"type":"function","name":"f"}]},"conversation":"conv_1","background":true,"previous_response_id":null})",
    R"({"input":"x","previous_response_id":"resp_0","tool_choice":"required","prompt":{"id":"p","version":"1"},)"
    R"("prompt_cache_retention":"24h","reasoning":{"generate_summary":"auto"}})"};

TurnState state_by_chance(Random& random, const Said& said, bool is_cut, const Json& echo) {
  TurnState state = completed(said);
  state.request = echo;
  state.key.id = "01J" + std::to_string(below(random, 1'000));
  state.key.session.session = chance(random, 2) ? "conv_1" : "resp_" + state.key.id;
  state.is_stored = !chance(random, 3);
  if (chance(random, 3)) state.outcome.usage = {};
  static constexpr std::string_view kReasons[] = {
      "max_output_tokens", "content_filter", "client_disconnected", "interrupted", "upstream_disconnected"};
  state.status = is_cut ? TurnStatus::Incomplete : TurnStatus::Completed;
  if (is_cut && chance(random, 3))
    state.status = chance(random, 2) ? TurnStatus::Cancelled : TurnStatus::Failed;
  if (state.status == TurnStatus::Incomplete) state.reason = one_of(random, kReasons);
  if (state.status == TurnStatus::Failed) {
    state.failure = TurnFailure{.kind = static_cast<FailureKind>(below(random, 10)), .message = "It failed."};
    if (chance(random, 2)) state.answer.reset();
  }
  return state;
}

void write_turn(Random& random, const Json& body) {
  const Members members(body);
  const auto fields = responses_fields(members);
  KnownTurns lookup;
  const Identity identity;
  const InputPlace place{.identity = identity, .turn = {{"default", "resp_01J"}, "01J"}};
  const auto input = responses_input(members, place, lookup);
  if (!fields || !input) {
    std::cerr << "responses_samples: a body is refused: " << body.text() << "\n";
    std::exit(1);
  }
  const bool is_cut = chance(random, 2);
  const Said said = said_by_chance(random, is_cut);
  const TurnState state = state_by_chance(random, said, is_cut, fields->echo);
  write("response", to_response(state).text());
  TurnState running = state;
  running.status = chance(random, 2) ? TurnStatus::Queued : TurnStatus::InProgress;
  running.reason.clear();
  running.failure.reset();
  running.answer.reset();
  write("response", to_response(running).text());
  ResponsesEvents events({},
                         [](std::string_view, std::int64_t, std::string_view json) { write("event", json); });
  events.begin(state);
  events.end(state, chance(random, 4) ? Journal() : said.journal);
  std::vector<Json> items;
  std::size_t index = 0;
  for (const Message& message : input->messages) {
    for (Json& item : input_items(message, {"resp_01J", "01J", "i" + std::to_string(index)}))
      items.push_back(std::move(item));
    ++index;
  }
  write("items", list_page(items, false).text());
}

}  // namespace
}  // namespace parley::server

int main(int count, char** arguments) {
  const unsigned long turns = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 300;
  parley::server::Random random(count > 2 ? static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10))
                                          : 1);
  for (unsigned long i = 0; i < turns; ++i) {
    const auto& bodies = parley::server::kBodies;
    parley::server::write_turn(random, parley::Json::parse(bodies[i % std::size(bodies)]).value());
  }
  return 0;
}
