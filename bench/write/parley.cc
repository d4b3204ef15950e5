#include "parley/parley.h"

#include <memory>
#include <optional>

#include "kernels.h"
#include "message/arena.h"
#include "write/task.h"

namespace bench::write_task {
namespace {

using parley::Conversation;
using parley::Dialect;
using parley::Message;
using parley::Text;

struct State {
  Conversation conversation;
  std::vector<Message> messages;
  std::optional<parley::Writing> writing;
  std::optional<parley::Gathering> gathering;
};

Conversation read_again(std::string_view json) {
  return parley::read(json, Dialect::OpenManus).value().conversation;
}

Conversation with_one_more(std::string_view json) {
  Conversation conversation = read_again(json);
  conversation.append(Message::user_message("And now the next question, please."));
  return conversation;
}

// Every message of the document read from a document of its own, so that no two stand side by side.
Conversation from_many_documents(std::string_view json) {
  const Conversation all = read_again(json);
  Conversation conversation;
  for (const Message& message : all.messages()) conversation.append(message.detach());
  return conversation;
}

Contender writes(std::string name, std::shared_ptr<State> state, Dialect dialect) {
  return {std::move(name), [=] { state->writing.reset(); },
          [=] {
            state->writing = parley::write(state->conversation, dialect).value();
            return state->writing->text.size();
          }};
}

Contender gathers(std::string name, Conversation conversation) {
  auto state = std::make_shared<State>();
  state->conversation = std::move(conversation);
  return {std::move(name), [=] { state->gathering.reset(); },
          [=] {
            state->gathering = parley::gather(state->conversation, Dialect::OpenManus).value();
            return state->gathering->pieces.size();
          }};
}

// The plain texts of a document, shared, as a program holds them before it makes messages of them.
struct Plain {
  struct Item {
    parley::Role role = parley::Role::User;
    Text content, name, tool_call_id;
    std::optional<Text> image;
    std::vector<parley::ToolCall> calls;
  };
  std::vector<Item> items;

  explicit Plain(const std::vector<Turn>& turns) {
    const auto text = [](const std::string& from) { return Text::checked(from).value(); };
    for (const Turn& turn : turns) {
      Item& item = items.emplace_back();
      item.role = parley::role_named(turn.role).value();
      item.content = text(turn.content);
      item.name = text(turn.name);
      item.tool_call_id = text(turn.tool_call_id);
      if (!turn.base64_image.empty()) item.image = text(turn.base64_image);
      for (const Call& call : turn.calls) {
        item.calls.push_back({text(call.id), "function", {text(call.name), text(call.arguments)}});
      }
    }
  }

  std::vector<Message> build() const {
    std::vector<Message> out;
    out.reserve(items.size());
    for (const Item& item : items) {
      switch (item.role) {
        case parley::Role::System:
          out.push_back(Message::system_message(item.content));
          break;
        case parley::Role::User:
          out.push_back(Message::user_message(item.content, item.image));
          break;
        case parley::Role::Tool:
          out.push_back(Message::tool_message(item.content, item.name, item.tool_call_id, item.image));
          break;
        default:
          out.push_back(item.calls.empty() ? Message::assistant_message(item.content, item.image)
                                           : Message::from_tool_calls(item.calls, item.content, item.image));
      }
    }
    return out;
  }
};

}  // namespace

std::vector<Contender> parley_write(const Document& document) {
  auto unchanged = std::make_shared<State>();
  unchanged->conversation = read_again(document.json);
  auto appended = std::make_shared<State>();
  appended->conversation = with_one_more(document.json);
  auto scattered = std::make_shared<State>();
  scattered->conversation = from_many_documents(document.json);
  return {writes("Parley, unchanged", unchanged, Dialect::OpenManus),
          writes("Parley, one message appended", appended, Dialect::OpenManus),
          writes("Parley, every message from its own document", scattered, Dialect::OpenManus)};
}

std::vector<Contender> parley_gather(const Document& document) {
  return {gathers("Parley, unchanged", read_again(document.json)),
          gathers("Parley, one message appended", with_one_more(document.json)),
          gathers("Parley, every message from its own document", from_many_documents(document.json))};
}

std::vector<Contender> parley_translate(const Document& document) {
  std::vector<Contender> out;
  const std::string_view json = document.json;
  for (const parley::json::Kernel* kernel : supported_kernels()) {
    auto first = std::make_shared<State>();
    Contender contender = writes(parley_with(*kernel) + ", first time", first, Dialect::AgentScope);
    contender.prepare = [=] {
      parley::json::use_kernel(*kernel);
      first->writing.reset();
      first->conversation = read_again(json);  // nothing is kept with fresh messages
    };
    out.push_back(std::move(contender));
  }
  auto again = std::make_shared<State>();
  again->conversation = read_again(json);
  again->writing = parley::write(again->conversation, Dialect::AgentScope).value();
  out.push_back(writes("Parley, again", again, Dialect::AgentScope));
  auto pieces = std::make_shared<State>(*again);
  out.push_back({"Parley, again as pieces", [=] { pieces->gathering.reset(); },
                 [=] {
                   pieces->gathering = parley::gather(pieces->conversation, Dialect::AgentScope).value();
                   return pieces->gathering->pieces.size();
                 }});
  return out;
}

std::size_t translated_size(const Document& document) {
  return parley::write(read_again(document.json), Dialect::AgentScope).value().text.size();
}

std::vector<Contender> parley_build(const Document& document) {
  std::vector<Contender> out;
  auto plain = std::make_shared<const Plain>(document.turns);
  const auto write = [](State& state) {
    state.writing = parley::write(state.conversation, Dialect::OpenManus).value();
    return state.writing->text.size();
  };
  for (const parley::json::Kernel* kernel : supported_kernels()) {
    auto state = std::make_shared<State>();
    const std::string name = parley_with(*kernel);
    const auto clear = [=] {
      parley::json::use_kernel(*kernel);
      state->writing.reset();
      state->conversation = {};
      state->messages.clear();
    };
    out.push_back({name + ", build", clear, [=] {
                     state->messages = plain->build();
                     return state->messages.size();
                   }});
    out.push_back({name + ", write",
                   [=] {
                     clear();
                     state->conversation = Conversation(plain->build());
                   },
                   [=] { return write(*state); }});
    out.push_back({name + ", build and write", clear, [=] {
                     state->conversation = Conversation(plain->build());
                     return write(*state);
                   }});
  }
  return out;
}

}  // namespace bench::write_task
