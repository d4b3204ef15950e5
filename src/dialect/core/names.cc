#include "dialect/core/names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hash.h"
#include "dialect/core/write_blocks.h"
#include "json/walk.h"
#include "parley/base/ids.h"

namespace parley::dialect {
namespace {

constexpr std::string_view kMadeUp = "made_";

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr auto kInNames = [] {
  std::array<bool, 256> allowed{};
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    allowed[c] = is_letter(static_cast<char>(c)) || (c >= '0' && c <= '9') || c == '-';
  }
  return allowed;
}();

bool is_allowed(char c, const NameRule& rule) {
  return kInNames[static_cast<unsigned char>(c)] || rule.also.find(c) != std::string_view::npos;
}

// What a slot reads, "" if there is none; valid while the arena lives.
Text plain_of(const Arena& arena, Slice slice) {
  return slice.present() ? json::unescaped(Text::trusted(nullptr, arena.bytes(slice))) : Text();
}

// The first digits of the SHA-256 as a number in base 62.
std::string digits(std::string_view plain, std::size_t count) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kAll = 43;  // 62^43 > 2^256
  std::array<unsigned char, 32> number = sha256(plain);
  std::string out(kAll, '0');
  for (std::size_t i = kAll; i-- > 0;) {
    unsigned remainder = 0;
    for (unsigned char& byte : number) {
      const unsigned value = remainder << 8 | byte;
      byte = static_cast<unsigned char>(value / 62);
      remainder = value % 62;
    }
    out[i] = kDigits[remainder];
  }
  return out.substr(0, count);
}

}  // namespace

bool fits(std::string_view plain, const NameRule& rule) {
  if (plain.empty() || plain.size() > rule.most_bytes) return false;
  if (rule.starts_with_letter && !is_letter(plain.front())) return false;
  return rule.any_character || std::ranges::all_of(plain, [&](char c) { return is_allowed(c, rule); });
}

std::string mapped_id(std::string_view plain) { return "p_" + digits(plain, 22); }

std::string mapped_name(std::string_view plain, const NameRule& rule) {
  constexpr std::size_t kTail = 6;
  std::string out;
  bool in_run = false;
  for (const char c : plain) {
    const bool allowed = is_allowed(c, rule);
    if (allowed || !in_run) out += allowed ? c : '_';
    in_run = !allowed;
  }
  if (out.empty() || (rule.starts_with_letter && !is_letter(out.front()))) out.insert(out.begin(), '_');
  out.resize(std::min(out.size(), rule.most_bytes - kTail - 1));
  return out + "_" + digits(plain, kTail);
}

std::string fitted_name(std::string_view plain, const NameRule& rule) {
  return fits(plain, rule) ? std::string(plain) : mapped_name(plain, rule);
}

void put_id(Draft& draft, const Arena& arena, Slice id, const NameRule& rule, std::size_t block) {
  const Text plain = plain_of(arena, id);
  if (plain.empty() || fits(plain, rule)) {
    put_string(draft.out, arena, id);
    return;
  }
  draft.note("id_mapped", Severity::Info, "mapped", "the id of a call does not fit and is written as another",
             block);
  draft.out.quoted(mapped_id(plain));
}

void put_name(Draft& draft, const Arena& arena, Slice name, const NameRule& rule,
              std::optional<std::size_t> block) {
  const Text plain = plain_of(arena, name);
  if (fits(plain, rule)) {
    put_string(draft.out, arena, name);
    return;
  }
  const std::string mapped = mapped_name(plain, rule);
  draft.note("name_mapped", Severity::Info, "mapped", said("a name does not fit and is written as " + mapped),
             block);
  draft.out.quoted(mapped);
}

std::string made_up_id(std::size_t number) { return std::string(kMadeUp) + std::to_string(number); }

std::optional<std::size_t> number_of_made_up(std::string_view id) {
  constexpr std::size_t kMostDigits = 18;  // no made-up id has more
  if (!id.starts_with(kMadeUp)) return std::nullopt;
  id.remove_prefix(kMadeUp.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  const bool is_number = error == std::errc() && end == id.data() + id.size() && id.size() <= kMostDigits;
  return is_number ? std::optional(number) : std::nullopt;
}

void put_minted_id(json::Out& out, const Arena& arena, const MessageRecord& message, std::size_t position) {
  char id[kShortIdLength];
  encode_short_id(hash128(message.wire.present() ? arena.bytes(message.wire) : std::string_view(), position),
                  id);
  out.quoted({id, sizeof id});
}

}  // namespace parley::dialect
