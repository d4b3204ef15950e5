#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "parley/media/data_url.h"
#include "parley/token/counter.h"

namespace parley {
namespace {

Text text(std::string_view bytes) { return Text::checked(bytes).value(); }

std::string png(std::uint32_t width, std::uint32_t height) {
  std::string out("\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", 16);
  for (const std::uint32_t side : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(side >> shift & 0xFF);
  }
  return out;
}

Block image(std::uint32_t width, std::uint32_t height) {
  return ImageBlock{Base64Source{"image/png", text(base64_encode(png(width, height)))}};
}

// The worked numbers of OpenManus' formula.
TEST(TileTokens, MeetOpenManus) {
  struct Row {
    ImageSize size;
    std::size_t tokens;
  };
  constexpr Row kRows[] = {
      {{1024, 1024}, 765},  {{100, 100}, 765},    {{1, 1}, 765},        {{800, 600}, 765},
      {{1536, 768}, 1105},  {{1537, 768}, 1445},  {{1920, 1080}, 1105}, {{3840, 2160}, 1105},
      {{2048, 4096}, 1105}, {{8192, 8192}, 765},  {{3000, 100}, 15725}, {{512, 512}, 765},
      {{768, 768}, 765},    {{4096, 2048}, 1105}, {{3000, 1000}, 1785},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(tile_tokens(row.size, 85, 170), row.tokens) << row.size.width << "x" << row.size.height;
  }
}

// In doubles 47 * (768 / 47) is 767.99...: the tiles are those of 767 pixels, wherever that makes a
// difference.
TEST(TileTokens, RoundAsDoublesDo) {
  EXPECT_EQ(static_cast<int>(47 * (768.0 / 47)), 767);
  EXPECT_EQ(tile_tokens({47, 47}, 85, 170), 765U);
  EXPECT_EQ(tile_tokens({47, 94}, 85, 170), 85U + 2 * 3 * 170U);
}

// Where the original divides by zero.
TEST(TileTokens, CountAThinImageAsItIsAfterTheFirstStep) {
  EXPECT_EQ(tile_tokens({1, 8192}, 85, 170), 85U + 4 * 170U);
  EXPECT_EQ(tile_tokens({5000, 1}, 85, 170), 85U + 4 * 170U);
  EXPECT_EQ(tile_tokens({1, 0xFFFFFFFF}, 85, 170), 85U + 4 * 170U);
}

struct ImageRow {
  const char* model;
  ImageSize size;
  std::size_t tokens;
};
constexpr ImageRow kImages[] = {
    // AgentScope's vectors, which are OpenAI's.
    {"gpt-4o", {1024, 1024}, 765},
    {"gpt-4o-2024-08-06", {2048, 4096}, 1105},
    {"gpt-4.1", {3000, 1000}, 1785},
    {"gpt-4.1-mini", {1024, 1024}, 1659},
    {"gpt-4.1-mini-2025-04-14", {1800, 2400}, 2489},
    {"gpt-4.1-nano", {1024, 1024}, 2520},
    {"o4-mini", {1024, 1024}, 1762},
    {"o4-mini", {1, 1}, 2},
    {"o1", {1024, 1024}, 75 + 4 * 150},
    {"o3-pro", {1024, 1024}, 75 + 4 * 150},
    {"o4", {1024, 1024}, 75 + 4 * 150},
    {"gpt-4o-mini", {1024, 1024}, 2833 + 4 * 5667},
    {"gpt-5", {1024, 1024}, 70 + 4 * 140},
    {"gpt-5-mini", {1024, 1024}, 1659},
    {"openai/gpt-4o", {1024, 1024}, 765},
    {"ft:gpt-4o-mini:mine", {1024, 1024}, 2833 + 4 * 5667},
    // Anthropic's examples, and its limits.
    {"claude-sonnet-4-0", {200, 200}, 54},
    {"claude-sonnet-4-0", {1000, 1000}, 1334},
    {"claude-sonnet-4-0", {1092, 1092}, 1590},
    {"anthropic/claude-3-5-sonnet", {4000, 4000}, 1600},
    {"claude-3-haiku", {3136, 100}, 105},  // 1568 x 50
    {"claude-3-haiku", {1, 1}, 1},
    {"claude-opus-4-7", {2000, 1500}, 4000},
    // Gemini: Google's example of 960 x 540 has six crops of 360 pixels.
    {"gemini-2.0-flash", {384, 384}, 258},
    {"gemini-2.0-flash", {385, 384}, 4 * 258},
    {"gemini-2.5-pro", {960, 540}, 6 * 258},
    {"gemini-2.5-pro", {1980, 1380}, 6 * 258},
    {"gemini-2.5-pro", {3072, 3072}, 16 * 258},
    {"gemini-2.5-pro", {6144, 6144}, 16 * 258},
    {"gemini-3-pro-preview", {960, 540}, 1120},
    // Qwen: 28 x 28 pixels a token and two around the image, 4 to 1280.
    {"qwen-vl-max", {28, 28}, 4 + 2},
    {"qwen2.5-vl-72b-instruct", {280, 280}, 100 + 2},
    {"qwen2.5-vl-72b-instruct", {280, 294}, 100 + 2},  // 10.5 is rounded to the even 10
    {"qwen2.5-vl-72b-instruct", {280, 295}, 110 + 2},
    {"qwen-vl-max", {4000, 3000}, 41 * 30 + 2},
    {"qwen3-vl-plus", {1024, 1024}, 1024 + 2},
    // Unknown models: as gpt-4o.
    {"some-model", {1024, 1024}, 765},
    {"", {1024, 1024}, 765},
};

// MEDIA_COST2
TEST(ImageTokens, FollowTheRuleOfTheModel) {
  for (const ImageRow& row : kImages) {
    EXPECT_EQ(image_tokens(media_rule(row.model), row.size), row.tokens)
        << row.model << " " << row.size.width << "x" << row.size.height;
  }
}

TEST(ImageTokens, LowDetailIsTheBaseOfTheTiles) {
  EXPECT_EQ(image_tokens(media_rule("gpt-4o"), {4000, 4000}, ImageDetail::Low), 85U);
  EXPECT_EQ(image_tokens(media_rule("o3"), {4000, 4000}, ImageDetail::Low), 75U);
  EXPECT_EQ(image_tokens(media_rule("o4-mini"), {1024, 1024}, ImageDetail::Low), 1762U);
}

constexpr const char* kFamilies[] = {
    "gpt-4o",           "gpt-4.1-mini", "o4-mini",     "o3",         "claude-3",
    "gemini-2.0-flash", "gemini-3",     "qwen-vl-max", "qwen3-vl-a", "other"};

// MEDIA_COST1
TEST(ImageTokens, EverySizeCostsSomethingAndNoSizeFails) {
  std::mt19937 random(3);
  std::vector<ImageSize> sizes = {{0, 0},    {0, 100},        {1, 1},          {1, 8192},
                                  {5000, 1}, {1, 0xFFFFFFFF}, {0xFFFFFFFF, 1}, {0xFFFFFFFF, 0xFFFFFFFF}};
  for (int i = 0; i < 2000; ++i) {
    sizes.push_back({static_cast<std::uint32_t>(random() >> random() % 32),
                     static_cast<std::uint32_t>(random() >> random() % 32)});
  }
  for (const char* model : kFamilies) {
    const MediaRule& rule = media_rule(model);
    for (const ImageSize size : sizes) {
      const std::size_t tokens = image_tokens(rule, size);
      EXPECT_GE(tokens, 1U) << model << " " << size.width << "x" << size.height;
      EXPECT_LE(tokens, 40'000'000U) << model << " " << size.width << "x" << size.height;
      if (rule.most != 0) {
        EXPECT_LE(static_cast<double>(tokens), rule.most * rule.factor + 3) << model;
      }
    }
    EXPECT_EQ(image_tokens(rule, {0, 5}), image_tokens(rule, {1024, 1024}));
  }
}

// MEDIA_COST4: the size is read from base64, from a data URL, and from nowhere else.
TEST(MediaTokens, ReadTheSizeOfInlineImages) {
  const MediaRule& rule = media_rule("gpt-4o");
  const Text data = text(base64_encode(png(2048, 4096)));
  EXPECT_EQ(media_tokens(rule, image(2048, 4096)), 1105U);
  EXPECT_EQ(media_tokens(rule, ImageBlock{Base64Source{"", data}}), 1105U);
  EXPECT_EQ(media_tokens(rule, ImageBlock{URLSource{text("data:image/png;base64," + data.str()), ""}}),
            1105U);
  // OpenManus' images may be data URLs where base64 is expected.
  EXPECT_EQ(media_tokens(rule, ImageBlock{Base64Source{"", text("data:image/png;base64," + data.str())}}),
            1105U);
}

// MEDIA_COST3
TEST(MediaTokens, TakeWhatIsNotKnownForTheStatedDefault) {
  const MediaRule& gemini = media_rule("gemini-2.0-flash");
  EXPECT_EQ(media_tokens(media_rule("gpt-4o"), ImageBlock{URLSource{"https://a.example/cat.png", ""}}), 765U);
  EXPECT_EQ(media_tokens(media_rule("gpt-4o"), ImageBlock{Base64Source{"image/png", "AAAA"}}), 765U);
  EXPECT_EQ(media_tokens(media_rule("gpt-4o"), image(0, 7)), 765U);
  EXPECT_EQ(media_tokens(gemini, AudioBlock{URLSource{"https://a.example/a.mp3", ""}}), 60U * 32);
  EXPECT_EQ(media_tokens(gemini, VideoBlock{URLSource{"https://a.example/a.mp4", ""}}), 60U * 263);
  EXPECT_EQ(media_tokens(gemini, AudioBlock{Base64Source{"audio/mpeg", text(std::string(64000, 'A'))}}),
            3U * 32);
  EXPECT_EQ(media_tokens(gemini, VideoBlock{Base64Source{"video/mp4", text(std::string(1000000, 'A'))}}),
            3U * 263);
  EXPECT_EQ(media_tokens(gemini, DocumentBlock{URLSource{"https://a.example/a.pdf", ""}}), 1500U);
  EXPECT_EQ(
      media_tokens(gemini, DocumentBlock{Base64Source{"application/pdf", text(std::string(400000, 'A'))}}),
      3U * 1500);
  EXPECT_EQ(media_tokens(gemini, DocumentBlock{Base64Source{"text/plain", text(std::string(1600, 'A'))}}),
            300U);
  EXPECT_EQ(media_tokens(gemini, DocumentBlock{URLSource{
                                     text("data:text/plain;base64," + std::string(1600, 'A')), ""}}),
            300U);
  EXPECT_EQ(media_tokens(gemini, TextBlock{"not media"}), 0U);
}

TEST(MediaTokens, TakeTheLengthOfAWavFromItsHeader) {
  std::string wav("RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1F\0\0\x80\x3E\0\0\2\0\x10\0data\0\0\0\0", 44);
  wav += std::string(std::size_t{16000} * 5 / 2, 'x');  // 16,000 bytes a second
  const Block block = AudioBlock{Base64Source{"audio/wav", text(base64_encode(wav))}};
  EXPECT_EQ(media_tokens(media_rule("gemini-2.0-flash"), block), 80U);
  EXPECT_EQ(media_tokens(media_rule("gpt-4o-audio-preview"), block), 25U);
  EXPECT_EQ(media_tokens(media_rule("qwen-omni-turbo"), block), 63U);
}

}  // namespace
}  // namespace parley
