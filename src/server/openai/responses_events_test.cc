#include "server/openai/responses_events.h"

#include <gtest/gtest.h>

#include "server/openai/responses_object.h"
#include "server/openai/responses_states_testing.h"

namespace parley::server {
namespace {

struct Seen {
  std::string type;
  std::int64_t sequence = 0;
  Json json;
};

std::vector<Seen> events_of(const TurnState& state, const Journal& journal,
                            const std::vector<std::string>& include = {}) {
  std::vector<Seen> out;
  ResponsesEvents events(include, [&](std::string_view type, std::int64_t sequence, std::string_view json) {
    out.push_back({std::string(type), sequence, Json::parse(json).value()});
  });
  events.begin(state);
  events.end(state, journal);
  return out;
}

std::string types_of(const std::vector<Seen>& events) {
  std::string out;
  for (const Seen& seen : events) {
    std::string_view type = seen.type;
    if (type.starts_with("response.")) type.remove_prefix(9);
    out.append(out.empty() ? "" : " ").append(type);
  }
  return out;
}

// The same stream, followed in steps of `step` journal events.
std::string bytes_in_steps(const TurnState& state, const std::vector<StreamEvent>& said, std::size_t step) {
  std::string out;
  ResponsesEvents events({}, [&](std::string_view type, std::int64_t sequence, std::string_view json) {
    out.append(type).append(std::to_string(sequence)).append(json);
  });
  events.begin(state);
  Journal journal;
  std::size_t count = 0;
  for (const StreamEvent& event : said) {
    journal.add(event);
    if (++count % step == 0) events.follow(journal);
  }
  events.end(state, journal);
  return out;
}

Json last_response(const std::vector<Seen>& events) {
  return events.back().json.get("response").value_or(Json());
}

// EVENTS1
TEST(ResponsesEvents, OfATextAreThoseOfOpenAI) {
  const Said said = text_said({"Hel", "lo"});
  EXPECT_EQ(types_of(events_of(completed(said), said.journal)),
            "created in_progress output_item.added content_part.added output_text.delta output_text.delta "
            "output_text.done content_part.done output_item.done completed");
}

TEST(ResponsesEvents, OfATurnInTheBackgroundHaveItQueuedFirst) {
  TurnState state = completed(text_said({"a"}));
  state.request = Json::parse(R"({"background":true})").value();
  const auto events = events_of(state, text_said({"a"}).journal);
  EXPECT_TRUE(types_of(events).starts_with("created queued in_progress output_item.added"));
  EXPECT_EQ(events[0].json.at("/response/status"), Json::string("queued"));
  EXPECT_EQ(events[2].json.at("/response/status"), Json::string("in_progress"));
}

TEST(ResponsesEvents, OfThinkingAndCallsHaveTheirOwnNames) {
  const Said said = everything_said();
  EXPECT_EQ(
      types_of(events_of(completed(said), said.journal)),
      "created in_progress "
      "output_item.added reasoning_summary_part.added reasoning_summary_text.delta "
      "reasoning_summary_text.done reasoning_summary_part.done output_item.done "
      "output_item.added content_part.added output_text.delta output_text.delta output_text.done "
      "content_part.done content_part.added refusal.delta refusal.done content_part.done output_item.done "
      "output_item.added function_call_arguments.delta function_call_arguments.delta "
      "function_call_arguments.done output_item.done "
      "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done "
      "output_item.added output_item.done completed");
}

// EVENTS2
TEST(ResponsesEvents, AreNumberedFromZeroWithoutAGap) {
  const Said said = everything_said();
  std::int64_t expected = 0;
  for (const Seen& seen : events_of(completed(said), said.journal)) {
    EXPECT_EQ(seen.sequence, expected);
    EXPECT_EQ(seen.json.get("sequence_number"), Json::number(expected++));
    EXPECT_EQ(seen.json.get("type"), Json::string(seen.type));
  }
}

// EVENTS3
TEST(ResponsesEvents, AreTheSameBytesHoweverTheyAreFollowed) {
  for (const TurnStatus status : {TurnStatus::Completed, TurnStatus::Incomplete, TurnStatus::Cancelled}) {
    const Said said = everything_said();
    TurnState state = completed(said);
    state.status = status;
    const std::string whole = bytes_in_steps(state, said.events, 1'000);
    for (std::size_t step = 1; step < 6; ++step) EXPECT_EQ(bytes_in_steps(state, said.events, step), whole);
    const Journal restored =
        Journal::decode_beside(said.journal.encode_beside(said.message), said.message).value();
    EXPECT_EQ(types_of(events_of(state, restored)), types_of(events_of(state, said.journal)));
  }
}

// EVENTS4
TEST(ResponsesEvents, HaveTheItemsThatTheLastResponseHas) {
  const Said said = everything_said();
  for (const TurnStatus status : {TurnStatus::Completed, TurnStatus::Incomplete, TurnStatus::Failed}) {
    TurnState state = completed(said);
    state.status = status;
    for (const std::vector<std::string>& include :
         {std::vector<std::string>{}, std::vector<std::string>{"reasoning.encrypted_content"}}) {
      const auto events = events_of(state, said.journal, include);
      std::vector<Json> done;
      for (const Seen& seen : events) {
        if (seen.type == "response.output_item.done") done.push_back(seen.json.get("item").value());
      }
      EXPECT_EQ(done, last_response(events).get("output").value().elements());
      EXPECT_EQ(last_response(events), to_response(state, ResponseMoment::Now, include));
    }
  }
}

TEST(ResponsesEvents, BeginACallWithItsNameAlsoIfItComesLate) {
  Said said;
  said.add(stream::BlockStart{1, BlockType::ToolUse, {}, {}});
  said.add(stream::BlockStart{1, BlockType::ToolUse, "c1", "f"});
  said.add(stream::Delta{1, stream::DeltaKind::Arguments, "{}"});
  said.finish();
  const auto events = events_of(completed(said), said.journal);
  EXPECT_EQ(events[2].json.at("/item/name"), Json::string("f"));
  EXPECT_EQ(events[2].json.at("/item/call_id"), Json::string("c1"));
  EXPECT_EQ(events[2].json.at("/item/arguments"), Json::string(""));
}

// A client may run a call as soon as it is done.
TEST(ResponsesEvents, DoNotEndACallWhoseArgumentsMayGrow) {
  Said said;
  said.add(stream::BlockStart{1, BlockType::ToolUse, "c1", "f"});
  said.add(stream::Delta{1, stream::DeltaKind::Arguments, "{\"a\":"});
  said.add(stream::BlockStart{2, BlockType::ToolUse, "c2", "g"});
  said.add(stream::Delta{2, stream::DeltaKind::Arguments, "{}"});
  said.add(stream::Delta{1, stream::DeltaKind::Arguments, "1}"});
  said.finish();
  const auto events = events_of(completed(said), said.journal);
  EXPECT_EQ(types_of(events),
            "created in_progress output_item.added function_call_arguments.delta output_item.added "
            "function_call_arguments.delta function_call_arguments.delta function_call_arguments.done "
            "output_item.done function_call_arguments.done output_item.done completed");
  EXPECT_EQ(events[7].json.get("arguments"), Json::string("{\"a\":1}"));
}

TEST(ResponsesEvents, ATextThatIsReplacedIsRightWhenItIsDone) {
  Said said;
  said.add(stream::BlockStart{0, BlockType::Text, {}, {}});
  said.add(stream::Delta{0, stream::DeltaKind::Text, "Helo"});
  said.add(stream::Delta{0, stream::DeltaKind::Text, "Hello", true});
  said.add(stream::Delta{0, stream::DeltaKind::Text, "Hello all", true});
  said.finish();
  const auto events = events_of(completed(said), said.journal);
  EXPECT_EQ(types_of(events),
            "created in_progress output_item.added content_part.added output_text.delta output_text.delta "
            "output_text.done content_part.done output_item.done completed");
  EXPECT_EQ(events[5].json.get("delta"), Json::string(" all"));
  EXPECT_EQ(events[6].json.get("text"), Json::string("Hello all"));
}

// EVENTS5
TEST(ResponsesEvents, OfACutTurnDoNotEndACallThatIsNotKept) {
  Said said = text_said({"I call"});
  said.add(stream::BlockStart{1, BlockType::ToolUse, "c1", "f"});
  said.add(stream::Delta{1, stream::DeltaKind::Arguments, "{\"a\":"});
  said.cut();
  TurnState state = completed(said);
  state.status = TurnStatus::Incomplete;
  state.reason = "client_disconnected";
  const auto events = events_of(state, said.journal);
  EXPECT_EQ(types_of(events),
            "created in_progress output_item.added content_part.added output_text.delta output_text.done "
            "content_part.done output_item.done output_item.added function_call_arguments.delta incomplete");
  EXPECT_EQ(last_response(events).get("output").value().elements().size(), 1U);
}

TEST(ResponsesEvents, OfACutTextEndItAsIncomplete) {
  Said said = text_said({"Hel"});
  TurnState state = completed(said);
  state.status = TurnStatus::Incomplete;
  state.reason = "max_output_tokens";
  const auto events = events_of(state, said.journal);
  EXPECT_EQ(events[events.size() - 2].json.at("/item/status"), Json::string("incomplete"));
  EXPECT_EQ(last_response(events).at("/output/0/status"), Json::string("incomplete"));
  EXPECT_EQ(events.back().type, "response.incomplete");
}

TEST(ResponsesEvents, EndAsTheTurnDid) {
  const Said said = text_said({"a"});
  TurnState state = completed(said);
  state.status = TurnStatus::Failed;
  state.failure = TurnFailure{.kind = FailureKind::RateLimit, .message = "slow down"};
  EXPECT_EQ(events_of(state, said.journal).back().type, "response.failed");
  state.failure.reset();
  state.status = TurnStatus::Incomplete;
  state.reason = "upstream_disconnected";
  const auto failed = events_of(state, said.journal);
  EXPECT_EQ(failed.back().type, "response.failed");
  EXPECT_EQ(last_response(failed).get("status"), Json::string("failed"));
  state.status = TurnStatus::Cancelled;
  state.reason.clear();
  const auto cancelled = events_of(state, said.journal);
  EXPECT_EQ(cancelled.back().type, "response.incomplete");
  EXPECT_EQ(last_response(cancelled).get("status"), Json::string("cancelled"));
}

// EVENTS6
TEST(ResponsesEvents, OfATurnWithoutAJournalComeFromItsAnswer) {
  const Said said = everything_said();
  const auto events = events_of(completed(said), Journal());
  EXPECT_EQ(types_of(events),
            "created in_progress "
            "output_item.added reasoning_summary_part.added reasoning_summary_text.delta "
            "reasoning_summary_text.done reasoning_summary_part.done output_item.done "
            "output_item.added content_part.added output_text.delta output_text.done content_part.done "
            "content_part.added refusal.delta refusal.done content_part.done output_item.done "
            "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done "
            "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done "
            "output_item.added output_item.done completed");
}

TEST(ResponsesEvents, OfAnEmptyAnswerHaveItsEmptyText) {
  Said said;
  said.add(stream::BlockStart{0, BlockType::Text, {}, {}});
  said.finish();
  const std::string expected =
      "created in_progress output_item.added content_part.added output_text.done content_part.done "
      "output_item.done completed";
  EXPECT_EQ(types_of(events_of(completed(said), said.journal)), expected);
  EXPECT_EQ(types_of(events_of(completed(said), Journal())), expected);
}

TEST(ResponsesEvents, OfATurnThatFailedAtOnceHaveNoItems) {
  TurnState state = completed(text_said({}));
  state.status = TurnStatus::Failed;
  state.answer.reset();
  EXPECT_EQ(types_of(events_of(state, Journal())), "created in_progress failed");
}

}  // namespace
}  // namespace parley::server
