#include "cases.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "parley/base/framing.h"
#include "transcript.h"

namespace parley::test {
namespace {

namespace fs = std::filesystem;

std::string with_bytes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_byte = text[i] == '%' && i + 2 < text.size() && std::isxdigit(text[i + 1]) != 0 &&
                         std::isxdigit(text[i + 2]) != 0;
    out += is_byte ? static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)) : text[i];
    if (is_byte) i += 2;
  }
  return out;
}

// One message of Converse's binary stream: "name payload", or "!name payload" for an exception.
std::string event_stream_message(std::string_view line) {
  const bool is_exception = line.starts_with('!');
  if (is_exception) line.remove_prefix(1);
  const std::size_t space = std::min(line.find(' '), line.size());
  const EventStreamFrame::Header headers[] = {
      {is_exception ? ":exception-type" : ":event-type", line.substr(0, space)},
      {":content-type", "application/json"},
      {":message-type", is_exception ? "exception" : "event"}};
  return EventStreamFramer::encode(headers, line.substr(std::min(space + 1, line.size())));
}

// The bytes of a stream out of its lines, as the words of the command say.
std::string bytes_of(const std::vector<std::string>& lines, const std::vector<std::string>& words) {
  const auto says = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  std::string out;
  for (const std::string& line : lines) {
    if (says("converse") && !says("raw")) {
      if (!line.empty()) out += event_stream_message(line);
    } else {
      out += line + (says("crlf") ? "\r\n" : says("cr") ? "\r" : "\n");
    }
  }
  if (says("bytes")) out = with_bytes(out);
  if (says("cut")) out.resize(out.size() - std::stoull(words.back()));
  return out;
}

}  // namespace

std::vector<StreamCase> stream_cases() {
  std::vector<StreamCase> cases;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(PARLEY_SOURCE_DIR) / "tests/streams/cases")) {
    if (entry.path().extension() == ".stream") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::string> words, input;
    bool is_input = false;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.starts_with("stream ")) {
        std::istringstream in(line);
        words.clear();
        input.clear();
        for (std::string word; in >> word;) words.push_back(word);
        cases.push_back({path.filename().string() + ":" + std::to_string(number),
                         any_dialect_named(words.at(1)), "", ""});
        is_input = true;
      } else if (is_input && line == "----") {
        cases.back().bytes = bytes_of(input, words);
        is_input = false;
      } else if (is_input) {
        input.push_back(line);
      } else if (!line.empty() && !line.starts_with('#') && !cases.empty()) {
        cases.back().expected += line + "\n";
      }
    }
  }
  return cases;
}

}  // namespace parley::test
