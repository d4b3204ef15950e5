#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cli/process.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{4} * 1024 * 1024;  // the limit of a request

class PipeReader : public LineReader {
 public:
  Line read(const std::string& prompt) override {
    if (is_interactive_) put(prompt);
    const Line line = next();
    if (is_interactive_ && line.end != Line::End::Whole) put("\n");
    return line;
  }
  void remember(const std::string& /*text*/) override {}
  bool is_interactive() const override { return is_interactive_; }

 private:
  static void put(std::string_view text) { show(STDERR_FILENO, {text}); }

  Line next() {
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) return take(end, end + 1);
      if (buffer_.size() > kMostLineBytes) return {Line::End::TooLong};
      pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) return {};
      if (fds[1].revents != 0 && take_interrupt()) return {Line::End::Interrupted};
      if (fds[0].revents == 0) continue;
      char piece[4096];
      const ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got > 0) {
        buffer_.append(piece, static_cast<std::size_t>(got));
        continue;
      }
      if (buffer_.empty()) return {};
      return take(buffer_.size(), buffer_.size());
    }
  }

  Line take(std::size_t length, std::size_t skip) {
    Line line{Line::End::Whole, buffer_.substr(0, length)};
    buffer_.erase(0, skip);
    if (line.text.ends_with('\r')) line.text.pop_back();
    return line;
  }

  // A terminal without line editing.
  const bool is_interactive_ = is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO);
  std::string buffer_;
};

}  // namespace

std::unique_ptr<LineReader> open_line_reader(const std::string& history, std::vector<LineWord> words) {
  if (auto editor = open_line_editor(history, std::move(words))) return editor;
  return std::make_unique<PipeReader>();
}

}  // namespace parley::cli
