// What the rules of all providers share: rules as rows, findings with their places, and a careful look at
// JSON whose shape is unchecked.
//
// Nothing here knows Parley's messages or shares anything with the readers and writers of dialects: the rules
// judge what they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/json/json.h"
#include "parley/message/validate.h"

namespace parley::rules {

inline constexpr FindingLevel kError = FindingLevel::Error;
inline constexpr FindingLevel kWarning = FindingLevel::Warning;

// One row per rule. Rules of several formats may look alike; each format has its own, because its servers
// change without the others.
struct Rule {
  std::string_view code;
  FindingLevel level;
  std::string_view sentence;
};

inline constexpr Rule kUnknownRole = {"unknown_role", kError, "no message has such a role"};
inline constexpr Rule kBlockRole = {"block_role", kError, "a message of this role cannot hold such a block"};
inline constexpr Rule kPendingCall = {"pending_call", kWarning, "nothing has answered this call yet"};
inline constexpr Rule kCacheMarks = {"cache_marks", kWarning, "only four cache marks of a request count"};

// Of each level so many findings are kept: a document of nothing but mistakes must not cost more than it
// says.
inline constexpr std::size_t kMostFindings = 10'000;

// Findings are collected with the place of a value in the text of the document, and get their JSON Pointers
// at the end, all in one walk.
class Report {
 public:
  // What is about no message counts with the first.
  struct Mark {
    std::size_t offset = 0;
    std::size_t message = 0;
    std::optional<std::size_t> block = {};
  };

  explicit Report(const Json& document) : document_(document) {}

  // What is added from now on is about this message, or this block of it.
  void enter_message(std::size_t index) { here_ = {0, index, std::nullopt}; }
  void enter_block(std::size_t index) { here_.block = index; }
  void leave_block() { here_.block.reset(); }

  // REQUIRES: `where` is a part of the document, not a copy.
  Mark mark(const Json& where) const;
  void add(const Rule& rule, const Json& where) { add(rule, mark(where)); }
  void add(const Rule& rule, const Mark& where, std::string_view sentence = {});  // else the rule's

  // In the order of the messages, and within one of the document.
  std::vector<Finding> finish();

 private:
  struct Found {
    Mark mark;
    std::size_t order;  // in which it was added
    std::string_view code;
    FindingLevel level;
    std::string sentence;
    std::string path;
  };

  const Json& document_;
  Mark here_;
  std::vector<Found> found_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

// What a member may be.
enum Want : std::uint8_t { kString = 1, kList = 2, kObject = 4, kBool = 8 };

// An object and its members, fetched once. A member that is null counts as absent; of two of one name the
// last counts.
class Object {
 public:
  // A value that is no object is a finding, and an object without members.
  Object(Report& report, const Json& json);
  // No object at all.
  explicit Object(Report& report) : report_(&report) {}

  const Json& json() const { return json_; }
  bool is_object() const { return is_object_; }
  const std::vector<Json::Member>& members() const { return members_; }

  // The member, whatever it is; nothing if it is absent. What these give lives as long as the Object.
  const Json* find(std::string_view name) const&;
  const Json* find(std::string_view name) const&& = delete;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // The member if it is what is wanted (a sum of Want); else a finding wrong_shape.
  const Json* get(std::string_view name, unsigned wants) const&;
  const Json* get(std::string_view name, unsigned wants) const&& = delete;
  // The same; that it is absent is a finding missing_member.
  const Json* need(std::string_view name, unsigned wants) const&;
  const Json* need(std::string_view name, unsigned wants) const&& = delete;

  // As get() and need(), for strings.
  std::optional<Text> string(std::string_view name) const;
  std::optional<Text> need_string(std::string_view name) const;
  // The string without a finding; "" if there is none.
  Text word(std::string_view name) const;

 private:
  Report* report_;
  Json json_;
  std::vector<Json::Member> members_;
  bool is_object_ = false;
};

// Calls visit(object) for every element; one that is no object is a finding.
template <typename Visit>
void each_object(Report& report, const Json& list, Visit&& visit) {
  for (const Json& element : list.elements()) {
    const Object object(report, element);
    if (object.is_object()) visit(object);
  }
}

// The same for the blocks of a message, each entered in the report.
template <typename Visit>
void each_block(Report& report, const Json& list, Visit&& visit) {
  std::size_t index = 0;
  for (const Json& element : list.elements()) {
    report.enter_block(index++);
    const Object object(report, element);
    if (object.is_object()) visit(object);
  }
  report.leave_block();
}

// Where a family of formats has its messages.
struct Layout {
  std::string_view list;          // in a request: the member with the list of messages
  std::string_view mark;          // a member that only a message has
  std::string_view answers = {};  // in a response: the member with a list of alternatives
  std::string_view answer = {};   // in an alternative, or in a response without them: the message
};

// The messages of a document.
struct Talk {
  std::vector<Json> messages;
  Object around;          // the request or the response; no object if there is none
  Json place;             // where the messages stand
  bool is_whole = false;  // they are a conversation; else each is on its own, and what came before is unknown
  bool has_request = false;
};

// A document of another form is a finding, and a talk without messages.
Talk find_talk(Report& report, const Json& document, const Layout& layout);

// Calls visit(object) for every message, each entered in the report.
template <typename Visit>
void each_message(Report& report, const Talk& talk, Visit&& visit) {
  for (std::size_t i = 0; i < talk.messages.size(); ++i) {
    report.enter_message(i);
    visit(Object(report, talk.messages[i]));
  }
  report.enter_message(0);
}

// Complains once, of the first value that is one too many.
class Counter {
 public:
  Counter(Report& report, const Rule& rule, std::size_t most) : report_(report), rule_(rule), most_(most) {}
  void count(const Json& where) {
    if (++count_ == most_ + 1) report_.add(rule_, where);
  }

 private:
  Report& report_;
  const Rule& rule_;
  std::size_t most_;
  std::size_t count_ = 0;
};

}  // namespace parley::rules
