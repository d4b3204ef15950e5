// One row per dialect: how its messages are read and written. Everything outside the files of a dialect
// works on these rows alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/reader.h"
#include "json/out.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"

namespace parley::dialect {

// A sentence that was put together.
inline Text said(std::string_view sentence) { return Text::repaired(sentence); }

// Where a writer puts its bytes and its notes.
struct Draft {
  Dialect target;
  json::Out& out;
  std::vector<Note>& notes;
  std::size_t position = 0;     // of the first message being written, in the conversation
  std::size_t written = 0;      // wire messages so far in this call
  std::string_view extra = {};  // for `parley`: the patch that gives the wire back, if one is needed
  std::string_view extra_of = {};
  Form form = Form::AsRead;
  bool is_broken = false;  // for `parley`: the history is one that the wire's dialect would refuse

  void note(std::string_view code, Severity severity, std::string_view action, Text detail,
            std::optional<std::size_t> block = {}) {
    notes.push_back({code, severity, position, block, to_string(target), action, std::move(detail)});
  }
  // Call before each wire message: puts the comma between two of them.
  json::Out& next() {
    if (written++ != 0) out.raw(',');
    return out;
  }
};

struct Format {
  DialectInfo info;
  // Reads the message at the cursor, which stands at '{'.
  Reader::ReadMessage read_message;
  // How many of the messages from the front are written together: 1 unless the dialect joins messages.
  std::size_t (*group)(std::span<const Message> rest);
  // Writes such a group as wire messages in the original's order and with its omissions.
  void (*write_group)(Draft& draft, std::span<const Message> group);
  // Any history can be written, broken or not.
  bool carries_broken_history = false;
};

const Format& format_of(Dialect dialect);

extern const Format kParley;
extern const Format kOpenManus;
extern const Format kAgentScope;
extern const Format kAgentScope2;

inline std::size_t one_by_one(std::span<const Message>) { return 1; }

inline DialectTag tag(Dialect dialect) { return static_cast<DialectTag>(dialect); }

}  // namespace parley::dialect
