#include "parley/parley.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "convert/task.h"
#include "kernels.h"

namespace bench::convert_task {
namespace {

using ::parley::Conversation;
using ::parley::Dialect;
using ::parley::Json;
using ::parley::Text;

struct State {
  Conversation conversation;
  std::optional<::parley::Writing> writing;
};

Dialect named(std::string_view name) { return ::parley::dialect_named(name).value(); }

Conversation read_again(const Conversion& conversion) {
  return ::parley::read(conversion.source, named(conversion.from)).value().conversation;
}

// The tools that the turns call.
std::vector<::parley::Tool> tools_of(const std::vector<Turn>& turns) {
  std::vector<::parley::Tool> out;
  for (const Turn& turn : turns) {
    for (const Call& call : turn.calls) {
      const auto has_name = [&](const ::parley::Tool& tool) { return tool.name.view() == call.name; };
      if (std::ranges::any_of(out, has_name)) continue;
      out.push_back({Text::checked(call.name).value(), "Runs a command and gives back what it says.",
                     Json::parse(R"({"type":"object","properties":{"command":{"type":"string"},)"
                                 R"("timeout":{"type":"integer"}},"required":["command"]})")
                         .value()});
    }
  }
  return out;
}

}  // namespace

std::string to_request(const Document& document, std::string_view dialect) {
  Conversation conversation = ::parley::read(document.json, Dialect::OpenManus).value().conversation;
  conversation.set_shape(::parley::DocumentShape::Envelope);
  conversation.set_tools(tools_of(document.turns));
  ::parley::Settings settings;
  settings.set(::parley::Setting::Model, Json::string("a-model"));
  settings.set(::parley::Setting::MaxTokens, Json::parse("4096").value());
  conversation.set_settings(settings);
  return ::parley::write(conversation, named(dialect)).value().text.str();
}

std::size_t converted_size(const Conversion& conversion) {
  return ::parley::write(read_again(conversion), named(conversion.to)).value().text.size();
}

std::vector<Contender> parley(const Conversion& conversion) {
  std::vector<Contender> out;
  const Dialect to = named(conversion.to);
  const auto contender = [&](std::string name, auto prepare) {
    auto state = std::make_shared<State>();
    out.push_back({std::move(name),
                   [=] {
                     *state = {};
                     prepare(*state);
                   },
                   [=] {
                     state->writing = ::parley::write(state->conversation, to).value();
                     return state->writing->text.size();
                   }});
  };
  for (const ::parley::json::Kernel* kernel : supported_kernels()) {
    contender(parley_with(*kernel) + ", first time", [&conversion, kernel](State& state) {
      ::parley::json::use_kernel(*kernel);
      state.conversation = read_again(conversion);
    });
  }
  contender("Parley, one message appended", [&conversion, to](State& state) {
    state.conversation = read_again(conversion);
    (void)::parley::write(state.conversation, to);
    state.conversation.append(::parley::Message::user_message("And now the next question, please."));
  });
  return out;
}

}  // namespace bench::convert_task
