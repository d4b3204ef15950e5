#include "parley/model/usage_ledger.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace parley {
namespace {

CallRecord call(std::uint64_t input, std::uint64_t output) {
  CallRecord record;
  record.provider = "openai";
  record.model = "gpt-4o";
  record.attempts = 1;
  record.usage.input = input;
  record.usage.output = output;
  return record;
}

// USAGE1, USAGE2
TEST(UsageLedger, KeepsTotalsOfWhatItNoLongerKeeps) {
  UsageLedger ledger(3);
  for (std::uint64_t i = 1; i <= 10; ++i) ledger.add(call(i, 1));
  ASSERT_EQ(ledger.records().size(), 3U);
  EXPECT_EQ(ledger.records().front().usage.input, 8U);
  EXPECT_EQ(ledger.total().calls, 10U);
  EXPECT_EQ(ledger.total().fresh, 55U);
  EXPECT_EQ(ledger.total().output, 10U);
}

// USAGE1
TEST(UsageLedger, StopsAtTheLargestNumber) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  UsageLedger ledger;
  ledger.add(call(kMost - 1, kMost));
  ledger.add(call(5, 5));
  EXPECT_EQ(ledger.total().fresh, kMost);
  EXPECT_EQ(ledger.total().output, kMost);
}

TEST(UsageLedger, CountsWhatCameFromACacheOnce) {
  UsageLedger ledger;
  CallRecord cached = call(100, 10);
  cached.usage.cache_read = 70;
  cached.usage.cache_write = 20;
  ledger.add(cached);
  EXPECT_EQ(ledger.total().fresh, 10U);
  EXPECT_EQ(ledger.total().cache_read, 70U);
  EXPECT_EQ(ledger.total().cache_write, 20U);
  // A provider that cannot count is not believed into the negative.
  cached.usage.cache_read = 700;
  ledger.add(cached);
  EXPECT_EQ(ledger.total().fresh, 10U);
}

// USAGE3
TEST(UsageLedger, CountsCallsWithoutUsage) {
  UsageLedger ledger;
  CallRecord silent = call(0, 0);
  silent.usage = {};
  ledger.add(silent);
  silent.attempts = 0;  // nothing was sent, so nothing was spent
  silent.failure = FailureKind::InvalidRequest;
  ledger.add(silent);
  EXPECT_EQ(ledger.total().unreported, 1U);
  EXPECT_EQ(ledger.total().unpriced, 1U);
  EXPECT_EQ(ledger.total().failed, 1U);
}

TEST(UsageLedger, KeepsPurposesAndModelsApart) {
  UsageLedger ledger;
  ledger.add(call(1, 1));
  CallRecord other = call(2, 2);
  other.purpose = Purpose::Compression;
  ledger.add(other);
  other.model = "gpt-4o-mini";
  ledger.add(other);
  EXPECT_EQ(ledger.rows().size(), 3U);
  EXPECT_EQ(ledger.total(Purpose::Chat).fresh, 1U);
  EXPECT_EQ(ledger.total(Purpose::Compression).fresh, 4U);
  EXPECT_EQ(to_string(ledger.rows().back().purpose), "compression");
}

TEST(UsageLedger, IsSafeFromManyThreads) {
  UsageLedger ledger(100);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) ledger.add(call(1, 1));
    });
  }
  threads.clear();
  EXPECT_EQ(ledger.total().calls, 2000U);
}

// PRICE1
TEST(Prices, TakeTheLongestBeginning) {
  const PriceTable table(
      {{"gpt-4o", "", 2, 8, {}, {}}, {"gpt-4o-mini", "", 1, 4, {}, {}}, {"gpt", "azure", 9, 9, {}, {}}});
  EXPECT_EQ(table.find("openai", "gpt-4o-2024")->input, 2);
  EXPECT_EQ(table.find("openai", "gpt-4o-mini-x")->input, 1);
  EXPECT_EQ(table.find("azure", "gpt-4o-mini-x")->input, 9);
  EXPECT_EQ(table.find("openai", "claude"), nullptr);
}

// PRICE2, PRICE3
TEST(Prices, CountFreshAndCachedTokensApart) {
  const PriceTable table({{"m", "", 10, 100, 1, 20}});
  Usage usage;
  EXPECT_FALSE(table.cost("p", "m", usage));
  usage.input = 1'000'000;
  usage.output = 0;
  EXPECT_DOUBLE_EQ(*table.cost("p", "m", usage), 10);
  usage.cache_read = 500'000;
  usage.cache_write = 250'000;
  EXPECT_DOUBLE_EQ(*table.cost("p", "m", usage), 2.5 + 0.5 + 5);
  EXPECT_FALSE(table.cost("p", "x", usage));
}

TEST(Prices, AreReadFromJson) {
  const auto table = PriceTable::parse(
      R"([{"model":"m","input":1.5,"output":2,"cache_read":0.5},{"model":"n","provider":"p","input":0,"output":0}])");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find("p", "n")->provider, "p");
  EXPECT_EQ(table->find("p", "m")->cache_read, 0.5);
  PriceTable own = PriceTable::published();
  own.prefer(table->rows());
  EXPECT_EQ(own.find("x", "m")->input, 1.5);
  const std::pair<std::string_view, Code> bad[] = {
      {"{}", Code::WrongType},
      {"[{\"model\":\"m\"}]", Code::Missing},
      {R"([{"model":1,"input":1,"output":1}])", Code::WrongType},
      {R"([{"model":"m","input":-1,"output":1}])", Code::Invalid},
      {R"([{"model":"m","input":"1","output":1}])", Code::WrongType},
      {"[", Code::Malformed},
  };
  for (const auto& [text, code] : bad) {
    const auto refused = PriceTable::parse(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, code) << text;
  }
}

TEST(Prices, PublishedRowsAreUsable) {
  const PriceTable table = PriceTable::published();
  EXPECT_EQ(table.find("openai", "gpt-4o-mini-2024-07-18")->input, 0.15);
  EXPECT_EQ(table.find("ollama", "gpt-4o")->input, 0);
  for (const Price& row : table.rows()) {
    EXPECT_LE(row.cache_read.value_or(row.input), row.input) << row.model;
    EXPECT_GE(row.output, row.input) << row.model;
  }
}

}  // namespace
}  // namespace parley
