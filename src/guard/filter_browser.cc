// What browser tools give back is mostly page state: the address, a snapshot of the page, console messages,
// the script that was run. AgentScope's browser agent takes it out before the result is remembered.
//
// "browser-agentscope" is its function of version 1.0.10: expressions over the whole text, wherever they
// match. "browser" does what that one is meant to do, by lines:
//   - Markdown's structure counts: a heading or a fence stands at the beginning of a line, a fence ends with
//     a separate line, and there are no headings inside a fence.
//   - The page state goes from its "- Page URL" line to the next heading, not to the end of the text, and
//     only under the heading "### Page state".
//   - Only fences marked exactly `yaml` or `js` go; `json` and `jsx` are data.
//   - Console messages go to the next heading, whichever it is, or to the end.
//   - Blank lines at both ends go if something went; a text without any of this is left alone.
#include <algorithm>
#include <vector>

#include "base/literals.h"
#include "guard/edits.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

constexpr std::string_view kPageUrl = "- Page URL";
constexpr std::string_view kPageState = "### Page state";
constexpr std::string_view kConsole = "### New console messages";
constexpr std::string_view kFence = "```";

constexpr std::string_view kPageKind = "page state";
constexpr std::string_view kSnapshotKind = "yaml snapshot";
constexpr std::string_view kScriptKind = "script";
constexpr std::string_view kConsoleKind = "console messages";
constexpr std::string_view kSpaceKind = "space at the ends";

// ---- To the letter

// Python's str.strip(): the length of the white space character at `at`, or 0.
std::size_t space_at(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if ((c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20)) return 1;
  const std::string_view rest = text.substr(at);
  for (const std::string_view space :
       {"\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
        "\u2007", "\u2008", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"}) {
    if (rest.starts_with(space)) return space.size();
  }
  return 0;
}

std::string_view stripped(std::string_view text) {
  while (!text.empty()) {
    const std::size_t space = space_at(text, 0);
    if (space == 0) break;
    text.remove_prefix(space);
  }
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (space_at(text, last) == 0) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

// Takes out every shortest span from `open` to `close`, which itself goes or stays, and says how many.
FilterChange remove_spans(std::string& text, std::string_view open, std::string_view close, bool with_close,
                          std::string_view what) {
  FilterChange change{{}, what};
  std::string out;
  std::size_t copied = 0;
  for (std::size_t begin = text.find(open); begin != std::string::npos; begin = text.find(open, copied)) {
    const std::size_t end = text.find(close, begin + open.size());
    if (end == std::string::npos) break;
    if (change.count++ == 0) change.first = begin;
    out.append(text, copied, begin - copied);
    copied = with_close ? end + close.size() : end;
    change.bytes += copied - begin;
  }
  if (change.count != 0) text = out.append(text, copied);
  return change;
}

// ---- By lines

struct Line {
  std::size_t begin, end;  // with its line end
  std::size_t fence_end;   // of a line that opens a fence: the line after the one that closes it; else 0
};

std::string_view without_end(std::string_view line) {
  while (!line.empty() && std::string_view(" \t\r\n").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line;
}

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      lines_.push_back({begin, end, 0});
      begin = end;
    }
    // From the end, so that each opening line knows the next closing one.
    std::vector<std::size_t> closes(lines_.size() + 1, 0);
    for (std::size_t i = lines_.size(); i-- > 0;) closes[i] = is_close(i) ? i : closes[i + 1];
    for (std::size_t i = 0; i < lines_.size();) {
      const std::size_t close = text_of(i).starts_with(kFence) ? closes[i + 1] : 0;
      if (close == 0) {
        ++i;
      } else {
        lines_[i].fence_end = close + 1;
        i = close + 1;
      }
    }
  }

  std::size_t size() const { return lines_.size(); }
  const Line& operator[](std::size_t i) const { return lines_[i]; }
  std::string_view text_of(std::size_t i) const {
    return text_.substr(lines_[i].begin, lines_[i].end - lines_[i].begin);
  }
  bool is_heading(std::size_t i) const { return text_of(i).starts_with("### "); }
  // What follows the backticks of an opening line.
  std::string_view language(std::size_t i) const { return without_end(text_of(i).substr(kFence.size())); }
  std::size_t next(std::size_t i) const { return lines_[i].fence_end != 0 ? lines_[i].fence_end : i + 1; }
  // The first heading from line `i` on that is in no fence, or the end.
  std::size_t heading_from(std::size_t i) const {
    while (i < size() && !is_heading(i)) i = next(i);
    return i;
  }
  std::size_t offset(std::size_t i) const { return i < size() ? lines_[i].begin : text_.size(); }

 private:
  bool is_close(std::size_t i) const { return without_end(text_of(i)) == kFence; }

  std::string_view text_;
  std::vector<Line> lines_;
};

// True if the text holds anything that these filters are about; spares most texts everything else.
bool concerns(std::string_view text) {
  constexpr Literal kSigns[] = {{kPageUrl}, {kConsole}, {"```yaml"}, {"```js"}};
  static const LiteralSet signs(kSigns);
  std::uint64_t steps = 0;
  return signs.find(text, 0, steps, [](std::size_t, std::size_t) { return true; }) < text.size();
}

struct Cut {
  std::size_t begin, end;
  std::string_view what;
};

std::vector<Cut> cuts_of(const Lines& lines, const FilterOptions& options) {
  std::vector<Cut> cuts;
  bool is_page_state = false;
  for (std::size_t i = 0; i < lines.size();) {
    const std::string_view line = lines.text_of(i);
    std::size_t end = lines.next(i);
    std::string_view what;
    if (lines[i].fence_end != 0) {
      const std::string_view language = lines.language(i);
      if (language == "js") what = kScriptKind;
      if (language == "yaml" && !options.keep_page_state) what = kSnapshotKind;
    } else if (line.starts_with(kConsole)) {
      end = lines.heading_from(i + 1);
      what = kConsoleKind;
    } else if (lines.is_heading(i)) {
      is_page_state = line.starts_with(kPageState);
    } else if (is_page_state && line.starts_with(kPageUrl) && !options.keep_page_state) {
      end = lines.heading_from(i + 1);
      what = kPageKind;
    }
    if (!what.empty()) cuts.push_back({lines.offset(i), lines.offset(end), what});
    i = end;
  }
  return cuts;
}

}  // namespace

void browser_agentscope(std::string_view text, const FilterOptions& options, Edits& edits) {
  if (!concerns(text) && stripped(text).size() == text.size()) return;
  std::string now(text);
  const auto note = [&](const FilterChange& change) {
    if (change.count != 0) edits.note(change);
  };
  if (!options.keep_page_state) {
    const std::size_t url = now.find(kPageUrl);
    if (url != std::string::npos) {
      note({{}, kPageKind, 1, url, now.size() - url});
      now.resize(url);
    }
    note(remove_spans(now, "```yaml", kFence, true, kSnapshotKind));
  }
  note(remove_spans(now, "```js", kFence, true, kScriptKind));
  note(remove_spans(now, kConsole, kPageState, false, kConsoleKind));
  const std::string_view kept = stripped(now);
  if (kept.size() != now.size()) note({{}, kSpaceKind, 1, 0, now.size() - kept.size()});
  if (!edits.empty()) edits.rewrite(std::string(kept));
}

void browser(std::string_view text, const FilterOptions& options, Edits& edits) {
  if (!concerns(text)) return;
  const std::vector<Cut> cuts = cuts_of(Lines(text), options);
  if (cuts.empty()) return;
  // The rest from `begin` to `end` has no blank line before and no white space after it.
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  std::size_t begin = 0;  // of a line
  std::size_t next_cut = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (next_cut < cuts.size() && at == cuts[next_cut].begin) {
      at = begin = cuts[next_cut++].end;
    } else if (is_space(text[at])) {
      if (text[at++] == '\n') begin = at;
      if (at == text.size()) begin = at;
    } else {
      break;
    }
  }
  std::size_t end = text.size();
  std::size_t last_cut = cuts.size();
  while (end > begin) {
    if (last_cut > 0 && end == cuts[last_cut - 1].end) {
      end = cuts[--last_cut].begin;
    } else if (is_space(text[end - 1])) {
      --end;
    } else {
      break;
    }
  }
  const auto trim = [&](std::size_t from, std::size_t to) {
    if (from < begin) edits.remove(from, std::min(to, begin), kSpaceKind);
    if (to > end) edits.remove(std::max(from, end), to, kSpaceKind);
  };
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    trim(at, cut.begin);
    edits.remove(cut.begin, cut.end, cut.what);
    at = cut.end;
  }
  trim(at, text.size());
}

}  // namespace parley::guard
