#include "token/memo.h"

#include <algorithm>
#include <new>

namespace parley::token {

template <typename Key, unsigned kSetBits>
MemoTable<Key, kSetBits>::MemoTable() {
  std::size_t space = (std::size_t{1} << kSetBits) * kLine + kLine;
  // Zeroed pages come from the system one by one, when they are first touched: a thread that counts little
  // takes little.
  memory_.reset(std::calloc(space, 1));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* start = memory_.get();
  sets_ = static_cast<Entry*>(std::align(kLine, space - kLine, start, space));
}

template class MemoTable<ShortKey, 16>;
template class MemoTable<LongKey, 14>;

Memo& Memo::of_thread(const Vocabulary& vocabulary) {
  struct Owned {
    std::uint64_t serial = 0;
    std::unique_ptr<Memo> memo;
  };
  thread_local std::array<Owned, 4> memos;  // the one used last comes first
  if (memos.front().serial == vocabulary.serial()) return *memos.front().memo;
  const auto found = std::ranges::find(memos, vocabulary.serial(), &Owned::serial);
  const auto mine = found != memos.end() ? found : memos.end() - 1;
  if (found == memos.end()) {
    mine->serial = 0;
    mine->memo.reset();  // before there is another
    mine->memo = std::make_unique<Memo>();
    mine->serial = vocabulary.serial();
  }
  std::rotate(memos.begin(), mine, mine + 1);
  return *memos.front().memo;
}

}  // namespace parley::token
