// Filters change texts by fixed rules before a model, a store or a person gets them, and say what they
// changed.
//
// Invariants (quoted by tests as F1..F6):
//   F1  A text that a filter has nothing to do with comes out as the same Text, and a message as the same
//       Message: nothing is copied, the wire is kept.
//   F2  Every filter applied twice gives what it gives once; "browser-agentscope" alone promises it no more
//       than its original does.
//   F3  What comes out is valid UTF-8.
//   F4  What comes out is at most four times as long as what came in.
//   F5  Arguments of tool uses and thinking with a signature are never edited.
//   F6  The time is linear in the text, whatever the text is.
//
// Filters and chains are immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/message/message.h"
#include "parley/message/provenance.h"

namespace parley {

// One kind of change that one filter made in one text.
struct FilterChange {
  std::string_view filter;                // its name
  std::string_view what;                  // "tag character", "openai key", ...; static, never the text itself
  std::size_t count = 0;                  // how many
  std::size_t first = 0;                  // byte offset of the first one in the text this filter was given
  std::size_t bytes = 0;                  // how many bytes of that text were taken out or replaced
  std::optional<std::size_t> block = {};  // index in Message::blocks(); nothing for a plain text
  std::optional<std::size_t> part = {};   // index in the list of a result's output
  bool operator==(const FilterChange&) const = default;
};

// One line for people: "invisible: 3 x tag character (9 bytes, first at 12)".
std::string to_string(const FilterChange& change);

struct FilterOptions {
  std::size_t size_bytes = 64 * 1024;  // "size": the longest text; at least 64
  bool keep_page_state = false;        // both "browser" filters: page state and snapshots stay
  Trust up_to = Trust::Trusted;  // in messages: what is trusted more (parley/message/provenance.h) stays
};

namespace guard {
class Edits;  // where a filter writes what it changes (src/guard/edits.h)
}

// A row of the table.
struct Filter {
  std::string_view name;
  std::string_view does;      // one sentence
  bool results_only = false;  // in messages: what tools gave back is filtered and nothing else
  void (*run)(std::string_view text, const FilterOptions& options, guard::Edits& edits) = nullptr;
};

// All filters, in the order in which they are best chained: what hides is removed before anything is
// searched, and nothing is cut before it was searched.
std::span<const Filter> filters();

// Fails with NotFound, naming the filters there are.
Result<const Filter*> filter_named(std::string_view name);

struct FilteredText {
  Text text;
  std::vector<FilterChange> changes;  // empty: `text` is the very Text that came in
};

struct FilteredMessage {
  Message message;
  std::vector<FilterChange> changes;  // empty: `message` is the very Message that came in
  // True if the message was changed and its wire held members that no block holds: a filter cannot vouch for
  // them, so a changed message goes on without them.
  bool dropped_members = false;
};

// Filters in the order they run. For messages that are added to a conversation and for those that are read
// from it alike; both are one call a message.
class FilterChain {
 public:
  FilterChain() = default;  // changes nothing
  // Fails with NotFound for a name that is none, with Invalid for options that cannot be.
  static Result<FilterChain> of(std::span<const std::string_view> names, const FilterOptions& options = {});

  FilteredText run(const Text& text) const;
  FilteredMessage run(const Message& message) const;

  // The chain as a function of one message, for MemoryOptions::on_add and on_get: gives the changed message,
  // or nothing if it stays. `report` is called for every message that was changed.
  using Report = std::function<void(const FilteredMessage& filtered)>;
  std::function<std::optional<Message>(const Message&)> for_messages(Report report = {}) const;

  std::span<const Filter* const> chained() const { return chained_; }

 private:
  std::vector<const Filter*> chained_;
  FilterOptions options_;
};

}  // namespace parley
