// The tables that are part of the program. The assembler puts the files into it, so no step of the build has
// to turn a megabyte into source. data/README.md has their format.

#include <zstd.h>

#include <cassert>
#include <new>
#include <vector>

#include "token/tables.h"

// NOLINTBEGIN
#define PARLEY_INCLUDE_BYTES(symbol, file)                         \
  asm(".pushsection .rodata\n"                                     \
      ".global " #symbol "\n.hidden " #symbol                      \
      "\n"                                                         \
      ".balign 16\n" #symbol ":\n.incbin \"" file                  \
      "\"\n"                                                       \
      ".global " #symbol "_end\n.hidden " #symbol "_end\n" #symbol \
      "_end:\n.byte 0\n"                                           \
      ".popsection\n");                                            \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[], symbol##_end[]

PARLEY_INCLUDE_BYTES(parley_cl100k_base, PARLEY_TOKEN_DATA "/cl100k_base.zst");
PARLEY_INCLUDE_BYTES(parley_o200k_base, PARLEY_TOKEN_DATA "/o200k_base.zst");
// NOLINTEND

namespace parley::token {
namespace {

std::string unpacked(std::string_view packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  std::string out(static_cast<std::size_t>(size), '\0');
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  // The bytes are the program's own, so nothing but memory can be missing.
  if (written != out.size()) throw std::bad_alloc();
  return out;
}

std::shared_ptr<const Vocabulary> load(const char* name, SplitPattern pattern, std::string_view packed) {
  const std::string planes = unpacked(packed);
  const std::size_t count = planes.size() / 6;
  const auto number = [&](std::size_t first_plane, std::size_t token) {
    std::uint32_t value = 0;
    for (std::size_t plane = first_plane; plane < first_plane + 3; ++plane) {
      value = value << 8 | static_cast<unsigned char>(planes[plane * count + token]);
    }
    return value;
  };
  Vocabulary::Tokens tokens;
  tokens.bytes.reserve(count * 9);
  tokens.offsets.reserve(count + 1);
  std::vector<Vocabulary::Halves> merges(count);
  for (std::size_t token = 0; token < count; ++token) {
    const std::uint32_t left = number(0, token);
    const std::uint32_t right = number(3, token);
    if (left == 0) {
      const char byte = static_cast<char>(right);
      tokens.push_back({&byte, 1});
      continue;
    }
    merges[token] = {left - 1, right - 1};
    tokens.push_back(tokens[left - 1], tokens[right - 1]);
  }
  return std::make_shared<const Vocabulary>(name, pattern, std::move(tokens), std::vector<std::uint32_t>{},
                                            merges);
}

}  // namespace

std::shared_ptr<const Vocabulary> cl100k_base() {
  static const auto vocabulary =
      load("cl100k_base", SplitPattern::Cl100k,
           {parley_cl100k_base, static_cast<std::size_t>(parley_cl100k_base_end - parley_cl100k_base)});
  return vocabulary;
}

std::shared_ptr<const Vocabulary> o200k_base() {
  static const auto vocabulary =
      load("o200k_base", SplitPattern::O200k,
           {parley_o200k_base, static_cast<std::size_t>(parley_o200k_base_end - parley_o200k_base)});
  return vocabulary;
}

}  // namespace parley::token
