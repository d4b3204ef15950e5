#include "store/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "parley/base/text.h"

namespace parley::store {
namespace {

constexpr std::size_t kMostIndexedBytes = std::size_t{1} << 20;
constexpr std::size_t kMostShownBytes = 160;

// Unspaced: of a script whose words stand without spaces between them.
enum class Letter : std::uint8_t { None, Spaced, Unspaced };

struct Block {
  utf8proc_int32_t first, last;
};
constexpr Block kUnspaced[] = {
    {0x0E00, 0x0EFF},    // Thai and Lao
    {0x1000, 0x109F},    // Myanmar
    {0x1780, 0x17FF},    // Khmer
    {0x3040, 0x30FF},    // kana
    {0x3400, 0x4DBF},    // Chinese characters: extension A
    {0x4E00, 0x9FFF},    // the common ones
    {0xAC00, 0xD7AF},    // Hangul, where endings are joined to words
    {0xF900, 0xFAFF},    // compatibility characters
    {0x20000, 0x3FFFF},  // the other extensions
};

constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The offset of the next ASCII, or non-ASCII, character; the size without one.
std::size_t find_ascii(std::string_view text, bool wanted, std::size_t from) {
  while (from < text.size() && is_ascii(text[from]) != wanted) ++from;
  return from;
}

bool is_letter(utf8proc_int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO &&
         category != UTF8PROC_CATEGORY_ME;
}

Letter letter_of(utf8proc_int32_t c) {
  if (!is_letter(c)) return Letter::None;
  for (const Block& block : kUnspaced) {
    if (c >= block.first && c <= block.last) return Letter::Unspaced;
  }
  return Letter::Spaced;
}

// NFKC without case; NUL is a character like any other.
void put_folded(std::string& out, std::string_view text) {
  utf8proc_uint8_t* made = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                      UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, std::free);
  if (size < 0) {
    out.append(text);
  } else {
    out.append(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
  }
}

// The same for a whole text. ASCII only loses its case, but for the character before others, to which they
// may be joined (an accent); nothing joins ASCII to what stands before it.
std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t others = find_ascii(text, false, 0);
    const std::size_t end = find_ascii(text, true, others);
    const std::size_t alone = others > 0 && others < end ? others - 1 : others;
    const auto at = static_cast<std::ptrdiff_t>(out.size());
    out.append(text.substr(0, alone));
    std::transform(out.begin() + at, out.end(), out.begin() + at, lower);
    if (alone < end) put_folded(out, text.substr(alone, end - alone));
    text.remove_prefix(end);
  }
  return out;
}

constexpr auto kAscii = [] {
  std::array<Letter, 0x80> out{};
  for (const char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    out[static_cast<unsigned char>(c)] = Letter::Spaced;
  }
  return out;
}();

struct Character {
  Letter letter;
  std::size_t size;  // in bytes
};

Character character_at(std::string_view text, std::size_t at) {
  if (is_ascii(text[at])) return {kAscii[static_cast<unsigned char>(text[at])], 1};
  utf8proc_int32_t c = -1;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                                 static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  if (size <= 0) return {Letter::None, 1};
  return {letter_of(c), static_cast<std::size_t>(size)};
}

struct Run {
  Letter kind;
  std::string_view text;
};

// Gives `use` the runs of letters of one kind.
template <typename Use>
void each_run(std::string_view text, const Use& use) {
  std::size_t start = 0;
  Letter kind = Letter::None;
  const auto end_run = [&](std::size_t at) {
    if (kind != Letter::None) use(Run{kind, text.substr(start, at - start)});
  };
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.letter != kind) {
      end_run(at);
      start = at;
      kind = character.letter;
    }
    at += character.size;
  }
  end_run(text.size());
}

// Appends the pairs of adjacent characters of a run, each followed by a space. Returns the offset of the last
// character.
std::size_t put_pairs(std::string& out, std::string_view run) {
  std::size_t previous = 0;
  for (std::size_t at = utf8_sequence_length(run, 0); at < run.size();) {
    const std::size_t length = utf8_sequence_length(run, at);
    out.append(run.substr(previous, at + length - previous)) += ' ';
    previous = at;
    at += length;
  }
  return previous;
}

bool has_any_phrase(std::string_view indexed, const std::vector<std::string>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](const std::string& phrase) { return has_phrase(indexed, phrase); });
}

// The part of a line that has a phrase; nothing if none has.
std::string_view part_with(std::string_view line, const std::vector<std::string>& phrases) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = utf8_floor(line, std::min(line.size(), at + kMostShownBytes));
    const std::string_view part = line.substr(at, end - at);
    if (has_any_phrase(indexed_words(part), phrases)) return part;
    if (end == line.size()) break;
    at = utf8_floor(line, at + kMostShownBytes / 2);
  }
  return {};
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::string_view first_part(std::string_view text) {
  return text.substr(0, utf8_floor(text, std::min(text.size(), kMostIndexedBytes)));
}

// The first line, trimmed, for which `pick` gives something: what it gives.
template <typename Pick>
std::string_view first_line(std::string_view text, const Pick& pick) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view found = pick(trimmed(text.substr(0, end))); !found.empty()) return found;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace

std::string indexed_words(std::string_view text) {
  const std::string normal = folded(first_part(text));
  std::string out = " ";
  out.reserve(normal.size() + 2);
  each_run(normal, [&](const Run& run) {
    const std::size_t rest = run.kind == Letter::Unspaced ? put_pairs(out, run.text) : 0;
    out.append(run.text.substr(rest)) += ' ';
  });
  return out;
}

std::vector<std::string> phrases_of(std::string_view words) {
  std::vector<std::string> out;
  const std::string normal = folded(words);
  each_run(normal, [&](const Run& run) {
    std::string phrase;
    if (run.kind == Letter::Spaced) {
      phrase = run.text;
    } else {
      put_pairs(phrase, run.text);
      if (phrase.empty()) {
        phrase.append(run.text) += '*';
      } else {
        phrase.pop_back();  // the space after the last pair
      }
    }
    out.push_back(std::move(phrase));
  });
  return out;
}

bool has_phrase(std::string_view indexed, std::string_view phrase) {
  std::string wanted = " ";
  wanted += phrase;
  if (phrase.ends_with('*')) {
    wanted.pop_back();
  } else {
    wanted += ' ';
  }
  return indexed.find(wanted) != std::string_view::npos;
}

bool has_phrases(std::string_view indexed, const std::vector<std::string>& phrases) {
  return std::all_of(phrases.begin(), phrases.end(),
                     [&](const std::string& phrase) { return has_phrase(indexed, phrase); });
}

std::string excerpt(std::string_view text, const std::vector<std::string>& phrases) {
  const std::string_view found =
      first_line(first_part(text), [&](std::string_view line) { return part_with(line, phrases); });
  return found.empty() ? title_of(text) : std::string(trimmed(found));
}

std::string title_of(std::string_view text) {
  const std::string_view line = first_line(text, [](std::string_view found) { return found; });
  if (line.size() <= kMostShownBytes) return std::string(line);
  return std::string(line.substr(0, utf8_floor(line, kMostShownBytes))) + "...";
}

}  // namespace parley::store
