#include "parley/token/encoding.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "token/encoding_cache.h"
#include "token/split.h"
#include "token/tables.h"
#include "token/vocabulary.h"

namespace parley {
namespace {

using token::EncodingCache;
using token::kNone;
using token::LongKey;
using token::ShortKey;
using token::TokenId;
using token::Vocabulary;

// What becomes of the tokens: they are counted, or kept.
struct Counter {
  std::size_t count = 0;

  void add(const Vocabulary& /*vocabulary*/, std::span<const TokenId> tokens) { count += tokens.size(); }
  template <typename Entry>
  bool take(const Vocabulary& /*vocabulary*/, const Entry& entry) {
    count += entry.count;
    return true;
  }
};

struct Collector {
  std::vector<std::uint32_t> ids;

  void add(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
    for (const TokenId token : tokens) ids.push_back(vocabulary.id(token));
  }
  template <typename Entry>
  bool take(const Vocabulary& vocabulary, const Entry& entry) {
    if (entry.count > entry.tokens.size()) return false;
    add(vocabulary, std::span(entry.tokens).first(entry.count));
    return true;
  }
};

template <typename Sink>
class Encoder {
 public:
  Encoder(const Vocabulary& vocabulary, std::string_view text)
      : vocabulary_(vocabulary), cache_(EncodingCache::of_thread(vocabulary)), text_(text) {}

  Sink run() {
    if (vocabulary_.pattern() == SplitPattern::O200k) {
      split<SplitPattern::O200k>();
    } else {
      split<SplitPattern::Cl100k>();
    }
    return std::move(sink_);
  }

 private:
  // A whole piece, or a part of one between boundaries.
  enum class Whole : std::uint8_t { Yes, No };

  template <SplitPattern kPattern>
  void split() {
    const char* const end = text_.data() + text_.size();
    const token::Splitter<kPattern> splitter(end, token::class_table());
    for (const char* p = text_.data(); p < end;) {
      const char* const next = splitter.next(p);
      piece({p, static_cast<std::size_t>(next - p)});
      p = next;
    }
  }

  void piece(std::string_view bytes) {
    if (bytes.size() <= ShortKey::kMaxBytes) {
      recall<ShortKey>(bytes, Whole::Yes);
    } else {
      long_piece(bytes);
    }
  }

  void long_piece(std::string_view bytes) {
    // A piece of ASCII is a word or a name, which comes again. Any other is mostly a line of Chinese, which
    // does not, while its parts between boundaries do.
    const bool is_ascii =
        static_cast<signed char>(bytes[bytes.size() / 2]) >= 0;  // a guess that is mostly right
    if (is_ascii && bytes.size() <= LongKey::kMaxBytes) {
      recall<LongKey>(bytes, Whole::Yes);
      return;
    }
    if (const TokenId token = vocabulary_.find(bytes); token != kNone) {
      sink_.add(vocabulary_, {&token, 1});
      return;
    }
    std::size_t start = 0;  // of the part since the last boundary
    for (std::size_t i = 3; i + 3 <= bytes.size(); ++i) {
      if (!vocabulary_.is_boundary(bytes, i)) continue;
      part(bytes.substr(start, i - start));
      start = i;
    }
    part(bytes.substr(start));
  }

  void part(std::string_view bytes) {
    if (bytes.size() <= ShortKey::kMaxBytes) {
      recall<ShortKey>(bytes, Whole::No);
    } else if (bytes.size() <= LongKey::kMaxBytes) {
      recall<LongKey>(bytes, Whole::No);
    } else {
      merge(bytes);
    }
  }

  template <typename Key>
  void recall(std::string_view bytes, Whole whole) {
    const auto readable = static_cast<std::size_t>(text_.data() + text_.size() - bytes.data());
    const Key key = Key::of(bytes.data(), bytes.size(), readable);
    const std::uint64_t hash = key.hash();
    const auto* const entry = cache_.table<Key>().find(key, hash);
    if (entry != nullptr && sink_.take(vocabulary_, *entry)) return;
    find_out(bytes, key, hash, whole);
  }

  template <typename Key>
  [[gnu::noinline]] void find_out(std::string_view bytes, const Key& key, std::uint64_t hash, Whole whole) {
    TokenId token = kNone;
    if constexpr (sizeof(Key) == sizeof(ShortKey)) {
      token = vocabulary_.find(key, hash);
    } else {
      token = vocabulary_.find(bytes);
    }
    if (token != kNone && !vocabulary_.is_reachable(token)) {
      // The whole piece is this token, a part of a piece is not: so it cannot be remembered by its bytes.
      if (whole == Whole::Yes) {
        sink_.add(vocabulary_, {&token, 1});
      } else {
        merge(bytes);
      }
      return;
    }
    tokens_.clear();
    if (token != kNone) {
      tokens_.push_back(token);
    } else {
      vocabulary_.merge(bytes, tokens_);
    }
    sink_.add(vocabulary_, tokens_);
    auto& table = cache_.table<Key>();
    typename std::remove_reference_t<decltype(table)>::Entry entry{
        key, static_cast<std::uint32_t>(tokens_.size()), {}};
    std::copy_n(tokens_.begin(), std::min(tokens_.size(), entry.tokens.size()), entry.tokens.begin());
    table.add(entry, hash);
  }

  void merge(std::string_view bytes) {
    tokens_.clear();
    vocabulary_.merge(bytes, tokens_);
    sink_.add(vocabulary_, tokens_);
  }

  const Vocabulary& vocabulary_;
  EncodingCache& cache_;
  std::string_view text_;
  Sink sink_;
  std::vector<TokenId> tokens_;
};

// ---- Models

// A model has the encoding of the first row whose name it is, or which it starts with if the row says so.
struct ModelRow {
  std::string_view name;
  bool is_prefix;
  bool is_o200k;
};

constexpr ModelRow kModels[] = {
    {"o1", false, true},
    {"o1-", true, true},
    {"o3", false, true},
    {"o3-", true, true},
    {"o4-mini", true, true},
    {"chatgpt-4o", true, true},
    {"gpt-5", true, true},
    {"gpt-4.5", true, true},
    {"gpt-4.1", true, true},
    {"gpt-4o", true, true},
    {"ft:gpt-4o", true, true},
    {"ft:gpt-4.1", true, true},
    {"gpt-oss-", true, true},
    {"gpt-4", false, false},
    {"gpt-4-", true, false},
    {"ft:gpt-4", true, false},
    {"gpt-3.5", false, false},
    {"gpt-3.5-turbo", true, false},
    {"gpt-35-turbo", true, false},  // as Azure spells it
    {"ft:gpt-3.5-turbo", true, false},
    {"davinci-002", false, false},
    {"babbage-002", false, false},
    {"ft:davinci-002", true, false},
    {"ft:babbage-002", true, false},
    {"text-embedding-ada-002", false, false},
    {"text-embedding-3-", true, false},
};

}  // namespace

Encoding::Encoding(std::shared_ptr<const token::Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)) {}

Encoding Encoding::cl100k_base() { return Encoding(token::cl100k_base()); }

Encoding Encoding::o200k_base() { return Encoding(token::o200k_base()); }

Result<Encoding> Encoding::named(std::string_view name) {
  if (name == "cl100k_base") return cl100k_base();
  if (name == "o200k_base") return o200k_base();
  return fail(Code::NotFound,
              "unknown encoding '" + std::string(name) + "'; available encodings: cl100k_base, o200k_base");
}

Encoding::Choice Encoding::for_model(std::string_view model) {
  for (const ModelRow& row : kModels) {
    if (model == row.name || (row.is_prefix && model.starts_with(row.name))) {
      return {row.is_o200k ? o200k_base() : cl100k_base(), true};
    }
  }
  return {o200k_base(), false};
}

Result<Encoding> Encoding::from_tiktoken(std::string_view file, SplitPattern pattern, std::string name) {
  PARLEY_TRY(auto vocabulary, token::read_tiktoken(file, pattern, std::move(name)));
  return Encoding(std::move(vocabulary));
}

std::size_t Encoding::count(std::string_view text) const {
  return Encoder<Counter>(*vocabulary_, text).run().count;
}

std::vector<std::uint32_t> Encoding::encode(std::string_view text) const {
  return Encoder<Collector>(*vocabulary_, text).run().ids;
}

Result<std::string> Encoding::decode(std::span<const std::uint32_t> ids) const {
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const TokenId token = vocabulary_->with_id(ids[i]);
    if (token == kNone) {
      return fail(Code::Invalid, "unknown token id " + std::to_string(ids[i]) + " at index " +
                                     std::to_string(i) + ": not in " + vocabulary_->name());
    }
    out.append(vocabulary_->bytes(token));
  }
  return out;
}

std::string_view Encoding::name() const { return vocabulary_->name(); }

std::size_t Encoding::size() const { return vocabulary_->size(); }

}  // namespace parley
