// Calls of all kinds, through a ToolBox. Quotes TOOL1 to TOOL6.
#include "parley/tool/tool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "parley/base/text.h"
#include "parley/message/message.h"
#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"

namespace parley {
namespace {

using std::chrono::milliseconds;

ToolUseBlock call(Text name, std::string_view arguments = "{}") {
  return {Text("call_1"), std::move(name), Text(arguments)};
}

std::shared_ptr<RunnableTool> tool(Text name, std::function<ToolOutput(const Args&)> function,
                                   FunctionToolOptions options = {.has_side_effects = false}) {
  return function_tool(std::move(name), Text("Does something."),
                       {param("n", "A number.").integer(0, 9), param("s", "A text.").string()},
                       std::move(function), options);
}

ToolBox box(std::vector<std::shared_ptr<RunnableTool>> tools) {
  ToolBox out;
  for (auto& t : tools) EXPECT_TRUE(out.add(std::move(t)).has_value());
  return out;
}

std::string said(const ToolOutput& output) {
  return std::string(to_string(output.status)) + ": " + output.joined_text();
}

ToolOutput echo(const Args& args) { return ToolOutput::text(args.string("s")); }

// TOOL1, TOOL2
TEST(ToolBox, AnswersEveryCall) {
  int runs = 0;
  const ToolBox tools =
      box({tool(Text("echo"),
                [&](const Args& args) {
                  ++runs;
                  return echo(args);
                }),
           tool(Text("bomb"), [](const Args&) -> ToolOutput { throw std::runtime_error("boom \xFF"); }),
           tool(Text("stone"), [](const Args&) -> ToolOutput { throw 7; }),
           tool(Text("poor"), [](const Args&) { return ToolOutput::failure("there is none"); })});
  const struct {
    ToolUseBlock use;
    const char* expected;
  } rows[] = {
      {call("echo", R"({"s":"hi"})"), "ok: hi"},
      {call("echo", ""), "ok: "},
      {call("echo", " \n"), "ok: "},
      {call("", "{}"), "unnamed: the call has no tool name"},
      {call("Echo"), "unknown: unknown tool 'Echo'; known tools: 'echo' 'bomb' 'stone' 'poor'"},
      {call("echo", "[1]"), "broken: invalid arguments: expected an object"},
      {call("echo", R"({"s":1,"n":10,"m":0})"),
       "broken: invalid arguments:\n- /m: unknown member; known members: "
       "'n', 's'\n"
       "- /n: expected at most 9, got 10\n- /s: expected a string, got a number"},
      {call("bomb"), "broken: boom \xEF\xBF\xBD"},
      {call("stone"), "broken: the tool threw an unknown exception"},
      {call("poor"), "failed: there is none"},
  };
  for (const auto& row : rows) EXPECT_EQ(said(tools.run(row.use)), row.expected);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(tools.run(call("echo", "{\"s\":")).status, ToolStatus::NotJson);
  EXPECT_EQ(tools.run(call("echo", "not json")).status, ToolStatus::NotJson);
  EXPECT_EQ(runs, 3);
}

// TOOL3
TEST(ToolBox, WhatChangesTheWorldNeedsPermission) {
  ToolBox tools = box({tool(Text("look"), echo), tool(Text("act"), echo, {.has_side_effects = true})});
  const auto status = [&](Text name) { return tools.run(call(std::move(name))).status; };
  EXPECT_EQ(status("look"), ToolStatus::Ok);
  EXPECT_EQ(status("act"), ToolStatus::Denied);

  std::vector<std::string> asked;
  bool answer = true;
  tools.set_approve([&](const ToolUseBlock& use) {
    asked.push_back(use.name.str());
    return answer;
  });
  EXPECT_EQ(status("act"), ToolStatus::Ok);
  answer = false;
  EXPECT_EQ(status("act"), ToolStatus::Denied);
  EXPECT_EQ(status("look"), ToolStatus::Ok);
  EXPECT_EQ(asked, (std::vector<std::string>{"act", "act"}));

  tools.set_approve([](const ToolUseBlock&) -> bool { throw std::runtime_error("no terminal"); });
  EXPECT_EQ(status("act"), ToolStatus::Denied);

  tools.set_policy({{{"*", Permission::Deny}, {"act", Permission::Allow}}});
  EXPECT_EQ(status("act"), ToolStatus::Ok);
  EXPECT_EQ(status("look"), ToolStatus::Denied);
}

// TOOL7
TEST(ToolBox, RunsACallAsTheUserEditedIt) {
  std::vector<std::string> received;
  ToolBox tools = box({function_tool(Text("act"), Text(""), {param("s", "").string().required()},
                                     [&](const Args& args) {
                                       received.push_back(args.string("s").str());
                                       return ToolOutput::text(Text("done"));
                                     }),
                       function_tool(Text("show"), Text(""), {}, [](const Args&) {
                         ToolOutput out;
                         out.structured = Json::number(7);
                         return out;
                       })});
  Text edited(R"({"s":"mine"})");
  tools.set_approve([&](const ToolUseBlock&) { return Approval::edited(edited); });
  const ToolUseBlock use = call("act", R"({"s":"the model's"})");
  const ToolOutput output = tools.run(use);
  EXPECT_EQ(said(output), "ok: [the user replaced the arguments of this call by {\"s\":\"mine\"}]\ndone");
  EXPECT_EQ(output.edited_arguments, edited);
  EXPECT_EQ(received, std::vector<std::string>{"mine"});

  // TOOL2 holds for what the user wrote, too.
  edited = Text(R"({"s":1})");
  EXPECT_EQ(said(tools.run(use)),
            "broken: [the user replaced the arguments of this call by {\"s\":1}]\n"
            "invalid arguments:\n- /s: expected a string, got a number");
  edited = Text("{");
  EXPECT_EQ(tools.run(use).status, ToolStatus::NotJson);
  EXPECT_EQ(received.size(), 1U);

  edited = Text("{}");
  EXPECT_EQ(said(tools.run(call("show"))), "ok: [the user replaced the arguments of this call by {}]\n7");

  // An answer that was given before is used once, and nothing is asked.
  tools.set_approve([](const ToolUseBlock&) -> bool { throw std::runtime_error("asked again"); });
  EXPECT_EQ(tools.run(use, {.approval = Approval::edited(Text(R"({"s":"earlier"})"))}).status,
            ToolStatus::Ok);
  EXPECT_EQ(received.back(), "earlier");
  EXPECT_FALSE(tools.run(use, {.approval = true}).edited_arguments.has_value());
}

TEST(ToolBox, TheTimeOfACallIsWithoutItsApproval) {
  using Clock = std::chrono::steady_clock;
  ToolBox tools = box({tool(Text("act"), echo, {.has_side_effects = true})});
  EXPECT_EQ(tools.run(call("act")).time.count(), 0) << "it did not run";
  Clock::duration approval{0};
  tools.set_approve([&](const ToolUseBlock&) {
    const Clock::time_point asked = Clock::now();
    while (Clock::now() - asked < std::chrono::milliseconds(5)) std::this_thread::yield();
    approval = Clock::now() - asked;
    return true;
  });
  const Clock::time_point begin = Clock::now();
  const ToolOutput output = tools.run(call("act"));
  const Clock::duration all = Clock::now() - begin;
  EXPECT_GT(output.time.count(), 0);
  EXPECT_LE(output.time, all - approval);
}

TEST(ToolPolicy, TheLastRuleThatFitsDecides) {
  const ToolPolicy policy{{{"a", Permission::Allow}, {"*", Permission::Ask}, {"b", Permission::Deny}}};
  EXPECT_EQ(policy.of("a", true), Permission::Ask);
  EXPECT_EQ(policy.of("b", false), Permission::Deny);
  EXPECT_EQ(policy.of("c", false), Permission::Ask);
  EXPECT_EQ(ToolPolicy{}.of("c", false), Permission::Allow);
  EXPECT_EQ(ToolPolicy{}.of("c", true), Permission::Ask);
  for (const Permission p : {Permission::Allow, Permission::Ask, Permission::Deny}) {
    EXPECT_EQ(permission_named(to_string(p)), p);
  }
  EXPECT_FALSE(permission_named("maybe").has_value());
}

// TOOL4
TEST(ToolBox, OutputsAreBounded) {
  const ToolBox tools = box({tool(Text("flood"), [](const Args&) {
    ToolOutput out;
    for (int i = 0; i < 5; ++i) out.content.emplace_back(TextBlock{Text(std::string(1000, 'a'))});
    out.content.emplace_back(ThinkingBlock{Text("hm")});
    out.content.emplace_back(ImageBlock{Base64Source{Text("image/png"), Text("AAAA")}});
    return out;
  })});
  ToolContext context;
  context.max_output_bytes = 2100;
  const ToolOutput out = tools.run(call("flood"), context);
  ASSERT_EQ(out.content.size(), 6U);
  EXPECT_EQ(out.content[1].as<TextBlock>()->text.size(), 1000U);
  EXPECT_LE(out.content[2].as<TextBlock>()->text.size(), 100U);
  EXPECT_NE(out.joined_text().find("characters cut"), std::string::npos);
  EXPECT_NE(out.joined_text().find("[... 2 more texts cut ...]"), std::string::npos);
  EXPECT_NE(out.joined_text().find("neither text nor media"), std::string::npos);
  EXPECT_TRUE(out.content[4].as<ImageBlock>() != nullptr);
  context.max_output_bytes = 5000;
  EXPECT_EQ(tools.run(call("flood"), context).content.size(), 7U);
  EXPECT_EQ(tools.run(call("flood"), context).joined_text().find("characters cut"), std::string::npos);

  constexpr std::size_t kMost = std::size_t{20} << 20;
  for (const std::size_t bytes : {kMost, kMost + 4}) {
    const ToolBox cameras = box({tool(Text("photo"), [bytes](const Args&) {
      ToolOutput photo;
      photo.content.emplace_back(ImageBlock{Base64Source{Text("image/png"), Text(std::string(bytes, 'A'))}});
      return photo;
    })});
    EXPECT_EQ(cameras.run(call("photo")).joined_text(),
              bytes == kMost ? "" : "[... media of more than 20 MiB were cut ...]");
  }
}

// TOOL5
TEST(ToolBox, AStopAndADeadlineEndATool) {
  const ToolBox tools = box({tool(Text("polite"), [](const Args& args) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait(lock, args.context().stop, [] { return false; });
    return ToolOutput::of(ToolStatus::Interrupted, "I was told to stop");
  })});
  ToolContext context;
  context.timeout = milliseconds(1);
  EXPECT_EQ(said(tools.run(call("polite"), context)), "interrupted: I was told to stop");

  context.timeout = std::chrono::hours(1);
  std::stop_source source;
  context.stop = source.get_token();
  std::thread stopper([&] { source.request_stop(); });
  const ToolOutput stopped = tools.run(call("polite"), context);
  stopper.join();
  EXPECT_EQ(stopped.status, ToolStatus::Interrupted);
  EXPECT_EQ(said(tools.run(call("polite"), context)), "interrupted: the call was stopped before it started");
}

// TOOL1, TOOL5: run() returns without it.
TEST(ToolBox, AToolThatHangsIsAbandoned) {
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false, is_left = false;
  };
  const auto gate = std::make_shared<Gate>();
  ToolContext context;
  {
    const ToolBox tools = box({tool(Text("deaf"),
                                    [gate](const Args&) {
                                      std::unique_lock lock(gate->mutex);
                                      gate->changed.wait(lock, [&] { return gate->is_open; });
                                      gate->is_left = true;
                                      gate->changed.notify_all();
                                      return ToolOutput::text("late");
                                    },
                                    {.has_side_effects = false, .is_parallel = false})});
    context.timeout = milliseconds(1);
    EXPECT_EQ(said(tools.run(call("deaf"), context)),
              "interrupted: the tool did not end within 1 ms; the call may have had side effects");
    EXPECT_EQ(said(tools.run(call("deaf"), context)),
              "interrupted: the call did not start: the tool is busy with another call");
  }
  std::unique_lock lock(gate->mutex);
  gate->is_open = true;
  gate->changed.notify_all();
  gate->changed.wait(lock, [&] { return gate->is_left; });
}

// The last owner destroys it, and not a detached thread: a session with a server
// ends.
TEST(ToolBox, AToolIsGoneWithItsBox) {
  for (int i = 0; i < 200; ++i) {
    const auto held = std::make_shared<int>(0);
    {
      const ToolBox tools = box({tool(Text("hold"), [held](const Args& args) { return echo(args); })});
      EXPECT_EQ(said(tools.run(call("hold", R"({"s":"hi"})"), {})), "ok: hi");
    }
    ASSERT_EQ(held.use_count(), 1) << i;
  }
}

TEST(ToolBox, AToolThatIsNotParallelRunsOneCallAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const ToolBox tools = box({tool(Text("alone"),
                                  [&](const Args&) {
                                    most = std::max(most.load(), ++inside);
                                    std::this_thread::yield();
                                    --inside;
                                    return ToolOutput::text("done");
                                  },
                                  {.has_side_effects = false, .is_parallel = false})});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(tools.run(call("alone")).status, ToolStatus::Ok);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

// TOOL6
TEST(ToolBox, NamesAreUnique) {
  EXPECT_EQ(ToolBox().add(nullptr).error().code, Code::Invalid);
  ToolBox tools = box({tool(Text("a"), echo), tool(Text("b"), echo)});
  const auto taken = tools.add(tool(Text("a"), echo));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, Code::Conflict);
  EXPECT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools.specs()[1].name.view(), "b");
  EXPECT_NE(tools.find("a"), nullptr);
  EXPECT_TRUE(tools.remove("a"));
  EXPECT_FALSE(tools.remove("a"));
  EXPECT_EQ(tools.find("a"), nullptr);
  EXPECT_TRUE(tools.add(tool(Text("a"), echo)).has_value());
  EXPECT_EQ(tools.specs()[1].name.view(), "a");
}

class Odd : public RunnableTool {
 public:
  explicit Odd(Tool spec, bool checks_arguments = false)
      : spec_(std::move(spec)), checks_arguments_(checks_arguments) {}
  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json&) const override { return false; }
  bool checks_arguments() const override { return checks_arguments_; }
  ToolOutput run(const Json&, const ToolContext& context) override {
    return ToolOutput::text(context.call_id);
  }

 private:
  Tool spec_;
  bool checks_arguments_;
};

// TOOL2
TEST(ToolBox, LeavesSchemasItCannotCheckToToolsThatDo) {
  ToolBox tools;
  const auto add = [&](Text name, std::string_view schema) {
    return tools.add(std::make_shared<Odd>(Tool{std::move(name), "", Json::parse(schema).value()}, true));
  };
  ASSERT_TRUE(add("ahead", R"json({"properties":{"n":{"pattern":"(?=a)"}}})json"));
  EXPECT_EQ(said(tools.run(call("ahead", R"({"n":"b"})"))), "ok: call_1");
  EXPECT_EQ(tools.run(call("ahead", "[1]")).status, ToolStatus::Broken) << "it is an object still";
  ASSERT_TRUE(add("known", R"({"required":["n"]})"));
  EXPECT_EQ(tools.run(call("known")).status, ToolStatus::Broken) << "what can be checked is";
  EXPECT_EQ(add("wrong", R"({"type":"text"})").error().code, Code::Invalid);
}

TEST(ToolBox, TakesOnlyToolsItCanCheck) {
  ToolBox tools;
  const auto code = [&](Tool spec) {
    const auto added = tools.add(std::make_shared<Odd>(std::move(spec)));
    return added ? std::string("added") : std::string(to_string(added.error().code));
  };
  EXPECT_EQ(code({"", "", Json::parse("{}").value()}), "invalid");
  EXPECT_EQ(code({"a", "", Json::parse(R"({"type":"text"})").value()}), "invalid");
  EXPECT_EQ(code({"a", "", Json::parse(R"json({"pattern":"(?=a)"})json").value()}), "unsupported");
  EXPECT_EQ(code({"a", "", Json(), true}), "unsupported");
  EXPECT_EQ(code({"a", "", Json()}), "added");
  EXPECT_EQ(said(tools.run(call("a", R"({"anything":1})"))), "ok: call_1");
}

TEST(ToResult, KeepsWhatWasSaid) {
  const ToolUseBlock use = call("x");
  EXPECT_EQ(to_result(use, ToolOutput::text("hi")), (ToolResultBlock{"call_1", "x", Text("hi")}));
  EXPECT_EQ(to_result(use, ToolOutput::failure("no")), (ToolResultBlock{"call_1", "x", Text("no"), true}));
  EXPECT_EQ(to_result(use, ToolOutput{}), (ToolResultBlock{"call_1", "x", Text()}));
  ToolOutput structured;
  structured.structured = Json::parse(R"({"a":1})").value();
  EXPECT_EQ(to_result(use, structured), (ToolResultBlock{"call_1", "x", Text(R"({"a":1})")}));
  ToolOutput image;
  image.content.emplace_back(ImageBlock{Base64Source{Text("image/png"), Text("AAAA")}});
  EXPECT_EQ(to_result(use, image), (ToolResultBlock{"call_1", "x", image.content}));
  EXPECT_TRUE(MessageBuilder(Role::Tool).block(to_result(use, image)).build().has_value());
}

TEST(Terminate, SaysHowItEnded) {
  const ToolBox tools = box({terminate_tool()});
  EXPECT_EQ(said(tools.run(call("terminate", R"({"status":"success"})"))),
            "ok: The interaction has been completed with status: success");
  EXPECT_EQ(tools.run(call("terminate", R"({"status":"done"})")).status, ToolStatus::Broken);
  EXPECT_EQ(tools.run(call("terminate")).status, ToolStatus::Broken);
}

}  // namespace
}  // namespace parley
