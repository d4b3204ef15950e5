#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <utf8proc.h>

#include <optional>

#include "guard/filter_cases_testing.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

std::string filtered(std::string_view text, std::uint64_t& steps) {
  Edits edits("invisible", text);
  invisible(text, edits, steps);
  return edits.take();
}
std::string filtered(std::string_view text) {
  std::uint64_t steps = 0;
  return filtered(text, steps);
}

TEST(Invisible, FollowsTheTableOfCases) {
  const std::vector<Case> all = cases_of("invisible.txt");
  ASSERT_GT(all.size(), 40U);
  for (const Case& each : all) {
    EXPECT_EQ(filtered(each.text), each.result) << each.line;
    // Beside other text, too.
    EXPECT_EQ(filtered("before " + each.text + " after"), "before " + each.result + " after") << each.line;
  }
}

// ---- The judge: the rules of the header of filter_invisible.cc said once more, over code points, without
// tables of bytes and without care for time.

using Points = std::vector<char32_t>;

Points points_of(std::string_view text) {
  Points out;
  for (std::size_t i = 0; i < text.size();) {
    utf8proc_int32_t point = 0;
    i += static_cast<std::size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + i),
                                                   static_cast<utf8proc_ssize_t>(text.size() - i), &point));
    out.push_back(static_cast<char32_t>(point));
  }
  return out;
}

bool in_any(char32_t c, std::initializer_list<std::pair<char32_t, char32_t>> ranges) {
  for (const auto& [low, high] : ranges) {
    if (low <= c && c <= high) return true;
  }
  return false;
}

bool is_ignorable(char32_t c) {
  return in_any(c, {{0xAD, 0xAD},
                    {0x34F, 0x34F},
                    {0x61C, 0x61C},
                    {0x115F, 0x1160},
                    {0x17B4, 0x17B5},
                    {0x180B, 0x180F},
                    {0x200B, 0x200F},
                    {0x202A, 0x202E},
                    {0x2060, 0x206F},
                    {0x3164, 0x3164},
                    {0xFE00, 0xFE0F},
                    {0xFEFF, 0xFEFF},
                    {0xFFA0, 0xFFA0},
                    {0xFFF0, 0xFFFB},
                    {0x1BCA0, 0x1BCA3},
                    {0x1D173, 0x1D17A},
                    {0xE0000, 0xE0FFF}});
}
bool is_selector(char32_t c) {
  return in_any(c, {{0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}, {0x180B, 0x180D}, {0x180F, 0x180F}});
}
bool is_pictograph(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass ==
         UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}
bool joins(char32_t c) {
  return in_any(c, {{0x600, 0x7FF},     {0x840, 0xDFF},     {0xF00, 0x109F},    {0x1700, 0x18AF},
                    {0x1900, 0x1C4F},   {0xA800, 0xA82F},   {0xA840, 0xA8FF},   {0xA980, 0xA9FF},
                    {0xAA60, 0xAA7F},   {0xAAE0, 0xAAFF},   {0xABC0, 0xABFF},   {0xFB50, 0xFDFF},
                    {0xFE70, 0xFEFC},   {0x10A00, 0x10A5F}, {0x10AC0, 0x10AFF}, {0x10B80, 0x10BAF},
                    {0x10D00, 0x10D3F}, {0x10F30, 0x10FDF}, {0x11000, 0x11FFF}, {0x1E900, 0x1E95F}});
}

// True for a whole flag of tags after `flag` that ends right before `end`.
bool is_flag(const Points& in, std::size_t flag, std::size_t end) {
  if (in[flag] != 0x1F3F4 || in[end - 1] != 0xE007F) return false;
  std::string name;
  for (std::size_t i = flag + 1; i + 1 < end; ++i) {
    if (in[i] < 0xE0000 || in[i] > 0xE007F) return false;
    name += static_cast<char>(in[i] - 0xE0000);
  }
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char c : name) {
    if (!letter(c) && !digit(c)) return false;
  }
  if (name.size() >= 3 && name.size() <= 6 && letter(name[0]) && letter(name[1])) return true;
  return name.size() >= 4 && name.size() <= 7 && digit(name[0]) && digit(name[1]) && digit(name[2]);
}

std::string judged(std::string_view text) {
  const Points in = points_of(text);
  std::vector<bool> keep(in.size(), true);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!is_ignorable(in[i])) continue;
    const char32_t c = in[i];
    std::size_t b = i;  // one past the visible character before
    while (b > 0 && is_ignorable(in[b - 1])) --b;
    std::size_t a = i;
    while (a < in.size() && is_ignorable(in[a])) ++a;
    const char32_t before = b > 0 ? in[b - 1] : 0;
    const char32_t after = a < in.size() ? in[a] : 0;
    std::optional<char32_t> kept;  // the last kept one of the run
    for (std::size_t k = b; k < i; ++k) {
      if (keep[k]) kept = in[k];
    }
    const auto beside = [&](auto&& is) { return is(before) || is(after); };
    const auto within = [&](char32_t low, char32_t high) {
      return beside([&](char32_t any) { return any >= low && any <= high; });
    };
    bool stays = false;
    bool tags = false;
    for (std::size_t end = i + 1; b > 0 && end <= a && !tags; ++end) tags = is_flag(in, b - 1, end);
    if (c >= 0xE0000 && c <= 0xE007F) {
      stays = tags;
    } else if (is_selector(c)) {
      const bool han =
          in_any(before, {{0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFD}});
      if (c < 0x2000) {
        stays = in_any(before, {{0x1800, 0x18AF}, {0x11660, 0x1167F}});
      } else if (c > 0xFFFF) {
        stays = han;
      } else if (c >= 0xFE0E) {
        stays = is_pictograph(before) ||
                (before != 0 && before < 0x80 &&
                 std::string_view("0123456789#*").find(static_cast<char>(before)) != std::string_view::npos);
      } else {
        stays = before > 0xFF && !is_pictograph(before);
      }
      stays = stays && !kept;
    } else if (c == 0x200D || c == 0x200C) {
      bool emoji = is_pictograph(before);
      if (before >= 0x1F3FB && before <= 0x1F3FF) emoji = b > 1 && is_pictograph(in[b - 2]);
      const bool free = !kept || is_selector(*kept);
      const bool flag = kept && *kept >= 0xE0000 && *kept <= 0xE007F;
      stays = free && beside(joins);
      if (c == 0x200D) stays = (free || flag) && (beside(joins) || (emoji && is_pictograph(after)));
    } else if (!kept) {
      if (c == 0x200B) {
        stays = beside([](char32_t any) {
          return in_any(any, {{0xE00, 0xEFF},
                              {0xF00, 0x109F},
                              {0x1780, 0x17FF},
                              {0x1950, 0x19FF},
                              {0x1A20, 0x1AAF},
                              {0x1B00, 0x1B7F},
                              {0xA980, 0xA9FF},
                              {0xAA60, 0xAADF}});
        });
      } else if (c == 0x200E || c == 0x200F || c == 0x61C) {
        stays = within(0x590, 0x8FF) || within(0xFB1D, 0xFDFF) || within(0xFE70, 0xFEFC) ||
                within(0x10800, 0x10FFF) || within(0x1E800, 0x1EFFF);
      } else if (c == 0x115F || c == 0x1160) {
        stays = within(0x1100, 0x11FF) || within(0xA960, 0xA97F) || within(0xD7B0, 0xD7FF);
      } else if (c == 0x180E) {
        stays = within(0x1800, 0x18AF) || within(0x11660, 0x1167F);
      } else if (c == 0x34F) {
        const auto mark = [](char32_t any) {
          return utf8proc_category(static_cast<utf8proc_int32_t>(any)) == UTF8PROC_CATEGORY_MN;
        };
        stays = before > 0x7F && beside(mark);
      } else if (c >= 0x1BCA0 && c <= 0x1BCA3) {
        stays = within(0x1BC00, 0x1BC9F);
      } else if (c >= 0x1D173 && c <= 0x1D17A) {
        stays = within(0x1D100, 0x1D1FF);
      }
    }
    keep[i] = stays;
  }
  std::string out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (keep[i]) append_utf8(out, in[i]);
  }
  return out;
}

constexpr char32_t kVisible[] = {
    'a',   '1',     '#',     ' ',     0xE9,    0x301,   0x5D0,   0x5B8,   0x627,   0x645,  0x6F2,  0x915,
    0x94D, 0xE01,   0x1100,  0x1161,  0x1780,  0x1820,  0x2229,  0x2603,  0x2640,  0x20E3, 0x3042, 0x845B,
    0xA9,  0x1F1E9, 0x1F308, 0x1F3F4, 0x1F3FD, 0x1F468, 0x1BC00, 0x1D100, 0x20000, 0xFE70, 0x3131, 0xFF21};
constexpr char32_t kInvisible[] = {0xAD,    0x34F,   0x61C,   0x115F,  0x1160,  0x17B4,  0x180B,  0x180E,
                                   0x180F,  0x200B,  0x200C,  0x200D,  0x200E,  0x200F,  0x202E,  0x2060,
                                   0x2066,  0x206F,  0x3164,  0xFE00,  0xFE0E,  0xFE0F,  0xFEFF,  0xFFA0,
                                   0xFFF9,  0x1BCA0, 0x1D173, 0xE0001, 0xE0031, 0xE0067, 0xE0062, 0xE0065,
                                   0xE007F, 0xE0100, 0xE01EF, 0xE0FFF};

rc::Gen<std::string> texts() {
  const auto point = rc::gen::oneOf(rc::gen::elementOf(Points(std::begin(kVisible), std::end(kVisible))),
                                    rc::gen::elementOf(Points(std::begin(kInvisible), std::end(kInvisible))));
  return rc::gen::map(rc::gen::container<Points>(point), [](const Points& points) {
    std::string out;
    for (const char32_t c : points) append_utf8(out, c);
    return out;
  });
}

RC_GTEST_PROP(Invisible, AgreesWithTheJudge, ()) {
  const std::string text = *texts();
  RC_ASSERT(filtered(text) == judged(text));
}

RC_GTEST_PROP(Invisible, IsIdempotent, ()) {
  const std::string once = filtered(*texts());
  RC_ASSERT(filtered(once) == once);
  RC_ASSERT(is_utf8(once));
}

// Every character there is, between letters of several scripts and after a flag.
TEST(Invisible, AgreesWithTheJudgeOnEveryCharacter) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    if (c > 0x20000 && c < 0xE0000 && c % 97 != 0) continue;  // nothing but ideographs and nothing
    std::string text = "x";
    append_utf8(text, c);
    text += "x\u0645";
    append_utf8(text, c);
    text += "\U0001F600";
    append_utf8(text, c);
    text += "\u845B";
    append_utf8(text, c);
    ASSERT_EQ(filtered(text), judged(text)) << std::hex << static_cast<unsigned>(c);
  }
}

TEST(Invisible, ReportsWhatItRemoved) {
  const std::string_view text = "a\u202Eb\U000E0041\U000E0042c\u200Bd";
  Edits edits("invisible", text);
  std::uint64_t steps = 0;
  invisible(text, edits, steps);
  EXPECT_EQ(edits.changes(), (std::vector<FilterChange>{{"invisible", "bidi control", 1, 1, 3},
                                                        {"invisible", "tag character", 2, 5, 8},
                                                        {"invisible", "zero-width character", 1, 14, 3}}));
}

TEST(Invisible, IsLinearOnLongRuns) {
  for (const std::string_view unit : {"\u200D", "\u200C", "\U000E0067", "\U0001F3F4\U000E0067", "\uFE0F",
                                      "\U0001F468\u200D", "\u0645\u200C", "\u202E", "\u2019", "a"}) {
    for (const std::size_t size : {100'000U, 1'000'000U}) {
      std::string text = "\U0001F3F4";
      while (text.size() < size) text += unit;
      std::uint64_t steps = 0;
      filtered(text, steps);
      EXPECT_LE(steps, 4 * text.size()) << unit;
    }
  }
}

}  // namespace
}  // namespace parley::guard
