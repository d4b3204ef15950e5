#include "corpus.h"

#include <array>
#include <cmath>

#include "../property/generate.h"
#include "parley/base/text.h"

namespace parley::test {
namespace {

#include "words.inc"

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

// Words as often as in speech: the n-th most common one about 1/n times as often as the first.
const std::string& common(Random& random, const std::vector<std::string>& words) {
  std::size_t limit = words.size();
  while (limit > 1 && random.chance(60)) limit = limit * 2 / 5 + 1;
  return words[random.below(limit)];
}

std::string capitalised(std::string word) {
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

std::string english(std::uint64_t seed, std::size_t bytes) {
  const std::vector<std::string> words = words_of(kEnglish);
  const std::vector<std::string> endings{"s", "ed", "ing", "ly", "er", "ness", "'s", "n't", "able", "ation"};
  Random random(seed);
  std::string out;
  while (out.size() < bytes) {
    const std::size_t length = 4 + random.below(16);
    for (std::size_t i = 0; i < length; ++i) {
      std::string word = common(random, words);
      if (random.chance(6)) word += random.one_of(endings);
      if (random.chance(1)) word += random.one_of(words);
      if (i == 0 || random.chance(2)) word = capitalised(word);
      if (random.chance(1)) word = std::to_string(random.below(3000));
      out += word;
      if (i + 1 < length) out += random.chance(8) ? ", " : random.chance(1) ? " (" : " ";
    }
    out += random.chance(85) ? "." : random.chance(50) ? "?" : "!";
    out += random.chance(80) ? " " : "\n\n";
  }
  return out;
}

std::string chinese(std::uint64_t seed, std::size_t bytes) {
  const std::vector<std::string> words = words_of(kChinese);
  Random random(seed);
  std::string out;
  while (out.size() < bytes) {
    const std::size_t length = 3 + random.below(12);
    for (std::size_t i = 0; i < length; ++i) {
      out += common(random, words);
      if (random.chance(1)) out += " GPT-4 ";
      if (random.chance(1)) out += std::to_string(random.below(3000));
    }
    out += random.chance(60) ? "\uFF0C" : random.chance(90) ? "\u3002" : "\uFF1F\n";
  }
  return out;
}

std::string identifier(Random& random, const std::vector<std::string>& words) {
  std::string out = common(random, words);
  const bool is_camel = random.chance(40);
  for (std::size_t more = random.below(3); more > 0; --more) {
    const std::string& word = common(random, words);
    out += is_camel ? capitalised(word) : "_" + word;
  }
  return random.chance(10) ? capitalised(out) : out;
}

std::string code(std::uint64_t seed, std::size_t bytes) {
  const std::vector<std::string> words = words_of(kEnglish);
  Random random(seed);
  std::string out;
  std::size_t depth = 0;
  while (out.size() < bytes) {
    const auto name = [&] { return identifier(random, words); };
    out.append(depth * (random.chance(90) ? 4 : 2), ' ');
    switch (random.below(12)) {
      case 0:
        out += "def " + name() + "(self, " + name() + "=None):\n";
        depth = depth % 4 + 1;
        break;
      case 1:
        out += "if (" + name() + " == " + std::to_string(random.below(300)) + " && !" + name() + ") {\n";
        depth = depth % 4 + 1;
        break;
      case 2:
        out += "for (int i = 0; i < " + name() + ".size(); ++i) {\n";
        depth = depth % 4 + 1;
        break;
      case 3:
        out += "return " + name() + "[\"" + name() + "\"];\n";
        depth = depth > 0 ? depth - 1 : 0;
        break;
      case 4:
        out += "}\n\n";
        depth = depth > 0 ? depth - 1 : 0;
        break;
      case 5:
        out += "// " + english(random.next(), 30).substr(0, 30 + random.below(20)) + "\n";
        break;
      case 6:
        out += "const auto& " + name() + " = " + name() + "->" + name() + "(" + name() + ", 0x" + "1F" +
               std::to_string(random.below(9999)) + ");\n";
        break;
      case 7:
        out += "import " + name() + "." + name() + " as " + name() + "\r\n";
        break;
      case 8:
        out += "{\"" + name() + "\": {\"" + name() + "\": [1, 2, " + std::to_string(random.below(100000)) +
               "], \"" + name() + "\": null}},\n";
        break;
      case 9:
        out += "self." + name() + " += " + name() + " * 0." + std::to_string(random.below(1000)) + "  # " +
               name() + "\n";
        break;
      case 10:
        out += "<div class=\"" + name() + "-" + name() + "\">" + name() + "</div>\n";
        break;
      default:
        out += name() + "(" + name() + ", " + name() + ");\n";
    }
  }
  return out;
}

struct Script {
  char32_t first, last;
};

constexpr auto kScripts = std::to_array<Script>({
    {U'A', U'z'},       {0xC0, 0x24F},      {0x250, 0x2FF},     {0x300, 0x36F},     {0x370, 0x3FF},
    {0x400, 0x52F},     {0x531, 0x587},     {0x591, 0x5F4},     {0x600, 0x6FF},     {0x700, 0x74F},
    {0x780, 0x7B1},     {0x900, 0x97F},     {0x980, 0x9FE},     {0xA01, 0xA76},     {0xA81, 0xAFF},
    {0xB01, 0xB77},     {0xB82, 0xBFA},     {0xC00, 0xC7F},     {0xC80, 0xCF3},     {0xD00, 0xD7F},
    {0xD81, 0xDF4},     {0xE01, 0xE5B},     {0xE81, 0xEDF},     {0xF00, 0xFDA},     {0x1000, 0x109F},
    {0x10A0, 0x10FF},   {0x1100, 0x11FF},   {0x1200, 0x139F},   {0x13A0, 0x13FD},   {0x1400, 0x167F},
    {0x1780, 0x17F9},   {0x1800, 0x18AA},   {0x1C90, 0x1CBF},   {0x1D00, 0x1DFF},   {0x1E00, 0x1FFF},
    {0x2000, 0x206F},   {0x2100, 0x218B},   {0x2460, 0x24FF},   {0x2C00, 0x2DFF},   {0x3000, 0x30FF},
    {0x3100, 0x318E},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4C6},   {0xA640, 0xA7FF},
    {0xAB30, 0xABF9},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFB00, 0xFDFF},   {0xFE00, 0xFEFF},
    {0xFF00, 0xFFEF},   {0x10000, 0x100FA}, {0x10400, 0x104FF}, {0x10900, 0x10AFF}, {0x11000, 0x11FFF},
    {0x12000, 0x12543}, {0x13000, 0x13455}, {0x16800, 0x16FFF}, {0x1B000, 0x1B2FB}, {0x1D400, 0x1D7FF},
    {0x1E900, 0x1E95F}, {0x1F300, 0x1FAFF}, {0x20000, 0x2A6DF}, {0x30000, 0x323AF}, {0xE0000, 0xE01EF},
});

char32_t character(Random& random, const Script& script) {
  return script.first + static_cast<char32_t>(random.below(script.last - script.first + 1));
}

// Words of one script after another.
std::string scripts(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  const std::vector<std::string> between{" ", " ", " ", ", ", ". ", "\n", "-", "'", " (", "  "};
  std::string out;
  for (std::size_t turn = 0; out.size() < bytes; ++turn) {
    const Script& script = kScripts[turn % kScripts.size()];
    for (std::size_t word = 0; word < 12; ++word) {
      // Most texts use few of the characters of their script.
      const std::size_t start = random.below(script.last - script.first + 1);
      for (std::size_t i = 1 + random.below(9); i > 0; --i) {
        const auto near =
            static_cast<char32_t>((start + random.below(40)) % (script.last - script.first + 1));
        append_utf8(out, random.chance(50) ? script.first + near : character(random, script));
      }
      out += random.one_of(between);
    }
  }
  return out;
}

std::string emoji(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  std::string out;
  const auto add = [&](char32_t c) { append_utf8(out, c); };
  while (out.size() < bytes) {
    switch (random.below(6)) {
      case 0:  // a family
        for (std::size_t i = 1 + random.below(4); i > 0; --i) {
          add(0x1F466 + static_cast<char32_t>(random.below(4)));
          if (random.chance(40)) add(0x1F3FB + static_cast<char32_t>(random.below(5)));
          if (i > 1) add(0x200D);
        }
        break;
      case 1:  // a flag
        add(0x1F1E6 + static_cast<char32_t>(random.below(26)));
        add(0x1F1E6 + static_cast<char32_t>(random.below(26)));
        break;
      case 2:  // a key cap
        out += static_cast<char>('0' + random.below(10));
        add(0xFE0F);
        add(0x20E3);
        break;
      case 3:
        add(0x2600 + static_cast<char32_t>(random.below(0x1C0)));
        if (random.chance(60)) add(0xFE0F);
        break;
      case 4:
        add(0x1F300 + static_cast<char32_t>(random.below(0x380)));
        break;
      default:
        out += random.chance(50) ? " so good" : "ok\n";
    }
    if (random.chance(30)) out += ' ';
  }
  return out;
}

constexpr auto kSpaces = std::to_array<char32_t>({
    0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
    0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
});

std::string spaces(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  const std::vector<std::string> between{"a", "X", "1", ".", "\u4F60", "\u0301", "'s", "word", "/", "", ""};
  std::string out;
  while (out.size() < bytes) {
    const bool is_plain = random.chance(60);
    const std::size_t length = random.chance(5) ? random.below(300) : random.below(7);
    for (std::size_t i = 0; i < length; ++i) {
      append_utf8(out, is_plain ? (random.chance(80)   ? U' '
                                   : random.chance(50) ? U'\n'
                                                       : U'\t')
                                : kSpaces[random.below(kSpaces.size())]);
    }
    out += random.one_of(between);
  }
  return out;
}

// What the patterns tell apart, next to each other in all ways.
std::string borders(std::uint64_t seed, std::size_t bytes) {
  const std::vector<std::string> atoms{
      "a",      "B",      "z",      "Q",          "'",          "'s",         "'S",     "'t",
      "'re",    "'RE",    "'Ve",    "'ll",        "'lL",        "'d",         "'m",     "'\u017F",
      "\u017F", "\u212A", "\u0131", "\u01C5",     "\u02B0",     "\u00AA",     "\u4F60", "\u3042",
      "\u0301", "\u0903", "\u20DD", "1",          "22",         "\u0663",     "\u00BD", "\u2167",
      " ",      "  ",     "\t",     "\n",         "\r\n",       "\u00A0",     "\u3000", "\u2028",
      "\u0085", ".",      "!?",     "/",          "//",         "\n/",        "_",      "-",
      "\u20AC", "\u200D", "\u0378", "\U0001F600", "\U0001D400", "\U0010FFFF", "\uFB01", "\u00DF",
      "\u1E9E", "\u0130", "\u0345", "\u1F88",     "ing",        "THE",        " the",   "<|endoftext|>"};
  Random random(seed);
  std::string out;
  while (out.size() < bytes) out += random.one_of(atoms);
  return out;
}

std::string digits(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  constexpr std::array<char32_t, 8> kZeros{U'0', U'0', U'0', 0x660, 0x966, 0xFF10, 0x1D7CE, 0x2160};
  std::string out;
  while (out.size() < bytes) {
    for (std::size_t i = 1 + random.below(12); i > 0; --i) {
      append_utf8(out, kZeros[random.below(kZeros.size())] + static_cast<char32_t>(random.below(10)));
    }
    out += random.chance(50) ? " " : random.chance(50) ? "." : "e";
  }
  return out;
}

std::string symbols(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  constexpr std::string_view kAscii = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\r\n/ ";
  std::string out;
  while (out.size() < bytes) {
    const char c = kAscii[random.below(kAscii.size())];
    out.append(random.chance(70) ? 1 : random.below(random.chance(10) ? 200 : 10), c);
    if (random.chance(5)) append_utf8(out, 0x2190 + static_cast<char32_t>(random.below(0x370)));
    if (random.chance(10)) out += "ab";
  }
  return out;
}

// Words without their spaces, cut anywhere, in all spellings: what merges most.
std::string broken(std::uint64_t seed, std::size_t bytes) {
  const std::vector<std::string> words = words_of(kEnglish);
  Random random(seed);
  std::string out;
  while (out.size() < bytes) {
    for (std::size_t i = 1 + random.below(random.chance(3) ? 60 : 5); i > 0; --i) {
      std::string word = random.one_of(words);
      word = word.substr(random.below(word.size()));
      if (random.chance(20)) word += static_cast<char>('a' + random.below(26));
      if (random.chance(10)) word = capitalised(word);
      if (random.chance(5)) {
        for (char& c : word) c = static_cast<char>(c & ~0x20);
      }
      out += word;
    }
    out += random.chance(80) ? " " : "=";
  }
  return out;
}

// Long pieces of one kind.
std::string runs(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  const std::vector<std::string> units{"a",          "A",      " ",      "\n",     "ab", "-",
                                       "=",          "\u4F60", "\u00E9", "\u0301", "ha", "0",
                                       "\U0001F600", "\t",     "the",    "xyz",    "/",  "\u0430\u0431"};
  std::string out;
  while (out.size() < bytes) {
    const std::string& unit = random.one_of(units);
    const std::size_t length = random.below(random.chance(5) ? 6000 : 200);
    if (random.chance(15)) {
      for (std::size_t i = 0; i < length; ++i) append_utf8(out, character(random, {0x4E00, 0x9FFF}));
    } else if (random.chance(15)) {
      for (std::size_t i = 0; i < length; ++i) out += static_cast<char>('a' + random.below(26));
    } else {
      for (std::size_t i = 0; i < length; ++i) out += unit;
    }
    out += random.chance(50) ? " " : "x";
  }
  return out;
}

// Each character of the lower planes between a small letter and a capital.
std::string between_letters(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  std::string out;
  while (out.size() < bytes) {
    auto c = static_cast<char32_t>(random.below(0x33000));
    if (c >= 0xD800 && c < 0xE000) c -= 0x800;
    out += 'x';
    append_utf8(out, c);
    out += random.chance(50) ? "Y" : " ";
  }
  return out;
}

}  // namespace

const std::vector<CorpusSection>& corpus_sections() {
  static const std::vector<CorpusSection> sections{
      {"english", english}, {"chinese", chinese}, {"code", code},       {"scripts", scripts},
      {"emoji", emoji},     {"spaces", spaces},   {"borders", borders}, {"digits", digits},
      {"symbols", symbols}, {"broken", broken},   {"runs", runs},       {"between_letters", between_letters},
  };
  return sections;
}

std::string corpus_text(std::string_view section, std::uint64_t seed, std::size_t bytes) {
  for (const CorpusSection& each : corpus_sections()) {
    if (each.name == section) return each.make(seed, bytes);
  }
  return {};
}

std::string every_scalar() {
  std::string out;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c >= 0xE000) append_utf8(out, c);
  }
  return out;
}

}  // namespace parley::test
