// A line at a terminal: editing and history by libedit, which is included here only.
#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/line_reader.h"
#include "cli/process.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

constexpr int kHistoryLines = 1000;
constexpr std::size_t kMostPasted = std::size_t{4} * 1024 * 1024;

constexpr char kStyleMark = '\1';

// A terminal with bracketed paste puts these around pasted text, so that its line feeds are text.
constexpr const char* kPasteBegins = "\x1b[200~";
constexpr std::string_view kPasteEnds = "\x1b[201~";

// Alt-Enter, in a terminal that sends a carriage return for Enter and in one that sends a line feed.
constexpr const char* kAltEnter[] = {"\x1b\r", "\x1b\n"};

class LineEditor : public LineReader {
 public:
  LineEditor(const std::string& history, std::vector<LineWord> words)
      : history_file_(history), words_(std::move(words)) {
    // Without a UTF-8 locale each non-ASCII letter would be several characters.
    std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): no threads yet
    if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");  // NOLINT(concurrency-mt-unsafe)
    history_ = ::history_init();
    HistEvent event;
    ::history(history_, &event, H_SETSIZE, kHistoryLines);
    ::history(history_, &event, H_SETUNIQUE, 1);
    if (!expect_regular_file(history_file_)) history_file_.clear();  // a FIFO would hang
    if (!history_file_.empty()) ::history(history_, &event, H_LOAD, history_file_.c_str());
    editor_ = ::el_init("parley", stdin, stderr, stderr);
    ::el_set(editor_, EL_CLIENTDATA, this);
    ::el_set(editor_, EL_PROMPT_ESC, +[](EditLine* el) { return self(el)->prompt_.data(); }, kStyleMark);
    ::el_set(editor_, EL_EDITOR, "emacs");
    ::el_set(editor_, EL_HIST, ::history, history_);
    ::el_set(editor_, EL_GETCFN, next_letter);
    // libedit keeps what it is given here. (Its narrow form would keep copies, and lose them at the end.)
    ::el_wset(editor_, EL_ADDFN, L"parley-paste", L"Take what is pasted as it is", paste);
    ::el_set(editor_, EL_BIND, kPasteBegins, "parley-paste", nullptr);
    ::el_wset(editor_, EL_ADDFN, L"parley-newline", L"Add a line feed", add_line_feed);
    for (const char* keys : kAltEnter) ::el_set(editor_, EL_BIND, keys, "parley-newline", nullptr);
    ::el_wset(editor_, EL_ADDFN, L"parley-complete", L"Complete a command or a file", complete);
    ::el_set(editor_, EL_BIND, "\t", "parley-complete", nullptr);
    ::el_source(editor_, nullptr);  // the user's ~/.editrc
  }
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  ~LineEditor() override {
    ::el_end(editor_);
    ::history_end(history_);
  }

  Line read(const std::string& prompt) override {
    prompt_ = with_accent(prompt);
    was_interrupted_ = false;
    ::el_resize(editor_);
    int length = 0;
    const char* typed = nullptr;
    {
      const EditedTerminal terminal;
      put(Control::PasteOn);
      typed = ::el_gets(editor_, &length);
      put(Control::PasteOff);
    }
    if (was_interrupted_ || typed == nullptr || length <= 0) {
      put("\n");
      return {was_interrupted_ ? Line::End::Interrupted : Line::End::Closed};
    }
    Line line{Line::End::Whole, std::string(typed, static_cast<std::size_t>(length))};
    if (line.text.ends_with('\n')) line.text.pop_back();
    return line;
  }

  void remember(const std::string& text) override {
    HistEvent event;
    ::history(history_, &event, H_ENTER, text.c_str());
    if (history_file_.empty() || !make_folder_of(history_file_)) return;
    ::history(history_, &event, H_SAVE, history_file_.c_str());  // mode 0600
  }

  bool is_interactive() const override { return true; }

 private:
  static LineEditor* self(EditLine* el) {
    void* data = nullptr;
    ::el_get(el, EL_CLIENTDATA, &data);
    return static_cast<LineEditor*>(data);
  }

  // The words of the prompt have the accent; libedit takes what is between two marks for no column.
  static std::string with_accent(const std::string& prompt) {
    const std::size_t end = prompt.find_last_not_of(' ') + 1;
    StyledText style(has_colour(STDERR_FILENO));
    const std::string on = style.style(kAccentStyle).bytes();
    if (on.empty()) return prompt;
    const std::string off = style.style(kPlainStyle).bytes().substr(on.size());
    const auto marked = [](const std::string& bytes) { return kStyleMark + bytes + kStyleMark; };
    return marked(on) + prompt.substr(0, end) + marked(off) + prompt.substr(end);
  }

  // libedit flushes what it writes.
  static void put(Segment piece) { show(STDERR_FILENO, {piece}); }

  // One byte of input; -1 at the end and after a Ctrl-C.
  int next_byte() {
    while (true) {
      pollfd fds[] = {{STDIN_FILENO, POLLIN, 0},
                      {interrupt_descriptor(), POLLIN, 0},
                      {EditedTerminal::change_descriptor(), POLLIN, 0}};
      if (::poll(fds, 3, -1) < 0 && errno != EINTR) return -1;
      if (fds[1].revents != 0 && take_interrupt()) {
        was_interrupted_ = true;
        return -1;
      }
      if (fds[2].revents != 0) draw_anew();
      if (fds[0].revents == 0) continue;
      unsigned char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got == 1) return byte;
      if (got == 0 || (errno != EINTR && errno != EAGAIN)) return -1;
    }
  }

  // After a stop the shell has changed the terminal, and libedit does not know that.
  void draw_anew() {
    EditedTerminal::take_change();
    ::el_set(editor_, EL_PREP_TERM, 0);
    ::el_set(editor_, EL_PREP_TERM, 1);
    put(Control::PasteOn);
    put(Control::EraseLine);
    ::el_resize(editor_);
    ::el_set(editor_, EL_REFRESH);
  }

  static int next_letter(EditLine* el, wchar_t* letter) {
    std::mbstate_t state = {};
    while (true) {
      const int byte = self(el)->next_byte();
      if (byte < 0) return 0;
      const char c = static_cast<char>(byte);
      const std::size_t length = std::mbrtowc(letter, &c, 1, &state);
      if (length == static_cast<std::size_t>(-2)) continue;  // more to come
      if (length == static_cast<std::size_t>(-1)) {
        state = {};  // not UTF-8: skipped
        continue;
      }
      if (length == 0) continue;  // a Ctrl-D that was typed before libedit read single keys
      return 1;
    }
  }

  static unsigned char paste(EditLine* el, std::wint_t /*key*/) {
    std::string text;
    while (!text.ends_with(kPasteEnds)) {
      const int byte = self(el)->next_byte();
      if (byte < 0) return CC_EOF;
      if (text.size() < kMostPasted) text += static_cast<char>(byte);
    }
    text.resize(text.size() - kPasteEnds.size());
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c == '\r') {
        if (i + 1 == text.size() || text[i + 1] != '\n') shown += '\n';
      } else if (c >= 0x20 || c == '\n' || c == '\t') {
        shown += text[i];
      }
    }
    return ::el_insertstr(el, shown.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  static unsigned char add_line_feed(EditLine* el, std::wint_t /*key*/) {
    return ::el_insertstr(el, "\n") == 0 ? CC_REFRESH : CC_ERROR;
  }

  static unsigned char complete(EditLine* el, std::wint_t /*key*/) {
    const LineInfo* line = ::el_line(el);
    const std::string typed(line->buffer, line->cursor);
    const std::string longer = completed_line(typed, self(el)->words_);
    if (longer.size() <= typed.size()) return CC_ERROR;
    return ::el_insertstr(el, longer.c_str() + typed.size()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  std::string history_file_;
  std::vector<LineWord> words_;
  std::string prompt_;
  bool was_interrupted_ = false;
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
};

}  // namespace

std::unique_ptr<LineReader> open_line_editor(const std::string& history, std::vector<LineWord> words) {
  if (!is_terminal(STDIN_FILENO) || !can_draw(STDERR_FILENO)) return nullptr;
  return std::make_unique<LineEditor>(history, std::move(words));
}

}  // namespace parley::cli
