#include "generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <span>

namespace bench {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kEnglish[] = {
    "the",     "agent",   "reads",   "a",      "file",    "and",      "then",    "writes",   "result",
    "of",      "search",  "to",      "disk",   "because", "request",  "was",     "not",      "cached",
    "before",  "step",    "plan",    "looks",  "good",    "but",      "test",    "still",    "fails",
    "with",    "an",      "error",   "in",     "module",  "network",  "timeout", "after",    "thirty",
    "second",  "so",      "we",      "should", "retry",   "with",     "smaller", "batch",    "size",
    "and",     "check",   "whether", "server", "answers", "page",     "lists",   "several",  "hotels",
    "near",    "station", "price",   "per",    "night",   "includes", "report",  "compares", "quarter",
    "revenue", "growth",  "across",  "three",  "regions", "summary",  "follows"};

constexpr std::string_view kChinese[] = {"\xE6\x88\x91\xE4\xBB\xAC",
                                         "\xE9\x9C\x80\xE8\xA6\x81",
                                         "\xE6\xA3\x80\xE6\x9F\xA5",
                                         "\xE6\x96\x87\xE4\xBB\xB6",
                                         "\xE7\x9A\x84",
                                         "\xE5\x86\x85\xE5\xAE\xB9",
                                         "\xE7\x84\xB6\xE5\x90\x8E",
                                         "\xE8\xBF\x90\xE8\xA1\x8C",
                                         "\xE6\xB5\x8B\xE8\xAF\x95",
                                         "\xE7\xBB\x93\xE6\x9E\x9C",
                                         "\xE6\x98\xBE\xE7\xA4\xBA",
                                         "\xE6\x95\xB0\xE6\x8D\xAE",
                                         "\xE6\xB2\xA1\xE6\x9C\x89",
                                         "\xE9\x94\x99\xE8\xAF\xAF",
                                         "\xE8\xAF\xB7",
                                         "\xE7\xA8\x8D\xE5\x90\x8E",
                                         "\xE5\x86\x8D\xE8\xAF\x95",
                                         "\xE4\xBB\xBB\xE5\x8A\xA1",
                                         "\xE5\xB7\xB2\xE7\xBB\x8F",
                                         "\xE5\xAE\x8C\xE6\x88\x90",
                                         "\xEF\xBC\x8C",
                                         "\xE3\x80\x82",
                                         "\xE6\x9C\x8D\xE5\x8A\xA1\xE5\x99\xA8",
                                         "\xE5\x93\x8D\xE5\xBA\x94",
                                         "\xE6\x97\xB6\xE9\x97\xB4",
                                         "\xE8\xBF\x87\xE9\x95\xBF"};

constexpr std::string_view kEmoji[] = {"\xF0\x9F\x98\x80", "\xF0\x9F\x9A\x80", "\xE2\x9C\x85",
                                       "\xF0\x9F\x94\xA5"};

constexpr std::string_view kNames[] = {"path",   "value",  "items",  "index", "config", "name",
                                       "client", "status", "result", "count", "query",  "buffer",
                                       "token",  "user",   "offset", "cache"};

constexpr std::string_view kTools[] = {
    "python_execute", "browser_use", "str_replace_editor", "bash", "google_search", "terminate", "planning"};

// SplitMix64: small, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::size_t log_uniform(double low, double high) {
    return static_cast<std::size_t>(std::exp(std::log(low) + real() * (std::log(high) - std::log(low))));
  }
  std::string_view pick(Words words) { return words[below(words.size())]; }

 private:
  std::uint64_t state_;
};

// Texts of the four kinds a tool gives back. Each call of a line function adds one line.
class Author {
 public:
  explicit Author(Random& random) : random_(random) {}

  std::string prose(std::size_t size) {
    std::string out;
    while (out.size() < size) out += sentence() + (random_.chance(15) ? "\n\n" : " ");
    return cut(std::move(out), size);
  }

  std::string code(std::size_t size) {
    std::string out;
    std::size_t indent = 0;
    while (out.size() < size) {
      out.append(4 * indent, ' ').append(code_line()).append("\n");
      indent = std::min<std::size_t>(random_.below(4), indent + 1);
    }
    return cut(std::move(out), size);
  }

  std::string json(std::size_t size) {
    std::string out = "[";
    while (out.size() < size) {
      if (out.size() > 1) out += ", ";
      out += "{\"id\": " + number() + ", \"" + name() + "\": \"" + words(3) + "\", \"" + name() + "\": \"" +
             phrase(2) + "\", \"" + name() + "\": [" + number() + ", " + number() +
             "], \"ok\": " + (random_.chance(50) ? "true" : "null") + "}";
    }
    return out + "]";
  }

  std::string terminal(std::size_t size) {
    std::string out = "$ ls -la --color\n";
    while (out.size() < size) {
      switch (random_.below(5)) {
        case 0:
          out += "\x1B[01;34m" + name() + "\x1B[0m\t" + name() + "." + name() + "\r\n";
          break;
        case 1:
          out += "-rw-r--r-- 1 root root " + number() + " Nov 15 03:19 /usr/lib/" + name() + "\n";
          break;
        case 2:
          out += "C:\\Users\\" + name() + "\\" + name() + ".log: \"" + words(3) + "\"\n";
          break;
        case 3:
          out += "\x1B[31mERROR\x1B[0m " + phrase(6) + "\n";
          break;
        default:
          out += "[" + number() + "] " + words(7) + "\n";
          break;
      }
    }
    return cut(std::move(out), size);
  }

  std::string any(std::size_t size) {
    switch (random_.below(4)) {
      case 0:
        return prose(size);
      case 1:
        return code(size);
      case 2:
        return json(size);
      default:
        return terminal(size);
    }
  }

  // The arguments of a call: JSON whose strings often hold code, so that escapes stand inside escapes.
  std::string arguments(std::size_t size);

  std::string number() { return std::to_string(random_.below(100000)); }
  std::string name() { return std::string(random_.pick(kNames)); }

 private:
  std::string words(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : " ").append(random_.pick(kEnglish));
    return out;
  }
  std::string chinese(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += random_.pick(kChinese);
    return out;
  }
  std::string phrase(std::size_t count) { return random_.chance(14) ? chinese(count) : words(count); }
  std::string sentence() {
    if (random_.chance(16)) return chinese(8 + random_.below(20)) + "\xE3\x80\x82";
    return words(6 + random_.below(12)) + (random_.chance(4) ? std::string(random_.pick(kEmoji)) : ".");
  }
  std::string code_line() {
    switch (random_.below(6)) {
      case 0:
        return "if " + name() + "[\"" + name() + "\"] == " + number() + ":";
      case 1:
        return name() + " = " + name() + ".get(\"" + name() + "\", \"" + phrase(1) + "\")";
      case 2:
        return "# " + phrase(6);
      case 3:
        return "print(f\"" + name() + ": {" + name() + "}\\n\")";
      case 4:
        return "return re.sub(r'\\s+\\d', '', " + name() + ")";
      default:
        return "for " + name() + " in range(" + number() + "): " + name() + "." + name() + "(" + name() + ")";
    }
  }
  // The first `size` bytes, or fewer so that no character is split.
  static std::string cut(std::string text, std::size_t size) {
    while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    text.resize(std::min(size, text.size()));
    return text;
  }

  Random& random_;
};

void append_quoted(std::string& out, std::string_view utf8, Spelling spelling);

std::string Author::arguments(std::size_t size) {
  std::string out = "{\"command\": ";
  append_quoted(out, random_.chance(70) ? code(size) : prose(size), Spelling::Raw);
  out += ", \"timeout\": " + number() + "}";
  return out;
}

std::string call_id(Random& random) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string id = "call_";
  for (int i = 0; i < 24; ++i) id += kLetters[random.below(kLetters.size())];
  return id;
}

// Base64 that begins as a PNG does.
std::string image(Random& random) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "iVBORw0KGgoAAAANSUhEUgAA";
  const std::size_t size = (180'000 + random.below(44'000)) / 4 * 4;
  while (out.size() < size) {
    std::uint64_t bits = random.next();
    for (int i = 0; i < 8; ++i, bits >>= 6) out += kAlphabet[bits & 63];
  }
  out.resize(size);
  return out;
}

void append_unit(std::string& out, unsigned unit) {
  char spelled[8];
  std::snprintf(spelled, sizeof spelled, "\\u%04x", unit & 0xFFFF);
  out += spelled;
}

// Decodes the character at text[i], which is not ASCII, and spells it in \uXXXX. Returns its length.
std::size_t append_escaped(std::string& out, std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i + k]));
  };
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  unsigned c = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) c = c << 6 | (byte(k) & 63);
  if (c >= 0x10000) {
    append_unit(out, 0xD800 + ((c - 0x10000) >> 10));
    append_unit(out, 0xDC00 + (c & 0x3FF));
  } else {
    append_unit(out, c);
  }
  return length;
}

// An escaper of its own, so that no contender is measured against its own output.
void append_quoted(std::string& out, std::string_view utf8, Spelling spelling) {
  out += '"';
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const char c = utf8[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          append_unit(out, static_cast<unsigned char>(c));
        } else if (static_cast<unsigned char>(c) >= 0x80 && spelling == Spelling::Escaped) {
          i += append_escaped(out, utf8, i) - 1;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_member(std::string& out, std::string_view key, std::string_view value, Spelling spelling) {
  if (value.empty()) return;
  out.append(",\"").append(key).append("\":");
  append_quoted(out, value, spelling);
}

// How many calls each of the 313 asking messages makes: 495 in all, one to three each.
std::vector<int> call_counts(Random& random) {
  std::vector<int> counts(313, 1);
  for (int extra = 495 - 313; extra > 0;) {
    int& count = counts[random.below(counts.size())];
    if (count == 3) continue;
    ++count;
    --extra;
  }
  return counts;
}

}  // namespace

std::vector<Turn> make_conversation(std::uint64_t seed, bool with_images) {
  Random random(seed);
  Author author(random);
  std::vector<Turn> turns;
  turns.push_back({"system", author.prose(2000), {}, {}, {}, {}});
  const std::vector<int> counts = call_counts(random);
  constexpr std::size_t kQuestions = 96;
  std::size_t asked = 0;
  for (std::size_t question = 0; question < kQuestions; ++question) {
    turns.push_back({"user", author.prose(random.log_uniform(40, 4000)), {}, {}, {}, {}});
    // The last question takes what is left and is still at work.
    const bool is_last = question + 1 == kQuestions;
    const std::size_t left = counts.size() - asked;
    const std::size_t steps =
        is_last ? left : std::min(left, left / (kQuestions - question) + random.below(3) - random.below(2));
    for (std::size_t step = 0; step < steps; ++step, ++asked) {
      Turn asking{"assistant", author.prose(random.log_uniform(40, 700)), {}, {}, {}, {}};
      for (int i = 0; i < counts[asked]; ++i) {
        asking.calls.push_back({call_id(random), std::string(random.pick(kTools)),
                                author.arguments(random.log_uniform(40, 1500))});
      }
      const std::vector<Call> calls = asking.calls;
      turns.push_back(std::move(asking));
      for (const Call& call : calls) {
        turns.push_back({"tool", author.any(random.log_uniform(100, 20'000)), call.name, call.id, {}, {}});
      }
    }
    if (!is_last) turns.push_back({"assistant", author.prose(random.log_uniform(100, 4000)), {}, {}, {}, {}});
  }
  if (!with_images) return turns;
  // Three in a hundred, evenly among the messages that may hold one.
  for (std::size_t i = 16; i < turns.size(); i += 33) {
    std::size_t at = i;
    while (turns[at].role != "tool" && turns[at].role != "user") ++at;
    turns[at].base64_image = image(random);
  }
  return turns;
}

std::vector<Turn> make_tiny_conversation(std::size_t count) {
  constexpr std::size_t kBytes = 135;
  Random random(1);
  std::vector<Turn> turns;
  Call call;
  while (turns.size() < count) {
    Turn turn;
    switch (turns.size() % 4) {
      case 0:
        turn.role = "user";
        break;
      case 1:
        call = {"call_" + std::to_string(10'000 + turns.size()), "ls", "{}"};
        turn.role = "assistant";
        turn.calls.push_back(call);
        break;
      case 2:
        turn.role = "tool";
        turn.name = call.name;
        turn.tool_call_id = call.id;
        break;
      default:
        turn.role = "assistant";
        break;
    }
    const std::size_t bare = to_document({turn}, Spelling::Raw).size() - 2;
    while (bare + turn.content.size() < kBytes) {
      turn.content.append(turn.content.empty() ? "" : " ").append(random.pick(kEnglish));
    }
    turn.content.resize(kBytes > bare ? kBytes - bare : 0);
    turns.push_back(std::move(turn));
  }
  return turns;
}

std::string to_document(const std::vector<Turn>& turns, Spelling spelling) {
  std::string out = "[";
  for (const Turn& turn : turns) {
    if (out.size() > 1) out += ',';
    out += "{\"role\":";
    append_quoted(out, turn.role, spelling);
    out += ",\"content\":";
    append_quoted(out, turn.content, spelling);
    if (!turn.calls.empty()) {
      out += ",\"tool_calls\":";
      for (const Call& call : turn.calls) {
        out += &call == &turn.calls.front() ? "[{\"id\":" : ",{\"id\":";
        append_quoted(out, call.id, spelling);
        out += ",\"type\":\"function\",\"function\":{\"name\":";
        append_quoted(out, call.name, spelling);
        out += ",\"arguments\":";
        append_quoted(out, call.arguments, spelling);
        out += "}}";
      }
      out += ']';
    }
    append_member(out, "name", turn.name, spelling);
    append_member(out, "tool_call_id", turn.tool_call_id, spelling);
    append_member(out, "base64_image", turn.base64_image, spelling);
    out += '}';
  }
  return out + "]";
}

std::vector<Document> make_documents() {
  constexpr std::uint64_t kSeed = 57;
  std::vector<Turn> text = make_conversation(kSeed, false);
  std::vector<Turn> mixed = make_conversation(kSeed, true);
  std::vector<Turn> tiny = make_tiny_conversation(20'000);
  std::string text_json = to_document(text, Spelling::Raw);
  std::string escaped_json = to_document(text, Spelling::Escaped);
  std::string mixed_json = to_document(mixed, Spelling::Raw);
  std::string tiny_json = to_document(tiny, Spelling::Raw);
  std::vector<Document> documents;
  documents.push_back({"text", text, std::move(text_json)});
  documents.push_back({"mixed", std::move(mixed), std::move(mixed_json)});
  documents.push_back({"\\u", std::move(text), std::move(escaped_json)});
  documents.push_back({"tiny", std::move(tiny), std::move(tiny_json)});
  return documents;
}

std::string describe(const std::vector<Document>& documents) {
  std::string out =
      "| document | messages | with calls | calls | bytes | backslashes | non-ASCII | mean | median | p90 | "
      "max |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Document& document : documents) {
    const std::string& json = document.json;
    const auto backslashes = std::count(json.begin(), json.end(), '\\');
    const auto high =
        std::count_if(json.begin(), json.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    std::size_t with_calls = 0;
    std::size_t calls = 0;
    std::vector<std::size_t> sizes;
    const Spelling spelling = document.name == "\\u" ? Spelling::Escaped : Spelling::Raw;
    for (const Turn& turn : document.turns) {
      with_calls += turn.calls.empty() ? 0 : 1;
      calls += turn.calls.size();
      sizes.push_back(to_document({turn}, spelling).size() - 2);
    }
    std::sort(sizes.begin(), sizes.end());
    const auto total = static_cast<double>(json.size());
    char line[256];
    std::snprintf(line, sizeof line,
                  "| %s | %zu | %zu | %zu | %zu | %.1f %% | %.1f %% | %.0f | %zu | %zu | %zu |\n",
                  document.name.c_str(), document.turns.size(), with_calls, calls, json.size(),
                  100.0 * static_cast<double>(backslashes) / total, 100.0 * static_cast<double>(high) / total,
                  static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0})) /
                      static_cast<double>(sizes.size()),
                  sizes[sizes.size() / 2], sizes[sizes.size() * 9 / 10], sizes.back());
    out += line;
  }
  return out;
}

}  // namespace bench
