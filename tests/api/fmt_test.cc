// Parley's types with {fmt} and with streams: the same text.
#include "parley/fmt.h"

#include <gtest/gtest.h>

#include <sstream>

namespace parley {
namespace {

template <typename T>
void expect_printed(const T& value, std::string_view expected) {
  std::ostringstream out;
  out << value;
  EXPECT_EQ(out.str(), expected);
  EXPECT_EQ(fmt::format("{}", value), expected);
  EXPECT_EQ(fmt::format("{:>90}", value).size(), 90U);
}

TEST(Printing, IsTheSameInStreamsAndInFmt) {
  expect_printed(Text("coffee"), "coffee");
  expect_printed(Json::parse(R"({"a": 1})").value(), R"({"a": 1})");
  expect_printed(Code::WrongType, "wrong_type");
  expect_printed(Role::Assistant, "assistant");
  expect_printed(Dialect::OpenAI, "openai");
  expect_printed(BlockType::ToolUse, "tool_use");
  expect_printed(fail(Code::Invalid, "it is wrong", "/0/role").error(), "/0/role: it is wrong");
  expect_printed(Message::user_message("hi"), "user: hi");
  expect_printed(Finding{"orphan_result", FindingLevel::Warning, 1, {}, "/1", "the result has no call"},
                 "warning /1: the result has no call");
  Note note;
  note.code = "raw_dropped";
  note.detail = "one block was dropped";
  expect_printed(note, to_line(note));
}

}  // namespace
}  // namespace parley
