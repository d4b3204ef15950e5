//   file  := line*
//   line  := base64 " " rank "\n"      the last line may lack its end; empty lines say nothing
//   rank  := decimal, at most 4294967294

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>
#include <vector>

#include "parley/media/data_url.h"
#include "token/tables.h"

namespace parley::token {
namespace {

constexpr std::size_t kMaxTokenBytes = 4096;

struct Line {
  std::string token;
  std::uint32_t rank = 0;
  std::size_t number = 0;  // from 1
};

std::string at_line(std::string what, std::size_t number) {
  return std::move(what) + " at line " + std::to_string(number);
}

Result<Line> read_line(std::string_view line, std::size_t number) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return fail(Code::Malformed, at_line("expected a token, a space and a rank", number));
  }
  Line out{.token = {}, .rank = 0, .number = number};
  Result<std::string> token = base64_decode(line.substr(0, space), Base64Mode::Canonical, kMaxTokenBytes);
  if (!token && token.error().code == Code::LimitExceeded) {
    return fail(Code::LimitExceeded,
                at_line("token longer than " + std::to_string(kMaxTokenBytes) + " bytes", number));
  }
  if (!token) return fail(Code::Malformed, at_line(token.error().message, number));
  if (token->empty()) return fail(Code::Malformed, at_line("empty token", number));
  out.token = *std::move(token);
  const std::string_view rank = line.substr(space + 1);
  const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), out.rank);
  if (error != std::errc() || end != rank.data() + rank.size() || out.rank == kNone) {
    return fail(Code::Malformed, at_line("expected a rank below 4294967295", number));
  }
  return out;
}

Result<std::vector<Line>> read_lines(std::string_view file) {
  std::vector<Line> lines;
  std::unordered_set<std::uint32_t> ranks;
  for (std::size_t number = 1; !file.empty(); ++number) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    std::string_view text = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) continue;
    if (lines.size() == kMaxTokens) {
      return fail(Code::LimitExceeded,
                  at_line("more than " + std::to_string(kMaxTokens) + " tokens", number));
    }
    PARLEY_TRY(Line line, read_line(text, number));
    if (!ranks.insert(line.rank).second) {
      return fail(Code::Malformed, at_line("duplicate rank", number));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Result<std::shared_ptr<const Vocabulary>> read_tiktoken(std::string_view file, SplitPattern pattern,
                                                        std::string name) {
  PARLEY_TRY(std::vector<Line> lines, read_lines(file));
  std::unordered_set<std::string_view> tokens;
  for (const Line& line : lines) {
    if (!tokens.insert(line.token).second) {
      return fail(Code::Malformed, at_line("duplicate token", line.number));
    }
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (!tokens.contains({&c, 1})) {
      return fail(Code::Malformed, "no token for the single byte " + std::to_string(byte));
    }
  }
  std::ranges::sort(lines, {}, &Line::rank);
  Vocabulary::Tokens sorted;
  std::vector<std::uint32_t> ids;
  for (const Line& line : lines) {
    sorted.push_back(line.token);
    ids.push_back(line.rank);
  }
  if (ids.back() == ids.size() - 1) ids.clear();  // each is its own number
  return std::make_shared<const Vocabulary>(std::move(name), pattern, std::move(sorted), std::move(ids),
                                            std::span<const Vocabulary::Halves>{});
}

}  // namespace parley::token
