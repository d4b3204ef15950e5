// The readers of all streams: the first byte chooses a dialect, the second where the stream is cut, the rest
// is what a server sends. Cutting changes nothing (S1, F1), there is one end (S2), and whatever was said can
// be written in every dialect and read again. Lines of Converse are put into binary messages, "name payload"
// each, as checksums cannot be guessed; with the highest bit of the first byte they are taken as they are.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../streams/transcript.h"
#include "parley/base/utf8.h"
#include "parley/dialect/accumulate.h"
#include "parley/dialect/stream.h"
#include "require.h"

namespace {

using namespace parley;

constexpr Dialect kRead[] = {Dialect::OpenAI,    Dialect::DeepSeek,  Dialect::Moonshot,
                             Dialect::DashScope, Dialect::Responses, Dialect::Anthropic,
                             Dialect::Gemini,    Dialect::Ollama,    Dialect::Converse};
constexpr Dialect kWritten[] = {Dialect::OpenAI,    Dialect::DeepSeek, Dialect::Responses,
                                Dialect::Anthropic, Dialect::Gemini,   Dialect::Ollama};

std::string binary(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const bool is_exception = line.starts_with('!');
    if (is_exception) line.remove_prefix(1);
    const std::size_t space = std::min({line.find(' '), line.size(), std::size_t{255}});
    const EventStreamFrame::Header headers[] = {
        {is_exception ? ":exception-type" : ":event-type", line.substr(0, space)},
        {":message-type", is_exception ? "exception" : "event"}};
    out += EventStreamFramer::encode(headers, line.substr(std::min(space + 1, line.size())));
  }
  return out;
}

std::vector<std::string_view> pieces_of(std::string_view bytes, std::size_t size) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < bytes.size(); at += size) out.push_back(bytes.substr(at, size));
  return out;
}

bool is_end(const StreamEvent& event) {
  return std::holds_alternative<stream::Done>(event) || std::holds_alternative<stream::Truncated>(event) ||
         std::holds_alternative<stream::Failed>(event);
}

void write_and_read(Dialect source, std::string_view bytes, Dialect target) {
  StreamWriter writer = StreamWriter::of(target, source).value();
  StreamReader reader = StreamReader::of(source).value();
  std::string written;
  std::size_t ends = 0;
  const OnStreamEvent write = [&](const StreamEvent& event) {
    require(ends == 0, "the end is the last event");
    ends += is_end(event) ? 1 : 0;
    writer.write(event, written);
  };
  reader.feed(bytes, write);
  reader.finish(write);
  require(ends == 1, "there is one end");
  require(is_utf8(written), "what is written is text");
  StreamReader again = StreamReader::of(target).value();
  const OnStreamEvent check = [&](const StreamEvent& event) {
    const auto* failed = std::get_if<stream::Failed>(&event);
    require(failed == nullptr || failed->error.code == Code::Unavailable, "what is written can be read");
  };
  again.feed(written, check);
  again.finish(check);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Dialect dialect = kRead[(data[0] & 0x7F) % std::size(kRead)];
  const std::size_t cut = std::size_t{1} + data[1];
  std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  if (dialect == Dialect::Converse && data[0] < 0x80) bytes = binary(bytes);
  const test::Transcript whole = test::transcript_of(dialect, {bytes});
  require(is_utf8(whole.events) && is_utf8(whole.message), "all that is said is text");
  require(test::transcript_of(dialect, pieces_of(bytes, cut)) == whole, "cutting changes nothing");
  require(test::transcript_of(dialect, pieces_of(bytes, 1)) == whole, "single bytes change nothing");
  write_and_read(dialect, bytes, kWritten[data[1] % std::size(kWritten)]);
  return 0;
}
