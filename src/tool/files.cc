// Looking at files and editing them, in the words of OpenManus' editor where they make sense. Unlike it, tabs
// stay tabs, files are written whole or not at all, and undoing a create removes the file.
#include <algorithm>
#include <array>
#include <deque>

#include "parley/base/text.h"
#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"
#include "tool/files_text.h"
#include "tool/workspace.h"

namespace parley {
namespace {

constexpr std::size_t kMaxUndo = std::size_t{64} << 20;  // bytes that are kept of earlier texts

using files::line_ends;
using files::lines_of;
using files::listed;
using files::numbered;
using files::snippet;

ToolOutput failure(const std::string& words) { return ToolOutput::failure(Text(words)); }
ToolOutput success(const std::string& words) { return ToolOutput::text(Text(words)); }

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

std::unexpected<Error> refused(std::string words) { return fail(Code::Invalid, std::move(words)); }

// A call is planned first, which changes nothing, and then made.
class FilesTool : public RunnableTool {
 public:
  FilesTool(Workspace workspace, Text name);

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& arguments) const override {
    return Args(arguments, {}).string("command").view() != "view";
  }
  bool is_parallel() const override { return false; }
  std::optional<FileChange> preview(const Json& arguments) const override;
  ToolOutput run(const Json& arguments, const ToolContext& context) override;

 private:
  struct Command;
  // One call: the path as the model spelled it, as the workspace takes it, and what is there.
  struct Call {
    const Args& args;
    const Command* command;
    std::string shown;
    std::string path;
    Workspace::Kind kind;
    bool is_there() const { return kind != Workspace::Kind::Nothing; }
  };
  // The text of a file after an edit, nullopt if the file is removed, and where the edit is: it begins on a
  // line, from 0, and has more line ends.
  struct Edit {
    std::optional<std::string> after;
    std::size_t line = 0;
    std::size_t more = 0;
    std::string before = {};  // for undo_edit
  };
  struct Command {
    std::string_view name;
    Result<Edit> (FilesTool::*plan)(const Call& call) const;  // null for view
    std::string (*report)(const Call& call, const Edit& edit) = nullptr;
    bool may_be_missing = false;
  };
  static const std::array<Command, 5> kCommands;

  Result<Call> call_of(const Args& args) const;
  ToolOutput view(const Call& call) const;
  ToolOutput view_folder(const Call& call) const;
  Result<Edit> create(const Call& call) const;
  Result<Edit> str_replace(const Call& call) const;
  Result<Edit> insert(const Call& call) const;
  Result<Edit> undo_edit(const Call& call) const;
  Result<std::string> text_of(const Call& call) const;
  Result<void> make(const Call& call, Edit& edit);

  Workspace workspace_;
  Tool spec_;
  UndoHistory history_;
};

std::string exists_already(const std::string& shown) {
  return "File already exists at: " + shown + ". Cannot overwrite files using command `create`.";
}

const std::array<FilesTool::Command, 5> FilesTool::kCommands = {{
    {"view", nullptr},
    {"create", &FilesTool::create,
     [](const Call& call, const Edit&) { return "File created successfully at: " + call.shown; }, true},
    {"str_replace", &FilesTool::str_replace,
     [](const Call& call, const Edit& edit) {
       return "The file " + call.shown + " has been edited. " +
              snippet(*edit.after, edit.line, edit.more, "a snippet of " + call.shown) +
              "Review the changes and make sure they are as expected. Edit the file again if necessary.";
     }},
    {"insert", &FilesTool::insert,
     [](const Call& call, const Edit& edit) {
       return "The file " + call.shown + " has been edited. " +
              snippet(*edit.after, edit.line, edit.more, "a snippet of the edited file") +
              "Review the changes: is the indentation right, and is no line there twice? Edit the file again "
              "if necessary.";
     }},
    {"undo_edit", &FilesTool::undo_edit,
     [](const Call& call, const Edit& edit) {
       return "Last edit to " + call.shown + " undone successfully. " +
              (edit.after ? numbered(lines_of(*edit.after), 1, call.shown) : "The file no longer exists.");
     },
     true},
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

Result<FilesTool::Call> FilesTool::call_of(const Args& args) const {
  std::string shown = args.string("path").str();
  if (shown.empty()) shown = ".";  // or its entries would look absolute
  const auto path = workspace_.beneath(shown);
  if (!path) return refused("The path " + shown + " is outside of the workspace.");
  const auto kind = workspace_.kind(*path);
  if (!kind) return refused("The path " + shown + " cannot be used: " + kind.error().message + ".");
  const auto* const command = std::ranges::find(kCommands, args.string("command").view(), &Command::name);
  if (command == kCommands.end()) return refused("Unrecognized command " + args.string("command").str());
  if (*kind == Workspace::Kind::Nothing && !command->may_be_missing) {
    return refused("The path " + shown + " does not exist. Please provide a valid path.");
  }
  if (*kind == Workspace::Kind::Folder && command->plan != nullptr) {
    return refused("The path " + shown +
                   " is a directory and only the `view` command can be used on directories");
  }
  return Call{args, command, shown, *path, *kind};
}

std::optional<FileChange> FilesTool::preview(const Json& arguments) const {
  const ToolContext context;
  const Args args(arguments, context);
  const auto call = call_of(args);
  if (!call || call->command->plan == nullptr) return std::nullopt;
  auto edit = (this->*call->command->plan)(*call);
  if (!edit) return std::nullopt;
  FileChange change{call->shown, std::nullopt, std::move(edit->after)};
  if (!call->is_there()) return change;
  auto before = text_of(*call);
  if (!before) return std::nullopt;
  change.before = *std::move(before);
  return change;
}

ToolOutput FilesTool::run(const Json& arguments, const ToolContext& context) {
  const Args args(arguments, context);
  const auto call = call_of(args);
  if (!call) return failure(call.error().message);
  if (call->command->plan == nullptr) return view(*call);
  auto edit = (this->*call->command->plan)(*call);
  if (!edit) return failure(edit.error().message);
  if (const auto made = make(*call, *edit); !made) return failure(made.error().message);
  return success(call->command->report(*call, *edit));
}

Result<std::string> FilesTool::text_of(const Call& call) const {
  auto bytes = workspace_.read(call.path);
  if (!bytes)
    return fail(bytes.error().code, "The file " + call.shown + " cannot be read: " + bytes.error().message);
  if (!is_utf8(*bytes)) return fail(Code::InvalidUtf8, "The file " + call.shown + " is not UTF-8 text.");
  return bytes;
}

Result<void> FilesTool::make(const Call& call, Edit& edit) {
  const auto made = !edit.after       ? workspace_.remove(call.path)
                    : call.is_there() ? workspace_.replace(call.path, *edit.after)
                                      : workspace_.create(call.path, *edit.after);
  const bool is_undo = call.command->plan == &FilesTool::undo_edit;
  if (!made && made.error().code == Code::Conflict && !is_undo && !call.is_there())
    return refused(exists_already(call.shown));
  if (!made) {
    return fail(made.error().code, "The file " + call.shown + " cannot be written: " + made.error().message);
  }
  if (is_undo) {
    history_.pop(call.path);
  } else {
    history_.push(call.path, call.is_there() ? std::optional(std::move(edit.before)) : std::nullopt);
  }
  return {};
}

ToolOutput FilesTool::view_folder(const Call& call) const {
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

ToolOutput FilesTool::view(const Call& call) const {
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

Result<FilesTool::Edit> FilesTool::create(const Call& call) const {
  if (!call.args.has("file_text")) return refused("Parameter `file_text` is required for command: create");
  if (call.is_there()) return refused(exists_already(call.shown));
  return Edit{call.args.string("file_text").str()};
}

Result<FilesTool::Edit> FilesTool::str_replace(const Call& call) const {
  const Text old_text = call.args.string("old_str");
  const Text new_text = call.args.string("new_str");
  if (old_text.empty()) return refused("Parameter `old_str` is required for command: str_replace");
  PARLEY_TRY(std::string before, text_of(call));
  const std::size_t at = before.find(old_text.view());
  if (at == std::string::npos) {
    return refused("No replacement was performed, old_str `" + old_text.str() +
                   "` did not appear verbatim in " + call.shown + ".");
  }
  if (before.find(old_text.view(), at + old_text.size()) != std::string::npos) {
    return refused("No replacement was performed. Multiple occurrences of old_str `" + old_text.str() +
                   "` in lines " + listed(files::places(before, old_text)) + ". Please ensure it is unique");
  }
  std::string after = before;
  after.replace(at, old_text.size(), new_text.view());
  const std::size_t line = line_ends(std::string_view(after).substr(0, at));
  return Edit{std::move(after), line, line_ends(new_text), std::move(before)};
}

Result<FilesTool::Edit> FilesTool::insert(const Call& call) const {
  if (!call.args.has("insert_line"))
    return refused("Parameter `insert_line` is required for command: insert");
  if (!call.args.has("new_str")) return refused("Parameter `new_str` is required for command: insert");
  PARLEY_TRY(std::string before, text_of(call));
  const std::vector<std::string_view> lines = lines_of(before);
  const std::int64_t line = call.args.integer("insert_line", -1);
  if (line < 0 || std::cmp_greater(line, lines.size())) {
    return refused("Invalid `insert_line` parameter: " + call.args.get("insert_line")->text().str() +
                   ". It should be within the range of lines of the file: " +
                   listed({0, static_cast<std::int64_t>(lines.size())}));
  }
  const Text new_text = call.args.string("new_str");
  const auto after_line = static_cast<std::size_t>(line);
  // The offset of the line after the new ones; at the end there is none, and a line end must come first.
  std::string after = before;
  if (after_line == lines.size()) {
    after += "\n" + new_text.str();
  } else {
    const auto at = static_cast<std::size_t>(lines[after_line].data() - before.data());
    after.insert(at, new_text.str() + "\n");
  }
  return Edit{std::move(after), after_line, line_ends(new_text), std::move(before)};
}

Result<FilesTool::Edit> FilesTool::undo_edit(const Call& call) const {
  const std::optional<std::string>* const before = history_.last(call.path);
  if (before == nullptr) return refused("No edit history found for " + call.shown + ".");
  return Edit{*before};
}

}  // namespace

Result<std::shared_ptr<RunnableTool>> files_tool(const std::string& root, Text name) {
  PARLEY_TRY(Workspace workspace, Workspace::open(root));
  return std::make_shared<FilesTool>(std::move(workspace), std::move(name));
}

}  // namespace parley
