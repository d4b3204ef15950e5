// Inputs that are made to cost much, in three sizes each: twice and four times as long must cost twice and
// four times as much, and no more. Run under callgrind by growth_test.sh, which compares the instructions.
// Streams as providers send them are "whole": these must cost twice as much to within 5 %.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "media/image/sample_images_testing.h"
#include "parley/base/framing.h"
#include "parley/dialect/rules.h"
#include "parley/guard/fetch.h"
#include "parley/guard/filter.h"
#include "parley/guard/request.h"
#include "parley/media/clip.h"
#include "parley/media/image.h"
#include "parley/parley.h"

namespace {

using namespace parley;
using namespace parley::samples;

struct Work {
  std::string name;
  std::function<std::string(std::size_t)> input;  // of about this many bytes
  std::function<void(const std::string&)> run;
  std::size_t size = 8 * 1024;  // of the smallest
};

std::function<std::string(std::size_t)> repeated(std::string begin, std::string part, std::string end = "") {
  return [=](std::size_t size) {
    std::string out = begin;
    while (out.size() < size) out += part;
    return out + end;
  };
}

// ---- Texts: what each rule of a filter begins with, and never ends.

constexpr std::string_view kTexts[] = {
    "a",
    " ",
    "\n",
    "\u200B",
    "a\u200B",
    "\u0645\u200C",
    "\U0001F468\u200D",
    "\U0001F3F4\U000E0067",
    "\U000E0041",
    "\u4E00\uFE00",
    "<",
    "<|",
    "<|a",
    "<\uFF5C",
    "[INST",
    "```js\n",
    "```yaml\n",
    "```js\n```\n",
    "### New console messages\n",
    "### Page state\n- Page URL\n",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "eyJhbGciOiJIUzI1NiJ9.eyJ",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\nAAAA",
    "-----END ",
    "://",
    "a://b:c",
    "a://b:c@",
    "a://sk-a8mindddddddddddddddd.",
    "a://sk-a8mindddddddddddddddd:b@c ",
    "password=",
    "; password= ",
    "?key=",
    "&aaaaaaaaaaaaaaaaaaaaaakey=",
    "bearer ",
    "authorization: basic ",
    "sk-",
    "AccountKey=",
    ";pwd=x\u00E9",
    "sk-aaaaaaaaaaaaaaaaaaaa",
    "[redacted: ",
};

void add_filters(std::vector<Work>& works) {
  for (const Filter& filter : filters()) {
    const std::string_view names[] = {filter.name};
    FilterOptions options;
    options.size_bytes = 4096;
    const FilterChain chain = FilterChain::of(names, options).value();
    for (std::size_t i = 0; i < std::size(kTexts); ++i) {
      works.push_back({"filter " + std::string(filter.name) + " text " + std::to_string(i),
                       repeated("", std::string(kTexts[i])),
                       [chain](const std::string& text) { (void)chain.run(Text(text)); }});
    }
  }
}

// One message of many texts, filtered by where they come from.
void add_messages(std::vector<Work>& works) {
  const std::string_view names[] = {"control-tokens"};
  const FilterChain chain = FilterChain::of(names, {.up_to = Trust::Untrusted}).value();
  const auto run = [chain](const std::string& text, bool is_result) {
    std::vector<Block> blocks(text.size() / 16, TextBlock{"<|im_start|> ...."});
    MessageBuilder builder(Role::User);
    if (is_result) {
      builder.block(ToolResultBlock{"c", "f", std::move(blocks)});
    } else {
      builder.blocks(std::move(blocks));
    }
    (void)chain.run(builder.build().value());
  };
  works.push_back({"message of blocks", repeated("", "a"), [run](const auto& text) { run(text, false); }});
  works.push_back({"result of parts", repeated("", "a"), [run](const auto& text) { run(text, true); }});
}

// ---- An answer with many calls, whose results are stored one by one.

void add_calls(std::vector<Work>& works) {
  constexpr std::size_t kBytesOfACall = 64;
  const auto run = [](const std::string& text) {
    std::vector<Block> uses, results;
    for (std::size_t i = 0; i < text.size() / kBytesOfACall; ++i) {
      const Text id = Text("call_" + std::to_string(i));
      uses.emplace_back(ToolUseBlock{id, Text("f"), Text("{}")});
      results.emplace_back(ToolResultBlock{id, Text("f"), Text("done")});
    }
    auto store = std::make_shared<store::Store>(store::open_store("memory:").value());
    StoredMemory memory =
        StoredMemory::open(store, {.session = "s"}, {.budget = Budget::unlimited()}).value();
    (void)memory.add(MessageBuilder(Role::Assistant).blocks(std::move(uses)).build().value());
    for (Block& result : results) {
      (void)memory.add(MessageBuilder(Role::Tool).block(std::move(result)).build().value());
    }
  };
  works.push_back({"calls answered one by one", repeated("", "a"), run, 64 * 1024});
}

// ---- Images: headers of many small parts, pixels of many small steps.

void add_images(std::vector<Work>& works) {
  const std::string pixel = chunk("IDAT", stored(std::string(2, '\0')));
  const std::string none = chunk("IDAT", "");
  const std::string segment = "\xFF\xFE" + std::string("\0\2", 2);
  const std::string gif_head = gif().substr(0, 13);
  const std::string entry = tiff_entry(700, 1, 1, 0);
  const std::pair<const char*, std::function<std::string(std::size_t)>> images[] = {
      {"png text chunks",
       repeated(kPngSignature + png_header(1, 1), chunk("tEXt", "a\0b"), pixel + chunk("IEND", ""))},
      {"png empty data", repeated(kPngSignature + png_header(1, 1), none, pixel + chunk("IEND", ""))},
      {"png behind data",
       repeated(kPngSignature + png_header(1, 1) + pixel, chunk("tEXt", "a\0b"), chunk("IEND", ""))},
      {"png rows",
       [](std::size_t size) {
         const auto rows = static_cast<std::uint32_t>(size / 2);
         return kPngSignature + png_header(1, rows) + chunk("IDAT", stored(std::string(size, '\0'))) +
                chunk("IEND", "");
       }},
      {"jpeg comments", repeated(jpeg().substr(0, 2), segment, jpeg().substr(2))},
      {"jpeg fill bytes", repeated(jpeg().substr(0, 2), "\xFF", jpeg().substr(3))},
      {"jpeg data", repeated(jpeg().substr(0, jpeg().size() - 2), "\xAA\x55\x13", "\xFF\xD9")},
      {"jpeg progressive data",
       repeated(progressive_jpeg().substr(0, progressive_jpeg().size() - 2), "\xAA\x55\x13", "\xFF\xD9")},
      {"gif comments", repeated(gif_head, std::string("!\xFE\1a\0", 5), gif().substr(13))},
      {"gif one long comment", repeated(gif_head + "!\xFE", "\1a", std::string(1, '\0') + gif().substr(13))},
      {"gif frames", repeated(gif().substr(0, gif().size() - 1), gif().substr(13, gif().size() - 14), ";")},
      {"bmp rows", [](std::size_t size) { return bmp(1, static_cast<std::uint32_t>(size / 4)); }},
      {"tiff entries",
       [=](std::size_t size) {
         std::string more;
         const std::size_t count = size / entry.size();
         for (std::size_t i = 0; i < count; ++i) more += entry;
         return tiff(more, static_cast<int>(count));
       }},
      {"webp chunks",
       [](std::size_t size) {
         std::string body = webp().substr(8);
         while (body.size() < size) body += std::string("ABCD\2\0\0\0xx", 10);
         return "RIFF" + little(body.size(), 4) + body;
       }},
      {"trailing", repeated(png(), "x")},
  };
  for (const auto& [name, input] : images) {
    for (const ImageLevel level : {ImageLevel::Header, ImageLevel::Decode}) {
      ImageOptions options;
      options.level = level;
      options.side = 1 << 20;
      const std::string at = level == ImageLevel::Header ? ", header" : ", decode";
      works.push_back(
          {name + at, input, [options](const std::string& bytes) { (void)check_image(bytes, options); }});
    }
  }
}

// ---- Base64 and requests.

void add_base64(std::vector<Work>& works) {
  constexpr std::string_view kParts[] = {"AAAA", "AAA\n", " ", "=", "A=", "A"};
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    const std::string part(kParts[i]);
    const std::string number = " " + std::to_string(i);
    for (const Base64Mode mode : {Base64Mode::Canonical, Base64Mode::OpenManus, Base64Mode::Forgiving}) {
      works.push_back({"base64 " + std::to_string(static_cast<int>(mode)) + number, repeated("", part),
                       [mode](const std::string& text) { (void)base64_decode(text, mode); }});
    }
    works.push_back({"OpenManus' check" + number, repeated("data:,", part),
                     [](const std::string& text) { (void)validate_base64_image(text); }});
    works.push_back({"request" + number, repeated("data:image/png;base64,", part),
                     [](const std::string& text) { (void)parse_user_request(text, text); }});
  }
}

// ---- URLs: parts without end, in every place of a URL.

void add_urls(std::vector<Work>& works) {
  FetchOptions options;
  options.allow_http = true;
  options.allowed_hosts = {"example.com", ".example.org"};
  const FetchPolicy policy = FetchPolicy::of(options).value();
  const std::pair<const char*, const char*> parts[] = {
      {"http://", "a@"},
      {"http://", "a:"},
      {"http://", "a."},
      {"http://", "0."},
      {"http://", "%31"},
      {"http://", "1"},
      {"http://[", "0:"},
      {"http://", "xn--a."},
      {"http://", "\u00FC"},
      {"http://", "\uFF11."},
      {"http://a/", "../"},
      {"http://a/", "a/../"},
      {"http://a/", "%2e/"},
      {"http://a/", "\\"},
      {"http://a/?", "%"},
      {"http://a/#", " "},
      {"", "\t"},
      {"data:", ";a=b"},
      {"data:,", "%41"},
      {"data:;base64,", "AAAA"},
      {"data:;base64,", "%20"},
      {"data:image/png", "; "},
      {"data:;a=\"", "\\"},
      {"file:///", "a/"},
  };
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const auto input = repeated(parts[i].first, parts[i].second);
    works.push_back({"url " + std::to_string(i), input,
                     [policy](const std::string& text) { (void)check_url(text, policy); }});
    works.push_back({"data url " + std::to_string(i), input,
                     [](const std::string& text) { (void)read_media_data_url(text); }});
  }
}

// ---- Clips: boxes and frames without end.

void add_clips(std::vector<Work>& works) {
  const std::string box = std::string(
      "\0\0\0\x08"
      "free",
      8);
  const std::string nested = std::string(
      "\0\0\0\0"
      "moov",
      8);
  const std::pair<std::string, std::string> clips[] = {
      {std::string("\0\0\0\x10"
                   "ftypisom\0\0\0\0",
                   16),
       box},
      {std::string("\0\0\0\x10"
                   "ftypisom\0\0\0\0",
                   16),
       nested},
      {std::string("RIFF\xFF\xFF\xFF\x7FWAVE", 12), std::string("LIST\0\0\0\0", 8)},
      {"\x1A\x45\xDF\xA3\x80", "\xEC\x80"},
      {"OggS", std::string("OggS\0\0\0\0", 8)},
      {"ID3", "ID3"},
      {"fLaC", std::string("\1\0\0\0", 4)},
      {"\xFF\xFB\x90\x64", "\xFF\xFB"},
      {"\xFF\xF1\x50\x80\x01\x1F\xFC", "\xFF\xF1\x50\x80\x01\x1F\xFC\x21"},
  };
  for (std::size_t i = 0; i < std::size(clips); ++i) {
    works.push_back({"clip " + std::to_string(i), repeated(clips[i].first, clips[i].second),
                     [](const std::string& bytes) { (void)check_clip(bytes); }});
  }
}

// ---- Rules: what they count, pair and look up, without end.

void add_rules(std::vector<Work>& works) {
  const auto run = [&](Dialect dialect, std::function<std::string(std::size_t)> input) {
    works.push_back(
        {"rules " + std::string(to_string(dialect)) + " " + std::to_string(works.size()), std::move(input),
         [dialect](const std::string& text) { (void)check_rules(Json::parse(text).value(), dialect); }});
  };
  // Calls of one step, then steps of one call.
  const auto steps = [](const std::string& call, const std::string& between) {
    return [=](std::size_t size) {
      std::string out = "[" + call;
      while (out.size() < size / 2) out += "," + call;
      while (out.size() < size) out += between + call;
      return out + "]}]";
    };
  };
  run(Dialect::OpenAI, [=](std::size_t size) {
    return R"([{"role":"assistant","tool_calls":)" +
           steps(R"({"id":"a","function":{"name":"f","arguments":""}})",
                 R"(]},{"role":"assistant","tool_calls":[)")(size);
  });
  run(Dialect::Anthropic, [=](std::size_t size) {
    return R"([{"role":"assistant","content":)" +
           steps(R"({"type":"tool_use","id":"a","name":"f","input":{}})",
                 R"(]},{"role":"user","content":"x"},{"role":"assistant","content":[)")(size);
  });
  run(Dialect::Converse, [=](std::size_t size) {
    return R"([{"role":"assistant","content":)" +
           steps(R"({"toolUse":{"toolUseId":"a","name":"f","input":{}}})",
                 R"(]},{"role":"assistant","content":[)")(size);
  });
  run(Dialect::Gemini, [=](std::size_t size) {
    return R"([{"role":"model","parts":)" +
           steps(R"({"functionCall":{"name":"f"}})", R"(]},{"role":"model","parts":[)")(size);
  });
  run(Dialect::Responses,
      repeated("[", R"({"type":"function_call_output","call_id":"a","output":""},)", "7]"));
  run(Dialect::Ollama, repeated("[", R"({"role":"tool","content":"x"},)", "7]"));
  run(Dialect::ShareGPT, repeated(R"({"conversations":[{"from":"human","value":")", "<image>", "\"}]}"));
  run(Dialect::OTel, repeated(R"([{"role":"user","parts":[{"type":"blob")", R"(,"a":1)", "}]}]"));
  run(Dialect::Gemini, repeated(R"([{"parts":[{"a":1)", R"(,"text":"x")", "}]}]"));
  run(Dialect::DashScope, repeated(R"([{"role":"user","content":"x")", R"(,"a":1)", "}]"));
  run(Dialect::DashScope,
      repeated(R"({"input":{"messages":[{"role":"user","content":[{"a":1)", R"(,"a":1)", "}]}]}}"));
  run(Dialect::Moonshot,
      repeated(R"({"messages":[],"tools":[{"function":{"name":"f","parameters":{"properties":{"a":1)",
               R"(,"a":{"b":1})", "}}}}]}"));
}

// ---- Streams.

std::function<void(const std::string&)> decode(Dialect dialect, std::size_t piece) {
  return [dialect, piece](const std::string& bytes) {
    StreamReader reader = StreamReader::of(dialect).value();
    Accumulator accumulator(dialect);
    const OnStreamEvent add = [&](const StreamEvent& event) { accumulator.add(event); };
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece), add);
    }
    reader.finish(add);
    (void)accumulator.take();
  };
}

// Events, lines and blocks without end, byte by byte and at once.
void add_streams(std::vector<Work>& works) {
  // Each '#' of a part is a number that goes up.
  const auto counted = [](std::string begin, std::string part) {
    return [=](std::size_t size) {
      std::string out = begin;
      for (std::size_t i = 0; out.size() < size; ++i) {
        for (const char c : part) out += c == '#' ? std::to_string(i) : std::string(1, c);
      }
      return out;
    };
  };
  const std::tuple<Dialect, const char*, const char*> streams[] = {
      {Dialect::OpenAI, "", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"},
      {Dialect::OpenAI, "", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":#}]}}]}\n\n"},
      {Dialect::OpenAI, "", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"#\"}]}}]}\n\n"},
      {Dialect::OpenAI, "", "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":#}}\n\n"},
      {Dialect::OpenAI, "data: {\"choices\":[{\"delta\":{\"content\":\"", "aaaa"},
      {Dialect::OpenAI, "data: {", "\ndata: "},
      {Dialect::OpenAI, "", ":\r"},
      {Dialect::OpenAI, "", "\r\n"},
      {Dialect::OpenAI, "", "x\n"},
      {Dialect::OpenAI, "", "{}\n\n"},
      {Dialect::Responses, "",
       "data: {\"type\":\"response.output_text.delta\",\"output_index\":#,\"delta\":\"a\"}\n\n"},
      {Dialect::Responses, "",
       "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"a\"}\n\n"},
      {Dialect::Responses, "",
       "data: {\"type\":\"response.output_item.added\",\"output_index\":#,\"item\":{}}\n\n"},
      {Dialect::Anthropic, "",
       "data: {\"type\":\"content_block_start\",\"index\":#,\"content_block\":{}}\n\n"},
      {Dialect::Anthropic, "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{}}\n\n",
       "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
       "\"partial_json\":\"[\"}}\n\n"},
      {Dialect::Gemini, "",
       "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{}},{\"text\":\"a\"}]}}]}\n\n"},
      {Dialect::Ollama, "", "{\"message\":{\"content\":\"a\",\"tool_calls\":[{}]}}\n"},
      {Dialect::Ollama, "", "\n"},
  };
  for (std::size_t i = 0; i < std::size(streams); ++i) {
    const auto& [dialect, begin, part] = streams[i];
    works.push_back({"stream " + std::to_string(i), counted(begin, part), decode(dialect, 1 << 20)});
    works.push_back(
        {"stream " + std::to_string(i) + " byte by byte", counted(begin, part), decode(dialect, 1)});
  }
}

// One of each framing, as a provider sends it, from its first to its terminal event.
void add_whole_streams(std::vector<Work>& works) {
  const auto frame = [](std::string_view type, std::string_view payload) {
    const EventStreamFrame::Header headers[] = {
        {":message-type", "event"}, {":event-type", type}, {":content-type", "application/json"}};
    return EventStreamFramer::encode(headers, payload);
  };
  const std::tuple<const char*, Dialect, std::function<std::string(std::size_t)>> streams[] = {
      {"server-sent events", Dialect::OpenAI,
       repeated("data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
                "\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
                "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                "\" a \\\"word\\\"\"},\"finish_reason\":null}]}\n\n",
                "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},"
                "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")},
      {"lines", Dialect::Ollama,
       repeated("",
                "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\" a word\"},"
                "\"done\":false}\n",
                "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,"
                "\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":99}\n")},
      {"event stream", Dialect::Converse,
       repeated(frame("messageStart", R"({"role":"assistant"})"),
                frame("contentBlockDelta", R"({"contentBlockIndex":0,"delta":{"text":" a word"}})"),
                frame("contentBlockStop", R"({"contentBlockIndex":0})") +
                    frame("messageStop", R"({"stopReason":"end_turn"})") +
                    frame("metadata", R"({"usage":{"inputTokens":9,"outputTokens":99}})"))},
  };
  for (const auto& [name, dialect, input] : streams) {
    for (const std::size_t piece : {1000, 16 * 1024}) {
      works.push_back({"whole " + std::string(name) + " in pieces of " + std::to_string(piece), input,
                       decode(dialect, piece), 64 * 1024});
    }
  }
}

}  // namespace

int main() {
  std::vector<Work> works;
  add_filters(works);
  add_messages(works);
  add_calls(works);
  add_images(works);
  add_base64(works);
  add_urls(works);
  add_clips(works);
  add_rules(works);
  add_streams(works);
  add_whole_streams(works);
  for (const Work& work : works) {
    work.run(work.input(work.size));  // what is made once is made now
    for (const std::size_t times : {1, 2, 4}) {
      const std::string input = work.input(times * work.size);
      const std::string name = std::to_string(times) + " " + work.name;
      CALLGRIND_ZERO_STATS;
      work.run(input);
      CALLGRIND_DUMP_STATS_AT(name.c_str());
    }
  }
  std::printf("%zu\n", works.size());
}
