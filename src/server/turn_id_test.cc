#include "server/turn_id.h"

#include <gtest/gtest.h>

namespace parley::server {
namespace {

TEST(TurnId, NamesASessionThatIsCalledLikeItsFirstTurn) {
  const TurnId id{.session = "resp_01J", .turn = "01J"};
  EXPECT_EQ(to_id("resp_", id), "resp_01J");
  EXPECT_EQ(turn_id_of("resp_", "resp_01J"), id);
  EXPECT_EQ(turn_id_of("chatcmpl-", "chatcmpl-9"), (TurnId{.session = "chatcmpl-9", .turn = "9"}));
}

TEST(TurnId, NamesAnyOtherSession) {
  for (const std::string session :
       {"conv_123", "alice", "resp_01J", "a b", "\xE2\x82\xAC", "x/y", "~", "chatcmpl-1"}) {
    const TurnId turn{.session = session, .turn = "01K"};
    EXPECT_EQ(turn_id_of("resp_", to_id("resp_", turn)), turn) << to_id("resp_", turn);
    const TurnId item{.session = session, .turn = "01K", .item = "i7"};
    EXPECT_EQ(turn_id_of("msg_", to_id("msg_", item)), item) << to_id("msg_", item);
  }
  EXPECT_EQ(to_id("resp_", {.session = "conv_123", .turn = "01K"}), "resp_01K_conv_123");
}

TEST(TurnId, RefusesWhatIsNotAnId) {
  for (const std::string_view id : {"", "resp", "resp_", "msg_01K", "resp__conv", "resp_01K_", "resp_01K_~",
                                    "resp_01K_~a", "resp_01K_~!!", "resp_01K.0"}) {
    EXPECT_EQ(turn_id_of("resp_", id), std::nullopt) << id;
  }
  EXPECT_EQ(turn_id_of("msg_", "msg_01K"), std::nullopt);  // no item
}

}  // namespace
}  // namespace parley::server
