#include "parley/base/framing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/allocations_testing.h"

namespace parley {
namespace {

// ---- Server-sent events

struct Events {
  std::vector<std::string> list;  // "event|data|id|stray"
  std::size_t left = 0;
  std::string error;
  bool operator==(const Events&) const = default;
};

// The events of a stream that comes in pieces of at most `size` bytes.
Events events_of(std::string_view stream, std::size_t size, std::size_t limit = kFrameLimit) {
  Events out;
  SseFramer framer(limit);
  const auto add = [&](const SseEvent& event) {
    std::string line(event.event);
    for (const std::string_view part : {event.data, event.id, event.stray}) line.append("|").append(part);
    out.list.push_back(std::move(line));
  };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    if (const auto fed = framer.feed(stream.substr(at, size), add); !fed) {
      out.error = to_string(fed.error().code);
      break;
    }
  }
  out.left = framer.finish(add);
  return out;
}

struct SseCase {
  std::string_view stream;
  std::vector<std::string> events;
  std::size_t left = 0;
};

TEST(SseFramer, FRAMING1_CutsAnywhereIntoTheSameEvents) {
  const std::vector<SseCase> cases = {
      {"data: a\n\n", {"|a||"}},
      {"data: a\r\n\r\n", {"|a||"}},
      {"data: a\r\r", {"|a||"}},
      {"data: a\r\n\r", {"|a||"}},
      {"data: a\n\r\ndata: b\r\n\n", {"|a||", "|b||"}},
      {"data:a\n\n", {"|a||"}},
      {"data:  a\n\n", {"| a||"}},
      {"data\n\n", {"|||"}},
      {"data:\n\n", {"|||"}},
      {"data: a\ndata: b\ndata\n\n", {"|a\nb\n||"}},
      {"\xEF\xBB\xBF"
       "data: a\n\n",
       {"|a||"}},
      {": comment\ndata: a\n:\n\n", {"|a||"}},
      {": ping\n\n: ping\n\n", {}},
      {"event: x\nid: 7\nretry: 50\ndata: a\n\ndata: b\n\n", {"x|a|7|", "|b|7|"}},
      {"event: x\n\ndata: a\n\n", {"|a||"}},
      {"event: x\nevent: y\ndata: a\n\n", {"y|a||"}},
      {"data: a\n", {}, 7},
      {"data: a", {}, 7},
      {"data: a\n\ndata: b", {"|a||"}, 7},
      {"{\"error\":1}", {"|||{\"error\":1}"}},
      {"{\n \"error\": 1\n}\n", {"|||{\n \"error\": 1\n}"}},
      {"data: a\n\n{}\n\n", {"|a||", "|||{}"}},
      {"databank: a\n\n", {"|||databank: a"}},
      {"\n\n\r\r", {}},
      {"", {}},
  };
  for (const SseCase& each : cases) {
    for (std::size_t size = 1; size <= each.stream.size() + 1; ++size) {
      const Events events = events_of(each.stream, size);
      EXPECT_EQ(events.list, each.events) << each.stream << " in pieces of " << size;
      EXPECT_EQ(events.left, each.left) << each.stream << " in pieces of " << size;
    }
  }
}

TEST(SseFramer, IgnoresAnIdWithNul) {
  EXPECT_EQ(events_of(std::string_view("id: a\ndata: 1\n\nid: b\0\ndata: 2\n\n", 31), 100).list,
            (std::vector<std::string>{"|1|a|", "|2|a|"}));
}

TEST(SseFramer, ReportsTheRetryTimeIfItIsANumber) {
  SseFramer framer;
  const auto ignore = [](const SseEvent&) {};
  ASSERT_TRUE(framer.feed("retry: 1x\nretry: -1\n", ignore));
  EXPECT_FALSE(framer.retry());
  ASSERT_TRUE(framer.feed("retry: 250\n", ignore));
  EXPECT_EQ(framer.retry(), 250U);
}

TEST(SseFramer, FRAMING3_DoesNotCopyAnEventThatIsThereWhole) {
  const std::string stream = "event: x\ndata: " + std::string(5000, 'a') + "\n\n";
  SseFramer framer;
  const SseFramer::OnEvent check = [&](const SseEvent& event) {
    EXPECT_GE(event.data.data(), stream.data());
    EXPECT_LE(event.data.data() + event.data.size(), stream.data() + stream.size());
  };
  EXPECT_EQ(test::allocations_of([&] { ASSERT_TRUE(framer.feed(stream, check)); }), 0U);
}

TEST(SseFramer, FRAMING4_RefusesWhatIsLargerThanTheLimit) {
  const auto with = [](std::size_t length) {
    return "data: ok\n\ndata:" + std::string(length, 'a') + "\n\n";
  };
  for (const std::size_t size : {1U, 7U, 1000U}) {
    EXPECT_EQ(events_of(with(94), size, 100).error, "");
    EXPECT_EQ(events_of(with(95), size, 100).error, "");
    EXPECT_EQ(events_of(with(96), size, 100).error, "limit_exceeded");
    EXPECT_EQ(events_of(with(96), size, 100).list, (std::vector<std::string>{"|ok||"}));
    EXPECT_EQ(
        events_of("data: " + std::string(60, 'a') + "\ndata: " + std::string(60, 'a') + "\n\n", size, 100)
            .error,
        "limit_exceeded");
    EXPECT_EQ(events_of(std::string(60, 'a') + "\n" + std::string(60, 'a') + "\n\n", size, 100).error,
              "limit_exceeded");
  }
}

// ---- Lines

std::vector<std::string> lines_of(std::string_view stream, std::size_t size,
                                  std::size_t limit = kFrameLimit) {
  std::vector<std::string> out;
  LineFramer framer(limit);
  const auto add = [&](std::string_view line) { out.emplace_back(line); };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    if (const auto fed = framer.feed(stream.substr(at, size), add); !fed) {
      out.emplace_back(to_string(fed.error().code));
      break;
    }
  }
  framer.finish(add);
  return out;
}

TEST(LineFramer, FRAMING1_CutsAnywhereIntoTheSameLines) {
  for (std::size_t size = 1; size <= 20; ++size) {
    EXPECT_EQ(lines_of("{}\n\r\n\n[1]\r\n2", size), (std::vector<std::string>{"{}", "[1]", "2"}));
    EXPECT_EQ(lines_of("\n", size), std::vector<std::string>{});
  }
}

TEST(LineFramer, FRAMING4_RefusesWhatIsLargerThanTheLimit) {
  for (const std::size_t size : {1U, 3U, 100U}) {
    EXPECT_EQ(lines_of("ok\n12345\n", size, 5), (std::vector<std::string>{"ok", "12345"}));
    EXPECT_EQ(lines_of("ok\n123456\nno\n", size, 5), (std::vector<std::string>{"ok", "limit_exceeded"}));
  }
}

// ---- The event stream of AWS

struct Frames {
  std::vector<std::string> list;
  std::size_t left = 0;
  std::string error;
};

Frames frames_of(std::string_view stream, std::size_t size, std::size_t limit = kFrameLimit) {
  Frames out;
  EventStreamFramer framer(limit);
  const auto add = [&](const EventStreamFrame& frame) {
    std::string line;
    for (const auto& header : frame.headers)
      line.append(header.name).append("=").append(header.value).append(",");
    out.list.push_back(line.append("|").append(frame.payload));
  };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    if (const auto fed = framer.feed(stream.substr(at, size), add); !fed) {
      out.error = fed.error().message;
      EXPECT_EQ(framer.feed("x", add).error(), fed.error());
      break;
    }
  }
  out.left = framer.finish();
  return out;
}

std::string sample() {
  const EventStreamFrame::Header headers[] = {{":message-type", "event"}, {":event-type", "chunk"}};
  return EventStreamFramer::encode(headers, "{\"a\":1}");
}

TEST(EventStreamFramer, FRAMING1_CutsAnywhereIntoTheSameMessages) {
  const std::string stream = sample() + EventStreamFramer::encode({}, "") + sample();
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    const Frames frames = frames_of(stream, size);
    EXPECT_EQ(frames.error, "");
    EXPECT_EQ(frames.list, (std::vector<std::string>{":message-type=event,:event-type=chunk,|{\"a\":1}", "|",
                                                     ":message-type=event,:event-type=chunk,|{\"a\":1}"}));
  }
  EXPECT_EQ(frames_of(stream.substr(0, stream.size() - 1), 9).left, sample().size() - 1);
}

// A message that was put together elsewhere: the published example of the format, with one header.
TEST(EventStreamFramer, ReadsAPublishedMessage) {
  constexpr std::string_view kMessage(
      "\x00\x00\x00\x3D\x00\x00\x00\x20\x07\xFD\x83\x96\x0C"
      "content-type\x07\x00\x10"
      "application/json{'foo':'bar'}\x8D\x9C\x08\xB1",
      61);
  EXPECT_EQ(frames_of(kMessage, 100).list,
            (std::vector<std::string>{"content-type=application/json,|{'foo':'bar'}"}));
}

TEST(EventStreamFramer, FRAMING3_DoesNotCopyAMessageThatIsThereWhole) {
  const std::string stream = sample();
  EventStreamFramer framer;
  std::size_t seen = 0;
  const EventStreamFramer::OnFrame check = [&](const EventStreamFrame& frame) {
    ++seen;
    EXPECT_EQ(frame.payload.data(), stream.data() + stream.size() - 4 - 7);
    EXPECT_EQ(frame.header(":event-type"), "chunk");
    EXPECT_EQ(frame.header("none"), "");
  };
  ASSERT_TRUE(framer.feed(stream, check));
  EXPECT_EQ(seen, 1U);
}

TEST(EventStreamFramer, NoticesEveryDamagedByte) {
  const std::string good = sample();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    const Frames frames = frames_of(bad + good, 1000);
    EXPECT_TRUE(frames.list.empty()) << i;
    EXPECT_NE(frames.error, "") << i;
  }
}

// Puts the right checksums on a message, whatever its lengths and headers say.
std::string sealed(std::string_view headers, std::string_view payload, std::size_t claimed) {
  std::string out = EventStreamFramer::encode({}, std::string(headers).append(payload));
  // The lengths of a message without headers are right but for the second.
  std::string body = out.substr(12, out.size() - 16);
  std::string fresh;
  for (const std::size_t number : {out.size(), claimed}) {
    for (int shift = 24; shift >= 0; shift -= 8) fresh += static_cast<char>(number >> shift & 0xFF);
  }
  // The sum of any bytes is what encode() puts after them.
  const auto sum_of = [](std::string_view bytes) {
    std::uint32_t sum = 0xFFFFFFFF;
    for (const char c : bytes) {
      sum ^= static_cast<unsigned char>(c);
      for (int i = 0; i < 8; ++i) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
    }
    sum = ~sum;
    std::string out_sum;
    for (int shift = 24; shift >= 0; shift -= 8) out_sum += static_cast<char>(sum >> shift & 0xFF);
    return out_sum;
  };
  fresh += sum_of(fresh);
  fresh += body;
  return fresh + sum_of(fresh);
}

TEST(EventStreamFramer, SkipsHeadersThatAreNotStrings) {
  constexpr char kHeaders[] =
      "\1a\0\1b\1\1c\2x\1d\3xx\1e\4xxxx\1f\5xxxxxxxx\1g\6\0\2xx\1h\7\0\1!\1i\10xxxxxxxx"
      "\1j\11xxxxxxxxxxxxxxxx";
  const std::string_view headers(kHeaders, sizeof kHeaders - 1);
  EXPECT_EQ(frames_of(sealed(headers, "p", headers.size()), 1000).list, (std::vector<std::string>{"h=!,|p"}));
}

TEST(EventStreamFramer, RefusesHeadersThatDoNotFit) {
  for (const std::string_view headers :
       {std::string_view("\5a"), std::string_view("\1a"), std::string_view("\1a\12", 3),
        std::string_view("\1a\4xxx"), std::string_view("\1a\7\0", 4), std::string_view("\1a\7\0\2x", 6)}) {
    const Frames frames = frames_of(sealed(headers, "", headers.size()), 1000);
    EXPECT_TRUE(frames.list.empty());
    EXPECT_NE(frames.error.find("header"), std::string::npos) << frames.error;
  }
  EXPECT_NE(frames_of(sealed("", "abc", 4), 1000).error.find("lengths"), std::string::npos);
}

TEST(EventStreamFramer, FRAMING4_RefusesWhatIsLargerThanTheLimit) {
  const std::string stream = sample();
  EXPECT_EQ(frames_of(stream, 1, stream.size()).error, "");
  EXPECT_NE(frames_of(stream, 1, stream.size() - 1).error, "");
}

}  // namespace
}  // namespace parley
