// C++ functions as tools. Quotes FUNCTION1 to FUNCTION4.
#include "parley/tool/function_tool.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace parley {
namespace {

struct Trip {
  std::string from, to;
  int days = 1;
};
PARLEY_FIELDS(Trip, from, to, days)

std::vector<Param> all_kinds() {
  return {param("s", "A text.").string().required(),
          param("i", "").integer(),
          param("r", "").integer(1, 3),
          param("n", "").number(),
          param("b", "").boolean(),
          param("w", "").one_of({"yes", "no"}),
          param("ss", "").strings(),
          param("is", "").integers(),
          param("any", "Whatever.")};
}

// FUNCTION1
TEST(FunctionTool, DerivesTheSchema) {
  EXPECT_EQ(
      parameters_of(all_kinds()).text().view(),
      R"({"type":"object","properties":{"s":{"type":"string","description":"A text."},"i":{"type":"integer"},)"
      R"("r":{"type":"integer","minimum":1,"maximum":3},"n":{"type":"number"},"b":{"type":"boolean"},)"
      R"("w":{"type":"string","enum":["yes","no"]},"ss":{"type":"array","items":{"type":"string"}},)"
      R"("is":{"type":"array","items":{"type":"integer"}},"any":{"description":"Whatever."}},)"
      R"("required":["s"],"additionalProperties":false})");
  EXPECT_EQ(parameters_of({}).text().view(),
            R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

struct Seen {
  Text s, w;
  std::int64_t i = 0;
  double n = 0;
  bool b = false, has_any = false;
  std::size_t strings = 0;
  std::vector<std::int64_t> integers;
};

std::pair<ToolStatus, Seen> seen(std::string_view arguments) {
  Seen out;
  ToolBox tools;
  EXPECT_TRUE(tools
                  .add(function_tool(Text("f"), Text("F."), all_kinds(),
                                     [&](const Args& args) {
                                       out = {args.string("s"),          args.string("w", "no"),
                                              args.integer("i", -1),     args.number("n", 0.5),
                                              args.boolean("b", true),   args.has("any"),
                                              args.strings("ss").size(), args.integers("is")};
                                       return ToolOutput::text("");
                                     },
                                     {.has_side_effects = false}))
                  .has_value());
  const ToolOutput output = tools.run({Text("id"), Text("f"), Text(arguments)});
  return {output.status, out};
}

// FUNCTION2
TEST(FunctionTool, ArgumentsAreTyped) {
  const auto [status, all] =
      seen(R"({"s":"\u00e9","i":1.2e1,"n":1e-3,"b":false,"w":"yes","ss":["a","b"],"is":[1,-2.0],"any":[]})");
  EXPECT_EQ(status, ToolStatus::Ok);
  EXPECT_EQ(all.s.view(), "\xC3\xA9");
  EXPECT_EQ(all.i, 12);
  EXPECT_EQ(all.n, 1e-3);
  EXPECT_FALSE(all.b);
  EXPECT_EQ(all.w.view(), "yes");
  EXPECT_EQ(all.strings, 2U);
  EXPECT_EQ(all.integers, (std::vector<std::int64_t>{1, -2}));
  EXPECT_TRUE(all.has_any);

  const auto [also, few] = seen(R"({"s":"","any":null})");
  EXPECT_EQ(also, ToolStatus::Ok);
  EXPECT_EQ(few.w.view(), "no");
  EXPECT_EQ(few.i, -1);
  EXPECT_EQ(few.n, 0.5);
  EXPECT_TRUE(few.b);
  EXPECT_FALSE(few.has_any);
}

// FUNCTION3
TEST(FunctionTool, NumbersFitTheirTypes) {
  EXPECT_EQ(seen(R"({"s":"","i":9223372036854775807})").second.i, INT64_MAX);
  EXPECT_EQ(seen(R"({"s":"","i":-9223372036854775808})").second.i, INT64_MIN);
  EXPECT_EQ(seen(R"({"s":"","n":1e30})").second.n, 1e30);
  for (const char* bad : {R"({"s":"","i":9223372036854775808})", R"({"s":"","i":1e30})",
                          R"({"s":"","n":1.5e-999})", R"({"s":"","is":[1,1e30]})"}) {
    EXPECT_EQ(seen(bad).first, ToolStatus::Broken) << bad;
  }
}

int add(int a, int b) { return a + b; }

ToolOutput run(const std::shared_ptr<RunnableTool>& made, std::string_view arguments) {
  ToolBox box;
  EXPECT_TRUE(box.add(made));
  return box.run(ToolUseBlock{"call_1", made->spec().name, arguments});
}

// FUNCTION1, FUNCTION4
TEST(TypedFunctionTool, TheSignatureIsTheSchema) {
  const auto sum = tool("add", "Adds two numbers", add, {"a", "b"});
  EXPECT_EQ(
      sum->spec().parameters.text(),
      R"({"type":"object","properties":{"a":{"type":"integer","minimum":-2147483648,"maximum":2147483647},)"
      R"("b":{"type":"integer","minimum":-2147483648,"maximum":2147483647}},)"
      R"("required":["a","b"],"additionalProperties":false})");
  EXPECT_EQ(run(sum, R"({"a":2,"b":3})").joined_text(), "5");
  EXPECT_EQ(run(sum, R"({"a":2})").status, ToolStatus::Broken);
  EXPECT_EQ(run(sum, R"({"a":2,"b":4294967296})").status, ToolStatus::Broken);
}

TEST(TypedFunctionTool, AnOptionalParameterMayBeMissing) {
  const auto weather = tool("weather", "Weather forecast for a city",
                            [](const std::string& city, std::optional<int> days) {
                              return city + " " + std::to_string(days.value_or(1));
                            },
                            {"city", "days"});
  EXPECT_EQ(run(weather, R"({"city":"Oslo"})").joined_text(), "Oslo 1");
  EXPECT_EQ(run(weather, R"({"city":"Oslo","days":null})").joined_text(), "Oslo 1");
  EXPECT_EQ(run(weather, R"({"city":"Oslo","days":7})").joined_text(), "Oslo 7");
}

TEST(TypedFunctionTool, AStructIsTheArguments) {
  const auto plan = tool("plan_trip", "Plans a trip", [](const Trip& trip) -> Result<Trip> {
    if (trip.days < 1) return fail(Code::Invalid, "a trip takes at least a day", "/days");
    return Trip{trip.to, trip.from, trip.days};
  });
  const ToolOutput back = run(plan, R"({"from":"Oslo","to":"Bergen"})");
  EXPECT_EQ(back.joined_text(), R"({"from":"Bergen","to":"Oslo","days":1})");
  EXPECT_EQ(back.structured->text(), back.joined_text());
  const ToolOutput failed = run(plan, R"({"from":"Oslo","to":"Bergen","days":0})");
  EXPECT_EQ(failed.status, ToolStatus::Failed);
  EXPECT_EQ(failed.joined_text(), "/days: a trip takes at least a day");
}

TEST(TypedFunctionTool, ReturnsTextsAndNothing) {
  EXPECT_EQ(run(tool("now", "The time", [] { return "noon"; }), "{}").joined_text(), "noon");
  EXPECT_EQ(run(tool("wait", "Waits", [](double) {}, {"seconds"}), R"({"seconds":1.5})").joined_text(),
            "done");
  EXPECT_EQ(run(tool("own", "Fails", [] { return ToolOutput::failure("no"); }), "{}").status,
            ToolStatus::Failed);
  EXPECT_EQ(
      run(tool("throws", "Throws", []() -> std::string { throw std::runtime_error("oh"); }), "{}").status,
      ToolStatus::Broken);
}

// FUNCTION4
TEST(TypedFunctionTool, NeedsApprovalOnlyIfItSaysSo) {
  const auto with_effects = tool("send", "Sends", [] { return "sent"; }, {.has_side_effects = true});
  EXPECT_EQ(run(with_effects, "{}").status, ToolStatus::Denied);
}

}  // namespace
}  // namespace parley
