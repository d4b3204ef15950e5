// Runs the data files beside it. README.md describes their format.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/repair.h"
#include "parley/dialect/rules.h"
#include "parley/json/json.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

namespace fs = std::filesystem;

struct Command {
  std::size_t line = 0;
  std::vector<std::string> words;
  std::vector<std::string> input;
  std::vector<std::string> expected;
  bool has_expected = false;

  bool says(std::string_view option) const {
    return std::find(words.begin(), words.end(), option) != words.end();
  }
  // The number behind an option.
  std::optional<std::size_t> number(std::string_view option) const {
    const auto at = std::find(words.begin(), words.end(), option);
    if (at == words.end() || at + 1 == words.end()) return std::nullopt;
    return std::stoull(*(at + 1));
  }
};

bool is_command(std::string_view line) {
  for (const std::string_view name : {"read ", "write ", "through ", "rules "}) {
    if (line.starts_with(name)) return true;
  }
  return line == "check" || line.starts_with("check ") || line == "detect";
}

std::vector<std::string> split(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<Command> parse(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::vector<Command> commands;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    if (is_command(line)) {
      commands.push_back({number, split(line), {}, {}});
    } else if (commands.empty()) {
      EXPECT_TRUE(line.empty()) << path << ":" << number << ": a file starts with a command";
    } else if (line == "----") {
      commands.back().has_expected = true;
    } else {
      (commands.back().has_expected ? commands.back().expected : commands.back().input).push_back(line);
    }
  }
  // Blank lines between two commands are for the eye.
  for (Command& command : commands) {
    for (auto* lines : {&command.input, &command.expected}) {
      while (!lines->empty() && lines->back().empty()) lines->pop_back();
    }
  }
  return commands;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) (out += i == 0 ? "" : "\n") += lines[i];
  return out;
}

std::string with_bytes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_byte = text[i] == '%' && i + 2 < text.size() && std::isxdigit(text[i + 1]) != 0 &&
                         std::isxdigit(text[i + 2]) != 0;
    out += is_byte ? static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)) : text[i];
    if (is_byte) i += 2;
  }
  return out;
}

// "<12*ab>" becomes "ab" twelve times over.
std::string with_repeats(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t digits = at + 1;
    while (text[at] == '<' && digits < text.size() && std::isdigit(text[digits]) != 0) ++digits;
    const std::size_t end = text.find('>', digits);
    if (digits == at + 1 || text.substr(digits, 1) != "*" || end == std::string_view::npos) {
      out += text[at++];
      continue;
    }
    const std::size_t times = std::stoull(std::string(text.substr(at + 1, digits - at - 1)));
    for (std::size_t i = 0; i < times; ++i) out += text.substr(digits + 1, end - digits - 1);
    at = end + 1;
  }
  return out;
}

// Replaces each id that stands where `expected` has "<id>" by "<id>".
std::string with_ids_hidden(std::string_view text, std::string_view expected) {
  constexpr std::string_view kHole = "<id>";
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t hole = expected.find(kHole);
    if (hole == std::string_view::npos || text.substr(at, hole) != expected.substr(0, hole)) break;
    const std::string_view id = text.substr(at + hole, kShortIdLength);
    if (!decode_short_id(id)) break;
    out.append(expected.substr(0, hole)).append(kHole);
    at += hole + kShortIdLength;
    expected.remove_prefix(hole + kHole.size());
  }
  return out.append(text.substr(at));
}

std::string to_text(const Note& note) {
  std::string place = note.message_index ? std::to_string(*note.message_index) : "-";
  if (note.block_index) place += "." + std::to_string(*note.block_index);
  return "note " + std::string(note.code) + " " + std::string(to_string(note.severity)) + " " + place;
}

std::string quoted_pointer(const std::string& path) { return path.empty() ? "\"\"" : path; }

std::string to_text(const Error& error) {
  return "error " + std::string(to_string(error.code)) + " " + quoted_pointer(error.path);
}

std::string to_text(const Finding& finding) {
  return "finding " + finding.code + " " + quoted_pointer(finding.path) +
         (finding.level == FindingLevel::Warning ? " warning" : "");
}

void add(std::vector<std::string>& lines, const std::vector<Note>& notes) {
  for (const Note& note : notes) lines.push_back(to_text(note));
}

class Runner {
 public:
  explicit Runner(fs::path path) : path_(std::move(path)) {}

  void run() {
    const std::vector<Command> commands = parse(path_);
    ASSERT_FALSE(commands.empty());
    for (const Command& command : commands) {
      SCOPED_TRACE(path_.string() + ":" + std::to_string(command.line));
      if (command.words[0] == "read") {
        read_document(command);
      } else if (command.words[0] == "rules") {
        judge_document(command);
      } else if (command.words[0] == "detect") {
        detect_dialect(command);
      } else if (!conversation_) {
        ADD_FAILURE() << "nothing was read";
      } else if (command.words[0] == "write") {
        write_document(command);
      } else if (command.words[0] == "through") {
        through(command);
      } else {
        check(command);
      }
    }
  }

 private:
  static Dialect dialect(const std::string& name) { return dialect_named(name).value(); }
  // Rules exist for dialects that are not read or written, too.
  static Dialect any_dialect(const std::string& name) {
    auto dialect = Dialect::Parley;
    while (to_string(dialect) != name && dialect != Dialect::ShareGPT) {
      dialect = static_cast<Dialect>(static_cast<int>(dialect) + 1);
    }
    EXPECT_EQ(to_string(dialect), name);
    return dialect;
  }

  void read_document(const Command& command) {
    dialect_ = dialect(command.words.at(1));
    has_bytes_ = command.says("bytes");
    document_ = joined(command.input);
    if (has_bytes_) document_ = with_bytes(document_);
    if (const auto times = command.number("times")) {
      const std::string once = document_;
      document_.clear();
      for (std::size_t i = 0; i < *times; ++i) document_ += once;
    }
    auto reading = read(document_, dialect_, {.strict = command.says("strict")});
    conversation_.reset();
    if (!reading) {
      expect_error(command, reading.error());
      expect_place(reading.error());
      return;
    }
    std::vector<std::string> lines;
    add(lines, reading->notes);
    EXPECT_EQ(joined(lines), joined(command.expected));
    conversation_ = std::move(reading->conversation);
    // A byte order mark and a lone surrogate are not kept; each has its note.
    changed_ = std::any_of(reading->notes.begin(), reading->notes.end(), [](const Note& note) {
      return note.code == "byte_order_mark" || note.code == "lone_surrogate";
    });
    has_duplicates_ = std::any_of(reading->notes.begin(), reading->notes.end(),
                                  [](const Note& note) { return note.code == "duplicate_key"; });
    check_what_always_holds();
  }

  void expect_error(const Command& command, const Error& error) const {
    std::string expected = joined(command.expected);
    if (has_bytes_) expected = with_bytes(expected);
    const bool is_anywhere = expected.ends_with(" *");
    const std::string found = to_text(error);
    EXPECT_EQ(is_anywhere ? found.substr(0, expected.size() - 1) + "*" : found, expected) << error.message;
  }

  // The pointer of an error leads somewhere, if the document is JSON.
  void expect_place(const Error& error) {
    if (const auto json = Json::parse(document_)) {
      EXPECT_TRUE(json->at(error.path)) << error.path << " is not in the document";
    }
  }

  static std::string gathered(const Gathering& gathering) {
    std::string out;
    for (const std::string_view piece : gathering.pieces) out += piece;
    return out;
  }

  void check_what_always_holds() {
    for (const DialectInfo& info : dialects()) {
      SCOPED_TRACE(info.name);
      expect_repairable(info.dialect);
      const auto first = write(*conversation_, info.dialect);
      const auto second = write(*conversation_, info.dialect);
      const auto pieces = gather(*conversation_, info.dialect);
      ASSERT_EQ(first.has_value(), second.has_value());
      ASSERT_EQ(first.has_value(), pieces.has_value());
      if (!first) continue;
      EXPECT_EQ(first->text.view(), second->text.view());
      EXPECT_EQ(first->notes, second->notes);
      EXPECT_EQ(gathered(*pieces), first->text.view());
      EXPECT_EQ(pieces->notes, first->notes);
      EXPECT_TRUE(read(first->text, info.dialect)) << "cannot read what was written: " << first->text.view();
      expect_same_members_lost(info.dialect, first->notes);
    }
    const auto same = write(*conversation_, dialect_);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_TRUE(same->notes.empty());
    EXPECT_TRUE(changed_ || same->text.view() == document_) << same->text.view();
    if (has_duplicates_) return;  // only the last member of a name is a value
    const std::string back = through(Dialect::Parley, nullptr);
    EXPECT_TRUE(Json::equal(Json::parse(same->text).value(), Json::parse(back).value()))
        << back << "\nis not the value of\n"
        << same->text.view();
  }

  static std::vector<std::string> members_lost(const std::vector<Note>& notes) {
    std::vector<std::string> out;
    for (const Note& note : notes) {
      const bool names_them = note.detail.view().contains(": ");
      const bool is_one = note.code == "member_dropped" || note.code == "null_dropped";
      if (is_one && names_them) out.push_back(to_line(note));
    }
    return out;
  }

  // The way through `parley` loses the same members as the direct one, and says the same of them.
  void expect_same_members_lost(Dialect target, const std::vector<Note>& notes) const {
    if (target == Dialect::Parley || target == dialect_ || dialect_ == Dialect::Parley) return;
    const auto there = write(*conversation_, Dialect::Parley);
    ASSERT_TRUE(there) << there.error().message;
    const auto writing = write(read(there->text, Dialect::Parley).value().conversation, target);
    ASSERT_TRUE(writing) << writing.error().message;
    EXPECT_EQ(members_lost(notes), members_lost(writing->notes)) << there->text.view();
  }

  // R5 and R6: what was repaired for a target has no error by its rules, and needs no repair when it is read
  // again.
  void expect_repairable(Dialect target) const {
    const DocumentShape shape = conversation_->shape();
    if (shape == DocumentShape::Single || shape == DocumentShape::Response) return;  // no requests
    const RepairOptions options{.complete_pending = true, .target = target};
    const auto writing = write(repair(*conversation_, options).conversation, target);
    ASSERT_TRUE(writing) << writing.error().message;
    for (const Finding& finding : check_rules(Json::parse(writing->text).value(), target)) {
      EXPECT_NE(finding.level, FindingLevel::Error) << finding.code << " at " << finding.path << "\n"
                                                    << writing->text.view();
    }
    const auto again = read(writing->text, target);
    ASSERT_TRUE(again) << again.error().message;
    const Repairing repairing = repair(again->conversation, options);
    EXPECT_TRUE(repairing.notes.empty()) << to_line(repairing.notes.front()) << "\n" << writing->text.view();
  }

  std::string through(Dialect other, std::vector<Note>* notes) const {
    const auto there = write(*conversation_, other);
    if (!there) return to_text(there.error());
    const auto reading = read(there->text, other);
    if (!reading) return to_text(reading.error());
    const auto back = write(reading->conversation, dialect_);
    if (!back) return to_text(back.error());
    if (notes != nullptr) {
      *notes = there->notes;
      notes->insert(notes->end(), back->notes.begin(), back->notes.end());
    }
    return back->text.str();
  }

  void through(const Command& command) {
    std::vector<Note> notes;
    const std::string text = through(dialect(command.words.at(1)), &notes);
    compare(command, text, notes);
  }

  void write_document(const Command& command) {
    const WriteOptions options{.form = command.says("canonical") ? Form::Canonical : Form::AsRead,
                               .strict = command.says("strict")};
    std::vector<Note> notes;
    Conversation conversation = *conversation_;
    if (command.says("repair") || command.says("complete")) {
      Repairing repairing = repair(
          conversation, {command.says("repair"), command.says("complete"), dialect(command.words.at(1))});
      conversation = std::move(repairing.conversation);
      notes = std::move(repairing.notes);
    }
    const auto writing = write(conversation, dialect(command.words.at(1)), options);
    if (!writing) {
      expect_error(command, writing.error());
      return;
    }
    notes.insert(notes.end(), writing->notes.begin(), writing->notes.end());
    compare(command, writing->text.str(), notes);
  }

  // Compares a document and its notes with what is expected.
  void compare(const Command& command, const std::string& text, const std::vector<Note>& notes) {
    std::string document;
    std::vector<std::string> expected_notes;
    for (const std::string& line : command.expected) {
      if (line.starts_with("note ") || line.starts_with("error ")) {
        expected_notes.push_back(line);
      } else {
        document += line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
      }
    }
    const std::string spelled = changed_ ? write(*conversation_, dialect_).value().text.str() : document_;
    if (document == "= input") {
      EXPECT_EQ(text, spelled);
    } else if (document == "~ input") {
      const auto value = Json::parse(text);
      EXPECT_TRUE(value && Json::equal(*value, Json::parse(spelled).value())) << text;
    } else {
      if (has_bytes_) document = with_bytes(document);
      EXPECT_EQ(with_ids_hidden(text, document), document);
    }
    std::vector<std::string> lines;
    std::string details;
    for (const Note& note : notes) details += to_line(note) + "\n";
    add(lines, notes);
    EXPECT_EQ(joined(lines), joined(expected_notes)) << details;
  }

  void check(const Command& command) {
    ValidationLimits limits;
    limits.blocks = command.number("blocks").value_or(limits.blocks);
    limits.text_bytes = command.number("text").value_or(limits.text_bytes);
    limits.media_bytes = command.number("media").value_or(limits.media_bytes);
    limits.messages = command.number("messages").value_or(limits.messages);
    std::vector<std::string> lines;
    for (const Finding& finding : validate(conversation_->messages(), limits))
      lines.push_back(to_text(finding));
    EXPECT_EQ(joined(lines), joined(command.expected));
  }

  void judge_document(const Command& command) {
    const auto json = Json::parse(with_repeats(joined(command.input)));
    ASSERT_TRUE(json) << json.error().message;
    std::vector<std::string> lines;
    for (const Finding& finding : check_rules(*json, any_dialect(command.words.at(1)))) {
      lines.push_back(to_text(finding));
      EXPECT_TRUE(json->at(finding.path)) << finding.path << " is not in the document";
      EXPECT_FALSE(finding.sentence.empty()) << finding.code;
    }
    EXPECT_EQ(joined(lines), joined(command.expected));
  }

  void detect_dialect(const Command& command) {
    const auto found = detect(document_);
    EXPECT_EQ(found ? "dialect " + std::string(to_string(*found)) : to_text(found.error()),
              joined(command.expected));
  }

  fs::path path_;
  Dialect dialect_ = Dialect::Parley;
  std::string document_;
  std::optional<Conversation> conversation_;
  bool changed_ = false;
  bool has_duplicates_ = false;
  bool has_bytes_ = false;
};

std::vector<fs::path> case_files() {
  std::vector<fs::path> files;
  const bool runs_slow_ones = std::getenv("PARLEY_SLOW_TESTS") != nullptr;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(PARLEY_SOURCE_DIR) / "tests/corpus")) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".case" || (ending == ".slow" && runs_slow_ones)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Corpus : public ::testing::TestWithParam<fs::path> {};

// Messages without a time get that of reading, which is the start of 1970 here.
TEST_P(Corpus, ComesOutAsItSays) {
  setenv("TZ", "UTC", 1);
  tzset();
  const ScopedClock clock(0);
  Runner(GetParam()).run();
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Corpus, ::testing::ValuesIn(case_files()), name_of);

}  // namespace
}  // namespace parley
