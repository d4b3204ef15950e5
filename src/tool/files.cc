// Looking at files and editing them, in the words of OpenManus' editor where they make sense. Unlike it, tabs
// stay tabs, files are written whole or not at all, and undoing a create removes the file.
#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <map>

#include "parley/base/text.h"
#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"
#include "tool/workspace.h"

namespace parley {
namespace {

constexpr std::size_t kMaxShown = 16'000;                // code points of a file in one view
constexpr std::size_t kAround = 4;                       // lines shown on either side of an edit
constexpr std::size_t kMaxUndo = std::size_t{64} << 20;  // bytes that are kept of earlier texts

ToolOutput failure(const std::string& words) { return ToolOutput::failure(Text(words)); }
ToolOutput success(const std::string& words) { return ToolOutput::text(Text(words)); }

// Lines as OpenManus counts them: a line end after the last line starts another, empty one.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

// As `cat -n` shows it, from line `first`.
std::string numbered(std::span<const std::string_view> lines, std::size_t first, const std::string& what) {
  std::string out = "Here's the result of running `cat -n` on " + what + ":\n";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t length = utf8_length(lines[i]) + 1;
    if (shown + length > kMaxShown && i > 0) {
      return out + "[... " + std::to_string(lines.size() - i) + " more lines; view_range shows them ...]\n";
    }
    shown += length;
    std::array<char, 24> number{};
    std::snprintf(number.data(), number.size(), "%6zu\t", first + i);
    out += number.data();
    out += lines[i].substr(0, length > kMaxShown ? utf8_floor(lines[i], kMaxShown) : lines[i].size());
    out += length > kMaxShown ? " [... cut ...]\n" : "\n";
  }
  return out;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string out = "[";
  for (const std::int64_t number : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  return out + "]";
}

std::size_t line_ends(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// The lines on which `part` begins, each once.
std::vector<std::int64_t> places(std::string_view text, std::string_view part) {
  std::vector<std::int64_t> out;
  std::int64_t line = 1;
  std::size_t counted = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    line += static_cast<std::int64_t>(line_ends(text.substr(counted, at - counted)));
    counted = at;
    if (out.empty() || out.back() != line) out.push_back(line);
  }
  return out;
}

// A part of the lines around an edit that begins on line `line` (from 0) and has `more` line ends.
std::string snippet(std::string_view text, std::size_t line, std::size_t more, const std::string& what) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t begin = line > kAround ? line - kAround : 0;
  const std::size_t end = std::min(lines.size(), line + more + kAround + 1);
  return numbered(std::span(lines).subspan(begin, end - begin), begin + 1, what);
}

// What a file was before each edit; nothing if it was not there. The oldest go when there is too much.
class UndoHistory {
 public:
  void push(const std::string& path, std::optional<std::string> before) {
    bytes_ += before ? before->size() : 0;
    edits_.push_back({path, std::move(before)});
    while (bytes_ > kMaxUndo) {
      bytes_ -= edits_.front().before ? edits_.front().before->size() : 0;
      edits_.pop_front();
    }
  }

  const std::optional<std::string>* last(const std::string& path) const {
    const auto edit =
        std::find_if(edits_.rbegin(), edits_.rend(), [&](const Edit& e) { return e.path == path; });
    return edit == edits_.rend() ? nullptr : &edit->before;
  }

  void pop(const std::string& path) {
    const auto edit =
        std::find_if(edits_.rbegin(), edits_.rend(), [&](const Edit& e) { return e.path == path; });
    bytes_ -= edit->before ? edit->before->size() : 0;
    edits_.erase(std::next(edit).base());
  }

 private:
  struct Edit {
    std::string path;
    std::optional<std::string> before;
  };
  std::deque<Edit> edits_;
  std::size_t bytes_ = 0;
};

class FilesTool : public RunnableTool {
 public:
  FilesTool(Workspace workspace, Text name);

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& arguments) const override {
    return Args(arguments, {}).string("command").view() != "view";
  }
  bool is_parallel() const override { return false; }
  ToolOutput run(const Json& arguments, const ToolContext& context) override;

 private:
  // One call: the path as the model spelled it, as the workspace takes it, and what is there.
  struct Call {
    const Args& args;
    std::string shown;
    std::string path;
    Workspace::Kind kind;
  };
  struct Command {
    std::string_view name;
    ToolOutput (FilesTool::*run)(const Call& call);
    bool may_be_missing = false;
  };
  static const std::array<Command, 5> kCommands;

  ToolOutput view(const Call& call);
  ToolOutput view_folder(const Call& call);
  ToolOutput create(const Call& call);
  ToolOutput str_replace(const Call& call);
  ToolOutput insert(const Call& call);
  ToolOutput undo_edit(const Call& call);
  Result<std::string> text_of(const Call& call) const;
  Result<void> edit(const Call& call, const std::string& before, std::string_view after);

  Workspace workspace_;
  Tool spec_;
  UndoHistory history_;
};

const std::array<FilesTool::Command, 5> FilesTool::kCommands = {{
    {"view", &FilesTool::view},
    {"create", &FilesTool::create, true},
    {"str_replace", &FilesTool::str_replace},
    {"insert", &FilesTool::insert},
    {"undo_edit", &FilesTool::undo_edit, true},
}};

FilesTool::FilesTool(Workspace workspace, Text name) : workspace_(std::move(workspace)) {
  std::vector<std::string_view> commands;
  commands.reserve(kCommands.size());
  for (const Command& command : kCommands) commands.push_back(command.name);
  spec_ = {
      std::move(name),
      Text(
          "Looks at text files and folders, and edits files. create makes a new file and does not overwrite; "
          "str_replace replaces a text that stands exactly once in a file; undo_edit takes the last edit of "
          "a "
          "file back."),
      parameters_of(std::vector{
          param("command", "What to do.").one_of(commands).required(),
          param("path", "The file or folder, from the folder of the workspace or absolute.")
              .string()
              .required(),
          param("file_text", "For create: what the file holds.").string(),
          param("old_str", "For str_replace: the text to replace, with its line ends and indentation.")
              .string(),
          param("new_str", "For str_replace: what stands there instead; for insert: the lines to insert.")
              .string(),
          param("insert_line", "For insert: the line after which to insert; 0 is the beginning.").integer(),
          param("view_range", "For view: the first and the last line, from 1; -1 is the end.").integers()})};
}

ToolOutput FilesTool::run(const Json& arguments, const ToolContext& context) {
  const Args args(arguments, context);
  std::string shown = args.string("path").str();
  if (shown.empty()) shown = ".";  // or its entries would look absolute
  const auto path = workspace_.beneath(shown);
  if (!path) return failure("The path " + shown + " is outside of the workspace.");
  const auto kind = workspace_.kind(*path);
  if (!kind) return failure("The path " + shown + " cannot be used: " + kind.error().message + ".");
  const auto* const command = std::ranges::find(kCommands, args.string("command").view(), &Command::name);
  if (command == kCommands.end()) return failure("Unrecognized command " + args.string("command").str());
  if (*kind == Workspace::Kind::Nothing && !command->may_be_missing) {
    return failure("The path " + shown + " does not exist. Please provide a valid path.");
  }
  if (*kind == Workspace::Kind::Folder && command->name != "view") {
    return failure("The path " + shown +
                   " is a directory and only the `view` command can be used on directories");
  }
  return (this->*command->run)({args, shown, *path, *kind});
}

Result<std::string> FilesTool::text_of(const Call& call) const {
  auto bytes = workspace_.read(call.path);
  if (!bytes)
    return fail(bytes.error().code, "The file " + call.shown + " cannot be read: " + bytes.error().message);
  if (!is_utf8(*bytes)) return fail(Code::InvalidUtf8, "The file " + call.shown + " is not UTF-8 text.");
  return bytes;
}

Result<void> FilesTool::edit(const Call& call, const std::string& before, std::string_view after) {
  const auto written = workspace_.replace(call.path, after);
  if (!written) {
    return fail(written.error().code,
                "The file " + call.shown + " cannot be written: " + written.error().message);
  }
  history_.push(call.path, before);
  return {};
}

ToolOutput FilesTool::view_folder(const Call& call) {
  if (call.args.has("view_range")) {
    return failure("The `view_range` parameter is not allowed when `path` points to a directory.");
  }
  bool is_cut = false;
  const auto entries = workspace_.list(call.path, &is_cut);
  if (!entries) return failure("The path " + call.shown + " cannot be read: " + entries.error().message);
  std::string out = "Here's the files and directories up to 2 levels deep in " + call.shown +
                    ", excluding hidden items:\n" + call.shown;
  const std::string prefix = "\n" + call.shown + (call.shown.ends_with('/') ? "" : "/");
  for (const std::string& entry : *entries) out.append(prefix).append(entry);
  out += is_cut ? "\n[... more entries follow ...]\n" : "\n";
  return success(out);
}

ToolOutput FilesTool::view(const Call& call) {
  if (call.kind == Workspace::Kind::Folder) return view_folder(call);
  const auto text = text_of(call);
  if (!text) return failure(text.error().message);
  const std::vector<std::string_view> lines = lines_of(*text);
  const auto count = static_cast<std::int64_t>(lines.size());
  if (!call.args.has("view_range")) return success(numbered(lines, 1, call.shown));
  const std::vector<std::int64_t> range = call.args.integers("view_range");
  if (range.size() != 2) return failure("Invalid `view_range`. It should be a list of two integers.");
  const std::string wrong = "Invalid `view_range`: " + listed(range) + ". Its ";
  const auto [first, last] = std::pair(range[0], range[1]);
  if (first < 1 || first > count) {
    return failure(wrong + "first element `" + std::to_string(first) +
                   "` should be within the range of lines of the file: " + listed({1, count}));
  }
  if (last > count) {
    return failure(wrong + "second element `" + std::to_string(last) +
                   "` should be smaller than the number of lines in the file: `" + std::to_string(count) +
                   "`");
  }
  if (last != -1 && last < first) {
    return failure(wrong + "second element `" + std::to_string(last) +
                   "` should be larger or equal than its first `" + std::to_string(first) + "`");
  }
  const auto begin = static_cast<std::size_t>(first);
  const auto end = static_cast<std::size_t>(last == -1 ? count : last);
  return success(numbered(std::span(lines).subspan(begin - 1, end - begin + 1), begin, call.shown));
}

ToolOutput FilesTool::create(const Call& call) {
  if (!call.args.has("file_text")) return failure("Parameter `file_text` is required for command: create");
  const auto exists = [&] {
    return failure("File already exists at: " + call.shown +
                   ". Cannot overwrite files using command `create`.");
  };
  if (call.kind != Workspace::Kind::Nothing) return exists();
  const auto made = workspace_.create(call.path, call.args.string("file_text"));
  if (!made && made.error().code == Code::Conflict) return exists();
  if (!made) return failure("The file " + call.shown + " cannot be written: " + made.error().message);
  history_.push(call.path, std::nullopt);
  return success("File created successfully at: " + call.shown);
}

ToolOutput FilesTool::str_replace(const Call& call) {
  const Text old_text = call.args.string("old_str");
  const Text new_text = call.args.string("new_str");
  if (old_text.empty()) return failure("Parameter `old_str` is required for command: str_replace");
  const auto before = text_of(call);
  if (!before) return failure(before.error().message);
  const std::size_t at = before->find(old_text.view());
  if (at == std::string::npos) {
    return failure("No replacement was performed, old_str `" + old_text.str() +
                   "` did not appear verbatim in " + call.shown + ".");
  }
  if (before->find(old_text.view(), at + old_text.size()) != std::string::npos) {
    return failure("No replacement was performed. Multiple occurrences of old_str `" + old_text.str() +
                   "` in lines " + listed(places(*before, old_text)) + ". Please ensure it is unique");
  }
  std::string after = *before;
  after.replace(at, old_text.size(), new_text.view());
  if (const auto done = edit(call, *before, after); !done) return failure(done.error().message);
  return success("The file " + call.shown + " has been edited. " +
                 snippet(after, line_ends(std::string_view(after).substr(0, at)), line_ends(new_text),
                         "a snippet of " + call.shown) +
                 "Review the changes and make sure they are as expected. Edit the file again if necessary.");
}

ToolOutput FilesTool::insert(const Call& call) {
  if (!call.args.has("insert_line"))
    return failure("Parameter `insert_line` is required for command: insert");
  if (!call.args.has("new_str")) return failure("Parameter `new_str` is required for command: insert");
  const auto before = text_of(call);
  if (!before) return failure(before.error().message);
  const std::vector<std::string_view> lines = lines_of(*before);
  const std::int64_t line = call.args.integer("insert_line", -1);
  if (line < 0 || std::cmp_greater(line, lines.size())) {
    return failure("Invalid `insert_line` parameter: " + call.args.get("insert_line")->text().str() +
                   ". It should be within the range of lines of the file: " +
                   listed({0, static_cast<std::int64_t>(lines.size())}));
  }
  const Text new_text = call.args.string("new_str");
  const auto after_line = static_cast<std::size_t>(line);
  // The offset of the line after the new ones; at the end there is none, and a line end must come first.
  std::string after = *before;
  if (after_line == lines.size()) {
    after += "\n" + new_text.str();
  } else {
    const auto at = static_cast<std::size_t>(lines[after_line].data() - before->data());
    after.insert(at, new_text.str() + "\n");
  }
  if (const auto done = edit(call, *before, after); !done) return failure(done.error().message);
  return success(
      "The file " + call.shown + " has been edited. " +
      snippet(after, after_line, line_ends(new_text), "a snippet of the edited file") +
      "Review the changes: is the indentation right, and is no line there twice? Edit the file again if "
      "necessary.");
}

ToolOutput FilesTool::undo_edit(const Call& call) {
  const std::optional<std::string>* const before = history_.last(call.path);
  if (before == nullptr) return failure("No edit history found for " + call.shown + ".");
  const bool is_there = call.kind != Workspace::Kind::Nothing;
  const auto done = !*before   ? workspace_.remove(call.path)
                    : is_there ? workspace_.replace(call.path, **before)
                               : workspace_.create(call.path, **before);
  if (!done) return failure("The file " + call.shown + " cannot be written: " + done.error().message);
  const std::string words = "Last edit to " + call.shown + " undone successfully. ";
  const std::string now =
      *before ? numbered(lines_of(**before), 1, call.shown) : "The file no longer exists.";
  history_.pop(call.path);
  return success(words + now);
}

}  // namespace

Result<std::shared_ptr<RunnableTool>> files_tool(const std::string& root, Text name) {
  PARLEY_TRY(Workspace workspace, Workspace::open(root));
  return std::make_shared<FilesTool>(std::move(workspace), std::move(name));
}

}  // namespace parley
