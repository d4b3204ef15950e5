#include "store/sqlite/witness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace parley::store {
namespace {

constexpr std::string_view kHead = "parley-witness 1";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kField = 1 + kDigits;  // with the space before it
constexpr std::size_t kSummed = kHead.size() + 3 * kField;
constexpr std::size_t kLength = kSummed + kField + 1;
using Line = std::array<char, kLength>;

void put(Line& line, std::size_t at, std::uint64_t value) {
  line[at] = ' ';
  for (std::size_t digit = kDigits; digit > 0; --digit, value >>= 4) {
    line[at + digit] = "0123456789abcdef"[value & 0xF];
  }
}

std::optional<std::uint64_t> number_at(std::string_view line, std::size_t at) {
  std::uint64_t out = 0;
  const char* const first = line.data() + at + 1;
  const char* const end = first + kDigits;
  const auto [stop, error] = std::from_chars(first, end, out, 16);
  if (line[at] != ' ' || error != std::errc() || stop != end) return {};
  return out;
}

Line line_of(const Witnessed& seen) {
  Line line = {};
  kHead.copy(line.data(), kHead.size());
  put(line, kHead.size(), seen.id);
  put(line, kHead.size() + kField, seen.full);
  put(line, kHead.size() + 2 * kField, seen.last);
  put(line, kSummed, hash64({line.data(), kSummed}));
  line.back() = '\n';
  return line;
}

std::optional<Witnessed> read_line(int file) {
  Line line = {};
  if (::pread(file, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) return {};
  const std::string_view text(line.data(), line.size());
  const auto sum = number_at(text, kSummed);
  if (!text.starts_with(kHead) || sum != hash64(text.substr(0, kSummed))) return {};
  const auto id = number_at(text, kHead.size());
  const auto full = number_at(text, kHead.size() + kField);
  const auto last = number_at(text, kHead.size() + 2 * kField);
  if (!id || !full || !last) return {};
  return Witnessed{*id, *full, *last};
}

bool is_own(int file) {
  struct stat about = {};
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink <= 1 &&
         about.st_uid == ::geteuid();
}

}  // namespace

std::string witness_path(const std::string& database) { return database + "-witness"; }

std::optional<Witnessed> read_witness(const std::string& database) {
  const int file = ::open(witness_path(database).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  const std::optional<Witnessed> out = read_line(file);
  ::close(file);
  return out;
}

void remove_witness(const std::string& database) { ::unlink(witness_path(database).c_str()); }

Result<Witness> Witness::open(const std::string& database) {
  const std::string path = witness_path(database);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  const bool is_refused = file < 0 ? errno == ELOOP || errno == EISDIR || errno == ENXIO : !is_own(file);
  if (is_refused) {
    if (file >= 0) ::close(file);
    return fail(Code::Invalid,
                "the witness file of the database must be a regular file that you own, without hard links",
                path);
  }
  if (file >= 0) (void)::fchmod(file, 0600);  // a umask may have taken more away
  return Witness(file);
}

Witness::Witness(Witness&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Witness::~Witness() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Witnessed> Witness::read() const { return file_ < 0 ? std::nullopt : read_line(file_); }

void Witness::write(const Witnessed& seen) {
  if (file_ < 0) return;
  const Line line = line_of(seen);
  [[maybe_unused]] const ssize_t written = ::pwrite(file_, line.data(), line.size(), 0);
}

}  // namespace parley::store
