// Runs the cases in tests/streams/cases, whole and cut everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../property/generate.h"
#include "cases.h"
#include "parley/base/text.h"
#include "parley/dialect/stream.h"
#include "transcript.h"

namespace parley::test {
namespace {

const std::vector<StreamCase>& cases() {
  static const std::vector<StreamCase> all = stream_cases();
  return all;
}

std::vector<std::string_view> cut(std::string_view bytes, const std::vector<std::size_t>& places) {
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  for (const std::size_t place : places) {
    pieces.push_back(bytes.substr(from, place - from));
    from = place;
  }
  pieces.push_back(bytes.substr(from));
  return pieces;
}

TEST(Streams, ComeOutAsTheCasesSay) {
  ASSERT_FALSE(cases().empty());
  for (const StreamCase& each : cases()) {
    const Transcript transcript = transcript_of(each.dialect, {each.bytes});
    EXPECT_EQ(transcript.events + "----\n" + transcript.message, each.expected) << each.place;
  }
}

TEST(Streams, S1_AreTheSameWhereverTheyAreCut) {
  for (const StreamCase& each : cases()) {
    const Transcript whole = transcript_of(each.dialect, {each.bytes});
    for (std::size_t place = 0; place <= each.bytes.size(); ++place) {
      ASSERT_EQ(transcript_of(each.dialect, cut(each.bytes, {place})), whole)
          << each.place << " at " << place;
    }
    std::vector<std::size_t> everywhere(each.bytes.size());
    for (std::size_t i = 0; i < everywhere.size(); ++i) everywhere[i] = i;
    EXPECT_EQ(transcript_of(each.dialect, cut(each.bytes, everywhere)), whole) << each.place;
  }
}

TEST(Streams, S1_AreTheSameInTenThousandRandomCuts) {
  Random random(7);
  std::vector<Transcript> wholes;
  wholes.reserve(cases().size());
  for (const StreamCase& each : cases()) wholes.push_back(transcript_of(each.dialect, {each.bytes}));
  for (int i = 0; i < 10000; ++i) {
    const std::size_t which = random.below(cases().size());
    const StreamCase& each = cases()[which];
    std::vector<std::size_t> places(1 + random.below(12));
    for (std::size_t& place : places) place = random.below(each.bytes.size() + 1);
    std::sort(places.begin(), places.end());
    ASSERT_EQ(transcript_of(each.dialect, cut(each.bytes, places)), wholes[which]) << each.place;
  }
}

// S2 to S4 and S6 on streams that die anywhere.
TEST(Streams, S2_EndOnceHoweverTheyDie) {
  for (const StreamCase& each : cases()) {
    for (std::size_t size = 0; size <= each.bytes.size(); ++size) {
      StreamReader reader = StreamReader::of(each.dialect).value();
      std::size_t ends = 0;
      bool was_last = true;
      std::map<std::uint64_t, bool> ended;
      const OnStreamEvent check = [&](const StreamEvent& event) {
        was_last &= ends == 0;
        if (std::holds_alternative<stream::Done>(event) || std::holds_alternative<stream::Truncated>(event) ||
            std::holds_alternative<stream::Failed>(event)) {
          ++ends;
        } else if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
          ended.try_emplace(start->block, false);
        } else if (const auto* delta = std::get_if<stream::Delta>(&event)) {
          ASSERT_TRUE(ended.contains(delta->block));
          EXPECT_TRUE(!ended[delta->block] || delta->replaces) << each.place << " of " << size;
          EXPECT_TRUE(is_utf8(delta->text));
        } else if (const auto* end = std::get_if<stream::BlockEnd>(&event)) {
          ASSERT_TRUE(ended.contains(end->block));
          EXPECT_FALSE(ended[end->block]);
          ended[end->block] = true;
        }
        if (std::holds_alternative<stream::Done>(event)) {
          for (const auto& [block, has_ended] : ended)
            EXPECT_TRUE(has_ended) << each.place << " block " << block;
        }
      };
      reader.feed(std::string_view(each.bytes).substr(0, size), check);
      reader.finish(check);
      reader.feed(each.bytes, check);
      reader.finish(check);
      ASSERT_EQ(ends, 1U) << each.place << " of " << size;
      ASSERT_TRUE(was_last);
    }
  }
}

TEST(Streams, AreForDialectsThatHaveThem) {
  EXPECT_EQ(StreamReader::of(Dialect::OpenManus).error().code, Code::Unsupported);
  EXPECT_TRUE(StreamReader::of(Dialect::Converse));
}

TEST(Accumulator, TakesEventsThatNobodyRead) {
  Accumulator accumulator(Dialect::OpenAI);
  const StreamEvent events[] = {
      stream::Delta{7, stream::DeltaKind::Text, "no such block", false},
      stream::BlockEnd{7},
      stream::BlockStart{2, BlockType::Text, {}, {}},
      stream::Delta{2, stream::DeltaKind::Text, "\xC3", false},
      stream::Delta{2, stream::DeltaKind::Text, "\xA9\xFF", false},
      stream::BlockStart{1, BlockType::Raw, {}, {}},
      stream::Delta{1, stream::DeltaKind::Json, "{", false},
      stream::Done{Finish::Stop, {}},
  };
  for (const StreamEvent& event : events) accumulator.add(event);
  const Accumulated first = accumulator.take();
  EXPECT_EQ(first.message.blocks(), (std::vector<Block>{TextBlock{"\u00E9\uFFFD"}}));
  EXPECT_FALSE(first.is_truncated);
  const Accumulated second = accumulator.take();
  EXPECT_TRUE(second.message.blocks().empty());
  EXPECT_TRUE(second.is_truncated);
}

TEST(Streams, KeepTheirLimits) {
  const std::string stream =
      "data: {\"choices\":[{\"delta\":{\"content\":\"0123456789\"}}]}\n\ndata: [DONE]\n\n";
  const auto events = [&](const StreamLimits& limits) {
    return transcript_of(Dialect::OpenAI, cut(stream, {10, 30}), limits).events;
  };
  const std::string good = events({});
  EXPECT_TRUE(good.ends_with("done  \"\"\n")) << good;
  EXPECT_EQ(events({.bytes = stream.size()}), good);
  EXPECT_NE(events({.bytes = stream.size() - 1}).find("failed limit_exceeded"), std::string::npos);
  EXPECT_NE(events({.frame = 20}).find("failed limit_exceeded"), std::string::npos);
  EXPECT_NE(events({.json = {.bytes = 20}}).find("failed limit_exceeded"), std::string::npos);
  EXPECT_NE(events({.json = {.depth = 2}}).find("failed limit_exceeded"), std::string::npos);
}

}  // namespace
}  // namespace parley::test
