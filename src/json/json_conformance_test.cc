// A runner over folders of files in JSONTestSuite's naming: y_ must be accepted, n_ refused, i_ is open and
// goes by the table below. Our own cases are in tests/conformance/json; PARLEY_JSON_SUITE names one more
// folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/cursor.h"
#include "json/kernel.h"
#include "json/verdicts_testing.h"
#include "parley/json/json.h"

namespace parley::json {
namespace {

namespace fs = std::filesystem;

// What Json::parse says. A lenient Cursor says the same, but mends lone surrogates.
enum class Verdict { Accepted, LoneSurrogate, InvalidUtf8, Malformed, LimitExceeded };

// The policy for open cases. Numbers keep their spelling, however large; half a surrogate pair is never
// text; nothing but UTF-8 is UTF-8; one byte order mark is skipped; 512 levels and no more.
const std::map<std::string_view, Verdict>& policy() {
  static const std::map<std::string_view, Verdict> table = [] {
    std::map<std::string_view, Verdict> rows;
    const auto add = [&](Verdict verdict, std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) EXPECT_TRUE(rows.emplace(name, verdict).second) << name;
    };
    // Our own.
    add(Verdict::Accepted,
        {"i_number_exponent_400", "i_number_minus_exponent_400", "i_number_huge_exponent",
         "i_number_underflow", "i_number_thirty_digits", "i_number_just_above_uint64",
         "i_number_just_below_int64", "i_number_four_hundred_digits", "i_structure_mark_then_object",
         "i_structure_mark_then_space_then_array", "i_structure_512_arrays", "i_structure_512_objects"});
    add(Verdict::LoneSurrogate,
        {"i_string_surrogate_high_alone", "i_string_surrogate_low_alone", "i_string_surrogate_swapped",
         "i_string_surrogate_two_highs", "i_string_surrogate_high_then_text",
         "i_string_surrogate_high_then_newline_escape", "i_string_surrogate_high_then_bmp",
         "i_string_surrogate_high_then_pair", "i_string_surrogate_pair_then_high",
         "i_string_surrogate_high_then_escaped_backslash", "i_string_surrogate_high_across_64",
         "i_object_surrogate_in_name"});
    add(Verdict::InvalidUtf8,
        {"i_string_utf8_continuation_alone", "i_string_utf8_continuation_behind_character",
         "i_string_utf8_overlong_2", "i_string_utf8_overlong_3", "i_string_utf8_overlong_4",
         "i_string_utf8_surrogate", "i_string_utf8_surrogate_pair", "i_string_utf8_above_10ffff",
         "i_string_utf8_five_bytes", "i_string_utf8_byte_ff", "i_string_utf8_cut_2", "i_string_utf8_cut_3",
         "i_string_utf8_cut_4", "i_string_utf8_cut_before_ascii", "i_string_utf8_latin_1",
         "i_string_utf8_cut_across_64", "i_string_utf8_bad_far_in", "i_object_utf8_in_name"});
    add(Verdict::Malformed, {"i_structure_utf16le", "i_structure_utf16be", "i_structure_utf16le_with_mark",
                             "i_structure_utf16be_with_mark", "i_structure_utf32le_with_mark"});
    add(Verdict::LimitExceeded, {"i_structure_513_arrays", "i_structure_513_objects"});
    // JSONTestSuite's.
    add(Verdict::Accepted,
        {"i_number_double_huge_neg_exp", "i_number_huge_exp", "i_number_neg_int_huge_exp",
         "i_number_pos_double_huge_exp", "i_number_real_neg_overflow", "i_number_real_pos_overflow",
         "i_number_real_underflow", "i_number_too_big_neg_int", "i_number_too_big_pos_int",
         "i_number_very_big_negative_int", "i_structure_500_nested_arrays",
         "i_structure_UTF-8_BOM_empty_object"});
    add(Verdict::LoneSurrogate,
        {"i_object_key_lone_2nd_surrogate", "i_string_1st_surrogate_but_2nd_missing",
         "i_string_1st_valid_surrogate_2nd_invalid", "i_string_incomplete_surrogate_and_escape_valid",
         "i_string_incomplete_surrogate_pair", "i_string_incomplete_surrogates_escape_valid",
         "i_string_invalid_lonely_surrogate", "i_string_invalid_surrogate",
         "i_string_inverted_surrogates_U+1D11E", "i_string_lone_second_surrogate"});
    add(Verdict::InvalidUtf8,
        {"i_string_UTF-8_invalid_sequence", "i_string_UTF8_surrogate_U+D800", "i_string_invalid_utf-8",
         "i_string_iso_latin_1", "i_string_lone_utf8_continuation_byte", "i_string_not_in_unicode_range",
         "i_string_overlong_sequence_2_bytes", "i_string_overlong_sequence_6_bytes",
         "i_string_overlong_sequence_6_bytes_null", "i_string_truncated-utf-8"});
    add(Verdict::Malformed,
        {"i_string_UTF-16LE_with_BOM", "i_string_utf16BE_no_BOM", "i_string_utf16LE_no_BOM"});
    return rows;
  }();
  return table;
}

Verdict verdict_on(const Result<Json>& json) {
  if (json) return Verdict::Accepted;
  switch (json.error().code) {
    case Code::LoneSurrogate:
      return Verdict::LoneSurrogate;
    case Code::InvalidUtf8:
      return Verdict::InvalidUtf8;
    case Code::LimitExceeded:
      return Verdict::LimitExceeded;
    default:
      return Verdict::Malformed;
  }
}

struct Tally {
  std::size_t accepted = 0, refused = 0, open = 0, wrong = 0;
};

void check_file(const fs::path& file, Tally& tally) {
  const std::string name = file.stem();
  const Result<Buffer> buffer = Buffer::from_file(file.c_str(), std::size_t{64} * 1024 * 1024);
  ASSERT_TRUE(buffer.has_value()) << file;
  const Verdict verdict = verdict_on(Json::parse(buffer->view()));
  bool right = false;
  switch (name.front()) {
    case 'y':
      ++tally.accepted;
      right = verdict == Verdict::Accepted;
      break;
    case 'n':
      ++tally.refused;
      right = verdict != Verdict::Accepted;
      break;
    default: {
      ++tally.open;
      const auto row = policy().find(name);
      ASSERT_NE(row, policy().end()) << name << " has no row in the table";
      right = verdict == row->second;
    }
  }
  const bool accepted = verdict == Verdict::Accepted;
  right = right &&
          walked(buffer->view(), false, {{}, false}).good == (accepted || verdict == Verdict::LoneSurrogate);
  right = right && walked(buffer->view(), true).good == (accepted || verdict == Verdict::LoneSurrogate);
  const std::string why = &kernel() == &kScalarKernel ? disagreement(buffer->view()) : "";  // once is enough
  EXPECT_EQ(why, "") << file;
  right = right && why.empty();
  if (!right) ++tally.wrong;
  EXPECT_TRUE(right) << file << " is " << (accepted ? "accepted" : "refused") << " by " << kernel().name;
}

Tally run(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == ".json" && name.size() > 2 && name[1] == '_')
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const Kernel& chosen = kernel();
  Tally tally;
  for (const Kernel* each : kernels()) {
    if (!each->supported()) continue;
    use_kernel(*each);
    tally = {};
    for (const fs::path& file : files) check_file(file, tally);
  }
  use_kernel(chosen);
  return tally;
}

TEST(JsonConformance, HoldsOnOurOwnCasesAndOnASuiteFromOutsideIfOneIsNamed) {
  if (const char* outside = std::getenv("PARLEY_JSON_SUITE")) {
    const Tally tally = run(outside);
    std::cout << tally.accepted << " to be accepted, " << tally.refused << " to be refused, " << tally.open
              << " open, " << tally.wrong << " wrong\n";
    EXPECT_GT(tally.accepted + tally.refused, 0U);
    EXPECT_EQ(tally.wrong, 0U);
  }
  const Tally tally = run(fs::path(PARLEY_SOURCE_DIR) / "tests/conformance/json");
  EXPECT_GE(tally.accepted, 80U);
  EXPECT_GE(tally.refused, 150U);
  EXPECT_GE(tally.open, 45U);
  EXPECT_EQ(tally.wrong, 0U);
}

}  // namespace
}  // namespace parley::json
