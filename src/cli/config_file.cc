#include "cli/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "cli/environment.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20;

// The text of a file; it may contain keys, so it is wiped.
class FileText {
 public:
  FileText() = default;
  FileText(FileText&&) = default;
  FileText& operator=(FileText&&) = delete;
  ~FileText() { ::explicit_bzero(text.data(), text.size()); }

  std::string text;
};

std::unexpected<Error> cannot_read(const std::string& file, int error) {
  return fail(error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::Unavailable,
              fmt::format("cannot read the configuration: {}", ::strerror(error)), file);
}

Result<FileText> text_of(const std::string& file) {
  if (const Result<void> regular = expect_regular_file(file); !regular) {
    return fail(Code::Invalid, "cannot read the configuration: " + regular.error().message, file);
  }
  // Does not hang if the file has become a FIFO since then.
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return cannot_read(file, errno);
  FileText out;
  out.text.resize(kMostConfigBytes + 1);
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < out.text.size() && (got = ::read(fd, out.text.data() + size, out.text.size() - size)) > 0) {
    size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(fd);
  if (got < 0) return cannot_read(file, error);
  if (size > kMostConfigBytes) return fail(Code::Invalid, "the configuration is larger than 1 MiB", file);
  out.text.resize(size);
  if (!is_utf8(out.text)) return fail(Code::Invalid, "the configuration is not UTF-8", file);
  return out;
}

// toml++ recurses on the parts of a dotted key when it destroys its tables. The number of the first line
// that has more dots, outside of strings and comments, than any known key; 0 if no key has.
std::size_t line_of_deep_key(std::string_view text) {
  constexpr std::size_t kMostDots = 100;
  constexpr std::string_view kThrice[] = {R"(""")", "'''"};
  std::size_t line = 1;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const bool is_long = std::ranges::find(kThrice, text.substr(i, 3)) != std::end(kThrice);
      const std::string_view end = text.substr(i, is_long ? 3 : 1);
      for (i += end.size(); i < text.size() && text.substr(i, end.size()) != end; ++i) {
        if (c == '"' && text[i] == '\\') ++i;
        if (i < text.size() && text[i] == '\n') ++line;
      }
      i += end.size() - 1;
    } else if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return line;
    }
  }
  return 0;
}

// Messages of toml++ begin with "Error while parsing key-value pair: " or the like.
std::string what_is_wrong(std::string_view description) {
  const std::size_t colon =
      description.starts_with("Error while") ? description.find(": ") : std::string_view::npos;
  if (colon != std::string_view::npos) description.remove_prefix(colon + 2);
  return fmt::format("invalid TOML: {}; expected KEY = \"TEXT\", KEY = NUMBER or [TABLE]", description);
}

std::optional<std::vector<std::string>> strings_of(toml::array& list) {
  std::vector<std::string> out;
  for (toml::node& item : list) {
    auto* text = item.as_string();
    if (text == nullptr) return std::nullopt;
    out.push_back(text->get());
  }
  return out;
}

// Moves the value out of `node`; false if its type is not one of ConfigEntry::value.
bool take_value(toml::node& node, ConfigEntry& entry) {
  if (auto* text = node.as_string()) {
    entry.value = std::move(text->get());
  } else if (const auto* integer = node.as_integer()) {
    entry.value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    entry.value = number->get();
  } else if (const auto* truth = node.as_boolean()) {
    entry.value = truth->get();
  } else if (auto* list = node.as_array()) {
    auto strings = strings_of(*list);
    if (!strings) return false;
    entry.value = *std::move(strings);
  } else {
    return false;
  }
  return true;
}

struct Level {
  std::vector<std::string> path;
  toml::table* table;
};

}  // namespace

Result<std::vector<ConfigEntry>> read_config_file(const std::string& file) {
  PARLEY_TRY(const FileText text, text_of(file));
  return parse_config(text.text, file);
}

Result<std::string> read_config_text(const std::string& file) {
  PARLEY_TRY(FileText text, text_of(file));
  return std::move(text.text);
}

Result<std::vector<ConfigEntry>> parse_config(const std::string& text, const std::string& file) {
  const auto place = [&](const toml::source_region& at) { return fmt::format("{}:{}", file, at.begin.line); };
  if (const std::size_t line = line_of_deep_key(text); line != 0) {
    return fail(Code::Invalid, "the key is nested too deeply", fmt::format("{}:{}", file, line));
  }
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(Code::Invalid, what_is_wrong(error.description()), place(error.source()));
  }
  std::vector<ConfigEntry> out;
  std::vector<Level> levels = {{{}, &root}};
  while (!levels.empty()) {
    Level level = std::move(levels.back());
    levels.pop_back();
    for (auto&& [key, node] : *level.table) {
      std::vector<std::string> path = level.path;
      path.emplace_back(key.str());
      if (toml::table* table = node.as_table()) {
        levels.push_back({std::move(path), table});
        continue;
      }
      ConfigEntry entry{std::move(path), place(node.source()), {}};
      const auto& [begin, end, unused] = node.source();
      entry.span = {begin.line, begin.column, end.line, end.column};
      entry.is_inline = level.table->is_inline();
      if (!take_value(node, entry)) {
        return fail(
            Code::Invalid,
            fmt::format("invalid value for '{}': expected a string, a number, a boolean or a list of strings",
                        fmt::join(entry.path, ".")),
            entry.location);
      }
      out.push_back(std::move(entry));
    }
  }
  return out;
}

}  // namespace parley::cli
