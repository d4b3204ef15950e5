// Random documents of every dialect, the same for the same seed on every machine.
//
// A document is made as a tree first and spelled afterwards, so that what it says and how it is spelled
// (order of members, whitespace, escapes) vary on their own. Names of unknown members start with "u_".
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/dialect/dialect.h"

namespace parley::test {

// A small generator of our own: the distributions of the standard library differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  // True in `percent` of 100 cases.
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::uint64_t state_;
};

// A JSON value before it is spelled.
struct Tree {
  enum class Kind : std::uint8_t { Literal, String, Array, Object };
  using Member = std::pair<std::string, Tree>;

  Kind kind = Kind::Literal;
  std::string text = "null";  // the literal as spelled, or the string as it reads
  std::vector<Tree> elements;
  std::vector<Member> members;

  static Tree literal(std::string spelled) { return {Kind::Literal, std::move(spelled), {}, {}}; }
  static Tree string(std::string utf8) { return {Kind::String, std::move(utf8), {}, {}}; }
  static Tree array(std::vector<Tree> elements = {}) { return {Kind::Array, {}, std::move(elements), {}}; }
  static Tree object(std::vector<Member> members = {}) { return {Kind::Object, {}, {}, std::move(members)}; }
  Tree& add(std::string key, Tree value) {
    members.emplace_back(std::move(key), std::move(value));
    return *this;
  }
};

struct Wishes {
  bool whole_history = false;  // every call is answered, once, right behind it
  bool duplicates = false;     // some members stand twice
  bool extras = false;         // `parley` only: patches nobody made
  bool quirks = false;         // more media than some take, thinking that is on, a model that takes more
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random(seed) {}

  Random random;

  // A valid document of the dialect.
  std::string document(Dialect dialect, const Wishes& wishes = {});
  Tree tree(Dialect dialect, const Wishes& wishes = {});
  std::string spelled(const Tree& tree);

  // Any JSON value, and any text.
  Tree value(int depth = 3);
  std::string text();

 private:
  struct Call {
    std::string id, name;
    bool is_custom = false;  // where the dialect has such calls
  };

  // How one document is spelled.
  struct Style {
    std::string comma, colon;
    bool pretty = false;   // one member a line
    bool noisy = false;    // whitespace anywhere
    unsigned escapes = 0;  // percent of characters that are escaped though they need not be
  };

  bool maybe(unsigned percent) { return random.chance(percent); }
  std::string word();
  std::string id();
  std::string base64();
  std::string arguments();
  Tree object_value();
  Tree string_or_null(unsigned percent_null);
  std::string unknown_name() { return "u_" + std::to_string(++unknowns_) + (maybe(5) ? "/~\"" : ""); }
  // Adds unknown members, mixes the order, and doubles a member if that is wished.
  Tree finished(Tree object, const Wishes& wishes);
  // Adds the mark of a cache to some blocks, but to no more than a request may have.
  bool is_marked() { return marks_ < 4 && maybe(8) && ++marks_ != 0; }
  Tree marked(Dialect dialect, Tree block);

  std::vector<Tree> history(Dialect dialect, const Wishes& wishes);

  // The dialects of providers (generate_providers.cc).
  static bool is_provider(Dialect dialect);
  std::string model(const Wishes& wishes);
  static Tree tagged(Dialect dialect, const std::string& type, Tree inner);
  Tree provider_text(Dialect dialect, bool is_model, const Wishes& wishes);
  Tree provider_media(Dialect dialect, const Wishes& wishes);
  Tree provider_thinking(Dialect dialect, const Wishes& wishes);
  Tree provider_use(Dialect dialect, const Call& call, const Wishes& wishes);
  Tree provider_result(Dialect dialect, const Call& call, const Wishes& wishes);
  Tree provider_own(Dialect dialect, const Wishes& wishes);
  Tree provider_part(Dialect dialect, bool is_model, const Wishes& wishes);
  Tree provider_message(Dialect dialect, const std::string& role, std::vector<Tree> parts,
                        const Wishes& wishes);
  Tree ollama_message(const std::string& role, const std::vector<Call>& calls, const Call* answered,
                      const Wishes& wishes);
  std::vector<Tree> provider_said(Dialect dialect, const std::string& role, const Wishes& wishes);
  std::vector<Tree> provider_exchange(Dialect dialect, std::vector<Call> calls, std::vector<Call> answers,
                                      const Wishes& wishes);
  std::vector<Tree> provider_history(Dialect dialect, const Wishes& wishes);
  Tree provider_request(Dialect dialect, std::vector<Tree> messages, const Wishes& wishes);
  Tree provider_answer(Dialect dialect, const Wishes& wishes);
  Tree provider_tree(Dialect dialect, const Wishes& wishes);

  Tree openai_part(const Wishes& wishes);
  Tree flat_call(Dialect dialect, const Call& call, const Wishes& wishes);
  Tree flat_message(Dialect dialect, std::string role, std::vector<Call> calls, const Call* answered,
                    const Wishes& wishes);
  Tree agentscope_message(Dialect dialect, std::string role, std::vector<Tree> blocks, const Wishes& wishes);
  Tree message(Dialect dialect, const std::string& role, std::vector<Tree> blocks, const Wishes& wishes);
  Tree use_block(Dialect dialect, const Call& call, const Wishes& wishes);
  Tree result_block(Dialect dialect, const Call& call, const Wishes& wishes);
  Tree media_block(Dialect dialect, const Wishes& wishes);
  Tree plain_block(Dialect dialect, bool in_result, const Wishes& wishes);
  Tree otel_media(const Wishes& wishes);
  Tree otel_part(const Wishes& wishes);
  Tree otel_call(const Call& call, const Wishes& wishes);
  Tree otel_result(const Call& call, const Wishes& wishes);
  Tree otel_message(const std::string& role, std::vector<Tree> parts, const Wishes& wishes);
  std::string sharegpt_call(const Call& call, bool is_odd);
  std::string spelled_inside(const Tree& tree);
  Tree sharegpt_message(const std::string& from, std::string said, const Wishes& wishes);
  std::vector<Tree> sharegpt_history(const Wishes& wishes, std::vector<std::string>& marks);
  Tree sharegpt_tree(const Wishes& wishes);
  Call call();
  std::string role_of(Dialect dialect);

  void spell(const Tree& tree, const Style& style, int depth, std::string& out);
  void spell_string(std::string_view utf8, const Style& style, std::string& out);
  void space(const Style& style, std::string& out);

  int unknowns_ = 0;
  int calls_ = 0;
  int marks_ = 0;
};

}  // namespace parley::test
