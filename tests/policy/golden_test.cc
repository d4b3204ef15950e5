// Policies against what their originals made, in tests/corpus/policies. A line of a file there is
//   {"policy", "target", "options": [name], "document", "want": list}, or "error": code instead of "want".
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "options.h"
#include "parley/dialect/formatter.h"

namespace parley::test {
namespace {

std::string member(const Json& line, std::string_view key) { return line.get(key)->as_string()->str(); }

// The list, or the code of the error, of the document or of what `parley` makes of it.
std::string made(const Json& line, bool through_parley) {
  const Formatter policy = formatter_named(member(line, "policy")).value();
  FormatterOptions options;
  for (const Json& name : line.get("options")->elements()) {
    EXPECT_TRUE(set_option(options, *name.as_string()));
  }
  auto reading = read(line.get("document")->text().view(), dialect_of(policy));
  if (reading && through_parley) {
    const Text carried = write(reading->conversation, Dialect::Parley).value().text;
    reading = read(carried.view(), Dialect::Parley);
  }
  if (!reading) return "cannot be read: " + reading.error().message;
  const Dialect target = target_named(policy, member(line, "target")).value();
  const auto list = format(reading->conversation, target, policy, options);
  return list ? list->text.str() : std::string(to_string(list.error().code));
}

// P1, P3
void check(const std::string& name, std::size_t cases) {
  std::ifstream file(PARLEY_SOURCE_DIR "/tests/corpus/policies/" + name);
  std::size_t number = 0;
  std::size_t seen = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.starts_with('#')) continue;
    SCOPED_TRACE(name + ":" + std::to_string(number));
    const Json line = Json::parse(text).value();
    const std::string want = line.get("want") ? line.get("want")->text().str() : member(line, "error");
    EXPECT_EQ(made(line, false), want);
    EXPECT_EQ(made(line, true), want);
    ++seen;
  }
  EXPECT_EQ(seen, cases);
}

TEST(PolicyGolden, FormatsAsAgentScopeDoes) { check("agentscope.jsonl", 312); }
TEST(PolicyGolden, FormatsAsOpenManusDoes) { check("openmanus.jsonl", 19); }

}  // namespace
}  // namespace parley::test
