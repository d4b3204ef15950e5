#include "parley/guard/filter.h"

#include "base/secret_scan.h"
#include "base/shorten.h"
#include "guard/edits.h"
#include "guard/filter_rows.h"
#include "message/edit.h"

namespace parley {
namespace {

using guard::Edits;

void run_invisible(std::string_view text, const FilterOptions&, Edits& edits) {
  std::uint64_t steps = 0;
  guard::invisible(text, edits, steps);
}

void run_control_tokens(std::string_view text, const FilterOptions&, Edits& edits) {
  std::uint64_t steps = 0;
  guard::control_tokens(text, edits, steps);
}

void run_secrets(std::string_view text, const FilterOptions&, Edits& edits) {
  SecretScan scan(text);
  std::string marker;
  while (const std::optional<FoundSecret> found = scan.next()) {
    marker.assign(kRedactedOpen).append(found->kind).append(kRedactedClose);
    edits.replace(found->begin, found->end, marker, found->kind);
  }
}

void run_size(std::string_view text, const FilterOptions& options, Edits& edits) {
  if (text.size() <= options.size_bytes) return;
  const TextCut cut = cut_to(text, options.size_bytes);
  edits.replace(cut.begin, cut.end, cut_marker(text, cut), "text over the limit");
}

constexpr Filter kFilters[] = {
    {"invisible", "removes invisible characters: tags, bidi controls, zero-width, selector runs", false,
     run_invisible},
    {"browser", "removes page state, snapshots, scripts and console messages from browser results", true,
     guard::browser},
    {"browser-agentscope", "the same, exactly by the rules of AgentScope 1.0.10", true,
     guard::browser_agentscope},
    {"control-tokens", "escapes chat control tokens with a backslash", false, run_control_tokens},
    {"secrets", "replaces keys, tokens, private keys and passwords by a marker that names the kind", false,
     run_secrets},
    {"size", "cuts the middle of a text that is too long and says how much", false, run_size},
};

}  // namespace

std::string to_string(const FilterChange& change) {
  std::string out(change.filter);
  out += ": " + std::to_string(change.count) + " x ";
  out += change.what;
  out += " (" + std::to_string(change.bytes) + " bytes, first at " + std::to_string(change.first);
  if (change.block) out += ", block " + std::to_string(*change.block);
  if (change.part) out += ", part " + std::to_string(*change.part);
  return out + ")";
}

std::span<const Filter> filters() { return kFilters; }

Result<const Filter*> filter_named(std::string_view name) {
  std::string names;
  for (const Filter& filter : kFilters) {
    if (filter.name == name) return &filter;
    names += names.empty() ? "" : ", ";
    names += filter.name;
  }
  return fail(Code::NotFound, "unknown filter '" + std::string(name) + "'; available filters: " + names);
}

Result<FilterChain> FilterChain::of(std::span<const std::string_view> names, const FilterOptions& options) {
  if (options.size_bytes < kLeastTextBytes) {
    return fail(Code::Invalid, "invalid size limit of " + std::to_string(options.size_bytes) +
                                   " bytes: expected at least " + std::to_string(kLeastTextBytes));
  }
  FilterChain chain;
  chain.options_ = options;
  for (const std::string_view name : names) {
    PARLEY_TRY(const Filter* filter, filter_named(name));
    chain.chained_.push_back(filter);
  }
  return chain;
}

namespace {

// Runs one filter. True if the text is now another one.
bool apply(const Filter& filter, const FilterOptions& options, Text& text,
           std::vector<FilterChange>& changes) {
  Edits edits(filter.name, text.view());
  filter.run(text.view(), options, edits);
  if (edits.empty()) return false;
  changes.insert(changes.end(), edits.changes().begin(), edits.changes().end());
  text = Text(edits.take());
  return true;
}

}  // namespace

FilteredText FilterChain::run(const Text& text) const {
  FilteredText out{text, {}};
  for (const Filter* filter : chained_) apply(*filter, options_, out.text, out.changes);
  return out;
}

FilteredMessage FilterChain::run(const Message& message) const {
  FilteredMessage out{message, {}};
  std::vector<Provenance> known;
  if (options_.up_to < Trust::Trusted) known = provenances(message);
  const auto edit = [&](const Text& text, const TextPlace& place) -> std::optional<Text> {
    if (!known.empty() && known[place.block].trust > options_.up_to) return std::nullopt;
    Text now = text;
    const std::size_t before = out.changes.size();
    bool is_other = false;
    for (const Filter* filter : chained_) {
      if (filter->results_only && place.kind != TextPlace::Output) continue;
      is_other = apply(*filter, options_, now, out.changes) || is_other;
    }
    for (std::size_t i = before; i < out.changes.size(); ++i) {
      out.changes[i].block = place.block;
      out.changes[i].part = place.part;
    }
    if (!is_other) return std::nullopt;
    return now;
  };
  if (std::optional<Message> other = edited(message, edit)) {
    out.dropped_members = has_more(message);
    out.message = *std::move(other);
  }
  return out;
}

std::function<std::optional<Message>(const Message&)> FilterChain::for_messages(Report report) const {
  return [chain = *this, report = std::move(report)](const Message& message) -> std::optional<Message> {
    FilteredMessage filtered = chain.run(message);
    if (filtered.changes.empty()) return std::nullopt;
    if (report) report(filtered);
    return std::move(filtered.message);
  };
}

}  // namespace parley
