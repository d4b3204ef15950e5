#include "media/base64_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/guard_page_testing.h"
#include "base/kernel_choice.h"
#include "parley/media/data_url.h"

// The invariants of base64_kernel.h, as quoted below:
//   BASE64_1  Every kernel gives the counts and the bytes of the scalar one.
//   BASE64_2  decode() and check() take every group of four digits before the first invalid group, and
//             nothing else.
//   BASE64_3  A kernel reads nothing outside of in[0 .. size) and writes nothing outside of the room it is
//             given.
// Every text lies before a page that cannot be read, every room before one that cannot be written and after
// bytes that must stay; and the judge, not the scalar kernel, says what is right.

namespace parley::base64 {
namespace {

constexpr std::size_t kRoom = std::size_t{64} * 1024;
constexpr std::string_view kGuard = "these bytes are outside of the room and must stay as they are";

test::GuardedMemory& inputs() {
  static test::GuardedMemory memory(kRoom);
  return memory;
}
test::GuardedMemory& outputs() {
  static test::GuardedMemory memory(2 * kRoom);
  return memory;
}

const std::vector<const Kernel*>& supported_kernels() {
  static const std::vector<const Kernel*> all = parley::supported_kernels(kernels());
  return all;
}

// The judge works with strings of bits.
struct Right {
  std::size_t taken = 0;
  std::string bytes;
};
Right judge(std::string_view text) {
  Right right;
  for (; text.size() - right.taken >= 4; right.taken += 4) {
    std::string bits;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t value = kAlphabet.find(text[right.taken + k]);
      if (value == std::string_view::npos) return right;
      for (int bit = 5; bit >= 0; --bit) bits += (value >> bit & 1) != 0 ? '1' : '0';
    }
    for (std::size_t k = 0; k < 24; k += 8) {
      right.bytes += static_cast<char>(std::stoul(bits.substr(k, 8), nullptr, 2));
    }
  }
  return right;
}

std::string judge_encode(std::string_view bytes) {
  std::string bits;
  for (const char c : bytes.substr(0, bytes.size() / 3 * 3)) {
    for (int bit = 7; bit >= 0; --bit) bits += (static_cast<unsigned char>(c) >> bit & 1) != 0 ? '1' : '0';
  }
  std::string digits;
  for (std::size_t k = 0; k < bits.size(); k += 6) {
    digits += kAlphabet[std::stoul(bits.substr(k, 6), nullptr, 2)];
  }
  return digits;
}

std::string random_digits(std::mt19937& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = kAlphabet[random() % kAlphabet.size()];
  return text;
}
std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// `size` bytes before the edge, with the guard before them.
char* guarded(std::size_t size) {
  char* const out = outputs().last(size);
  std::memcpy(out - kGuard.size(), kGuard.data(), kGuard.size());
  return out;
}
bool is_guarded(const char* out) { return std::string_view(out - kGuard.size(), kGuard.size()) == kGuard; }

// Every kernel must take `taken` characters of `text`, and make the first of `bytes` of them.
testing::AssertionResult decodes(std::string_view text, std::size_t taken, std::string_view bytes) {
  const char* const in = inputs().place(text, 0);
  for (const Kernel* kernel : supported_kernels()) {
    char* const out = guarded(text.size() / 4 * 3);
    const std::size_t decoded = kernel->decode(in, text.size(), out);
    const std::size_t checked = kernel->check(in, text.size());
    if (decoded != taken || checked != taken) {
      return testing::AssertionFailure() << kernel->name << " decodes " << decoded << " and checks "
                                         << checked << " characters, not " << taken << ": " << text;
    }
    const std::size_t size = taken / 4 * 3;
    if (std::string_view(out, size) != bytes.substr(0, size)) {
      return testing::AssertionFailure() << kernel->name << " gives other bytes: " << text;
    }
    if (!is_guarded(out)) return testing::AssertionFailure() << kernel->name << " writes before its room";
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult decodes(std::string_view text) {
  const Right right = judge(text);
  return decodes(text, right.taken, right.bytes);
}

testing::AssertionResult encodes(std::string_view bytes) {
  const char* const in = inputs().place(bytes, 0);
  const std::string right = judge_encode(bytes);
  for (const Kernel* kernel : supported_kernels()) {
    char* const out = guarded(right.size());
    const std::size_t taken = kernel->encode(in, bytes.size(), out);
    if (taken != bytes.size() / 3 * 3 || std::string_view(out, right.size()) != right || !is_guarded(out)) {
      return testing::AssertionFailure()
             << kernel->name << " does not encode " << bytes.size() << " bytes as " << right;
    }
  }
  return testing::AssertionSuccess();
}

TEST(Base64Kernel, IsAlwaysThereAsScalar) {
  EXPECT_EQ(kernels().front(), &kScalarKernel);
  EXPECT_TRUE(kScalarKernel.supported());
  EXPECT_TRUE(kernel().supported());
}

// BASE64_1, BASE64_2, BASE64_3
TEST(Base64Kernel, DecodesEveryLength) {
  std::mt19937 random(1);
  for (std::size_t length = 0; length <= 300; ++length) {
    for (int round = 0; round < 4; ++round) ASSERT_TRUE(decodes(random_digits(random, length)));
  }
  for (std::size_t length = 4080; length <= 4250; ++length) {
    ASSERT_TRUE(decodes(random_digits(random, length)));
  }
}

// BASE64_2
TEST(Base64Kernel, KnowsEveryDigitAtEveryPlace) {
  for (std::size_t shift = 0; shift < kAlphabet.size(); ++shift) {
    std::string text;
    for (std::size_t i = 0; i < 256; ++i) text += kAlphabet[(i + shift) % kAlphabet.size()];
    ASSERT_TRUE(decodes(text));
  }
}

// BASE64_2
TEST(Base64Kernel, StopsAtEveryForeignCharacterAtEveryPlace) {
  std::mt19937 random(2);
  const std::string good = random_digits(random, 200);
  const std::string bytes = judge(good).bytes;
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (unsigned c = 0; c < 256; ++c) {
      if (kAlphabet.contains(static_cast<char>(c))) continue;
      std::string text = good;
      text[place] = static_cast<char>(c);
      ASSERT_TRUE(decodes(text, place / 4 * 4, bytes)) << "byte " << c << " at " << place;
    }
  }
}

// BASE64_2: what is long enough for the scalar kernel's table of pairs.
TEST(Base64Kernel, StopsAtTheFirstForeignCharacterOfALongText) {
  std::mt19937 random(3);
  const std::string good = random_digits(random, 4200);
  const std::string bytes = judge(good).bytes;
  for (std::size_t place = 0; place < good.size(); ++place) {
    std::string text = good;
    for (const char c : {'=', '\n', '\xC1', '@'}) {
      text[place] = c;
      ASSERT_TRUE(decodes(text, place / 4 * 4, bytes)) << place;
    }
    if (place + 40 < text.size()) text[place + 40] = '!';
    ASSERT_TRUE(decodes(text, place / 4 * 4, bytes)) << place;
  }
  for (unsigned c = 0; c < 256; ++c) {
    if (kAlphabet.contains(static_cast<char>(c))) continue;
    for (std::size_t place = 2000; place < 2008; ++place) {
      std::string text = good;
      text[place] = static_cast<char>(c);
      ASSERT_TRUE(decodes(text, place / 4 * 4, bytes)) << "byte " << c << " at " << place;
    }
  }
}

TEST(Base64Kernel, AgreesWithTheJudgeOnRandomTexts) {
  std::mt19937 random(4);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = random_digits(random, random() % 250);
    for (auto faults = random() % 3; faults > 0 && !text.empty(); --faults) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    ASSERT_TRUE(decodes(text));
  }
}

TEST(Base64Kernel, EncodesEveryLengthAndEveryValue) {
  std::mt19937 random(5);
  for (std::size_t length = 0; length <= 300; ++length) {
    for (int round = 0; round < 4; ++round) ASSERT_TRUE(encodes(random_bytes(random, length)));
  }
  for (std::size_t shift = 0; shift < kAlphabet.size(); ++shift) {
    std::string text;
    for (std::size_t i = 0; i < 256; ++i) text += kAlphabet[(i + shift) % kAlphabet.size()];
    ASSERT_TRUE(encodes(judge(text).bytes));
  }
}

// BASE64_3
TEST(Base64Kernel, DoesNotMindWhereTextsAndBytesLie) {
  std::mt19937 random(6);
  for (std::size_t in_offset = 0; in_offset < 64; ++in_offset) {
    for (std::size_t out_offset = 0; out_offset < 64; out_offset += 3) {
      const std::string text = random_digits(random, 180 + random() % 90);
      const Right right = judge(text);
      std::string in(in_offset, '!');
      in += text;
      for (const Kernel* kernel : supported_kernels()) {
        const std::size_t room = text.size() / 4 * 3;
        std::string out(out_offset + room + kGuard.size(), '#');
        ASSERT_EQ(kernel->decode(in.data() + in_offset, text.size(), out.data() + out_offset), right.taken);
        ASSERT_EQ(out, std::string(out_offset, '#') + right.bytes + std::string(kGuard.size(), '#'))
            << kernel->name << " from " << in_offset << " to " << out_offset;
      }
    }
  }
}

class ForcedBase64Kernel : public testing::TestWithParam<const Kernel*> {
 protected:
  void SetUp() override { use_kernel(*GetParam()); }
  void TearDown() override { use_kernel(*supported_kernels().back()); }
};
INSTANTIATE_TEST_SUITE_P(Base64, ForcedBase64Kernel, testing::ValuesIn(supported_kernels()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST_P(ForcedBase64Kernel, ReadsLinesOfEveryWidth) {
  std::mt19937 random(7);
  for (std::size_t width = 1; width <= 140; ++width) {
    const std::string bytes = random_bytes(random, 600 + random() % 3);
    std::string text = base64_encode(bytes);
    if (width % 2 == 0) text.erase(std::find(text.begin(), text.end(), '='), text.end());
    std::string lines;
    for (std::size_t i = 0; i < text.size(); i += width) {
      lines += text.substr(i, width) + (width % 3 == 0 ? "\r\n" : "\n");
    }
    ASSERT_EQ(base64_decode(lines, Base64Mode::Forgiving).value(), bytes) << width;
    ASSERT_TRUE(base64_check(lines, Base64Mode::Forgiving, bytes.size())) << width;
    ASSERT_FALSE(base64_check(lines, Base64Mode::Forgiving, bytes.size() - 1)) << width;
    ASSERT_FALSE(base64_check(lines)) << width;
  }
}

// BASE64_1, through everything that is built on the kernels.
TEST_P(ForcedBase64Kernel, GivesTheVerdictsOfTheScalarOne) {
  std::mt19937 random(8);
  constexpr std::string_view kInserts = "=\n \t\r\f\v-_!A/\xC3";
  for (int round = 0; round < 10'000; ++round) {
    std::string text = base64_encode(random_bytes(random, random() % 300));
    for (auto mutations = random() % 4; mutations > 0; --mutations) {
      const std::size_t at = random() % (text.size() + 1);
      if (random() % 2 == 0) {
        text.insert(at, random() % 3 + 1, kInserts[random() % kInserts.size()]);
      } else {
        text.erase(at, random() % 3);
      }
    }
    for (const Base64Mode mode : {Base64Mode::Canonical, Base64Mode::OpenManus, Base64Mode::Forgiving}) {
      const std::size_t limit = random() % 4 == 0 ? random() % 300 : SIZE_MAX;
      use_kernel(kScalarKernel);
      const Result<std::string> right = base64_decode(text, mode, limit);
      use_kernel(*GetParam());
      const Result<std::string> bytes = base64_decode(text, mode, limit);
      const Result<void> checked = base64_check(text, mode, limit);
      ASSERT_EQ(bytes, right) << text;
      ASSERT_EQ(checked.has_value(), right.has_value()) << text;
      if (!checked) {
        ASSERT_EQ(checked.error(), right.error()) << text;
      }
    }
  }
}

}  // namespace
}  // namespace parley::base64
