#include "parley/server/turn_engine.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/hash.h"
#include "server/engine/engine_testing.h"

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

// Every test on every place. Each call of store() opens it once more, as another process would.
class TurnEngineTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<store::Store> store() { return place_.open(); }

 private:
  StorePlace place_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(On, TurnEngineTest, ::testing::ValuesIn(StorePlace::kKinds),
                         [](const auto& kind) { return std::string(kind.param); });

std::vector<std::string> shown(const ManualCall& call) {
  std::vector<std::string> out;
  for (const Message& message : call.request.conversation.messages()) out.push_back(to_line(message));
  return out;
}

TEST_P(TurnEngineTest, StoresTheRequestBeforeTheModelIsAskedAndTheAnswerBeforeItsEnd) {  // TURN1, TURN2
  Bench bench(store());
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  EXPECT_EQ(listener->wait("begun"), "begun");
  EXPECT_EQ(bench.history("s"), Lines{"user: hi"});
  EXPECT_EQ(shown(*call), Lines{"user: hi"});
  const auto running = bench.engine->read(turn->key());
  ASSERT_TRUE(running);
  EXPECT_EQ(running->status, TurnStatus::InProgress);
  call->say("hel");
  call->say("lo");
  call->finish();
  const auto ended = turn->wait();
  ASSERT_TRUE(ended);
  EXPECT_EQ(listener->wait("ended"), "ended completed");
  EXPECT_EQ(listener->lines(),
            (Lines{"begun", "start 0 text", "delta 0 hel", "delta 0 lo", "end 0", "ended completed"}));
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
  EXPECT_EQ(ended->outcome.usage.output, 5U);
  EXPECT_EQ(ended->request, *Json::parse(R"({"a": 1})"));
  const auto read = bench.engine->read(turn->key());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->status, TurnStatus::Completed);
  EXPECT_EQ(read->answer->get_text_content(), "hello");
  EXPECT_EQ(read->outcome, ended->outcome);
  EXPECT_EQ(read->end, ended->end);
  EXPECT_FALSE(*bench.store->holder({"default", "s"}));  // the lease is released
}

TEST_P(TurnEngineTest, ShowsTheModelTheHistory) {
  Bench bench(store());
  bench.ask("s", "one", "first");
  bench.ask("s", "two", "second");
  bench.ask("other", "three", "third");
  EXPECT_EQ(shown(*bench.model->call(1)), (Lines{"user: one", "assistant: first", "user: two"}));
  EXPECT_EQ(shown(*bench.model->call(2)), Lines{"user: three"});
  Bench again(store());  // without a cache
  again.ask("s", "four", "fourth");
  EXPECT_EQ(shown(*again.model->call(0)),
            (Lines{"user: one", "assistant: first", "user: two", "assistant: second", "user: four"}));
}

TEST_P(TurnEngineTest, RunsTurnsOfASessionInOrder) {  // TURN3
  Bench bench(store());
  std::vector<Bench::Started> started;
  for (int i = 0; i < 5; ++i)
    started.push_back(bench.begin(bench.request("s", "request " + std::to_string(i))));
  for (int i = 0; i < 5; ++i) {
    const auto call = bench.model->call(static_cast<std::size_t>(i));
    EXPECT_EQ(bench.model->calls(), static_cast<std::size_t>(i + 1));
    call->say("answer " + std::to_string(i));
    call->finish();
  }
  for (const auto& each : started) EXPECT_TRUE(each.turn->wait());
  Lines expected;
  for (int i = 0; i < 5; ++i) {
    expected.push_back("user: request " + std::to_string(i));
    expected.push_back("assistant: answer " + std::to_string(i));
  }
  EXPECT_EQ(bench.history("s"), expected);
}

TEST_P(TurnEngineTest, RefusesARequestThatFindsAFullQueueOrWaitsTooLong) {  // TURN3
  TurnEngineOptions options;
  options.queue_length = 1;
  options.queue_wait = milliseconds(50);
  Bench bench(store(), options);
  const auto first = bench.begin(bench.request("s", "one"));
  bench.model->call(0);
  const auto second = bench.begin(bench.request("s", "two"));
  const auto third = bench.begin(bench.request("s", "three"));
  EXPECT_EQ(third.listener->wait("refused"), "refused conflict");
  EXPECT_EQ(second.listener->wait("refused"), "refused conflict");
  bench.model->call(0)->finish();
  EXPECT_TRUE(first.turn->wait());
  EXPECT_EQ(bench.model->calls(), 1U);
  EXPECT_EQ(bench.history("s"), Lines{"user: one"});
}

TEST_P(TurnEngineTest, RejectsInterruptsOrForksWhenASessionIsBusy) {  // TURN3, TURN5
  Bench bench(store());
  bench.ask("s", "zero", "nothing");
  const auto first = bench.begin(bench.request("s", "one"));
  const auto call = bench.model->call(1);
  call->say("partial");

  TurnRequest rejected = bench.request("s", "two");
  rejected.on_busy = OnBusy::Reject;
  EXPECT_EQ(bench.begin(rejected).listener->wait("refused"), "refused conflict");

  TurnRequest forked = bench.request("s", "three");
  forked.on_busy = OnBusy::Fork;
  forked.fork_name = "s2";
  const auto fork = bench.begin(forked);
  const auto fork_call = bench.model->call(2);
  EXPECT_EQ(shown(*fork_call), (Lines{"user: zero", "assistant: nothing", "user: three"}));
  EXPECT_EQ(fork.turn->key().session.session, "s2");
  fork_call->finish();
  EXPECT_TRUE(fork.turn->wait());

  TurnRequest interrupting = bench.request("s", "four");
  interrupting.on_busy = OnBusy::Interrupt;
  const auto interrupt = bench.begin(interrupting);
  const auto last = bench.model->call(3);
  EXPECT_EQ(first.listener->wait("ended"), "ended incomplete");
  EXPECT_EQ(first.listener->state()->reason, "interrupted");
  EXPECT_EQ(shown(*last),
            (Lines{"user: zero", "assistant: nothing", "user: one", "assistant: partial", "user: four"}));
  last->finish();
  EXPECT_TRUE(interrupt.turn->wait());
}

TEST_P(TurnEngineTest, ForksAtAnEarlierTurn) {
  Bench bench(store());
  const TurnState first = bench.ask("s", "one", "first");
  bench.ask("s", "two", "second");
  TurnRequest request = bench.request("s", "other");
  request.after = first.end;
  request.fork_name = "s2";
  const auto [turn, listener] = bench.begin(request);
  const auto call = bench.model->call(2);
  EXPECT_EQ(shown(*call), (Lines{"user: one", "assistant: first", "user: other"}));
  call->say("branch");
  call->finish();
  ASSERT_TRUE(turn->wait());
  EXPECT_EQ(turn->key().session.session, "s2");
  EXPECT_EQ(bench.history("s2"),
            (Lines{"user: one", "assistant: first", "user: other", "assistant: branch"}));
  EXPECT_EQ(bench.history("s").size(), 4U);
}

TEST_P(TurnEngineTest, ContinuesASessionThatEndsWithTheNamedTurn) {
  Bench bench(store());
  const TurnState first = bench.ask("s", "one", "first");
  TurnRequest request = bench.request("s", "two");
  request.after = first.end;
  request.fork_name = "s2";
  const auto [turn, listener] = bench.begin(request);
  bench.model->call(1)->finish();
  ASSERT_TRUE(turn->wait());
  EXPECT_EQ(turn->key().session.session, "s");
}

TEST_P(TurnEngineTest, KeepsWhatWasSaidWhenATurnIsCancelled) {  // TURN4, TURN5
  Bench bench(store());
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("some words");
  call->call_tool("c1", "add", "{}");
  turn->cancel();
  const auto state = turn->wait();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, TurnStatus::Cancelled);
  EXPECT_TRUE(call->is_stopped);
  const Lines history = bench.history("s");
  ASSERT_EQ(history.size(), 3U);  // the call is closed by an error
  EXPECT_TRUE(history[1].contains("some words"));
  std::promise<Result<TurnState>> again;
  bench.engine->cancel(turn->key(), *bench.loop,
                       [&](Result<TurnState> result) { again.set_value(std::move(result)); });
  EXPECT_EQ(again.get_future().get()->status, TurnStatus::Cancelled);
  EXPECT_EQ(bench.ask("s", "go on", "yes").status, TurnStatus::Completed);
}

TEST_P(TurnEngineTest, HidesTheAnswerOfAFailedTurnFromTheModel) {  // TURN5
  Bench bench(store());
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("half an ans");
  call->fail_with(FailureKind::Server, true);
  const auto state = turn->wait();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, TurnStatus::Failed);
  EXPECT_EQ(state->answer->get_text_content(), "half an ans");
  EXPECT_EQ(bench.engine->read(turn->key())->answer->get_text_content(), "half an ans");
  bench.ask("s", "again", "whole");
  EXPECT_EQ(shown(*bench.model->call(1)), (Lines{"user: hi", "user: again"}));
}

TEST_P(TurnEngineTest, ReusesTheInputOfAFailedTurnThatIsRetried) {
  Bench bench(store());
  TurnRequest request = bench.request("s", "hi");
  request.retry_key = "key";
  const auto first = bench.begin(request);
  bench.model->call(0)->fail_with(FailureKind::Overloaded, false);
  EXPECT_EQ(first.turn->wait()->status, TurnStatus::Failed);
  EXPECT_EQ(first.turn->wait()->failure->kind, FailureKind::Overloaded);
  request.is_retry = true;
  const auto second = bench.begin(request);
  const auto call = bench.model->call(1);
  EXPECT_EQ(shown(*call), Lines{"user: hi"});
  call->say("hello");
  call->finish();
  ASSERT_TRUE(second.turn->wait());
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
  EXPECT_EQ(bench.engine->read(second.turn->key())->input.size(), 1U);
}

TEST_P(TurnEngineTest, AttachesAnEqualRequestAndReplaysAMarkedRetry) {  // TURN6
  Bench bench(store());
  TurnRequest request = bench.request("s", "hi");
  request.retry_key = "key";
  const auto first = bench.begin(request);
  const auto call = bench.model->call(0);
  call->say("hello");
  const auto second = bench.begin(request);
  EXPECT_EQ(second.listener->wait("delta"), "delta 0 hello");
  call->finish();
  ASSERT_TRUE(first.turn->wait());
  ASSERT_TRUE(second.turn->wait());
  EXPECT_EQ(first.turn->key(), second.turn->key());

  TurnRequest marked = request;
  marked.is_retry = true;
  const auto third = bench.begin(marked);
  const auto replayed = third.turn->wait();
  ASSERT_TRUE(replayed);
  EXPECT_TRUE(replayed->is_replay);
  EXPECT_EQ(third.listener->lines(), first.listener->lines());
  EXPECT_EQ(bench.model->calls(), 1U);

  Bench restarted(store());  // knows it from the store only
  const auto fourth = restarted.begin(marked);
  ASSERT_TRUE(fourth.turn->wait());
  EXPECT_EQ(fourth.turn->key(), first.turn->key());
  EXPECT_EQ(restarted.model->calls(), 0U);

  const auto regenerated = bench.begin(request);  // not marked: a new turn
  bench.model->call(1)->finish();
  ASSERT_TRUE(regenerated.turn->wait());
  EXPECT_NE(regenerated.turn->key(), first.turn->key());
}

TEST_P(TurnEngineTest, TellsEveryFollowerTheSameEvents) {  // TURN8
  Bench bench(store());
  const auto first = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  first.listener->wait("begun");
  for (int i = 0; i < 30; ++i) call->say("word " + std::to_string(i) + " ");
  const auto second = bench.attach(first.turn->key());  // on another loop
  EXPECT_FALSE(second.listener->wait("delta").empty());
  call->call_tool("c1", "add", R"({"a": 1})");
  call->finish(Finish::ToolCalls);
  ASSERT_TRUE(first.turn->wait());
  ASSERT_TRUE(second.turn->wait());
  second.listener->wait("ended");
  EXPECT_EQ(second.listener->lines(), first.listener->lines());
  const auto third = bench.attach(first.turn->key());
  ASSERT_TRUE(third.turn->wait());
  third.listener->wait("ended");
  EXPECT_EQ(third.listener->lines(), first.listener->lines());
  Bench restarted(store());
  const auto fourth = restarted.attach(first.turn->key());
  ASSERT_TRUE(fourth.turn->wait());
  fourth.listener->wait("ended");
  EXPECT_EQ(fourth.listener->lines(), first.listener->lines());
  EXPECT_EQ(restarted.attach({{"default", "s"}, "none"}).listener->wait("refused"), "refused not_found");
}

TEST_P(TurnEngineTest, GoesByTheRuleWhenTheLastFollowerLeaves) {  // TURN9
  Bench bench(store());
  TurnRequest cancelling = bench.request("a", "hi");
  cancelling.disconnect = *disconnect_named("cancel");
  const auto a = bench.begin(cancelling);
  bench.model->call(0)->say("words");
  a.turn->leave();
  const auto stops = [&](std::size_t number) {
    for (int i = 0; i < 2000 && !bench.model->call(number)->is_stopped; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    return bench.model->call(number)->is_stopped.load();
  };
  ASSERT_TRUE(stops(0));
  const auto watch = bench.attach(a.turn->key());
  EXPECT_EQ(watch.turn->wait()->reason, "client_disconnected");

  TurnRequest continuing = bench.request("b", "hi");
  continuing.disconnect = *disconnect_named("continue");
  const auto b = bench.begin(continuing);
  const auto call = bench.model->call(1);
  b.turn->leave();
  call->say("words");
  call->finish();
  EXPECT_EQ(bench.attach(b.turn->key()).turn->wait()->status, TurnStatus::Completed);

  TurnRequest grace = bench.request("c", "hi");
  grace.disconnect = {.rule = Disconnect::Rule::Grace, .grace = milliseconds(100)};
  const auto c = bench.begin(grace);
  bench.model->call(2)->say("words");
  c.turn->leave();
  const auto back = bench.attach(c.turn->key());  // in time
  back.listener->wait("delta");
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_FALSE(bench.model->call(2)->is_stopped);
  back.turn->leave();
  ASSERT_TRUE(stops(2));
  EXPECT_EQ(bench.attach(c.turn->key()).turn->wait()->reason, "client_disconnected");
}

TEST_P(TurnEngineTest, MakesTheModelWaitForASlowFollower) {  // TURN12
  Bench bench(store());
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  listener->backlog_bytes = 1 << 20;
  call->say("words");
  call->say("words");
  for (int i = 0; i < 1000 && call->pauses == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(call->pauses, 1);
  listener->backlog_bytes = 0;
  turn->drained();
  for (int i = 0; i < 1000 && call->resumes == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(call->resumes, 1);
  call->finish();
  EXPECT_TRUE(turn->wait());
}

TEST_P(TurnEngineTest, ShowsTheModelWholeExchangesWithinItsWindow) {  // TURN10
  TurnEngineOptions options;
  options.output_tokens = 100;
  Bench bench(store(), options, 1200);
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "number " + std::to_string(i) + " ";
  for (int i = 0; i < 12; ++i) {
    const TurnState state = bench.ask("s", "request " + std::to_string(i), long_text);
    ASSERT_EQ(state.status, TurnStatus::Completed) << i;
  }
  EXPECT_LT(shown(*bench.model->call(11)).size(), 23U);
  EXPECT_EQ(shown(*bench.model->call(11)).back(), "user: request 11");
  EXPECT_EQ(bench.history("s").size(), 24U);
  const auto turns = bench.engine->items({"default", "s"});
  const auto sent = bench.engine->read_request({{"default", "s"}, turns->back().turn});
  ASSERT_TRUE(sent);
  EXPECT_TRUE(sent->is_identical);  // TURN11, of a window that is cut
}

TEST_P(TurnEngineTest, ProvesWhatWasSent) {  // TURN11
  Bench bench(store());
  bench.ask("s", "one \xE2\x82\xAC", "first");
  TurnRequest request = bench.request("s", "two");
  request.system = Message::system_message("be brief");
  request.tools = {
      {.name = "add", .description = "Adds", .parameters = *Json::parse(R"({"type":"object"})")}};
  request.settings.set(Setting::Temperature, *Json::parse("0.5"));
  const auto [turn, listener] = bench.begin(request);
  const auto call = bench.model->call(1);
  const std::string body = *bench.model->body_of(call->request);
  const auto early = bench.engine->read_request(turn->key());
  ASSERT_TRUE(early) << early.error();
  EXPECT_EQ(early->body, body);
  EXPECT_EQ(early->sha256, "");
  call->say("second");
  call->finish();
  ASSERT_TRUE(turn->wait());
  bench.ask("s", "three", "third");
  const auto own = bench.engine->read_request(turn->key());
  ASSERT_TRUE(own) << own.error();
  EXPECT_EQ(own->body, body);
  EXPECT_EQ(own->sha256, sha256_hex(body));
  EXPECT_TRUE(own->is_identical);
  EXPECT_EQ(own->dialect, "openai");
  Bench restarted(store());
  const auto sent = restarted.engine->read_request(turn->key());
  ASSERT_TRUE(sent) << sent.error();
  EXPECT_TRUE(sent->is_identical);
}

TEST_P(TurnEngineTest, StoresNothingIfARequestIsNotToBeStored) {
  Bench bench(store());
  const TurnState first = bench.ask("s", "one", "first");
  TurnRequest request = bench.request("s", "two");
  request.after = first.end;
  request.is_stored = false;
  const auto [turn, listener] = bench.begin(request);
  const auto call = bench.model->call(1);
  EXPECT_EQ(shown(*call), (Lines{"user: one", "assistant: first", "user: two"}));
  call->say("second");
  call->finish();
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s").size(), 2U);
  EXPECT_EQ(bench.engine->read(turn->key()).error().code, Code::NotFound);
}

TEST_P(TurnEngineTest, ShowsTheWholeConversationToARequestThatIsNotStored) {
  Bench bench(store());
  bench.ask("s", "one", "first");
  ASSERT_TRUE(bench.engine->append({"default", "s"}, {Message::user_message("posted")}));
  Bench other(store());
  other.ask("s", "two", "second");  // as another process would
  TurnRequest request = bench.request("s", "three");
  request.is_stored = false;
  const auto [turn, listener] = bench.begin(request);
  EXPECT_EQ(shown(*bench.model->call(1)), (Lines{"user: one", "assistant: first", "user: posted", "user: two",
                                                 "assistant: second", "user: three"}));
  bench.model->call(1)->finish();
  EXPECT_TRUE(turn->wait());
}

// Agents branch there: a second try of the results of a tool.
TEST_P(TurnEngineTest, ForksBetweenACallAndItsResult) {  // TURN3
  Bench bench(store());
  const auto first = bench.begin(bench.request("resp_T1", "add 1 and 2"));
  bench.model->call(0)->call_tool("c1", "add", "{}");
  bench.model->call(0)->finish(Finish::ToolCalls);
  ASSERT_TRUE(first.turn->wait());
  const store::Position after = first.turn->wait()->end;
  for (const std::string id : {"T2", "T3"}) {
    TurnRequest request = bench.request("resp_T1", "");
    request.key.id = id;
    request.after = after;
    request.fork_name = "resp_" + id;
    request.input = {
        MessageBuilder::like(Message::tool_message("3", "add", "c1")).id(Text("i" + id)).build().value()};
    const auto [turn, listener] = bench.begin(request);
    const auto call = bench.model->call(id == "T2" ? 1 : 2);
    EXPECT_EQ(shown(*call).size(), 3U);
    call->say("three");
    call->finish();
    EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
    EXPECT_EQ(turn->key().session.session, id == "T2" ? "resp_T1" : "resp_T3");
  }
}

TEST_P(TurnEngineTest, KeepsSignedThinkingAfterAFailedAnswer) {  // TURN10
  Bench bench(store());
  const auto thinking = MessageBuilder(Role::Assistant)
                            .block(ThinkingBlock{.thinking = "hm", .signature = "signed"})
                            .block(TextBlock{.text = "fine"})
                            .build();
  ASSERT_TRUE(bench.engine->append({"default", "s"}, {Message::user_message("hi"), thinking.value()}));
  const auto failed = bench.begin(bench.request("s", "one"));
  bench.model->call(0)->say("half");
  bench.model->call(0)->fail_with(FailureKind::Server, true);
  EXPECT_EQ(failed.turn->wait()->status, TurnStatus::Failed);
  bench.ask("s", "two", "second");
  const auto messages = bench.model->call(1)->request.conversation.messages();
  EXPECT_EQ(shown(*bench.model->call(1)).size(), 4U);
  EXPECT_TRUE(std::ranges::any_of(
      messages, [](const Message& message) { return message.has_content_blocks(BlockType::Thinking); }));
}

TEST_P(TurnEngineTest, RefusesAWrongModelAndABrokenHistory) {
  Bench bench(store());
  TurnRequest request = bench.request("s", "hi");
  request.model = "other";
  const auto wrong = bench.begin(request);
  EXPECT_EQ(wrong.turn->wait().error().path, "/model");
  TurnRequest result = bench.request("s", "");
  result.input = {Message::tool_message("3", "add", "call_9")};
  EXPECT_EQ(bench.begin(result).turn->wait().error().code, Code::BrokenHistory);
  EXPECT_EQ(bench.store->head({"default", "s"}).error().code, Code::NotFound);
  EXPECT_EQ(bench.engine->running(), 0U);
}

TEST_P(TurnEngineTest, EndsATurnWhoseOwnerIsGone) {  // TURN7
  TurnKey key;
  {
    // An engine that is killed: its lease expires, nothing is released.
    TurnEngineOptions options;
    options.lease = milliseconds(200);
    options.checkpoint_time = milliseconds(10);
    Bench killed(store(), options);
    TurnRequest request = killed.request("s", "hi");
    const auto [turn, listener] = killed.begin(request);
    const auto call = killed.model->call(0);
    listener->wait("begun");
    call->say("half an answer");
    key = turn->key();
    for (int i = 0; i < 1000; ++i) {
      const auto holder = killed.store->holder(key.session);
      if (holder && *holder && !(*holder)->checkpoint.empty()) break;
      std::this_thread::sleep_for(milliseconds(5));
    }
    // It does nothing any more, until its lease has expired.
    std::promise<void> gate;
    killed.loop->post([&] { gate.get_future().wait(); });
    std::this_thread::sleep_for(milliseconds(400));
    Bench janitor(store());
    const auto state = janitor.engine->read(key);
    ASSERT_TRUE(state) << state.error();
    EXPECT_EQ(state->status, TurnStatus::Failed);
    EXPECT_EQ(state->failure->code, "server_restarted");
    EXPECT_EQ(state->answer->get_text_content(), "half an answer");
    const auto replay = janitor.attach(key);
    ASSERT_TRUE(replay.turn->wait());
    EXPECT_EQ(replay.listener->text(), "half an answer");
    const auto sent = janitor.engine->read_request(key);
    ASSERT_TRUE(sent) << sent.error();
    EXPECT_TRUE(sent->is_identical);  // TURN11
    gate.set_value();
    // The old owner cannot store its answer any more, and says so.
    call->say("the rest");
    call->finish();
    EXPECT_EQ(turn->wait()->status, TurnStatus::Failed);
    EXPECT_EQ(janitor.engine->read(key)->answer->get_text_content(), "half an answer");  // TURN4
  }
}

TEST_P(TurnEngineTest, FollowsAndCancelsATurnOfAnotherEngine) {  // TURN8
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  options.lease = milliseconds(5'000);
  Bench owner(store(), options);
  Bench other(store(), options);
  const auto [turn, listener] = owner.begin(owner.request("s", "hi"));
  const auto call = owner.model->call(0);
  listener->wait("begun");
  call->say("words");
  const auto watch = other.attach(turn->key());
  EXPECT_EQ(watch.listener->wait("delta"), "delta 0 words");
  TurnRequest second = other.request("s", "too");
  second.on_busy = OnBusy::Reject;
  EXPECT_EQ(other.begin(second).turn->wait().error().code, Code::Conflict);
  std::promise<Result<TurnState>> cancelled;
  other.engine->cancel(turn->key(), *other.loop,
                       [&](Result<TurnState> result) { cancelled.set_value(std::move(result)); });
  const Result<TurnState> state = cancelled.get_future().get();
  ASSERT_TRUE(state) << state.error();
  EXPECT_EQ(state->status, TurnStatus::Cancelled);
  EXPECT_EQ(watch.turn->wait()->status, TurnStatus::Cancelled);
  EXPECT_EQ(turn->wait()->status, TurnStatus::Cancelled);  // it lost its lease
  EXPECT_EQ(other.engine->read(turn->key())->status, TurnStatus::Cancelled);
}

TEST_P(TurnEngineTest, AppendsHidesAndRemoves) {
  Bench bench(store());
  const store::SessionKey session{"default", "s"};
  ASSERT_TRUE(
      bench.engine->append(session, {Message::user_message("zero"), Message::assistant_message("fine")}));
  const TurnState turn = bench.ask("s", "one", "first");
  const auto items = bench.engine->items(session);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 4U);
  EXPECT_EQ((*items)[0].turn, "");
  EXPECT_EQ((*items)[2].turn, turn.key.id);
  EXPECT_FALSE((*items)[2].is_answer);
  EXPECT_TRUE((*items)[3].is_answer);
  ASSERT_TRUE(bench.engine->hide(session, {(*items)[0].position}));
  EXPECT_EQ(bench.history("s"), (Lines{"assistant: fine", "user: one", "assistant: first"}));
  EXPECT_EQ(bench.engine->hide(session, {(*items)[0].position}).error().code, Code::NotFound);
  bench.ask("s", "two", "second");
  EXPECT_EQ(shown(*bench.model->call(1)),
            (Lines{"assistant: fine", "user: one", "assistant: first", "user: two"}));
  ASSERT_TRUE(bench.engine->remove(turn.key));
  EXPECT_EQ(bench.engine->read(turn.key).error().code, Code::NotFound);
  EXPECT_EQ(bench.history("s").size(), 5U);
}

TEST_P(TurnEngineTest, ErasesASessionThatIsNamedAfterItsOnlyTurn) {
  Bench bench(store());
  TurnRequest request = bench.request("resp_T1", "hi");
  request.key.id = "T1";
  const auto [turn, listener] = bench.begin(request);
  bench.model->call(0)->finish();
  ASSERT_TRUE(turn->wait());
  ASSERT_TRUE(bench.engine->remove(turn->key()));
  EXPECT_EQ(bench.store->head({"default", "resp_T1"}).error().code, Code::NotFound);
}

TEST_P(TurnEngineTest, StoresRunningTurnsWhenItDrains) {
  TurnKey key;
  {
    Bench bench(store());
    const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
    bench.model->call(0)->say("words");
    const auto waiting = bench.begin(bench.request("s", "waits"));
    bench.engine->drain(milliseconds(10));
    EXPECT_EQ(listener->wait("ended"), "ended incomplete");
    EXPECT_EQ(bench.begin(bench.request("t", "late")).turn->wait().error().code, Code::Unavailable);
    key = turn->key();
  }
  Bench again(store());
  EXPECT_EQ(again.engine->read(key)->reason, "server_shutdown");
}

}  // namespace
}  // namespace parley::server::testing
