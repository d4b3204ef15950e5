#include "server/http/sse.h"

#include <gtest/gtest.h>

#include <future>

#include "server/http/responder_testing.h"

namespace parley::server {
namespace {

class EventStreams : public testing::Test {
 protected:
  void SetUp() override {
    loop_ = net::EventLoop::start().value();
    exchange_ = std::make_shared<Exchange>();
    exchange_->responder = kept_;
    exchange_->loop = loop_.get();
  }
  // Runs `call` on the loop and waits for it.
  void run(const std::function<void()>& call) {
    std::promise<void> done;
    loop_->run([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }
  std::shared_ptr<EventStream> stream(EventStream::Hooks hooks = {}) {
    return EventStream::of(exchange_, std::chrono::hours(1), std::move(hooks));
  }

  std::shared_ptr<KeptResponse> kept_ = std::make_shared<KeptResponse>();
  std::shared_ptr<Exchange> exchange_;
  std::unique_ptr<net::EventLoop> loop_;
};

// EVENT_STREAM1
TEST(EventLine, EscapesWhatSomeClientsTakeForLineEnds) {
  std::string out;
  append_line(out,
              "{\"a\":\"\xE2\x80\xA8"
              "b\xE2\x80\xA9\xC2\x85\",\"\xE2\x80\x94\xC3\x85\":\"\xE2\"}");
  EXPECT_EQ(out, "{\"a\":\"\\u2028b\\u2029\\u0085\",\"\xE2\x80\x94\xC3\x85\":\"\xE2\"}");
  out.clear();
  append_line(out, "");
  EXPECT_EQ(out, "");
}

// EVENT_STREAM2
TEST_F(EventStreams, SendOneBufferPerFlush) {
  run([&] {
    const auto s = stream();
    s->start();
    EXPECT_EQ(kept_->status, 200);
    EXPECT_EQ(kept_->header("content-type"), "text/event-stream");
    s->data("{}");
    s->event("a.b", "[1]");
    EXPECT_EQ(kept_->body, "");
    EXPECT_EQ(s->backlog(), 32);
    s->flush();
    EXPECT_EQ(kept_->sends, 1);
    EXPECT_EQ(kept_->body, "data: {}\n\nevent: a.b\ndata: [1]\n\n");
    s->flush();
    EXPECT_EQ(kept_->sends, 1);
    s->text("[DONE]");
    s->end();
    EXPECT_TRUE(kept_->body.ends_with("\n\ndata: [DONE]\n\n"));
    EXPECT_TRUE(kept_->is_ended);
    EXPECT_FALSE(kept_->is_cut);
  });
}

TEST_F(EventStreams, SendTheIdOfAnEvent) {
  run([&] {
    const auto s = stream();
    s->start();
    s->event("a.b", 7, "[1]");
    s->flush();
    EXPECT_EQ(kept_->body, "event: a.b\nid: 7\ndata: [1]\n\n");
  });
}

// EVENT_STREAM3
TEST_F(EventStreams, SendACommentWhileTheyAreSilent) {
  std::shared_ptr<EventStream> s;
  run([&] {
    s = EventStream::of(exchange_, std::chrono::milliseconds(1), {});
    s->start();
  });
  for (bool has_pings = false; !has_pings;) {
    run([&] { has_pings = kept_->body.starts_with(": ping\n\n: ping\n\n"); });
  }
  run([&] { s->end(); });
  const std::size_t sends = kept_->sends;
  for (int i = 0; i < 20; ++i) run([] {});
  std::promise<void> later;
  loop_->after(std::chrono::milliseconds(5), [&] { later.set_value(); });
  later.get_future().wait();
  EXPECT_EQ(kept_->sends, sends);
}

// EVENT_STREAM4
TEST_F(EventStreams, CallTheirHooksUntilTheEnd) {
  run([&] {
    int gone = 0, drained = 0;
    const auto s = stream({.on_gone = [&] { ++gone; }, .on_drained = [&] { ++drained; }});
    kept_->drained();
    EXPECT_EQ(drained, 1);
    kept_->gone();
    kept_->gone();
    kept_->drained();
    EXPECT_EQ(gone, 1);
    EXPECT_EQ(drained, 1);
  });
  run([&] {
    int gone = 0;
    const auto s = stream({.on_gone = [&] { ++gone; }});
    s->start();
    s->data("{}");
    s->cut();
    EXPECT_TRUE(kept_->is_cut);
    EXPECT_FALSE(kept_->is_ended);
    EXPECT_EQ(kept_->body, "");
    kept_->gone();
    EXPECT_EQ(gone, 0);
  });
}

}  // namespace
}  // namespace parley::server
