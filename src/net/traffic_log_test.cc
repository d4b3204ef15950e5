#include "net/traffic_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/loopback_server_testing.h"
#include "parley/base/log.h"

namespace parley::net {
namespace {

// What is logged while it lives.
class Lines {
 public:
  Lines() {
    set_log_sink([this](LogLevel, std::string_view line) { lines_.emplace_back(line); });
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { set_log_sink({}); }
  const std::vector<std::string>& all() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

Request post(const std::string& url) {
  Request request;
  request.method = "POST";
  request.url = parse_url(url).value();
  request.body = "canary-body";
  request.headers = {{"X-Header", "canary-header"}};
  request.secret_headers = {{"Authorization", "Bearer ", Secret("canary-key")}};
  return request;
}

TEST(TrafficLog, HTTP12_ARequestAndItsResponseAreThreeLines) {
  LoopbackServer server([](LoopbackServer::Connection& connection, const SeenRequest&) {
    connection.send(answer("404 Not Found", "X: canary-answer\r\n", "canary"));
  });
  const Lines lines;
  ASSERT_TRUE(send(post(server.url("/a/b?key=canary-query#canary"))));
  ASSERT_EQ(lines.all().size(), 3U);
  EXPECT_EQ(lines.all()[0], "http: POST " + server.url("/a/b") + ", 11 bytes");
  EXPECT_TRUE(lines.all()[1].starts_with("http: 404 from 127.0.0.1, connect ")) << lines.all()[1];
  EXPECT_TRUE(lines.all()[1].contains(" ms, first byte ")) << lines.all()[1];
  EXPECT_TRUE(lines.all()[2].starts_with("http: end of 127.0.0.1, 6 bytes, total ")) << lines.all()[2];
  for (const std::string& line : lines.all()) EXPECT_FALSE(line.contains("canary")) << line;
}

TEST(TrafficLog, HTTP12_AFailureSaysWhy) {
  const Lines lines;
  ASSERT_FALSE(send(post("http://canary-user:canary-password@127.0.0.1:1/")));
  ASSERT_EQ(lines.all().size(), 2U);
  EXPECT_EQ(lines.all()[0], "http: POST http://127.0.0.1:1/, 11 bytes");
  EXPECT_TRUE(lines.all()[1].starts_with("http: failed after ")) << lines.all()[1];
  EXPECT_TRUE(lines.all()[1].ends_with(": cannot connect to 127.0.0.1")) << lines.all()[1];
}

TEST(TrafficLog, AConnectionThatWasKeptHasNoTimeToConnect) {
  const Lines lines;
  log_start(post("http://127.0.0.1:1/"), 200, std::nullopt, std::chrono::milliseconds(1234));
  EXPECT_EQ(lines.all().at(0), "http: 200 from 127.0.0.1, connection kept, first byte 1.2 s");
}

}  // namespace
}  // namespace parley::net
