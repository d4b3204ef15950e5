#include "cli/complete_line.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "parley/base/text.h"

namespace parley::cli {
namespace {

namespace fs = std::filesystem;

// The common beginning of all that were added.
class Common {
 public:
  void add(std::string_view each) {
    if (++count_ == 1) {
      text_ = each;
      return;
    }
    const auto differs = std::ranges::mismatch(text_, each).in1;
    const auto length = static_cast<std::size_t>(differs - text_.begin());
    text_.resize(length < text_.size() ? utf8_floor(text_, length) : length);
  }
  std::size_t count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  std::size_t count_ = 0;
  std::string text_;
};

bool is_shown(std::string_view name, std::string_view typed) {
  const bool is_hidden = name.starts_with('.') && !typed.starts_with('.');
  return !is_hidden && is_utf8(name) &&
         std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// nullopt if no file begins like this.
std::optional<std::string> completed_path(std::string_view typed) {
  const std::size_t slash = typed.find_last_of('/');
  const std::string_view folder = typed.substr(0, slash == std::string_view::npos ? 0 : slash + 1);
  const std::string_view start = typed.substr(folder.size());
  std::error_code error;
  Common names;
  bool is_folder = false;
  const fs::path place = folder.empty() ? fs::path(".") : fs::path(with_home(folder));
  for (fs::directory_iterator each(place, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (!name.starts_with(start) || !is_shown(name, start)) continue;
    names.add(name);
    std::error_code unreadable;
    is_folder = each->is_directory(unreadable);
  }
  if (names.count() == 0) return std::nullopt;
  return std::string(folder) + names.text() + (names.count() == 1 && is_folder ? "/" : "");
}

}  // namespace

std::string with_home(std::string_view path) {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): the environment is not changed
  if (!path.starts_with("~/") || home == nullptr) return std::string(path);
  return home + std::string(path.substr(1));
}

std::string completed_line(std::string_view typed, std::span<const LineWord> words) {
  const std::size_t space = typed.find(' ');
  if (typed.empty()) return "";
  if (space == std::string_view::npos) {
    Common names;
    for (const LineWord& word : words) {
      if (word.name.starts_with(typed)) names.add(word.name);
    }
    return names.count() == 0 ? std::string(typed) : names.text() + (names.count() == 1 ? " " : "");
  }
  const auto word = std::ranges::find(words, typed.substr(0, space), &LineWord::name);
  if (word == words.end() || !word->takes_file) return std::string(typed);
  // A name may have spaces, and another argument may come before it.
  for (const std::size_t start : {space + 1, typed.find_last_of(' ') + 1}) {
    if (const auto path = completed_path(typed.substr(start))) {
      return std::string(typed.substr(0, start)) + *path;
    }
  }
  return std::string(typed);
}

}  // namespace parley::cli
