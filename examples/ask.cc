// Asking a model: the text while it comes, the whole answer, and what it cost. With the base URL of an
// OpenAI-compatible server as its argument the program asks that server; without one it asks a small server
// in this program, which repeats the request.
#include <parley/net/server.h>
#include <parley/parley.h>

#include <iostream>
#include <string>

using namespace parley;

namespace {

// Reads a request in OpenAI's dialect, and streams an answer to it.
void repeat(const net::ServerRequest& request, net::ServerResponse& response) {
  const Result<Reading> reading = read(request.body, Dialect::OpenAI);
  if (!reading || reading->conversation.size() == 0) return response.whole(400, {}, "{}");
  const Text said = reading->conversation.messages().back().get_text_content().value_or(Text());
  Outcome outcome;
  outcome.finish = Finish::Stop;
  outcome.usage = {.input = 12, .cache_read = 0, .cache_write = 0, .output = 8, .reasoning = 0};
  StreamWriter writer = StreamWriter::of(Dialect::OpenAI).value();
  response.start(200, {{"Content-Type", "text/event-stream"}});
  to_events(Message::assistant_message(Text("You said: " + said.str())), outcome,
            [&](const StreamEvent& event) {
              std::string bytes;
              writer.write(event, bytes);
              response.send(bytes);
            });
}

}  // namespace

int main(int argc, char** argv) {
  Result<net::Server> server = net::Server::listen({}, repeat);
  if (!server) return 1;

  ModelConfig config;
  config.model = "compatible/any";
  config.base_url = argc > 1 ? argv[1] : server->url("/v1");
  config.ledger = std::make_shared<UsageLedger>();
  const Result<std::shared_ptr<Model>> model = open_model(config);
  if (!model) return 1;

  const auto show = [](const StreamEvent& event) {
    if (const auto* delta = std::get_if<stream::Delta>(&event)) std::cout << delta->text << std::flush;
  };
  const Message question = Message::user_message("Where is Oslo?");
  const Called<Text> answer = ask(**model, {&question, 1}, {.call = {.on_event = show}});
  if (!answer) {
    std::cerr << answer.error().message << '\n';
    return 1;
  }
  const UsageTotals total = config.ledger->total();
  std::cout << '\n' << total.fresh << " tokens in, " << total.output << " out, " << total.calls << " call\n";
  return 0;
}
