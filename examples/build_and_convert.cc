// Builds a conversation, checks it, and writes it in every dialect, with the notes each one needs.
#include <parley/parley.h>

#include <iostream>

using namespace parley;

int main() {
  const Result<Message> answer = MessageBuilder(Role::Assistant)
                                     .name("friday")
                                     .block(ThinkingBlock{"They want the weather."})
                                     .block(ToolUseBlock{"call_1", "weather", R"({"city":"Oslo"})"})
                                     .build();
  if (!answer) return 1;
  Conversation conversation(
      {Message::system_message("You are helpful."), Message::user_message("Weather in Oslo?")});
  conversation.append(*answer);
  conversation.append(Message::tool_message("12 degrees, rain", "weather", "call_1"));

  for (const Finding& finding : validate(conversation.messages())) {
    std::cerr << finding.path << ": " << finding.code << ": " << finding.sentence << '\n';
  }
  for (const DialectInfo& info : dialects()) {
    const Result<Writing> written = write(conversation, info.dialect);
    if (!written) {
      std::cerr << info.name << ": " << written.error().message << '\n';
      return 1;
    }
    std::cout << info.name << ": " << written->text.view() << '\n';
    for (const Note& note : written->notes) std::cout << "  " << to_line(note) << '\n';
  }
}
