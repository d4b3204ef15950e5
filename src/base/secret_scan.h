// SecretScan walks over a text from one secret to the next.
//
// One thread at a time. The text must outlive the scan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace parley {

struct FoundSecret {
  std::size_t begin = 0, end = 0;  // the part to redact; a prefix that only announces it stays
  std::string_view kind;           // "openai key"; static, ASCII, names no secret
};

class SecretScan {
 public:
  explicit SecretScan(std::string_view text) : text_(text) {}

  // The next secret, or nothing.
  std::optional<FoundSecret> next();

  // The number of windows, comparisons and bytes examined, for tests of complexity.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Rule;
  friend struct SecretRules;

  bool begins_word(std::size_t at) const;
  std::size_t run_end(std::size_t at, unsigned set, std::size_t most);
  bool match(std::size_t at, const Rule& rule, FoundSecret& found);
  bool match_key(std::size_t at, const Rule& rule, FoundSecret& found);
  bool match_value(std::size_t at, const Rule& rule, FoundSecret& found);
  bool match_web_token(std::size_t at, const Rule& rule, FoundSecret& found);
  bool match_block(std::size_t at, const Rule& rule, FoundSecret& found);
  bool match_url(std::size_t at, const Rule& rule, FoundSecret& found);
  bool is_query_name(std::size_t at) const;
  bool is_connection_name(std::size_t at) const;
  bool is_authorization(std::size_t at) const;

  // A run of characters of one set, as far as it goes.
  struct Run {
    unsigned set = 0;
    std::size_t begin = 0, end = 0;
  };

  std::string_view text_;
  std::array<Run, 16> runs_ = {};     // one for each set that the rules have
  std::size_t last_end_ = 0;          // of the last secret
  std::size_t next_block_end_ = 0;    // where "-----END" is, as far as it was looked up
  std::vector<FoundSecret> waiting_;  // found already, the next one last
  std::uint64_t steps_ = 0;
};

// The replacement of a secret: "[redacted: <kind>]".
inline constexpr std::string_view kRedactedOpen = "[redacted: ";
inline constexpr std::string_view kRedactedClose = "]";

}  // namespace parley
