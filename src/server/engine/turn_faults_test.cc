// Turns whose store fails, whose followers leave at any moment, and that several engines want.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/engine/engine_testing.h"
#include "server/engine/faulty_store_testing.h"

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

const store::SessionKey kSession{"default", "s"};

// Waits until `is_true`. False after ten seconds.
template <typename Condition>
bool eventually(Condition is_true) {
  for (int i = 0; i < 2'000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

bool has_checkpoint(store::Store& store) {
  const auto holder = store.holder(kSession);
  return holder && *holder && !(*holder)->checkpoint.empty();
}

Result<TurnState> cancel_and_wait(Bench& bench, const TurnKey& key) {
  std::promise<Result<TurnState>> done;
  bench.engine->cancel(key, *bench.loop,
                       [&](Result<TurnState> result) { done.set_value(std::move(result)); });
  return done.get_future().get();
}

class TurnFaults : public ::testing::Test {
 protected:
  std::shared_ptr<StoreFaults> faults = std::make_shared<StoreFaults>();
  std::shared_ptr<store::Store> store = faulty_store(faults);
};

TEST_F(TurnFaults, AnAnswerIsStoredWhenTheStoreIsBack) {  // TURN2
  Bench bench(store);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("hello");
  faults->fail(StoreCall::Append);
  call->finish();
  std::this_thread::sleep_for(milliseconds(2'500));
  EXPECT_EQ(bench.engine->read(turn->key())->status, TurnStatus::InProgress);
  faults->heal();
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
  EXPECT_EQ(bench.model->calls(), 1U);
}

TEST_F(TurnFaults, ALostAcknowledgementStoresNothingTwice) {  // TURN1, TURN2
  Bench bench(store);
  faults->lose_next_acknowledgement();
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("hello");
  faults->lose_next_acknowledgement();
  call->finish();
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
  EXPECT_FALSE(*store->holder(kSession));
}

TEST_F(TurnFaults, ARequestThatCannotBeStoredReachesNoModel) {  // TURN1
  Bench bench(store);
  faults->fail(StoreCall::Append);
  EXPECT_EQ(bench.begin(bench.request("s", "hi")).turn->wait().error().code, Code::Unavailable);
  EXPECT_EQ(bench.model->calls(), 0U);
  faults->heal();
  EXPECT_EQ(bench.ask("s", "hi", "hello").status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
}

// The request may be stored, with a lease that nothing renews. The next one does not wait for its end.
TEST_F(TurnFaults, ARequestOfUnknownFateDoesNotBlockItsSession) {
  TurnEngineOptions options;
  options.queue_wait = milliseconds(200);
  Bench bench(store, options);
  faults->lose_next_acknowledgement();
  faults->fail(StoreCall::Resolve);
  EXPECT_EQ(bench.begin(bench.request("s", "hi")).turn->wait().error().code, Code::Unavailable);
  faults->heal();
  EXPECT_EQ(bench.ask("s", "again", "hello").status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "user: again", "assistant: hello"}));
}

TEST_F(TurnFaults, ACheckpointOutlivesAnEndThatCannotBeStored) {  // TURN7
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  Bench owner(store, options);
  const auto [turn, listener] = owner.begin(owner.request("s", "hi"));
  owner.model->call(0)->say("half an answer");
  ASSERT_TRUE(eventually([&] { return has_checkpoint(*store); }));
  Bench other(store);
  faults->fail(StoreCall::Append);
  EXPECT_FALSE(cancel_and_wait(other, turn->key()));
  faults->heal();
  const auto state = other.engine->read(turn->key());
  ASSERT_TRUE(state) << state.error();
  EXPECT_EQ(state->answer->get_text_content(), "half an answer");
}

TEST_F(TurnFaults, ACheckpointIsWrittenWhenTheStoreIsBack) {  // TURN7
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  Bench bench(store, options);
  faults->fail(StoreCall::Checkpoint);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  bench.model->call(0)->say("words");
  listener->wait("delta");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(has_checkpoint(*store));
  faults->heal();
  EXPECT_TRUE(eventually([&] { return has_checkpoint(*store); }));
}

// Each has the whole answer: written every 8 KB, they would cost the square of a long one.
TEST_F(TurnFaults, CheckpointsOfALongAnswerAreFew) {  // TURN7
  Bench bench(store);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  for (int i = 0; i < 2'000; ++i) call->say(std::string(1'024, 'x'));
  call->finish();
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
  EXPECT_GT(faults->count(StoreCall::Checkpoint), 5U);
  EXPECT_LT(faults->count(StoreCall::Checkpoint), 80U);
}

TEST_F(TurnFaults, AnAnswerThatIsTooLargeForACheckpointKeepsItsLease) {
  store::StoreOptions limited;
  limited.limits.checkpoint_bytes = 100;
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  options.lease = milliseconds(500);
  Bench bench(faulty_store(faults, limited), options);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  for (int i = 0; i < 100; ++i) {
    call->say("many words ");
    std::this_thread::sleep_for(milliseconds(10));
  }
  call->finish();
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
}

TEST_F(TurnFaults, AnAnswerOutlivesALeaseThatCouldNotBeRenewed) {  // TURN2
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  options.lease = milliseconds(1'000);
  Bench bench(store, options);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("hel");
  for (const StoreCall failing : {StoreCall::Checkpoint, StoreCall::Append}) {
    faults->fail(failing);
    if (failing == StoreCall::Append) call->finish();
    std::this_thread::sleep_for(milliseconds(failing == StoreCall::Append ? 100 : 1'500));
    faults->heal();
    if (failing == StoreCall::Checkpoint) call->say("lo");
  }
  EXPECT_EQ(turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(bench.history("s"), (Lines{"user: hi", "assistant: hello"}));
  EXPECT_FALSE(*store->holder(kSession));
}

// A store that does not say whether it has the answer: no end is shown that it could contradict.
TEST_F(TurnFaults, AnEndOfUnknownFateIsNotShown) {  // TURN4
  TurnEngineOptions options;
  options.lease = milliseconds(300);
  Bench bench(store, options);
  const auto [turn, listener] = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  call->say("hello");
  faults->lose_next_acknowledgement(true);
  faults->fail(StoreCall::Resolve);
  call->finish();
  listener->wait("refused");
  EXPECT_FALSE(turn->wait());
  faults->heal();
  const auto state = bench.engine->read(turn->key());
  ASSERT_TRUE(state) << state.error();
  EXPECT_EQ(state->status, TurnStatus::Completed);
  EXPECT_EQ(state->answer->get_text_content(), "hello");
}

TEST_F(TurnFaults, ReadingATurnWritesNothing) {
  Bench bench(store);
  const TurnState turn = bench.ask("s", "hi", "hello");
  EXPECT_TRUE(bench.engine->read(turn.key));
  EXPECT_FALSE(bench.engine->read({kSession, "other"}));
  EXPECT_TRUE(bench.engine->read_request(turn.key));
  EXPECT_EQ(faults->count(StoreCall::Resolve), 0U);
}

TEST_F(TurnFaults, TheLeaseOfAChatIsNotLookedInto) {
  for (int i = 0; i < 100; ++i) {
    store::Record record;
    record.body = R"({"role":"user","content":"hi"})";
    ASSERT_TRUE(store->append(kSession, store::Batch({record})));
  }
  ASSERT_TRUE(store->lease(kSession, "a chat", milliseconds(1)));
  std::this_thread::sleep_for(milliseconds(20));
  Bench bench(store);
  EXPECT_EQ(faults->count(StoreCall::Head), 0U);
  EXPECT_EQ(faults->count(StoreCall::Read), 1U);  // whether it is that of a turn
}

TEST_F(TurnFaults, ATurnThatIsFollowedAgainBeforeItBeginsGoesOn) {  // TURN9
  Bench bench(store);
  TurnRequest request = bench.request("s", "hi");
  request.disconnect = {.rule = Disconnect::Rule::Grace, .grace = milliseconds(500)};
  request.retry_key = "key";
  faults->hold(StoreCall::Append);
  const auto first = bench.begin(request);
  ASSERT_TRUE(faults->wait_held());
  first.turn->leave();
  const auto second = bench.begin(request);
  std::this_thread::sleep_for(milliseconds(800));
  faults->release();
  const auto call = bench.model->call(0);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(call->is_stopped);
  call->finish();
  EXPECT_EQ(second.turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(bench.model->calls(), 1U);
}

TEST_F(TurnFaults, AnEqualRequestDoesNotGetATurnThatIsStopped) {  // TURN6
  Bench bench(store);
  TurnRequest request = bench.request("s", "hi");
  request.disconnect = *disconnect_named("cancel");
  request.retry_key = "key";
  const auto first = bench.begin(request);
  const auto call = bench.model->call(0);
  call->say("half");
  faults->hold(StoreCall::Append);
  first.turn->leave();
  ASSERT_TRUE(faults->wait_held());
  const auto second = bench.begin(request);
  std::this_thread::sleep_for(milliseconds(20));
  faults->release();
  bench.model->call(1)->say("whole");
  bench.model->call(1)->finish();
  EXPECT_EQ(second.turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(second.listener->text(), "whole");
}

TEST_F(TurnFaults, AFollowerOfAnotherEnginesTurnOutlivesAFault) {  // TURN8
  Bench owner(store);
  Bench other(store);
  const auto [turn, listener] = owner.begin(owner.request("s", "hi"));
  owner.model->call(0)->say("words");
  const auto watch = other.attach(turn->key());
  watch.listener->wait("begun");
  faults->fail(StoreCall::Read);
  std::this_thread::sleep_for(milliseconds(600));
  faults->heal();
  owner.model->call(0)->finish();
  ASSERT_TRUE(turn->wait());
  EXPECT_EQ(watch.turn->wait()->status, TurnStatus::Completed);
  EXPECT_EQ(watch.listener->text(), "words");
}

TEST_F(TurnFaults, AClientThatLeavesBeforeItsTurnBeginsReachesNoModel) {  // TURN9
  Bench bench(store);
  TurnRequest request = bench.request("s", "hi");
  request.disconnect = *disconnect_named("cancel");
  request.retry_key = "key";
  request.is_retry = true;
  faults->hold(StoreCall::List);
  const auto [turn, listener] = bench.begin(request);
  ASSERT_TRUE(faults->wait_held());
  turn->leave();
  std::promise<void> left;
  bench.loop->post([&] { bench.loop->post([&] { left.set_value(); }); });
  left.get_future().wait();
  faults->release();
  EXPECT_TRUE(eventually([&] { return bench.engine->running() == 0; }));
  EXPECT_EQ(bench.model->calls(), 0U);
}

TEST_F(TurnFaults, AForkBesideATurnThatIsNotStoredYetHasTheHistory) {  // TURN3
  Bench bench(store);
  bench.ask("s", "zero", "nothing");
  faults->hold(StoreCall::Append);
  const auto first = bench.begin(bench.request("s", "one"));
  ASSERT_TRUE(faults->wait_held());
  TurnRequest request = bench.request("s", "two");
  request.on_busy = OnBusy::Fork;
  request.fork_name = "s2";
  const auto fork = bench.begin(request);
  std::this_thread::sleep_for(milliseconds(50));  // it waits for its append too
  faults->release();
  bench.model->call(1);
  bench.model->call(2);
  std::vector<Lines> shown(3);
  for (std::size_t i = 1; i <= 2; ++i) {
    for (const Message& message : bench.model->call(i)->request.conversation.messages())
      shown[i].push_back(to_line(message));
    bench.model->call(i)->finish();
  }
  const Lines expected{"user: zero", "assistant: nothing", "user: two"};
  EXPECT_TRUE(shown[1] == expected || shown[2] == expected);
  EXPECT_TRUE(first.turn->wait());
  EXPECT_TRUE(fork.turn->wait());
  EXPECT_EQ(fork.turn->key().session.session, "s2");
}

TEST_F(TurnFaults, AnEqualRequestGetsTheRefusalOfTheFirst) {  // TURN6
  Bench bench(store);
  const auto running = bench.begin(bench.request("s", "zero"));
  bench.model->call(0);
  TurnRequest request = bench.request("s", "hi");
  request.retry_key = "key";
  const auto first = bench.begin(request);
  ASSERT_TRUE(eventually([&] { return bench.engine->running() == 2; }));
  std::promise<void> gate;
  bench.loop->post([&] { gate.get_future().wait(); });
  first.turn->cancel();
  const auto listener = std::make_shared<Listener>();
  const auto second = bench.engine->begin(request, *bench.other_loop, listener);
  std::promise<void> admitted;
  bench.other_loop->post([&] { admitted.set_value(); });
  admitted.get_future().wait();
  gate.set_value();
  EXPECT_EQ(first.turn->wait().error().code, Code::Cancelled);
  EXPECT_EQ(second->wait().error().code, Code::Cancelled);
  bench.model->call(0)->finish();
  EXPECT_TRUE(running.turn->wait());
}

TEST_F(TurnFaults, ARemovedTurnIsNotReplayed) {  // TURN6
  Bench bench(store);
  TurnRequest request = bench.request("s", "hi");
  request.retry_key = "key";
  request.is_retry = true;
  const auto first = bench.begin(request);
  bench.model->call(0)->finish();
  ASSERT_TRUE(first.turn->wait());
  ASSERT_TRUE(bench.engine->remove(first.turn->key()));
  const auto second = bench.begin(request);
  bench.model->call(1)->finish();
  EXPECT_EQ(second.turn->wait()->status, TurnStatus::Completed);
  EXPECT_NE(second.turn->key(), first.turn->key());
}

// ---- Followers

// Leaves as soon as its turn has begun.
class Leaver : public Listener {
 public:
  void begun(const TurnState& state) override {
    Listener::begun(state);
    turn->leave();
  }
  std::shared_ptr<Turn> turn;
};

TEST_F(TurnFaults, FollowersMayLeaveWhenTheyAreTold) {
  Bench bench(store);
  const auto running = bench.begin(bench.request("s", "zero"));
  const auto call = bench.model->call(0);
  TurnRequest request = bench.request("s", "hi");
  request.retry_key = "key";
  // They wait for their turn together.
  std::vector<std::shared_ptr<Leaver>> leavers;
  for (int i = 0; i < 4; ++i) {
    leavers.push_back(std::make_shared<Leaver>());
    leavers.back()->turn = bench.engine->begin(request, *bench.loop, leavers.back());
  }
  const auto last = bench.begin(request);
  call->finish();
  const auto next = bench.model->call(1);
  next->say("words");
  next->finish();
  EXPECT_EQ(last.turn->wait()->status, TurnStatus::Completed);
  for (const auto& leaver : leavers) {
    EXPECT_EQ(leaver->lines(), Lines{"begun"});
    EXPECT_EQ(leaver->turn->wait().error().code, Code::Cancelled);
    leaver->turn.reset();
  }
}

TEST_F(TurnFaults, ASlowFollowerIsNotToldMoreThanItTakes) {  // TURN12
  Bench bench(store);
  const auto fast = bench.begin(bench.request("s", "hi"));
  const auto call = bench.model->call(0);
  for (const bool is_of_other_loop : {false, true}) {
    const auto slow = std::make_shared<Listener>();
    const auto turn =
        bench.engine->attach(fast.turn->key(), is_of_other_loop ? *bench.other_loop : *bench.loop, slow);
    slow->wait("begun");
    ASSERT_TRUE(eventually([&] { return slow->text() == fast.listener->text(); }));
    slow->backlog_bytes = 1 << 20;
    call->say("one ");
    ASSERT_TRUE(eventually([&] { return slow->text() == fast.listener->text(); }));
    for (int i = 0; i < 10; ++i) call->say("more ");
    ASSERT_TRUE(eventually([&] { return fast.listener->text().ends_with("more more more "); }));
    EXPECT_LT(slow->text().size(), fast.listener->text().size());
    EXPECT_EQ(call->pauses, 0);  // another one reads
    slow->backlog_bytes = 0;
    turn->drained();
    EXPECT_TRUE(eventually([&] { return slow->text() == fast.listener->text(); }));
  }
  call->finish();
  EXPECT_TRUE(fast.turn->wait());
}

TEST_F(TurnFaults, AFollowerThatLeavesAtOnceIsNotWaitedFor) {  // TURN9
  Bench bench(store);
  TurnRequest request = bench.request("s", "hi");
  request.disconnect = *disconnect_named("cancel");
  const auto first = bench.begin(request);
  const auto call = bench.model->call(0);
  first.listener->wait("begun");
  const auto second = bench.attach(first.turn->key());  // on another loop
  second.turn->leave();
  first.turn->leave();
  EXPECT_TRUE(eventually([&] { return call->is_stopped.load(); }));
  EXPECT_TRUE(eventually([&] { return bench.engine->running() == 0; }));
}

// ---- Two engines

TEST_F(TurnFaults, TheOwnerOfATurnThatAnotherEngineEndedTellsThatEnd) {  // TURN4
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  Bench owner(store, options);
  Bench other(store, options);
  const auto [turn, listener] = owner.begin(owner.request("s", "hi"));
  const auto call = owner.model->call(0);
  call->say("words");
  ASSERT_TRUE(eventually([&] { return has_checkpoint(*store); }));
  EXPECT_EQ(cancel_and_wait(other, turn->key())->status, TurnStatus::Cancelled);
  call->say("more");  // the owner finds out when it writes its next checkpoint
  EXPECT_EQ(turn->wait()->status, TurnStatus::Cancelled);
  EXPECT_TRUE(call->is_stopped);
  EXPECT_EQ(owner.engine->read(turn->key())->status, TurnStatus::Cancelled);
}

TEST_F(TurnFaults, ATurnOfAnotherEngineIsForkedOrInterrupted) {  // TURN3, TURN5
  TurnEngineOptions options;
  options.checkpoint_time = milliseconds(10);
  Bench owner(store, options);
  Bench other(store, options);
  owner.ask("s", "zero", "nothing");
  const auto [turn, listener] = owner.begin(owner.request("s", "one"));
  const auto call = owner.model->call(1);
  call->say("partial");
  ASSERT_TRUE(eventually([&] { return has_checkpoint(*store); }));

  TurnRequest forked = other.request("s", "two");
  forked.on_busy = OnBusy::Fork;
  forked.fork_name = "s2";
  const auto fork = other.begin(forked);
  other.model->call(0)->finish();
  ASSERT_TRUE(fork.turn->wait());
  EXPECT_EQ(other.history("s2"), (Lines{"user: zero", "assistant: nothing", "user: two"}));

  TurnRequest interrupting = other.request("s", "three");
  interrupting.on_busy = OnBusy::Interrupt;
  const auto interrupt = other.begin(interrupting);
  other.model->call(1)->finish();
  ASSERT_TRUE(interrupt.turn->wait());
  EXPECT_EQ(other.history("s"),
            (Lines{"user: zero", "assistant: nothing", "user: one", "assistant: partial", "user: three"}));
  EXPECT_EQ(turn->wait()->reason, "interrupted");
}

TEST_F(TurnFaults, AnEngineMayGoWhileItFollowsATurnOfAnother) {  // TURN8
  Bench owner(store);
  const auto [turn, listener] = owner.begin(owner.request("s", "hi"));
  owner.model->call(0);
  auto other = std::make_unique<Bench>(store);
  const auto watch = other->attach(turn->key());
  watch.listener->wait("begun");
  other->engine.reset();
  EXPECT_EQ(watch.turn->wait().error().code, Code::Unavailable);
  other.reset();
  owner.model->call(0)->finish();
  EXPECT_TRUE(turn->wait());
}

// A fork does not hold the queue of the session that it comes from.
TEST_F(TurnFaults, ATurnInAForkLetsOthersOfTheSessionRun) {  // TURN3
  Bench bench(store);
  const TurnState first = bench.ask("s", "one", "first");
  bench.ask("s", "two", "second");
  TurnRequest request = bench.request("s", "branch");
  request.after = first.end;
  request.fork_name = "s2";
  const auto branch = bench.begin(request);
  const auto branch_call = bench.model->call(2);
  const auto next = bench.begin(bench.request("s", "three"));
  bench.model->call(3)->finish();
  EXPECT_TRUE(next.turn->wait());
  EXPECT_EQ(next.turn->key().session.session, "s");
  branch_call->finish();
  EXPECT_TRUE(branch.turn->wait());
}

}  // namespace
}  // namespace parley::server::testing
