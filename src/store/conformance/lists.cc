// The sessions of a tenant, in order and in pages.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

Result<void> make(Store& store, const SessionKey& key, std::int64_t time, const std::string& text = "hi") {
  Record record = said(text);
  record.created_ms = time;
  PARLEY_CHECK(append(store, key, {record}));
  return {};
}

Result<void> expect_list(const Subject& s, const std::vector<std::string>& names) {
  PARLEY_TRY(const SessionList list, must("list", s.two->list(s.tenant)));
  PARLEY_CHECK(expect_equal("the sessions of the list", names, names_of(list)));
  return expect_equal("the cursor of a complete list", std::string(), list.next);
}

// Names that sort otherwise in most languages than by their bytes.
const std::vector<std::string>& sorted_names() {
  static const std::vector<std::string> names = {"1:2", "10",     "9",      "A",      "B",         "Z",
                                                 "_",   "a",      "a b",    "a-b",    "aa",        "b",
                                                 "z",   "\u00c4", "\u00e4", "\u4e2d", "\U0001F600"};
  return names;
}

Result<void> list_has_the_latest_first(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(expect_list(s, {}));
  PARLEY_CHECK(make(*s.one, s.key("old"), 1'000));
  PARLEY_CHECK(make(*s.one, s.key("new"), 3'000));
  PARLEY_CHECK(make(*s.one, s.key("middle"), 2'000));
  PARLEY_CHECK(expect_list(s, {"new", "middle", "old"}));
  Record record = said("again");
  record.created_ms = 4'000;
  PARLEY_CHECK(append(*s.one, s.key("old"), {record}));
  PARLEY_CHECK(expect_list(s, {"old", "new", "middle"}));
  PARLEY_TRY(const SessionList list, must("list", s.two->list(s.tenant)));
  const SessionInfo& first = list.sessions[0];
  PARLEY_CHECK(expect_equal("the size in a list", Position{2}, first.size));
  PARLEY_CHECK(expect_equal("the first time in a list", 1'000, first.created_ms));
  return expect_equal("the last time in a list", 4'000, first.updated_ms);
}

Result<void> sessions_of_one_time_are_by_name(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<std::string> names = sorted_names();
  std::sort(names.begin(), names.end());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    PARLEY_CHECK(make(*s.one, s.key(*name), 1'000));
  }
  return expect_list(s, names);
}

Result<void> pages_of_a_list_add_up(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  // Two or three sessions of each time, so that pages end inside a time and between two.
  for (std::size_t i = 0; i < sorted_names().size(); ++i) {
    PARLEY_CHECK(make(*s.one, s.key(sorted_names()[i]), 1'000 + static_cast<std::int64_t>(i * 2 / 5)));
  }
  PARLEY_TRY(const SessionList whole, must("list", s.one->list(s.tenant)));
  PARLEY_CHECK(expect_equal("sessions in a list", sorted_names().size(), whole.sessions.size()));
  for (const std::size_t count : {1U, 2U, 3U, 16U, 17U, 18U}) {
    std::vector<std::string> came;
    ListOptions options{.count = count};
    do {
      PARLEY_TRY(const SessionList page, must("a page of the list", s.two->list(s.tenant, options)));
      const std::size_t expected = std::min(count, sorted_names().size() - came.size());
      PARLEY_CHECK(expect_equal("sessions in a page", expected, page.sessions.size()));
      for (std::string& name : names_of(page)) came.push_back(std::move(name));
      options.after = page.next;
    } while (!options.after.empty());
    PARLEY_CHECK(expect_equal("the sessions of all pages", names_of(whole), came));
  }
  return {};
}

Result<void> cursor_outlives_its_session(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const char* name : {"a", "b", "c", "d"}) PARLEY_CHECK(make(*s.one, s.key(name), 1'000));
  PARLEY_TRY(const SessionList first, must("list", s.one->list(s.tenant, {.count = 2})));
  PARLEY_CHECK(must("remove", s.one->remove(s.key("b"))));
  PARLEY_TRY(const SessionList next, must("the next page", s.two->list(s.tenant, {.after = first.next})));
  return expect_equal("the page after a removed session", std::vector<std::string>{"c", "d"}, names_of(next));
}

Result<void> cursor_that_no_list_gave_is_refused(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(make(*s.one, s.key("a"), 1'000));
  for (const char* after : {"x", "12", ":", "12;a", "99999999999999999999:a", " 1:a", "' OR 1=1"}) {
    PARLEY_CHECK(expect_fails("the cursor " + shown(std::string_view(after)), Code::Invalid,
                              s.one->list(s.tenant, {.after = after})));
  }
  return {};
}

Result<void> title_is_the_first_line_that_says_something(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("titled");
  PARLEY_CHECK(
      append(*s.one, key, {body_of("{}"), said("\n  \n"), said(" \n What is up?\nMore"), said("No")}));
  PARLEY_TRY(const SessionList list, must("list", s.two->list(s.tenant)));
  PARLEY_CHECK(expect_equal("sessions in a list", std::size_t{1}, list.sessions.size()));
  PARLEY_CHECK(expect_equal("the title", std::string("What is up?"), list.sessions[0].title));
  PARLEY_CHECK(must("fork", s.one->fork(key, "a fork", 4)));
  PARLEY_TRY(const SessionList both, must("list", s.two->list(s.tenant)));
  for (const SessionInfo& info : both.sessions) {
    PARLEY_CHECK(expect_equal("the title of a fork too", std::string("What is up?"), info.title));
  }
  return expect_equal("sessions in a list with a fork", std::size_t{2}, both.sessions.size());
}

Result<void> expect_latest(const Subject& s, const std::string& name) {
  PARLEY_TRY(const std::optional<SessionInfo> latest, must("latest", s.two->latest(s.tenant)));
  return expect_equal("the session that was changed last", name, latest ? latest->session : "none");
}

Result<void> latest_is_the_session_changed_last(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(expect_latest(s, "none"));
  PARLEY_CHECK(make(*s.one, s.key("a"), 1'000));
  PARLEY_CHECK(make(*s.one, s.key("c"), 2'000));
  PARLEY_CHECK(make(*s.one, s.key("b"), 3'000));
  PARLEY_CHECK(expect_latest(s, "b"));
  PARLEY_CHECK(make(*s.one, s.key("a"), 4'000));
  PARLEY_CHECK(expect_latest(s, "a"));
  PARLEY_CHECK(must("fork", s.one->fork(s.key("c"), "of c", 1)));
  PARLEY_CHECK(expect_latest(s, "a"));
  PARLEY_CHECK(must("fork", s.one->fork(s.key("a"), "of a", 2)));
  PARLEY_CHECK(expect_latest(s, "of a"));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("of a"), 1)));
  PARLEY_CHECK(must("remove", s.one->remove(s.key("a"))));
  PARLEY_CHECK(expect_latest(s, "b"));
  PARLEY_CHECK(must("lease", s.one->lease(s.key("new"), "me", std::chrono::milliseconds(1'000))));
  return expect_latest(s, "new");
}

constexpr Check kChecks[] = {
    {"latest_is_the_session_changed_last", "P12", "The session of a tenant that was changed last is found.",
     latest_is_the_session_changed_last},
    {"list_has_the_latest_first", "P12", "A list has the sessions of a tenant, the last changed first.",
     list_has_the_latest_first},
    {"sessions_of_one_time_are_by_name", "P12", "Sessions of one time are in the order of their bytes.",
     sessions_of_one_time_are_by_name},
    {"pages_of_a_list_add_up", "P11", "Pages of a list have no session twice, and miss none.",
     pages_of_a_list_add_up},
    {"cursor_outlives_its_session", "P11", "A cursor stays valid after its session is removed.",
     cursor_outlives_its_session},
    {"cursor_that_no_list_gave_is_refused", "P11", "A malformed cursor is Invalid.",
     cursor_that_no_list_gave_is_refused},
    {"title_is_the_first_line_that_says_something", "P6", "A list shows how a session begins.",
     title_is_the_first_line_that_says_something},
};

}  // namespace

std::span<const Check> list_checks() { return kChecks; }

}  // namespace parley::store::conformance
