// What the approval prompt shows of a call: the code that would run, the change of a file, or the arguments.
//
// Invariants (tests/cli/approval_test.py shows them):
//   APPROVAL1  The prompt shows all of the code, the change or the arguments, or their beginning and their
//              end and how much lies between; `Whole` shows everything.
//   APPROVAL3  A row has no control character and no writing direction mark: they are shown as \uXXXX.
//
// Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/message/block.h"
#include "parley/tool/tool.h"

namespace parley::cli {

struct ShownRow {
  enum class Kind : std::uint8_t { Plain, Aside, Removed, Added };
  Kind kind = Kind::Plain;
  std::string text;  // one line
};

struct CallView {
  std::vector<ShownRow> rows;
  bool is_cut = false;
};

enum class ViewLength : std::uint8_t { Short, Whole };

// `change` is ToolBox::preview() of the call. `columns` is the width of the terminal.
CallView view_of(const ToolUseBlock& use, const std::optional<FileChange>& change, ViewLength length,
                 std::size_t columns);

// The code of a tool that runs code, if it is the only argument. With two members of one name it is undefined
// which one runs.
std::optional<Text> code_of(const ToolUseBlock& use);

// What the user edits of a call: its code, or all arguments as JSON.
std::string editable_text(const ToolUseBlock& use);
// The arguments that an edit of that text means. Fails with Malformed if they are not a JSON object.
Result<Text> edited_arguments(const ToolUseBlock& use, const std::string& text);

}  // namespace parley::cli
