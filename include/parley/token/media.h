// The tokens of images, audio and video: the rules that providers published, one row per family of models.
// docs/tokens.md gives the source and the date of each row.
//
// Invariants (quoted by tests as MEDIA_COST1..MEDIA_COST4):
//   MEDIA_COST1  Every image costs at least one token, whatever its size, and no size makes a rule fail.
//   MEDIA_COST2  Where a provider published an example, the rule gives its number.
//   MEDIA_COST3  What is not known (a URL, a broken header) is counted by a stated default, never as nothing.
//   MEDIA_COST4  Nothing is fetched, and nothing is decoded but headers.
//
// Immutable values and pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parley/media/media_header.h"
#include "parley/message/block.h"

namespace parley {

enum class ImageDetail : std::uint8_t { Low, High };

// How a family counts the pixels of an image.
enum class ImageMethod : std::uint8_t {
  Tiles,    // see tile_tokens(): `base`, and `each` for every tile
  Patches,  // `factor` for every 32 x 32 pixels begun, at most `most` of them
  Area,     // the long side at most `side`, one token for every `each` pixels, at most `most` tokens
  Crops,    // `each` for an image within 384 x 384, else for every crop; a crop has 256 to 768 pixels a side
  Grid,     // both sides rounded to multiples of `side`, one token a cell, 4 to `most` of them, and `base`
  Flat,     // `base`
};

struct MediaRule {
  std::string_view family;  // how the names of its models start; "" is every model
  ImageMethod method = ImageMethod::Flat;
  std::uint32_t base = 0;
  std::uint32_t each = 0;
  std::uint32_t side = 0;
  std::uint32_t most = 0;
  double factor = 1;
  double audio_second = 0;  // tokens for a second
  double video_second = 0;
};

// The first row whose family `model` starts with; a provider's name before a '/' and the mark "ft:" of a
// tuned model are left out. The last row takes every model: an unknown one has the images of gpt-4o, and
// audio and video at the most expensive known rate.
const MediaRule& media_rule(std::string_view model);

// The cost of an image of this size. Only Tiles has a cheaper low detail, `base`. A side of 0 means that the
// size is not known.
std::size_t image_tokens(const MediaRule& rule, ImageSize size, ImageDetail detail = ImageDetail::High);

// The tile formula of OpenManus and AgentScope, in doubles and in their order, so that it meets theirs to the
// token: fit into 2048 x 2048, make the short side 768 (up or down), count tiles of 512 x 512. An image of
// more than 2048 to 1, for which theirs divides by zero, is counted as it is after the first step, with a
// side of one pixel and not enlarged. REQUIRES: no side is 0.
std::size_t tile_tokens(ImageSize size, std::uint32_t base, std::uint32_t tile);

// The cost of a block of media, inline or not. Defaults where the cost is not known: an image of 1024 x 1024;
// a minute for audio or video by URL; 16,000 bytes a second for inline audio other than WAV, and 250,000 for
// video; of documents, a token for every four bytes of inline text, else 1,500 for every 100,000 bytes begun.
// Blocks of other types cost nothing.
std::size_t media_tokens(const MediaRule& rule, const Block& block);

}  // namespace parley
