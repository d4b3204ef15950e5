// The client against tests/mcp/server.py, over stdio and over HTTP.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mcp/client.h"
#include "parley/mcp/mcp.h"
#include "tool/subprocess.h"

namespace parley {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon{300};                   // for what never comes
constexpr milliseconds kLong{60'000};                // for what comes on a busy machine too
constexpr std::string_view kPath = "/usr/bin:/bin";  // Debian's Python, which starts without detours
constexpr std::string_view kScript = PARLEY_SOURCE_DIR "/tests/mcp/server.py";

McpVariable variable(std::string name, std::string_view value) { return {std::move(name), Secret(value)}; }

McpOptions options() {
  McpOptions options;
  options.environment = {variable("PATH", kPath)};
  options.max_message_bytes = std::size_t{1024} * 1024;
  options.max_tools = 100;
  return options;
}

Json json(std::string_view text) { return Json::parse(text).value(); }

ToolContext within(milliseconds time) {
  ToolContext context;
  context.timeout = time;
  return context;
}

// A folder for the files of one test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "parley-mcp-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  std::vector<std::string> lines(std::string_view name) const {
    std::vector<std::string> lines;
    std::ifstream in(file(name));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::filesystem::path path_;
};

// A server of HTTP, as a process beside the test.
class HttpServer {
 public:
  explicit HttpServer(std::vector<std::string> more = {}) {
    SubprocessOptions child;
    child.arguments = {"python3", std::string(kScript), "--http"};
    child.arguments.insert(child.arguments.end(), more.begin(), more.end());
    child.environment = {"PATH=" + std::string(kPath)};
    child.merges_errors = true;
    process_.emplace(Subprocess::start(child).value());
    std::string line;
    while (!line.ends_with('\n')) {
      pollfd event{process_->output.get(), POLLIN, 0};
      if (poll(&event, 1, static_cast<int>(kLong.count())) != 1) break;
      std::array<char, 64> piece{};
      const ssize_t count = read(process_->output.get(), piece.data(), piece.size());
      if (count <= 0) break;
      line.append(piece.data(), static_cast<std::size_t>(count));
    }
    port_ = line.substr(0, line.find('\n'));
  }
  Url url(std::string_view path) const {
    return parse_url("http://127.0.0.1:" + port_ + std::string(path)).value();
  }
  void end() { process_->end(); }

 private:
  std::optional<Subprocess> process_;
  std::string port_;
};

McpServer stdio_server(std::vector<std::string> more = {}) {
  McpServer server{.name = "test", .command = "python3", .args = {std::string(kScript)}};
  server.args.insert(server.args.end(), more.begin(), more.end());
  return server;
}

// What both transports do alike. The parameter is "stdio", or the path of the HTTP server.
class McpBoth : public testing::TestWithParam<std::string> {
 protected:
  bool is_http() const { return GetParam() != "stdio"; }

  McpClient& client(std::vector<std::string> more = {}) {
    McpServer server{.name = "test"};
    if (is_http()) {
      http_.emplace(std::move(more));
      server.url = http_->url(GetParam());
    } else {
      server = stdio_server(std::move(more));
    }
    return client_.emplace(std::move(server), options());
  }
  ToolOutput call(std::string_view tool, std::string_view arguments = "{}",
                  const ToolContext& context = within(kLong)) {
    return client_->call(tool, json(arguments), context);
  }

  Folder folder_;
  std::optional<HttpServer> http_;
  std::optional<McpClient> client_;
};

std::string way(const testing::TestParamInfo<std::string>& row) {
  return row.param == "stdio" ? row.param : row.param.substr(1);
}
INSTANTIATE_TEST_SUITE_P(Mcp, McpBoth, testing::Values("stdio", "/mcp", "/json", "/deaf"), way);

TEST_P(McpBoth, ListsPageByPage) {
  const Result<std::vector<McpTool>> tools = client({"--page", "3"}).list({});
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_GT(tools->size(), 6U);
  const auto echo = std::ranges::find(*tools, Text("echo"), &McpTool::name);
  ASSERT_NE(echo, tools->end());
  EXPECT_TRUE(echo->only_reads);
  EXPECT_EQ(echo->description.view(), "Does echo");
  EXPECT_FALSE(client_->is_stale());
}

TEST_P(McpBoth, CallsATool) {
  client();
  const ToolOutput output = call("echo", R"({"text": "h\u00e9llo\nworld"})");
  EXPECT_EQ(output.status, ToolStatus::Ok);
  EXPECT_EQ(output.joined_text(), "h\xc3\xa9llo\nworld");
}

// MCP6.
TEST_P(McpBoth, GivesBackMediaStructuresAndFailures) {
  client();
  const ToolOutput media = call("media");
  ASSERT_EQ(media.content.size(), 9U);
  EXPECT_EQ(media.content[1].type(), BlockType::Image);
  EXPECT_EQ(media.content[2].type(), BlockType::Audio);
  EXPECT_EQ(media.content[5].type(), BlockType::Document);
  EXPECT_EQ(call("structured").structured->get("degrees")->as_int64(), 12);
  const ToolOutput failed = call("fails");
  EXPECT_EQ(failed.status, ToolStatus::Failed);
  EXPECT_EQ(failed.joined_text(), "no such city");
  EXPECT_EQ(call("contentless").status, ToolStatus::Broken);
  const ToolOutput refused = call("refuses");
  EXPECT_EQ(refused.status, ToolStatus::Failed);
  EXPECT_EQ(refused.joined_text(), "wrong params (error -32602 of the server 'test')");
}

// MCP4.
TEST_P(McpBoth, PassesOverWhatIsNotForIt) {
  client();
  EXPECT_EQ(call("garbage").joined_text(), "after garbage");
  EXPECT_EQ(call("stranger").joined_text(), "for you");
  EXPECT_EQ(call("progress").joined_text(), "done");
}

// MCP4.
TEST_P(McpBoth, AnAnswerOverTheLimitIsNotTaken) {
  client();
  EXPECT_EQ(call("large", R"({"bytes": 900000})").joined_text().size(), 900000U);
  const ToolOutput output = call("large", R"({"bytes": 3000000})");
  EXPECT_EQ(output.status, ToolStatus::Broken) << output.joined_text();
  EXPECT_EQ(call("echo", R"({"text": "still here"})").joined_text(), "still here");
}

// MCP3.
TEST_P(McpBoth, ADeadlineAndAStopEndACallAndNotifyTheServer) {
  client();
  EXPECT_EQ(call("echo", R"({"text": "ready"})").joined_text(), "ready");
  const ToolOutput late = call("hang", "{}", within(kSoon));
  EXPECT_EQ(late.status, ToolStatus::Interrupted);
  EXPECT_NE(late.joined_text().find("may or may not have run"), std::string::npos) << late.joined_text();
  std::stop_source stop;
  ToolContext context = within(kLong);
  context.stop = stop.get_token();
  ToolOutput stopped;
  std::thread caller([&] { stopped = call("hang", "{}", context); });
  std::this_thread::sleep_for(kSoon);
  stop.request_stop();
  caller.join();
  EXPECT_EQ(stopped.status, ToolStatus::Interrupted);
  // Both notifications were sent before this call was; the server may still be about to take them.
  Json cancelled;
  for (int i = 0; i < 100 && cancelled.elements().size() < 2; ++i)
    cancelled = json(call("cancelled").joined_text());
  EXPECT_EQ(cancelled.elements().size(), 2U) << cancelled.text().view();
}

TEST_P(McpBoth, CallsRunBesideEachOther) {
  client();
  ToolOutput waited;
  std::thread waiter([&] { waited = call("wait"); });
  EXPECT_EQ(call("release").joined_text(), "go");
  waiter.join();
  EXPECT_EQ(waited.joined_text(), "released");
}

// MCP1 and MCP2: the call is done once, its end is not known, and the next call finds a server.
TEST_P(McpBoth, ACallWhoseConnectionIsCutIsInterruptedAndNotRepeated) {
  client();
  const std::string arguments = R"({"file": ")" + folder_.file("notes") + "\"}";
  const ToolOutput cut = call("note_and_cut", arguments);
  EXPECT_EQ(cut.status, ToolStatus::Interrupted) << cut.joined_text();
  EXPECT_EQ(folder_.lines("notes").size(), 1U);
  EXPECT_EQ(call("echo", R"({"text": "again"})").joined_text(), "again");
  EXPECT_EQ(folder_.lines("notes").size(), 1U);
  EXPECT_TRUE(client_->is_stale());
}

TEST_P(McpBoth, AServerThatChangesItsToolsIsListedAgain) {
  client();
  ASSERT_TRUE(client_->list({}));
  EXPECT_EQ(call("change_aside", R"({"name": "fresh"})").joined_text(), "changed");
  if (GetParam() == "/deaf") {
    EXPECT_FALSE(client_->is_stale());  // the client could not know
    return;
  }
  const Deadline deadline = Deadline::in(kLong);
  while (!client_->is_stale() && !deadline.has_passed()) std::this_thread::yield();
  EXPECT_TRUE(client_->is_stale());
  const Result<std::vector<McpTool>> tools = client_->list({});
  ASSERT_TRUE(tools);
  EXPECT_NE(std::ranges::find(*tools, Text("fresh"), &McpTool::name), tools->end());
  EXPECT_EQ(call("fresh").joined_text(), "I am fresh");
}

// One JSON document has no room for questions, so these are two ways less.
class McpStreams : public McpBoth {};
INSTANTIATE_TEST_SUITE_P(Mcp, McpStreams, testing::Values("stdio", "/mcp"), way);

TEST_P(McpStreams, AServerMayAskBack) {
  client();
  const Json replies = json(call("ask_back").joined_text());
  ASSERT_EQ(replies.elements().size(), 4U);
  EXPECT_EQ(replies.at("/0/id")->as_string()->view(), "ask-0");
  EXPECT_TRUE(replies.at("/0/result")->is_object());
  for (const std::string_view other : {"/1", "/2", "/3"}) {
    EXPECT_EQ(replies.at(std::string(other) + "/error/code")->as_int64(), -32601) << other;
  }
}

TEST_P(McpBoth, OlderVersionsAreSpokenAndUnknownOnesAreNot) {
  for (const std::string_view version : {"2025-03-26", "2024-11-05"}) {
    client({"--version", std::string(version)});
    EXPECT_EQ(call("echo", R"({"text": "hi"})").joined_text(), "hi") << version;
  }
  client({"--version", "2099-01-01"});
  const ToolOutput output = call("echo", R"({"text": "hi"})");
  EXPECT_EQ(output.status, ToolStatus::Failed);
  EXPECT_NE(output.joined_text().find("version"), std::string::npos) << output.joined_text();
}

TEST_P(McpBoth, AServerThatRefusesOrHasNoToolsIsSaidSo) {
  const Result<std::vector<McpTool>> refused = client({"--fault", "refuse"}).list({});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not today"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(client_->is_stale());
  EXPECT_EQ(client({"--fault", "bare"}).list({})->size(), 0U);
  EXPECT_EQ(client({"--fault", "nameless"}).list({}).error().path.substr(0, 7), "/tools/");
  EXPECT_EQ(client({"--fault", "endless"}).list({}).error().code, Code::LimitExceeded);
  const Result<std::vector<McpTool>> twice = client({"--fault", "twice"}).list({});
  ASSERT_TRUE(twice);
  EXPECT_EQ(std::ranges::count(*twice, Text("echo"), &McpTool::name), 1);
}

// MCP1: the words of the server are in the error, the keys it was given are not.
TEST(McpStdio, AServerThatDiesSaysWhy) {
  const Folder folder;
  McpServer server = stdio_server({"--starts", folder.file("starts")});
  server.env.push_back(variable("SECRET_KEY", "open sesame"));
  McpClient client(server, options());
  const Json arguments = json(R"({"file": ")" + folder.file("notes") + "\"}");
  const ToolOutput output = client.call("note_and_die", arguments, within(kLong));
  EXPECT_EQ(output.status, ToolStatus::Interrupted);
  EXPECT_NE(output.joined_text().find("status 3"), std::string::npos) << output.joined_text();
  EXPECT_NE(output.joined_text().find("out of cheese"), std::string::npos) << output.joined_text();
  EXPECT_NE(output.joined_text().find("[redacted: SECRET_KEY]"), std::string::npos) << output.joined_text();
  EXPECT_EQ(output.joined_text().find("sesame"), std::string::npos) << output.joined_text();
  EXPECT_EQ(folder.lines("notes").size(), 1U);
  EXPECT_EQ(folder.lines("starts").size(), 1U);  // MCP2: not before it is needed
  EXPECT_EQ(client.call("echo", json(R"({"text": "2"})"), within(kLong)).joined_text(), "2");
  EXPECT_EQ(folder.lines("starts").size(), 2U);
}

// MCP2.
TEST(McpStdio, AServerThatNeverStartsIsNotStartedForEver) {
  const Folder folder;
  McpOptions patient = options();
  patient.pause = std::chrono::hours(1);
  McpClient client(stdio_server({"--fault", "exit", "--starts", folder.file("starts")}), patient);
  for (int i = 0; i < 5; ++i) {
    const ToolOutput output = client.call("echo", json("{}"), within(kLong));
    EXPECT_EQ(output.status, ToolStatus::Failed);
    EXPECT_NE(output.joined_text().find("no configuration"), std::string::npos) << output.joined_text();
  }
  EXPECT_EQ(folder.lines("starts").size(), 2U);
  McpOptions eager = options();
  eager.pause = milliseconds(0);
  McpClient other(stdio_server({"--fault", "exit", "--starts", folder.file("starts")}), eager);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(other.list({}));
  EXPECT_EQ(folder.lines("starts").size(), 5U);
}

TEST(McpStdio, AProgramThatIsNotThereIsAnError) {
  McpClient client(McpServer{.name = "missing", .command = "no-such-program"}, options());
  EXPECT_EQ(client.list({}).error().code, Code::NotFound);
  EXPECT_EQ(client.call("x", json("{}"), within(kLong)).status, ToolStatus::Failed);
}

// MCP3: to begin has a deadline too, and hears a stop.
TEST(McpStdio, AServerThatSaysNothingIsNotWaitedForForEver) {
  McpOptions hasty = options();
  hasty.start_timeout = kSoon;
  McpClient client(stdio_server({"--fault", "mute"}), hasty);
  const Result<std::vector<McpTool>> late = client.list({});
  EXPECT_EQ(late.error().code, Code::Timeout);
  EXPECT_TRUE(late.error().message.starts_with("the server 'test' did not answer within "))
      << late.error().message;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(client.list(stop.get_token()).error().code, Code::Cancelled);
}

// MCP2: no call waits for it again so soon.
TEST(McpStdio, AServerThatSaysNothingRestsAfterTheFirstStart) {
  const Folder folder;
  McpOptions hasty = options();
  hasty.start_timeout = kSoon;
  McpClient client(stdio_server({"--fault", "mute", "--starts", folder.file("starts")}), hasty);
  EXPECT_EQ(client.list({}).error().code, Code::Timeout);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.list({}).error().code, Code::Unavailable);
  EXPECT_LE(folder.lines("starts").size(), 1U);
}

// MCP2: the same after a call that had time for the whole start.
TEST(McpStdio, AServerThatGivesACallNoAnswerInItsWholeTimeRests) {
  const Folder folder;
  McpOptions hasty = options();
  hasty.start_timeout = kSoon;
  McpClient client(stdio_server({"--fault", "mute", "--starts", folder.file("starts")}), hasty);
  EXPECT_EQ(client.call("echo", json("{}"), within(kLong)).status, ToolStatus::Interrupted);
  EXPECT_EQ(client.call("echo", json("{}"), within(kLong)).status, ToolStatus::Failed);
  EXPECT_EQ(client.list({}).error().code, Code::Unavailable);
  EXPECT_LE(folder.lines("starts").size(), 1U);
}

// MCP2: a caller without time says nothing about the server.
TEST_P(McpBoth, ADeadlineThatIsTooShortForAStartDoesNotKeepOthersFromTheServer) {
  client();
  for (int i = 0; i < 5; ++i) {
    const ToolOutput hasty = call("echo", R"({"text": "hasty"})", within(milliseconds(0)));
    // A server of HTTP that is there may answer at once.
    EXPECT_TRUE(is_http() || hasty.status == ToolStatus::Interrupted) << hasty.joined_text();
  }
  EXPECT_EQ(call("echo", R"({"text": "patient"})").joined_text(), "patient");
}

// MCP4: what waits for a server that does not read is bounded.
TEST(McpStdio, AServerThatDoesNotReadIsNotWrittenToForEver) {
  McpClient client(stdio_server(), options());
  EXPECT_EQ(client.call("stop_reading", json("{}"), within(kLong)).joined_text(), "what?");
  const Json large = json(R"({"text": ")" + std::string(900'000, 'x') + "\"}");
  ToolOutput output;
  for (int i = 0; i < 10 && output.status != ToolStatus::Broken; ++i) {
    output = client.call("echo", large, within(kSoon));
  }
  EXPECT_EQ(output.status, ToolStatus::Broken);
  EXPECT_NE(output.joined_text().find("does not read"), std::string::npos) << output.joined_text();
}

TEST(McpStdio, ABannerIsPassedOver) {
  McpClient client(stdio_server({"--fault", "banner"}), options());
  EXPECT_TRUE(client.list({}));
}

// MCP8.
TEST(McpStdio, AServerHasTheVariablesItWasGivenAndNoOthers) {
  const Folder folder;
  McpServer server = stdio_server();
  server.env = {variable("KEY", "own"), variable("EMPTY", "")};
  server.cwd = folder.file("");
  McpOptions given = options();
  given.environment.push_back(variable("KEY", "common"));
  given.environment.push_back(variable("LANG", "C.UTF-8"));
  McpClient client(server, given);
  const Json seen = json(client.call("environment", json("{}"), within(kLong)).joined_text());
  std::vector<std::string> names;
  for (const Json::Member& member : seen.get("env")->members()) names.push_back(member.key.str());
  std::erase(names, "LC_CTYPE");  // Python's own
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"EMPTY", "KEY", "LANG", "PATH"}));
  EXPECT_EQ(seen.at("/env/KEY")->as_string()->view(), "own");
  EXPECT_TRUE(std::filesystem::equivalent(seen.get("cwd")->as_string()->str(), folder.file("")));
}

TEST(McpHttp, ASessionIsEndedAndOneThatIsForgottenBeginsAgain) {
  for (const auto& [path, status] : {std::pair("/deaf", "404"), std::pair("/old", "400")}) {
    const Folder folder;
    const HttpServer http({"--log", folder.file("log")});
    {
      McpClient client(McpServer{.name = "test", .url = http.url(path)}, options());
      const auto call = [&](std::string_view tool) {
        return client.call(tool, json(R"({"text": "hi"})"), within(kLong)).joined_text();
      };
      EXPECT_EQ(call("forget"), "who are you?");
      EXPECT_EQ(call("echo"), "hi");
    }
    std::vector<std::string> seen = folder.lines("log");
    std::erase(seen, "GET 405");  // from a thread of its own
    const std::string no = status;
    const std::vector<std::string> expected = {"POST 200",   "POST 202",     "POST 200",  // begins, calls
                                               "POST " + no, "DELETE " + no,  // is not known any more
                                               "POST 200",   "POST 202",     "POST 200", "DELETE 200"};
    EXPECT_EQ(seen, expected) << path;
  }
}

TEST(McpStdio, ACallThatWasStoppedIsNotSent) {
  const Folder folder;
  McpClient client(stdio_server(), options());
  std::stop_source stop;
  stop.request_stop();
  ToolContext context = within(kLong);
  context.stop = stop.get_token();
  const Json arguments = json(R"({"file": ")" + folder.file("notes") + "\"}");
  EXPECT_EQ(client.call("note", arguments, context).status, ToolStatus::Interrupted);
  EXPECT_EQ(client.call("note", arguments, within(kLong)).status, ToolStatus::Ok);
  EXPECT_EQ(folder.lines("notes").size(), 1U);
}

// MCP1: the rest of a stream is asked for, and not the call again.
TEST(McpHttp, AStreamThatEndsTooSoonIsResumed) {
  const Folder folder;
  const HttpServer http;
  const std::string file = R"({"file": ")" + folder.file("notes") + R"(", "pieces": )";
  McpClient client(McpServer{.name = "test", .url = http.url("/mcp")}, options());
  for (const char* pieces : {"1}", "20}"}) {
    const ToolOutput output = client.call("note_and_go_on_later", json(file + pieces), within(kLong));
    EXPECT_EQ(output.joined_text(), "at last") << pieces;
  }
  EXPECT_EQ(folder.lines("notes").size(), 2U);
  McpClient deaf(McpServer{.name = "test", .url = http.url("/deaf")}, options());
  const ToolOutput cut = deaf.call("note_and_go_on_later", json(file + "1}"), within(kLong));
  EXPECT_EQ(cut.status, ToolStatus::Interrupted) << "a server that has no streams for GET";
  const ToolOutput late = client.call("note_and_go_on_later", json(file + "1000000000}"), within(kSoon));
  EXPECT_EQ(late.status, ToolStatus::Interrupted);
  EXPECT_NE(late.joined_text().find("did not answer in time"), std::string::npos) << late.joined_text();
  EXPECT_EQ(folder.lines("notes").size(), 4U);
}

TEST(McpHttp, WrongAnswersAreErrors) {
  const HttpServer http;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/html", "sent no response"}, {"/401", "answered 401"}, {"/500", "answered 500"}};
  for (const auto& [path, words] : cases) {
    McpClient client(McpServer{.name = "test", .url = http.url(path)}, options());
    const ToolOutput output = client.call("echo", json("{}"), within(kLong));
    EXPECT_EQ(output.status, ToolStatus::Failed) << path;
    EXPECT_NE(output.joined_text().find(words), std::string::npos) << output.joined_text();
  }
}

TEST(McpHttp, AServerThatIsGoneIsAnErrorAtTheNextCall) {
  HttpServer http;
  McpClient client(McpServer{.name = "test", .url = http.url("/mcp")}, options());
  EXPECT_EQ(client.call("echo", json(R"({"text": "hi"})"), within(kLong)).joined_text(), "hi");
  http.end();
  // The first finds out, and cannot know how far it came.
  EXPECT_EQ(client.call("echo", json("{}"), within(kLong)).status, ToolStatus::Interrupted);
  EXPECT_EQ(client.call("echo", json("{}"), within(kLong)).status, ToolStatus::Failed);
}

TEST(McpTools, AreThoseOfTheServersThatWork) {
  McpConfig config;
  config.servers = {stdio_server(), stdio_server({"--fault", "exit"}),
                    stdio_server({"--fault", "schemaless"}), stdio_server({"--fault", "look_ahead"})};
  config.servers[1].name = "broken";
  config.servers[2].name = "third";
  config.servers[3].name = "fourth";
  McpTools tools(config, options());
  ToolBox box;
  const McpUpdate update = tools.update(box);
  // MCP9.
  ASSERT_EQ(update.failures.size(), 2U);
  EXPECT_EQ(update.failures[0].server, "broken");
  EXPECT_EQ(update.failures[1].server, "third");
  EXPECT_EQ(update.failures[1].error.code, Code::Invalid);
  EXPECT_EQ(box.size(), update.added.size());
  EXPECT_NE(box.find("mcp_fourth_ahead"), nullptr) << "a pattern that the server will check";
  RunnableTool* echo = box.find("mcp_third_echo");
  RunnableTool* note = box.find("mcp_test_note");
  ASSERT_TRUE(echo != nullptr && note != nullptr);
  EXPECT_FALSE(echo->has_side_effects(Json()));  // MCP7
  EXPECT_TRUE(note->has_side_effects(Json()));
  const ToolUseBlock use{.id = "c1", .name = "mcp_third_echo", .arguments = R"({"text": "hello"})"};
  EXPECT_EQ(box.run(use).joined_text(), "hello");
}

TEST(McpTools, FollowTheChangesOfTheirServers) {
  McpConfig config;
  config.servers = {stdio_server()};
  McpTools tools(config, options());
  ToolBox box;
  box.set_policy({{{"*", Permission::Allow}}});
  const std::size_t before = tools.update(box).added.size();
  EXPECT_EQ(tools.update(box).added.size(), 0U);
  const ToolUseBlock change{.id = "c1", .name = "mcp_test_change", .arguments = R"({"name": "echo."})"};
  EXPECT_EQ(box.run(change).joined_text(), "changed");
  // Both are "mcp_test_echo" now, so neither is (MCP5).
  const McpUpdate update = tools.update(box);
  EXPECT_EQ(update.removed, std::vector<std::string>{"mcp_test_echo"});
  EXPECT_EQ(update.added.size(), 2U);
  EXPECT_EQ(box.size(), before + 1);
  const ToolUseBlock die{
      .id = "c2", .name = "mcp_test_note_and_die", .arguments = R"({"file": "/dev/null"})"};
  EXPECT_EQ(box.run(die).status, ToolStatus::Interrupted);
  const ToolUseBlock next{.id = "c3", .name = "mcp_test_release", .arguments = "{}"};
  EXPECT_EQ(box.run(next).joined_text(), "go");
  // Another process has not heard of the change.
  EXPECT_EQ(tools.update(box).added, std::vector<std::string>{"mcp_test_echo"});
  EXPECT_EQ(box.size(), before);
}

}  // namespace
}  // namespace parley
