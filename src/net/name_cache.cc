#include "net/name_cache.h"

#include <system_error>
#include <thread>
#include <utility>

namespace parley::net {
namespace {

constexpr std::chrono::seconds kRemembered{30};
// Names that are remembered at a time; a server talks to few.
constexpr std::size_t kMostNames = 1024;

NameCache::Addresses found_by(Resolver& resolver, const std::string& host) {
  try {
    return resolver.resolve(host);
  } catch (...) {
    return fail(Code::Unavailable, "the resolver has thrown an exception");
  }
}

}  // namespace

struct NameCache::State {
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::vector<IpAddress> addresses;
    Clock::time_point until;
  };

  std::shared_ptr<Loop> loop;
  Resolver& resolver;
  std::unordered_map<std::string, Entry> entries;
  std::unordered_map<std::string, std::vector<Found>> waiting;
  bool is_closed = false;

  void take(const std::string& host, const Addresses& addresses) {
    if (is_closed) return;
    if (addresses) {
      if (entries.size() >= kMostNames) entries.clear();
      entries.insert_or_assign(host, Entry{*addresses, Clock::now() + kRemembered});
    }
    const std::vector<Found> calls = std::exchange(waiting[host], {});
    waiting.erase(host);
    for (const Found& found : calls) found(addresses);
  }
};

NameCache::NameCache(std::shared_ptr<Loop> loop, Resolver& resolver)
    : state_(new State{.loop = std::move(loop), .resolver = resolver, .entries = {}, .waiting = {}}) {}

NameCache::~NameCache() { clear(); }

void NameCache::clear() {
  state_->is_closed = true;
  state_->waiting.clear();
}

void NameCache::find(const std::string& host, Found found) {
  const auto entry = state_->entries.find(host);
  if (entry != state_->entries.end() && entry->second.until > State::Clock::now()) {
    return found(entry->second.addresses);
  }
  std::vector<Found>& waiting = state_->waiting[host];
  waiting.push_back(std::move(found));
  if (waiting.size() > 1) return;
  // Detached: getaddrinfo(3) cannot be stopped, and its end is not worth a wait.
  const auto look_up = [state = state_, loop = state_->loop, host, &resolver = state_->resolver] {
    Addresses addresses = found_by(resolver, host);
    loop->run([state, host, addresses = std::move(addresses)] { state->take(host, addresses); });
  };
  try {
    std::thread(look_up).detach();
  } catch (const std::system_error&) {
    state_->take(host, fail(Code::Unavailable, "cannot resolve the host " + host + ": no thread is left"));
  }
}

}  // namespace parley::net
