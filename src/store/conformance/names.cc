// P12: names of tenants, sessions and batches are bytes, whatever they look like.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

constexpr std::string_view kNaughty[] = {
#include "store/conformance/naughty.inc"
};

constexpr std::size_t kMostBytes = 256;

std::vector<std::string> naughty_names() {
  std::vector<std::string> out(std::begin(kNaughty), std::end(kNaughty));
  std::string wide;
  while (wide.size() < kMostBytes) wide += "\u00e9";
  for (const char last : {'x', 'y'}) out.push_back(std::string(kMostBytes - 1, 'x') + last);
  out.push_back(std::string(kMostBytes - 1, 'x'));
  out.push_back(wide);
  return out;
}

std::vector<std::string> refused_names() {
  using namespace std::string_literals;
  std::vector<std::string> out = {"",
                                  "\0"s,
                                  "a\0b"s,
                                  "a\nb",
                                  "\n",
                                  "\t",
                                  "\r",
                                  "\x1b[",
                                  "\x01",
                                  "\x1f",
                                  "\x7f",
                                  "\u0080",
                                  "\u009f",
                                  "x\u0085",
                                  "\xff",
                                  "\xc3",
                                  "\xc0\x80",
                                  "\xed\xa0\x80",
                                  "\xf4\x90\x80\x80",
                                  "x\x80"};
  out.push_back(std::string(kMostBytes + 1, 'x'));
  out.push_back(std::string(kMostBytes - 1, 'x') + "\u00e9");
  return out;
}

// Appends to each of the sessions a record that names it, and then looks whether each has its own.
Result<void> expect_apart(const Subject& s, const std::vector<SessionKey>& keys) {
  const auto name_of = [](const SessionKey& key) { return "of " + key.tenant + " and " + key.session; };
  for (const SessionKey& key : keys) {
    PARLEY_CHECK(expect_no_session("before it is made", *s.two, key));
    PARLEY_CHECK(append_at(0, *s.one, key, {said(name_of(key))}));
  }
  for (const SessionKey& key : keys) {
    PARLEY_CHECK(expect_bodies("session " + shown(key.session), *s.two, key, {name_of(key)}));
  }
  for (const SessionKey& key : keys) {
    PARLEY_CHECK(must("remove of " + shown(key.session), s.two->remove(key)));
    PARLEY_CHECK(expect_fails("a removed session", Code::NotFound, s.one->head(key)));
  }
  return {};
}

Result<void> any_name_is_a_session_of_its_own(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<SessionKey> keys;
  for (const std::string& name : naughty_names()) keys.push_back(s.key(name));
  return expect_apart(s, keys);
}

Result<void> any_name_is_a_tenant_of_its_own(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<SessionKey> keys;
  const std::string session = fresh_name();
  for (const std::string& name : naughty_names()) keys.push_back({name, session});
  return expect_apart(s, keys);
}

// Pairs that are one string when they are joined carelessly.
Result<void> parts_of_a_key_stay_apart(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const std::string end = fresh_name();
  std::vector<SessionKey> keys = {
      {"u:session:a", "b" + end}, {"u", "a:session:b" + end}, {"a}{b", end}, {"a", "}{b" + end}};
  for (const char* joint : {"-", "_", ":", "/", ".", "|", "%", " ", ",", "\\", "::", "%3A"}) {
    keys.push_back({std::string("a") + joint + "b", "c" + end});
    keys.push_back({"a", std::string("b") + joint + "c" + end});
  }
  return expect_apart(s, keys);
}

Result<void> list_has_any_name(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<std::string> names = naughty_names();
  for (const std::string& name : names) {
    Record record = said("needle");
    record.created_ms = 1'000;
    PARLEY_CHECK(append(*s.one, s.key(name), {record}));
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> listed, found;
  ListOptions options{.count = 10};
  do {
    PARLEY_TRY(const SessionList page, must("a page of the list", s.two->list(s.tenant, options)));
    for (std::string& name : names_of(page)) listed.push_back(std::move(name));
    options.after = page.next;
  } while (!options.after.empty());
  PARLEY_CHECK(expect_equal("names in a list", names, listed));
  PARLEY_TRY(const std::vector<Hit> hits,
             must("search", s.two->search(s.tenant, "needle", names.size() + 1)));
  for (const Hit& hit : hits) found.push_back(hit.session);
  return expect_equal("names in a search", names, found);
}

Result<void> fork_has_any_name(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const std::string from = fresh_name();
  PARLEY_CHECK(append(*s.one, s.key(from), numbered(0, 2)));
  for (const std::string& name : naughty_names()) {
    PARLEY_TRY(const SessionInfo info, must("fork to " + shown(name), s.one->fork(s.key(from), name, 1)));
    PARLEY_CHECK(expect_equal("the name of a fork", name, info.session));
    PARLEY_CHECK(expect_numbered(*s.two, s.key(name), 1));
  }
  return {};
}

Result<void> batch_has_any_name(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("batches");
  const std::vector<std::string> names = naughty_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Record record = said("record " + std::to_string(i));
    record.message_id = record.name = names[i];
    PARLEY_TRY(const Appended came, must(shown(names[i]), s.one->append(key, Batch(names[i], {record}))));
    PARLEY_CHECK(expect_equal("the position of the batch " + shown(names[i]), i, came.first));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    PARLEY_TRY(const auto found, must("resolve", s.two->resolve(key, names[i])));
    PARLEY_CHECK(expect("resolve finds the batch " + shown(names[i]), found && found->first == i));
    PARLEY_TRY(const Page page, must("read", s.two->read(key, {.first = i, .count = 1})));
    PARLEY_CHECK(expect_equal("the batch of a record", names[i], page.records.at(0).batch));
    PARLEY_CHECK(expect_equal("the message id of a record", names[i], page.records[0].message_id));
  }
  return expect_numbered(*s.two, key, names.size());
}

Result<void> lease_has_any_name(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const std::string& name : naughty_names()) {
    PARLEY_TRY(const Lease lease,
               must("a lease of " + shown(name),
                    s.one->lease(s.key("leased"), name, std::chrono::hours(1), LeaseMode::TakeOver, name)));
    PARLEY_CHECK(expect_equal("the owner of a lease", name, lease.owner));
    Batch batch({said("mine")});
    batch.lease = name;
    PARLEY_CHECK(must("an append", s.two->append(s.key("leased"), batch)));
  }
  return {};
}

Result<void> names_that_cannot_be_are_refused(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("there"), numbered(0, 1)));
  const Batch batch({said("no")});
  for (const std::string& name : refused_names()) {
    const std::string what = "the name " + shown(name);
    for (const SessionKey& key : {SessionKey{name, "session"}, s.key(name)}) {
      PARLEY_CHECK(expect_fails(what + ", append", Code::Invalid, s.one->append(key, batch)));
      PARLEY_CHECK(expect_fails(what + ", read", Code::Invalid, s.one->read(key)));
      PARLEY_CHECK(expect_fails(what + ", head", Code::Invalid, s.one->head(key)));
      PARLEY_CHECK(expect_fails(what + ", remove", Code::Invalid, s.one->remove(key)));
      PARLEY_CHECK(expect_fails(what + ", resolve", Code::Invalid, s.one->resolve(key, "batch")));
    }
    PARLEY_CHECK(expect_fails(what + ", list", Code::Invalid, s.one->list(name)));
    PARLEY_CHECK(expect_fails(what + ", search", Code::Invalid, s.one->search(name, "word")));
    PARLEY_CHECK(expect_fails(what + ", fork", Code::Invalid, s.one->fork(s.key("there"), name, 1)));
    PARLEY_CHECK(expect_fails(what + ", batch", Code::Invalid,
                              s.one->append(s.key("there"), Batch(name, {said("no")}))));
  }
  return expect_numbered(*s.two, s.key("there"), 1);
}

Result<void> tenants_see_nothing_of_each_other(const Open& open) {
  PARLEY_TRY(const Subject mine, subject(open));
  PARLEY_TRY(const Subject theirs, subject(open));
  PARLEY_CHECK(append(*mine.one, mine.key("same"), numbered(0, 2, "mine")));
  PARLEY_CHECK(expect_no_session("the session of another tenant", *theirs.one, theirs.key("same")));
  PARLEY_CHECK(append(*theirs.one, theirs.key("same"), numbered(0, 1, "theirs")));
  PARLEY_TRY(const Lease lease,
             must("a lease", mine.one->lease(mine.key("same"), "me", std::chrono::hours(1))));
  PARLEY_CHECK(append(*theirs.two, theirs.key("same"), numbered(1, 1, "theirs")));
  PARLEY_CHECK(must("expire", mine.one->expire(mine.key("same"), 1'000)));
  PARLEY_TRY(const SessionList list, must("list", theirs.two->list(theirs.tenant)));
  PARLEY_CHECK(expect_equal("sessions of the other tenant", std::size_t{1}, list.sessions.size()));
  return expect_numbered(*theirs.two, theirs.key("same"), 2, "theirs");
}

constexpr Check kChecks[] = {
    {"any_name_is_a_session_of_its_own", "P12", "No name of a session reaches another session.",
     any_name_is_a_session_of_its_own},
    {"any_name_is_a_tenant_of_its_own", "P12", "No name of a tenant reaches another tenant.",
     any_name_is_a_tenant_of_its_own},
    {"parts_of_a_key_stay_apart", "P12", "Tenant and session are not one string.", parts_of_a_key_stay_apart},
    {"list_has_any_name", "P12", "Lists and searches give names to the byte, in the order of bytes.",
     list_has_any_name},
    {"fork_has_any_name", "P12", "A fork may have any name.", fork_has_any_name},
    {"batch_has_any_name", "P4", "A batch may have any name, and a message any id.", batch_has_any_name},
    {"lease_has_any_name", "P12", "The owner and the token of a lease may be any name.", lease_has_any_name},
    {"names_that_cannot_be_are_refused", "P11", "Names are 1 to 256 bytes of UTF-8 without controls.",
     names_that_cannot_be_are_refused},
    {"tenants_see_nothing_of_each_other", "P12", "The same name under another tenant is another session.",
     tenants_see_nothing_of_each_other},
};

}  // namespace

std::span<const Check> name_checks() { return kChecks; }

}  // namespace parley::store::conformance
