#include "cli/call_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/approval.h"
#include "cli/diagnostics.h"
#include "cli/diff.h"
#include "cli/look.h"
#include "cli/table.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

using RowKind = ShownRow::Kind;

constexpr std::size_t kDiffContext = 3;
constexpr std::size_t kRowWidth = 80;      // what a long row counts as several for
constexpr std::size_t kEndRows = 20;       // shown at each end
constexpr std::size_t kLongestRow = 1200;  // bytes; a longer one is cut in its middle

// A tab stays; a carriage return would hide what is before it.
std::string row_text(std::string_view line) { return visible_lines(line); }

std::string shortened_row(std::string_view line, bool& is_cut) {
  const std::string text = repair_utf8(line);
  if (text.size() <= kLongestRow) return row_text(text);
  is_cut = true;
  const std::size_t head = utf8_floor(text, kLongestRow / 2);
  const std::size_t tail = utf8_floor(text, text.size() - kLongestRow / 2);
  return fmt::format("{} [{} bytes not shown] {}", row_text(std::string_view(text).substr(0, head)),
                     tail - head, row_text(std::string_view(text).substr(tail)));
}

// Rows as they come, and then a few of them or all.
class Rows {
 public:
  explicit Rows(ViewLength length) : is_short_(length == ViewLength::Short) {}

  void add(RowKind kind, const std::string& start, std::string_view line) {
    rows_.push_back({kind, start + (is_short_ ? shortened_row(line, is_cut_) : row_text(line))});
  }
  void add_lines(std::string_view text) {
    while (true) {
      const std::size_t end = text.find('\n');
      add(RowKind::Plain, "    ", text.substr(0, end));
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }
  // After `head`, which is always shown.
  CallView under(ShownRow head) && {
    CallView out{{std::move(head)}, is_cut_};
    const std::size_t first = is_short_ ? fitting(rows_.begin(), rows_.end()) : rows_.size();
    const std::size_t last = is_short_ ? fitting(rows_.rbegin(), rows_.rend()) : 0;
    if (first + last >= rows_.size()) {
      std::ranges::move(rows_, std::back_inserter(out.rows));
      return out;
    }
    out.is_cut = true;
    std::move(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(first),
              std::back_inserter(out.rows));
    out.rows.push_back(
        {RowKind::Aside, fmt::format("    [{} lines not shown]", rows_.size() - first - last)});
    std::move(rows_.end() - static_cast<std::ptrdiff_t>(last), rows_.end(), std::back_inserter(out.rows));
    return out;
  }

 private:
  // How many rows from here on fit into one end; at least one.
  static std::size_t fitting(auto from, auto end) {
    std::size_t count = 0;
    std::size_t left = kEndRows;
    for (; from != end; ++from, ++count) {
      const std::size_t taken = 1 + from->text.size() / kRowWidth;
      if (taken > left && count > 0) break;
      left -= std::min(left, taken);
    }
    return count;
  }

  const bool is_short_;
  bool is_cut_ = false;
  std::vector<ShownRow> rows_;
};

// "  left      right", as wide as the terminal but no wider than a page.
std::string head_row(const std::string& left, const std::string& right, std::size_t columns) {
  constexpr std::size_t kPage = 76;
  const std::size_t used = display_width(left) + display_width(right) + 2;
  const std::size_t width = std::min(columns, kPage);
  return "  " + left + std::string(used + 2 < width ? width - used : 2, ' ') + right;
}

void add_difference(Rows& rows, const std::vector<DiffLine>& lines) {
  std::size_t width = 2;
  if (!lines.empty()) width = std::max(width, std::to_string(lines.back().number).size());
  std::size_t expected = 0;
  for (const DiffLine& line : lines) {
    const bool is_removed = line.kind == DiffLine::Kind::Removed;
    if (expected != 0 && line.kind == DiffLine::Kind::Same && line.number > expected) {
      rows.add(RowKind::Aside, "    ", "...");
    }
    if (!is_removed) expected = line.number + 1;
    const RowKind kind = is_removed                           ? RowKind::Removed
                         : line.kind == DiffLine::Kind::Added ? RowKind::Added
                                                              : RowKind::Plain;
    const std::string_view sign = is_removed ? signs().minus : line.kind == DiffLine::Kind::Added ? "+" : " ";
    const bool has_end = line.text.ends_with('\n');
    rows.add(kind, fmt::format("    {:>{}} {} ", line.number, width, sign),
             has_end ? line.text.substr(0, line.text.size() - 1) : line.text);
    if (!has_end && kind != RowKind::Plain) rows.add(RowKind::Aside, "    ", "(no line feed at the end)");
  }
}

CallView view_of_change(const ToolUseBlock& use, const FileChange& change, ViewLength length,
                        std::size_t columns) {
  const std::string_view before = change.before ? std::string_view(*change.before) : "";
  const std::string_view after = change.after ? std::string_view(*change.after) : "";
  const std::vector<DiffLine> lines = difference(before, after);
  const char* verb = !change.after ? "remove" : !change.before ? "create" : "change";
  const std::string counts = fmt::format("+{} {}{}", count_of(lines, DiffLine::Kind::Added), signs().minus,
                                         count_of(lines, DiffLine::Kind::Removed));
  Rows rows(length);
  add_difference(rows, with_context(lines, kDiffContext));
  if (change.before == change.after) rows.add(RowKind::Aside, "    ", "(no difference)");
  return std::move(rows).under(
      {RowKind::Plain,
       head_row(fmt::format("{} wants to {} {}", visible(use.name.view()), verb, visible(change.path)),
                counts, columns)});
}

}  // namespace

CallView view_of(const ToolUseBlock& use, const std::optional<FileChange>& change, ViewLength length,
                 std::size_t columns) {
  if (change) return view_of_change(use, *change, length, columns);
  const std::optional<Text> code = code_of(use);
  const Result<Json> arguments = use.input();
  Rows rows(length);
  const std::string shown = code ? code->str() : arguments ? arguments->pretty() : use.arguments.str();
  rows.add_lines(shown);
  return std::move(rows).under(
      {RowKind::Plain, fmt::format("  {} wants to run{}", visible(use.name.view()), code ? "" : " with")});
}

std::optional<Text> code_of(const ToolUseBlock& use) {
  const std::optional<std::string_view> member = code_member(use.name.view());
  if (!member) return std::nullopt;
  const Result<Json> input = use.input();
  if (!input || !input->is_object()) return std::nullopt;
  const auto members = input->members();
  if (members.size() != 1 || members[0].key.view() != *member) return std::nullopt;
  return members[0].value.as_string();
}

std::string editable_text(const ToolUseBlock& use) {
  if (const auto code = code_of(use)) return code->str() + "\n";
  const Result<Json> arguments = use.input();
  return (arguments ? arguments->pretty() : use.arguments.str()) + "\n";
}

Result<Text> edited_arguments(const ToolUseBlock& use, const std::string& text) {
  if (code_of(use)) {
    json::Writer w;
    w.begin_object().key(*code_member(use.name.view())).string(text).end_object();
    return Text(w.take_string());
  }
  PARLEY_TRY(const Json arguments, Json::parse(text));
  if (!arguments.is_object()) return fail(Code::Malformed, "expected a JSON object");
  return arguments.compact().text();
}

}  // namespace parley::cli
