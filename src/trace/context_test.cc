#include <gtest/gtest.h>

#include <set>

#include "parley/trace/tracer.h"

namespace parley::trace {
namespace {

constexpr std::string_view kExample = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(Traceparent, IsReadAndWritten) {
  const auto context = parse_traceparent(kExample);
  ASSERT_TRUE(context);
  EXPECT_EQ(hex(context->trace), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(hex(context->span), "b7ad6b7169203331");
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(to_traceparent(*context), kExample);
}

TEST(Traceparent, SaysWhetherATraceIsSampled) {
  const auto context = parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->is_sampled);
  EXPECT_TRUE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")->is_sampled);
}

TEST(Traceparent, OfALaterVersionIsReadAsFarAsItIsKnown) {
  EXPECT_TRUE(parse_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what"));
  EXPECT_TRUE(parse_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
}

TEST(Traceparent, ThatIsMalformedIsRejected) {
  for (const std::string_view bad : {
           "",
           "00",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ",
           "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
           "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
       }) {
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  }
}

TEST(Ids, AreNeverTheSameAndNeverZero) {
  std::set<Id128> traces;
  std::set<std::uint64_t> spans;
  for (int i = 0; i < 1000; ++i) {
    traces.insert(new_trace_id());
    spans.insert(new_span_id());
  }
  EXPECT_EQ(traces.size(), 1000U);
  EXPECT_EQ(spans.size(), 1000U);
  EXPECT_FALSE(traces.contains(Id128{}));
  EXPECT_FALSE(spans.contains(0));
}

}  // namespace
}  // namespace parley::trace
