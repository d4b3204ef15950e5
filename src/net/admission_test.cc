#include "net/admission.h"

#include <gtest/gtest.h>

namespace parley::net {
namespace {

using Verdict = Admission::Verdict;

// ADMISSION1
TEST(Admission, CountsAllAndThoseOfAnAddress) {
  Admission admission(3, 2);
  EXPECT_EQ(admission.enter("a"), Verdict::Admitted);
  EXPECT_EQ(admission.enter("a"), Verdict::Admitted);
  EXPECT_EQ(admission.enter("a"), Verdict::Refused);
  EXPECT_EQ(admission.enter("b"), Verdict::Admitted);
  EXPECT_EQ(admission.enter("c"), Verdict::Refused);
  EXPECT_EQ(admission.admitted(), 3u);
  admission.leave(Verdict::Admitted, "b");
  EXPECT_EQ(admission.enter("a"), Verdict::Refused);
  EXPECT_EQ(admission.enter("c"), Verdict::Admitted);
  admission.leave(Verdict::Admitted, "a");
  EXPECT_EQ(admission.enter("a"), Verdict::Admitted);
}

// ADMISSION1
TEST(Admission, DoesNotCountClientsWithoutAnAddress) {
  Admission admission(3, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(admission.enter(""), Verdict::Admitted);
  EXPECT_EQ(admission.enter(""), Verdict::Refused);
  Admission unlimited(3, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(unlimited.enter("a"), Verdict::Admitted);
}

// ADMISSION2, ADMISSION3
TEST(Admission, LetsOthersInWhileOneAddressIsRefused) {
  Admission admission(100, 1);
  EXPECT_EQ(admission.enter("a"), Verdict::Admitted);
  for (std::size_t i = 0; i < Admission::kRefused; ++i) EXPECT_EQ(admission.enter("a"), Verdict::Refused);
  EXPECT_EQ(admission.enter("a"), Verdict::Dropped);
  EXPECT_EQ(admission.admitted(), 1u);
  EXPECT_EQ(admission.enter("b"), Verdict::Admitted);
  admission.leave(Verdict::Refused, "a");
  EXPECT_EQ(admission.enter("a"), Verdict::Refused);
  admission.leave(Verdict::Admitted, "a");
  EXPECT_EQ(admission.enter("a"), Verdict::Admitted) << "those that were refused are not counted";
}

}  // namespace
}  // namespace parley::net
