#include "parley/server/journal.h"

#include <gtest/gtest.h>

#include <random>

namespace parley::server {
namespace {

// Events as text, to compare them.
std::string line_of(const StreamEvent& event) {
  if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
    return "start " + std::to_string(start->block) + " " + std::string(to_string(start->type)) + " " +
           start->id.str() + " " + start->name.str() + (start->is_refusal ? " refusal" : "") +
           (start->is_custom ? " custom" : "");
  }
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    return "delta " + std::to_string(delta->block) + " " + std::to_string(static_cast<int>(delta->kind)) +
           " " + std::string(delta->text) + (delta->replaces ? " replaces" : "");
  }
  if (const auto* end = std::get_if<stream::BlockEnd>(&event)) return "end " + std::to_string(end->block);
  return "other";
}

std::vector<std::string> replayed(const Journal& journal) {
  std::vector<std::string> out;
  Journal::Cursor cursor;
  journal.replay(cursor, [&](const StreamEvent& event) { out.push_back(line_of(event)); });
  return out;
}

void add(Journal& journal, std::vector<std::string>& lines, const StreamEvent& event) {
  journal.add(event);
  lines.push_back(line_of(event));
}

// An answer of a few blocks whose deltas are mixed.
std::vector<std::string> fill(Journal& journal, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> lines;
  const BlockType types[] = {BlockType::Thinking, BlockType::Text, BlockType::ToolUse, BlockType::Raw};
  const stream::DeltaKind kinds[] = {stream::DeltaKind::Thinking, stream::DeltaKind::Text,
                                     stream::DeltaKind::Arguments, stream::DeltaKind::Json};
  const std::size_t count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    add(journal, lines, stream::BlockStart{10 * i, types[i], "id", "name", false, i == 2 && seed % 2 == 0});
  }
  for (int i = 0; i < 50; ++i) {
    const std::size_t block = random() % count;
    const std::string text(random() % (random() % 10 == 0 ? 3000 : 12), static_cast<char>('a' + i % 26));
    const bool is_signature = types[block] == BlockType::Thinking && random() % 5 == 0;
    const bool replaces = is_signature || random() % 20 == 0;
    const stream::DeltaKind kind = is_signature ? stream::DeltaKind::Signature : kinds[block];
    add(journal, lines, stream::Delta{10 * block, kind, text, replaces});
  }
  for (std::size_t i = 0; i < count; ++i) add(journal, lines, stream::BlockEnd{10 * i});
  return lines;
}

TEST(Journal, ReplaysWhatWasAdded) {  // JOURNAL1
  for (unsigned seed = 0; seed < 100; ++seed) {
    Journal journal;
    const std::vector<std::string> lines = fill(journal, seed);
    EXPECT_EQ(replayed(journal), lines) << seed;
  }
}

TEST(Journal, IgnoresOtherEvents) {  // JOURNAL1
  Journal journal;
  journal.add(stream::Start{"id", "model"});
  journal.add(stream::UsageUpdate{});
  journal.add(stream::Done{});
  EXPECT_TRUE(journal.empty());
}

TEST(Journal, ContinuesAtItsCursor) {  // JOURNAL2
  Journal journal;
  Journal::Cursor cursor;
  std::vector<std::string> lines, got;
  const auto on_event = [&](const StreamEvent& event) { got.push_back(line_of(event)); };
  add(journal, lines, stream::BlockStart{0, BlockType::Text, {}, {}});
  for (int i = 0; i < 20; ++i) {
    add(journal, lines, stream::Delta{0, stream::DeltaKind::Text, "word " + std::to_string(i), false});
    if (i % 3 == 0) journal.replay(cursor, on_event);
    if (i == 10) add(journal, lines, stream::BlockStart{1, BlockType::ToolUse, "call", {}});
    if (i > 10) add(journal, lines, stream::Delta{1, stream::DeltaKind::Arguments, "{", false});
  }
  journal.replay(cursor, on_event);
  EXPECT_EQ(got, lines);
  got.clear();
  journal.replay(cursor, on_event);
  EXPECT_TRUE(got.empty());
}

TEST(Journal, TakesOneByteForAShortDelta) {
  Journal journal;
  journal.add(stream::BlockStart{0, BlockType::Text, {}, {}});
  const std::size_t before = journal.encode().size();
  for (int i = 0; i < 100; ++i) journal.add(stream::Delta{0, stream::DeltaKind::Text, "12345", false});
  EXPECT_LE(journal.encode().size(), before + 500 + 100 + 4);
}

TEST(Journal, SurvivesEncoding) {  // JOURNAL3
  for (unsigned seed = 0; seed < 100; ++seed) {
    Journal journal;
    const std::vector<std::string> lines = fill(journal, seed);
    const Result<Journal> again = Journal::decode(journal.encode());
    ASSERT_TRUE(again) << seed;
    EXPECT_EQ(replayed(*again), lines);
    EXPECT_EQ(again->encode(), journal.encode());
    Journal grown = *again;  // and can grow
    journal.add(stream::Delta{0, stream::DeltaKind::Thinking, "more", false});
    grown.add(stream::Delta{0, stream::DeltaKind::Thinking, "more", false});
    EXPECT_EQ(replayed(grown), replayed(journal));
  }
}

TEST(Journal, LeavesOutTheTextsOfAMessage) {  // JOURNAL3
  Journal journal;
  const std::string text(5000, 'x');
  journal.add(stream::BlockStart{0, BlockType::Thinking, {}, {}});
  journal.add(stream::Delta{0, stream::DeltaKind::Thinking, "not in the message", false});
  journal.add(stream::BlockStart{1, BlockType::Text, {}, {}});
  journal.add(stream::Delta{1, stream::DeltaKind::Text, text, false});
  journal.add(stream::BlockStart{.block = 2, .type = BlockType::ToolUse, .id = "call", .name = "add"});
  journal.add(stream::Delta{2, stream::DeltaKind::Arguments, "{\"a\": 1}", false});
  const Message message = *MessageBuilder(Role::Assistant)
                               .text(text)
                               .block(ToolUseBlock{.id = "call", .name = "add", .arguments = "{\"a\": 1}"})
                               .build();
  const std::string bytes = journal.encode_beside(message);
  EXPECT_LT(bytes.size(), 100U);
  const Result<Journal> again = Journal::decode_beside(bytes, message);
  ASSERT_TRUE(again);
  EXPECT_EQ(replayed(*again), replayed(journal));
  EXPECT_EQ(Journal::decode(bytes).error().code, Code::Damaged);  // needs the message
}

TEST(Journal, RefusesDamagedBytes) {  // JOURNAL4
  Journal journal;
  fill(journal, 3);
  const std::string bytes = journal.encode();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Journal::decode(std::string_view(bytes).substr(0, size))) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] = static_cast<char>(random());
    if (const auto decoded = Journal::decode(changed)) replayed(*decoded);  // does not crash
  }
}

// A store has the JSON of a raw block in another spelling.
TEST(Journal, DoesNotRelyOnTheSpellingOfARawBlock) {  // JOURNAL1
  Journal journal;
  std::vector<std::string> lines;
  const std::string spelled = "{ \"a\" : 1 }";
  add(journal, lines, stream::BlockStart{0, BlockType::Raw, "", "", false, false});
  add(journal, lines, stream::Delta{0, stream::DeltaKind::Json, spelled, false});
  add(journal, lines, stream::BlockEnd{0});
  const auto with = [](std::string_view json) {
    return MessageBuilder(Role::Assistant)
        .block(RawBlock{.dialect = "gemini", .json = Json::parse(json).value()})
        .build()
        .value();
  };
  const std::string bytes = journal.encode_beside(with(spelled));
  const auto decoded = Journal::decode_beside(bytes, with(R"({"a":1})"));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(replayed(*decoded), lines);
}

}  // namespace
}  // namespace parley::server
