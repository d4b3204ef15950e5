#include "parley/parley.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "window/task.h"

namespace bench::window_task {
namespace {

using parley::Budget;
using parley::Dialect;
using parley::Memory;
using parley::Message;
using parley::Text;

Memory memory_of(Budget budget) { return Memory::create({.budget = budget}).value(); }

void must(const parley::Result<parley::Change>& change) {
  if (!change) std::abort();
}

// Messages as a tool loop makes them: a call, its result, and so on.
std::vector<Message> tool_loop(std::size_t count) {
  std::vector<Message> out;
  out.reserve(count);
  while (out.size() < count) {
    const Text id = Text("call_" + std::to_string(out.size()));
    const parley::ToolCall call{id, "function", {"search", "{\"query\":\"the weather in Oslo\"}"}};
    out.push_back(Message::from_tool_calls({&call, 1}));
    out.push_back(Message::tool_message("12 degrees and rain, with some wind from the west.", "search", id));
  }
  return out;
}

// Adds a thousand new messages, as fresh from their maker as in a run, to a memory that has `count` already.
std::vector<Contender> add_to(std::size_t count) {
  constexpr std::size_t kMany = 1000;
  auto memory = std::make_shared<std::optional<Memory>>();
  auto messages = std::make_shared<std::vector<Message>>();
  return {{"Parley Memory::add",
           [=] {
             if (!*memory || (*memory)->size() > count + std::max(count / 2, kMany - 1)) {
               *memory = memory_of(Budget::unlimited());
               must((*memory)->add(tool_loop(count)));
             }
             *messages = tool_loop(kMany);
           },
           [=] {
             for (const Message& message : *messages) must((*memory)->add(message));
             return (*memory)->size();
           },
           kMany}};
}

// The window is full of the document's messages; one more comes, and the next request is written.
std::vector<Contender> next_request(const Document& document) {
  auto memory = std::make_shared<Memory>(memory_of(Budget::unlimited()));
  const auto read = parley::read(std::string_view(document.json), Dialect::OpenManus);
  must(memory->add(read->conversation.messages()));
  const auto fresh = [] {
    return parley::read(std::string_view(R"([{"role":"user","content":"And tomorrow?"}])"),
                        Dialect::OpenManus)
        .value()
        .conversation.messages()
        .front();
  };
  auto next = std::make_shared<std::optional<Memory>>();
  auto message = std::make_shared<std::optional<Message>>();
  auto body = std::make_shared<std::optional<parley::Writing>>();
  auto pieces = std::make_shared<std::optional<parley::Gathering>>();
  const auto prepare = [=] {
    body->reset();
    pieces->reset();
    *next = memory->fork();
    *message = fresh();
  };
  return {{"Parley, add and write one body", prepare,
           [=] {
             must((*next)->add(**message));
             *body = parley::write((*next)->snapshot().conversation(), Dialect::OpenManus).value();
             return (*body)->text.size();
           }},
          {"Parley, add and gather", prepare, [=] {
             must((*next)->add(**message));
             *pieces = parley::gather((*next)->snapshot().conversation(), Dialect::OpenManus).value();
             return (*pieces)->pieces.size();
           }}};
}

// What a history costs in tokens before a request: counted anew, or kept with its messages.
std::vector<Contender> count_tokens(const Document& document) {
  const auto counter =
      std::make_shared<const parley::TokenCounter>(parley::TokenCounter::for_model("gpt-4o"));
  const std::string_view json = document.json;
  auto fresh = std::make_shared<std::optional<parley::Conversation>>();
  auto known = std::make_shared<parley::Conversation>(parley::read(json, Dialect::OpenManus)->conversation);
  keep(reinterpret_cast<const void*>(counter->count(*known)));
  auto memory = std::make_shared<Memory>(
      Memory::create({.budget = Budget::unlimited(), .token_cost = parley::cost_by(*counter)}).value());
  must(memory->add(known->messages()));
  return {{"Parley, first time", [=] { *fresh = parley::read(json, Dialect::OpenManus)->conversation; },
           [=] { return counter->count(**fresh); }},
          {"Parley, again", {}, [=] { return counter->count(*known); }},
          {"Parley Memory::tokens", {}, [=] { return memory->tokens(); }}};
}

std::vector<Contender> trim(std::size_t from, std::size_t to) {
  Budget budget = Budget::unlimited();
  budget.messages = from;
  budget.low_water = static_cast<double>(to) / static_cast<double>(from);
  auto full = std::make_shared<Memory>(memory_of(budget));
  must(full->add(tool_loop(from)));
  auto memory = std::make_shared<std::optional<Memory>>();
  auto change = std::make_shared<std::optional<parley::Change>>();
  return {{"Parley, the message that trims",
           [=] {
             change->reset();
             *memory = full->fork();
           },
           [=] {
             *change = (*memory)->add(Message::assistant_message("done")).value();
             return (*change)->evicted.size();
           }}};
}

std::size_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string named(std::size_t count) {
  return count >= 1'000'000 ? std::to_string(count / 1'000'000) + "M" : std::to_string(count / 1000) + "k";
}

}  // namespace

std::vector<Group> groups(const std::vector<Document>& documents) {
  std::vector<Group> out;
  for (const std::size_t count : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    out.push_back({"add", named(count), 0, [count] {
                     std::vector<Contender> all = add_to(count);
                     for (Contender& rival : id_set(count)) all.push_back(std::move(rival));
                     return all;
                   }});
  }
  for (const Document& document : documents) {
    if (document.name == "tiny") continue;
    out.push_back({"request", document.name, document.json.size(),
                   [&document] { return next_request(document); }, true});
  }
  for (const Document& document : documents) {
    if (document.name != "text") continue;
    out.push_back(
        {"count", document.name, document.json.size(), [&document] { return count_tokens(document); }});
  }
  for (const std::size_t from : {10'000U, 100'000U}) {
    out.push_back({"trim", named(from) + " to 1k", 0, [from] { return trim(from, 1000); }});
  }
  return out;
}

std::vector<Resident> measure_resident() {
  constexpr std::size_t kMessages = 1'000'000;
  constexpr std::size_t kJson = 200;
  std::vector<Resident> out;
  for (const std::size_t together : {1'000U, 1U}) {
    const std::size_t before = heap();
    Memory memory = memory_of(Budget::unlimited());
    for (std::size_t i = 0; i < kMessages; i += together) {
      std::string document = "[";
      for (std::size_t k = i; k < i + together; ++k) {
        const std::size_t start = document.size();
        document += R"({"id":"message_)" + std::to_string(k) + R"(","role":"user","content":")";
        document.append(start + kJson - document.size() - 2, 'x').append("\"},");
      }
      document.back() = ']';
      must(memory.add(parley::read(document, Dialect::Parley)->conversation.messages()));
    }
    out.push_back({kMessages, together, kJson, static_cast<double>(heap() - before) / kMessages});
  }
  return out;
}

std::vector<LongRun> measure_long_runs() {
  constexpr std::size_t kMessages = 200'000;
  constexpr std::size_t kBytes = 1000;
  const Text words = Text(std::string(kBytes, 'x'));
  const auto held = [&](const char* name, const std::function<void(const Message&)>& add,
                        std::size_t before) {
    for (std::size_t i = 0; i < kMessages; ++i) add(Message::assistant_message(words));
    constexpr double kMib = 1 << 20;
    return LongRun{name, kMessages, kBytes, static_cast<double>(heap() - before) / kMib};
  };
  const auto run = [&](const char* name, parley::MemoryOptions options) {
    const std::size_t before = heap();
    Memory memory = Memory::create(std::move(options)).value();
    return held(name, [&](const Message& message) { must(memory.add(message)); }, before);
  };
  std::vector<LongRun> out;
  out.push_back(run("by default", {}));
  out.push_back(run("with a compressor", {.compressor = std::make_shared<parley::ExtractiveCompressor>()}));
  out.push_back(run("that holds the window only", {.log_limit = {.messages = 0}}));
  out.push_back(run("without a limit", {.log_limit = parley::LogLimit::unlimited()}));
  return out;
}

std::vector<Prefix> measure_prefixes() {
  constexpr std::size_t kRequests = 5000;
  const std::vector<Message> messages = tool_loop(2 * kRequests);
  std::vector<Prefix> out;
  for (const double low_water : {1.0, 0.9, 0.75, 0.5}) {
    Memory memory = memory_of({.messages = 100, .low_water = low_water});
    must(memory.add(Message::system_message("Use the tools.")));
    must(memory.add(Message::user_message("What is the weather?")));
    std::vector<Message> before;
    std::size_t unchanged = 0;
    for (std::size_t i = 0; i < messages.size(); i += 2) {
      must(memory.add(std::span(messages).subspan(i, 2)));
      std::vector<Message> now = memory.window();
      const auto same = [](const Message& a, const Message& b) { return a.id() == b.id(); };
      const bool is_prefix =
          before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin(), same);
      unchanged += is_prefix ? 1 : 0;
      before = std::move(now);
    }
    out.push_back({low_water, static_cast<double>(unchanged) / kRequests});
  }
  return out;
}

std::string to_markdown(const std::vector<Resident>& all) {
  std::string out =
      "| messages in a memory | read together | JSON bytes each | held bytes each |\n|---|---|---|---|\n";
  for (const Resident& each : all) {
    char line[160];
    std::snprintf(line, sizeof line, "| %zu | %zu | %zu | %.1f |\n", each.messages, each.together,
                  each.json_bytes, each.held_bytes);
    out += line;
  }
  return out;
}

std::string to_markdown(const std::vector<LongRun>& runs) {
  std::string out =
      "| memory with a window of 100 | messages added | bytes each | held MiB |\n|---|---|---|---|\n";
  for (const LongRun& run : runs) {
    char line[160];
    std::snprintf(line, sizeof line, "| %s | %zu | %zu | %.1f |\n", run.memory, run.added, run.json_bytes,
                  run.held_mib);
    out += line;
  }
  return out;
}

std::string to_markdown(const std::vector<Prefix>& prefixes) {
  std::string out = "| low water mark | requests whose front was unchanged |\n|---|---|\n";
  for (const Prefix& prefix : prefixes) {
    char line[96];
    std::snprintf(line, sizeof line, "| %.2f | %.1f %% |\n", prefix.low_water, 100 * prefix.unchanged);
    out += line;
  }
  return out;
}

}  // namespace bench::window_task
