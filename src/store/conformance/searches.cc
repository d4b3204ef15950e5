// What a search finds. Every search stands in a table: the words, and the texts that have them.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

struct Search {
  std::string_view words;
  std::vector<Position> finds;  // positions in the session
};

Result<std::vector<Hit>> hits(const Subject& s, std::string_view words) {
  return must("a search for " + shown(words), s.two->search(s.tenant, words));
}

// Puts the texts into one session, and looks for each of the words.
Result<void> expect_found(const Open& open, const std::vector<std::string>& texts,
                          const std::vector<Search>& searches) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const std::string& text : texts) {
    PARLEY_CHECK(append(*s.one, s.key("texts"), {said(text)}));
  }
  for (const Search& search : searches) {
    PARLEY_TRY(const std::vector<Hit> found, hits(s, search.words));
    std::vector<Position> positions;
    positions.reserve(found.size());
    for (const Hit& hit : found) {
      PARLEY_CHECK(expect_equal("the session of a hit", std::string("texts"), hit.session));
      PARLEY_CHECK(expect_equal("the role of a hit", std::string("user"), hit.role));
      positions.push_back(hit.position);
    }
    PARLEY_CHECK(expect_equal("what has " + shown(search.words), search.finds, positions));
  }
  return {};
}

Result<void> words_are_found_in_any_case(const Open& open) {
  return expect_found(
      open,
      {"Hello World", "the world says HELLO", "Othello", "Stra\u00dfe und Caf\u00e9", "x86-64, v2.0 beta"},
      {{"hello", {0, 1}},
       {"WORLD", {0, 1}},
       {"world hello", {0, 1}},
       {"hello says", {1}},
       {"hell", {}},
       {"othello", {2}},
       {"hello othello", {}},
       {"STRASSE", {3}},
       {"cafe\u0301", {3}},
       {"x86", {4}},
       {"beta, 64!", {4}},
       {"nothing", {}}});
}

Result<void> chinese_words_are_found_in_a_sentence(const Open& open) {
  return expect_found(open,
                      {"\u4eca\u5929\u7684\u5929\u6c14\u5f88\u597d",          // the weather is fine today
                       "\u5929\u6c14 and \u6c14\u5f88",                       // its pairs, apart
                       "GPT\u6a21\u578b2.0",                                  // letters and characters joined
                       "\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8",          // Japanese
                       "\ud55c\uad6d\uc5b4\ub97c \uacf5\ubd80\ud55c\ub2e4"},  // Korean, with endings
                      {{"\u5929\u6c14", {0, 1}},
                       {"\u6c14\u5929", {}},
                       {"\u5929\u6c14\u5f88", {0}},
                       {"\u5929\u6c14\u5f88\u597d", {0}},
                       {"\u4eca\u5929 \u5f88\u597d", {0}},
                       {"\u5929", {0, 1}},
                       {"\u597d", {0}},
                       {"\u574f", {}},
                       {"\u6a21\u578b", {2}},
                       {"gpt", {2}},
                       {"\u30c6\u30ad\u30b9\u30c8", {3}},
                       {"\u672c\u8a9e", {3}},
                       {"\ud55c\uad6d\uc5b4", {4}}});
}

Result<void> words_are_no_commands(const Open& open) {
  using namespace std::string_literals;
  return expect_found(
      open, {"plain words", "this or that", "NEAR and not far", "before\0behind"s, "100% _x_ 'q' \"w\""},
      {{"plain OR that", {}},
       {"this OR that", {1}},
       {"\"plain words\"", {0}},
       {"\"plain", {0}},
       {"pla*", {}},
       {"-plain", {0}},
       {"text:plain", {}},
       {"NOT far", {2}},
       {"near", {2}},
       {"(plain | words) & !", {0}},
       {"plain:*", {0}},
       {"before", {3}},
       {"behind", {3}},
       {"'q'; --", {4}},
       {"100", {4}}});
}

Result<void> search_without_a_word_is_refused(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("texts"), {said("hello")}));
  for (const char* words : {"", " ", "...", "\u3002\u3001", "\"*\"", "%", "\U0001F600"}) {
    PARLEY_CHECK(expect_fails("a search for " + shown(std::string_view(words)), Code::Invalid,
                              s.one->search(s.tenant, words)));
  }
  return {};
}

Result<void> newest_session_is_found_first(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  Record record = said("needle");
  const std::map<std::string, std::int64_t> times = {{"old", 1'000}, {"new", 3'000}, {"middle", 2'000}};
  for (const auto& [name, time] : times) {
    record.created_ms = time;
    PARLEY_CHECK(append(*s.one, s.key(name), {said("hay"), record, record}));
  }
  PARLEY_TRY(const std::vector<Hit> all, hits(s, "needle"));
  std::vector<std::string> found;
  found.reserve(all.size());
  for (const Hit& hit : all) found.push_back(hit.session + " " + std::to_string(hit.position));
  PARLEY_CHECK(expect_equal(
      "hits in order", std::vector<std::string>{"new 1", "new 2", "middle 1", "middle 2", "old 1", "old 2"},
      found));
  for (const std::size_t count : {1U, 3U, 5U, 6U, 7U}) {
    PARLEY_TRY(const std::vector<Hit> some, must("a search", s.two->search(s.tenant, "needle", count)));
    PARLEY_CHECK(expect_equal("hits of a search for some", std::min<std::size_t>(count, 6), some.size()));
    PARLEY_CHECK(expect_equal("the first of some", std::string("new"), some[0].session));
  }
  return {};
}

Result<void> hit_shows_its_line(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("lines"), {said("first line\n  the Needle is here \nlast line")}));
  PARLEY_TRY(const std::vector<Hit> found, hits(s, "needle"));
  PARLEY_CHECK(expect_equal("hits", std::size_t{1}, found.size()));
  return expect_equal("the line of a hit", std::string("the Needle is here"), found[0].text);
}

Result<std::vector<std::string>> sessions_with(const Subject& s, std::string_view words) {
  PARLEY_TRY(const std::vector<Hit> found, hits(s, words));
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const Hit& hit : found) out.push_back(hit.session);
  return out;
}

Result<void> removed_words_are_not_found(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const char* name : {"gone", "expired", "kept"}) {
    PARLEY_CHECK(append(*s.one, s.key(name), {said("needle")}));
  }
  PARLEY_CHECK(must("remove", s.one->remove(s.key("gone"))));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("expired"), 1'000)));
  PARLEY_TRY(std::vector<std::string> found, sessions_with(s, "needle"));
  PARLEY_CHECK(expect_equal("sessions with the word", std::vector<std::string>{"kept"}, found));
  PARLEY_CHECK(append(*s.one, s.key("gone"), {said("another")}));
  PARLEY_TRY(found, sessions_with(s, "needle"));
  PARLEY_CHECK(expect_equal("when the name is used again", std::vector<std::string>{"kept"}, found));
  PARLEY_TRY(found, sessions_with(s, "another"));
  return expect_equal("what is new under the name", std::vector<std::string>{"gone"}, found);
}

Result<void> shared_words_are_found_in_every_fork(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<Record> given = {said("needle"), said("thread")};
  given[1].created_ms = 1'000;
  given[0].created_ms = 2'000;
  PARLEY_CHECK(append(*s.one, s.key("from"), given));
  PARLEY_CHECK(must("fork", s.one->fork(s.key("from"), "to", 1)));
  PARLEY_TRY(std::vector<std::string> found, sessions_with(s, "needle"));
  PARLEY_CHECK(expect_equal("sessions with a shared word", std::vector<std::string>{"to", "from"}, found));
  PARLEY_TRY(found, sessions_with(s, "thread"));
  PARLEY_CHECK(expect_equal("sessions with a word after the cut", std::vector<std::string>{"from"}, found));
  PARLEY_CHECK(must("remove", s.one->remove(s.key("from"))));
  PARLEY_TRY(found, sessions_with(s, "needle"));
  PARLEY_CHECK(expect_equal("when the parent is gone", std::vector<std::string>{"to"}, found));
  PARLEY_TRY(found, sessions_with(s, "thread"));
  return expect_equal("the word after the cut is gone", std::vector<std::string>{}, found);
}

Result<void> search_stays_in_its_tenant(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_TRY(const Subject other, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("mine"), {said("needle")}));
  PARLEY_CHECK(append(*s.one, other.key("theirs"), {said("needle")}));
  PARLEY_TRY(const std::vector<std::string> mine, sessions_with(s, "needle"));
  PARLEY_TRY(const std::vector<std::string> theirs, sessions_with(other, "needle"));
  PARLEY_CHECK(expect_equal("sessions of a tenant", std::vector<std::string>{"mine"}, mine));
  return expect_equal("sessions of another", std::vector<std::string>{"theirs"}, theirs);
}

constexpr Check kChecks[] = {
    {"words_are_found_in_any_case", "P6", "A search finds the texts that have all words.",
     words_are_found_in_any_case},
    {"chinese_words_are_found_in_a_sentence", "P6", "Words without spaces between them are found.",
     chinese_words_are_found_in_a_sentence},
    {"words_are_no_commands", "P12", "No word means anything to the engine below.", words_are_no_commands},
    {"search_without_a_word_is_refused", "P11", "A search for no word is Invalid.",
     search_without_a_word_is_refused},
    {"newest_session_is_found_first", "P11", "Hits are in order, and no more than asked for.",
     newest_session_is_found_first},
    {"hit_shows_its_line", "P6", "A hit shows the line that it was found in.", hit_shows_its_line},
    {"removed_words_are_not_found", "P12", "What is removed or has expired is not found.",
     removed_words_are_not_found},
    {"shared_words_are_found_in_every_fork", "P6", "A shared record is found in every session that has it.",
     shared_words_are_found_in_every_fork},
    {"search_stays_in_its_tenant", "P12", "A search finds nothing of another tenant.",
     search_stays_in_its_tenant},
};

}  // namespace

std::span<const Check> search_checks() { return kChecks; }

}  // namespace parley::store::conformance
