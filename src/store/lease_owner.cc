#include "store/lease_owner.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace parley::store {
namespace {

constexpr char kMark = '\x1f';

std::string contents_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 1024> bytes;
  const ssize_t size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  return size <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(size));
}

// "pid:[4026531836]", or nothing.
std::string link_of(const char* path) {
  std::array<char, 64> bytes;
  const ssize_t size = ::readlink(path, bytes.data(), bytes.size());
  return size <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(size));
}

// The digits of a link's name.
std::string number_in(const std::string& link) {
  const std::size_t begin = link.find('[');
  const std::size_t end = link.find(']');
  if (begin == std::string::npos || end == std::string::npos) return "0";  // older kernels have no such link
  return link.substr(begin + 1, end - begin - 1);
}

// Equal for all processes that can see each other: "BOOT:PIDNS:TIMENS:". Empty if unknown.
std::string here() {
  const std::string boot = contents_of("/proc/sys/kernel/random/boot_id").substr(0, 36);
  const std::string pids = link_of("/proc/self/ns/pid");
  // A /proc of another namespace has other processes under these numbers.
  if (link_of("/proc/self") != std::to_string(::getpid())) return {};
  if (boot.size() != 36 || pids.empty()) return {};
  return boot + ":" + number_in(pids) + ":" + number_in(link_of("/proc/self/ns/time")) + ":";
}

struct Stat {
  char state = '?';
  std::string threads;
  std::string start;
};

// Of "PID (NAME) STATE ...", in which NAME may have anything in it. The start time is the 22nd field.
std::optional<Stat> stat_of(const std::string& pid) {
  const std::string text = contents_of("/proc/" + pid + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return {};
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  Stat out{rest.front(), {}, {}};
  for (int field = 3; field < 22; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return {};
    rest.remove_prefix(space + 1);
    if (field + 1 == 20) out.threads = rest.substr(0, rest.find(' '));
  }
  out.start = rest.substr(0, rest.find(' '));
  return out;
}

}  // namespace

std::string LeaseOwner::text() const {
  std::string out = name + kMark + std::to_string(length.count());
  if (!process.empty()) out += " " + process;
  return out;
}

LeaseOwner LeaseOwner::read(std::string_view text) {
  LeaseOwner out;
  const std::size_t mark = text.find(kMark);
  out.name = text.substr(0, mark);
  if (mark == std::string_view::npos) return out;
  text.remove_prefix(mark + 1);
  std::int64_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, length);
  if (error != std::errc() || length < 0) return out;
  out.length = std::chrono::milliseconds(length);
  if (stop != end && *stop == ' ') out.process.assign(stop + 1, end);
  return out;
}

// To read it from the system takes 20 us, a fifth of a checkpoint; only a fork() changes it.
std::string this_process() {
  thread_local pid_t known_pid = 0;
  thread_local std::string known;
  if (known_pid == ::getpid()) return known;
  const std::string place = here();
  const std::string pid = std::to_string(::getpid());
  const std::optional<Stat> about = stat_of(pid);
  if (place.empty() || !about) return {};
  known = place + pid + ":" + about->start;
  known_pid = ::getpid();
  return known;
}

bool has_ended(std::string_view process) {
  const std::string place = here();
  if (place.empty() || !process.starts_with(place)) return false;
  process.remove_prefix(place.size());
  const std::size_t colon = process.find(':');
  pid_t pid = 0;
  const char* const end = process.data() + std::min(colon, process.size());
  const auto [stop, error] = std::from_chars(process.data(), end, pid);
  if (colon == std::string_view::npos || error != std::errc() || stop != end || pid <= 0) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  // Another process may have its number now; one that was killed may wait for its parent to notice.
  const std::optional<Stat> about = stat_of(std::to_string(pid));
  if (!about) return false;
  // The first thread may have ended before the others.
  const bool is_zombie = about->state == 'Z' && (about->threads == "0" || about->threads == "1");
  return about->start != process.substr(colon + 1) || is_zombie || about->state == 'X';
}

}  // namespace parley::store
