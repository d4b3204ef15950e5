// Writes messages as streams of every provider with an official client, beside the answers that would have
// come without streaming, for tests/judges/clients.sh.
//   make_streams FOLDER
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/dialect/stream.h"

namespace parley {
namespace {

struct Sample {
  std::string name;
  std::vector<Block> blocks;
  Finish finish;
};

std::vector<Sample> samples() {
  std::string many;
  for (int i = 0; i < 200; ++i) many += "Zeile " + std::to_string(i) + ": \"\xC3\xA4\\\" \xF0\x9F\xA6\x8A\n";
  return {
      {"said", {TextBlock{"Hello, \xE4\xBD\xA0\xE5\xA5\xBD."}}, Finish::Stop},
      {"cut_off", {TextBlock{Text::checked(many).value()}}, Finish::Length},
      {"called",
       {TextBlock{"Two calls."}, ToolUseBlock{"call_a", "add", "{\"a\":1,\"b\":[true,null,\"x\"]}"},
        ToolUseBlock{"call_b", "clock", "{}"}},
       Finish::ToolCalls},
  };
}

bool make(const Sample& sample, Dialect dialect, const std::string& folder) {
  const Message message = MessageBuilder(Role::Assistant).anonymous().blocks(sample.blocks).build().value();
  Outcome outcome;
  outcome.id = Text("answer_1");
  outcome.model = Text("model-1");
  outcome.finish = sample.finish;
  outcome.usage.input = 12;
  outcome.usage.output = 34;
  std::string bytes;
  StreamWriter writer = StreamWriter::of(dialect).value();
  (void)to_events(message, outcome, [&](const StreamEvent& event) { writer.write(event, bytes); });
  Conversation answer({message});
  answer.set_shape(DocumentShape::Response);
  answer.set_outcome(outcome);
  const Result<Writing> whole = write(answer, dialect);
  if (!whole) return false;
  const std::string path = folder + "/partial_" + sample.name + "." + std::string(to_string(dialect));
  std::ofstream(path + ".stream", std::ios::binary) << bytes;
  std::ofstream(path + ".expected.json", std::ios::binary) << whole->text.view() << '\n';
  return true;
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  using parley::Dialect;
  if (argc != 2) return 2;
  for (const parley::Sample& sample : parley::samples()) {
    for (const Dialect dialect :
         {Dialect::OpenAI, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama}) {
      if (!parley::make(sample, dialect, argv[1])) return 1;
    }
  }
}
