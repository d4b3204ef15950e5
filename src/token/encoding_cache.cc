#include "token/encoding_cache.h"

#include <algorithm>
#include <new>

namespace parley::token {

template <typename Key, unsigned kSetBits>
CacheTable<Key, kSetBits>::CacheTable() {
  std::size_t space = (std::size_t{1} << kSetBits) * kLine + kLine;
  // Zeroed pages come from the system one by one, when they are first touched: a thread that counts little
  // takes little.
  memory_.reset(std::calloc(space, 1));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* start = memory_.get();
  sets_ = static_cast<Entry*>(std::align(kLine, space - kLine, start, space));
}

template class CacheTable<ShortKey, 16>;
template class CacheTable<LongKey, 14>;

EncodingCache& EncodingCache::of_thread(const Vocabulary& vocabulary) {
  struct Owned {
    std::uint64_t serial = 0;
    std::unique_ptr<EncodingCache> cache;
  };
  thread_local std::array<Owned, 4> caches;  // the one used last comes first
  if (caches.front().serial == vocabulary.serial()) return *caches.front().cache;
  const auto found = std::ranges::find(caches, vocabulary.serial(), &Owned::serial);
  const auto mine = found != caches.end() ? found : caches.end() - 1;
  if (found == caches.end()) {
    mine->serial = 0;
    mine->cache.reset();  // before there is another
    mine->cache = std::make_unique<EncodingCache>();
    mine->serial = vocabulary.serial();
  }
  std::rotate(caches.begin(), mine, mine + 1);
  return *caches.front().cache;
}

}  // namespace parley::token
