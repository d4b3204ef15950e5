// Filters change texts by fixed rules before a model, a store or a person gets them, and report the changes.
//
// Invariants (quoted by tests as FILTER1..FILTER6):
//   FILTER1  A text without changes is returned as the same Text, and a message as the same Message: nothing
//            is copied, the wire is kept.
//   FILTER2  Every filter is idempotent, except "browser-agentscope", because its original is not.
//   FILTER3  The output is valid UTF-8.
//   FILTER4  The output is at most four times as long as the input.
//   FILTER5  Arguments of tool uses and thinking with a signature are never edited.
//   FILTER6  The time is linear in the text, whatever the text is.
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
  bool results_only = false;  // in messages: only tool results are filtered
  void (*run)(std::string_view text, const FilterOptions& options, guard::Edits& edits) = nullptr;
};

// All filters, in the best order for a chain: invisible characters are removed before a search, and texts are
// cut after it.
std::span<const Filter> filters();

// Fails with NotFound, naming the available filters.
Result<const Filter*> filter_named(std::string_view name);

struct FilteredText {
  Text text;
  std::vector<FilterChange> changes;  // empty: `text` is the same Text as the input
};

struct FilteredMessage {
  Message message;
  std::vector<FilterChange> changes;  // empty: `message` is the same Message as the input
  // True if the message was changed and its wire had members that no block holds: a filter cannot check them,
  // so a changed message loses them.
  bool dropped_members = false;
};

// Filters in the order they run, for messages that are added to a conversation or read from it.
class FilterChain {
 public:
  FilterChain() = default;  // changes nothing
  // Fails with NotFound for an unknown name, with Invalid for invalid options.
  static Result<FilterChain> of(std::span<const std::string_view> names, const FilterOptions& options = {});

  FilteredText run(const Text& text) const;
  FilteredMessage run(const Message& message) const;

  // The chain as a function of one message, for MemoryOptions::add_filter and window_filter: gives the
  // changed message, or nothing if it stays. `report` is called for every message that was changed.
  using Report = std::function<void(const FilteredMessage& filtered)>;
  std::function<std::optional<Message>(const Message&)> for_messages(Report report = {}) const;

  std::span<const Filter* const> chained() const { return chained_; }

 private:
  std::vector<const Filter*> chained_;
  FilterOptions options_;
};

}  // namespace parley
