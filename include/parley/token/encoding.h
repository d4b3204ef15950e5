// An Encoding turns text into the tokens of a family of models, exactly as the models' makers count them.
//
// Invariants (quoted by tests as ENCODING1..ENCODING7):
//   ENCODING1  encode() gives the ids that tiktoken's encode_ordinary() gives for the same text.
//   ENCODING2  count(text) == encode(text).size().
//   ENCODING3  decode(encode(bytes)) == bytes, for any bytes.
//   ENCODING4  The spelling of a special token, such as <|endoftext|>, is ordinary text.
//   ENCODING5  Bytes that are not UTF-8 are counted too: each maximal ill-formed part (see text.h) is split
//              as one symbol that is not a letter, digit, mark or space, and its bytes are encoded.
//   ENCODING6  Time is linear in the text but for sorting: no text makes it quadratic.
//   ENCODING7  Earlier counts never change later ones.
//
// Texts are shorter than 4 GiB. A built-in vocabulary is unpacked at its first use, once per process. Each
// thread caches the tokens of short pieces of text (at most 5 MiB for each of the last four encodings it
// used).
//
// Immutable; a copy shares everything; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"

namespace parley {

namespace token {
class Vocabulary;
}

// How a text is split into pieces before anything is merged; named after the encoding that uses it.
enum class SplitPattern : std::uint8_t { Cl100k, O200k };

class Encoding {
 public:
  // The encodings that are built in.
  static Encoding cl100k_base();
  static Encoding o200k_base();

  // "cl100k_base" or "o200k_base". Fails with NotFound, naming both.
  static Result<Encoding> named(std::string_view name);

  // The encoding of a model; see the table in encoding.cc. A model that is not in it gets o200k_base as an
  // estimate, which `is_exact` says.
  struct Choice;
  static Choice for_model(std::string_view model);

  // An encoding from the content of a .tiktoken file: one token a line, as base64, a space and its rank,
  // which is its id. Fails with Malformed, naming the line, at a line of another form, a duplicate token
  // or rank, and if any of the 256 single bytes is missing; with LimitExceeded above 2^19
  // tokens or 4,096 bytes a token.
  static Result<Encoding> from_tiktoken(std::string_view file, SplitPattern pattern, std::string name);

  std::size_t count(std::string_view text) const;
  std::vector<std::uint32_t> encode(std::string_view text) const;

  // The bytes of the tokens, one after another; they need not be UTF-8. Fails with Invalid, naming the
  // index, at an unknown id; special tokens are unknown.
  Result<std::string> decode(std::span<const std::uint32_t> ids) const;

  std::string_view name() const;
  std::size_t size() const;  // Tokens, without special ones.

  // Whether both share their tables, as copies and built-in encodings of the same name do.
  friend bool operator==(const Encoding& a, const Encoding& b) { return a.vocabulary_ == b.vocabulary_; }

 private:
  explicit Encoding(std::shared_ptr<const token::Vocabulary> vocabulary);

  std::shared_ptr<const token::Vocabulary> vocabulary_;
};

struct Encoding::Choice {
  Encoding encoding;
  bool is_exact;
};

}  // namespace parley
