#include "json/compact.h"

#include <gtest/gtest.h>

#include "parley/json/json.h"

namespace parley::json {
namespace {

TEST(HasSpace, FindsEachKind) {
  EXPECT_FALSE(has_space(R"({"a":[1,2]})"));
  for (const char* json : {"[1, 2]", "[1,\n2]", "[1,\r2]", "[1,\t2]", R"("a b")"})
    EXPECT_TRUE(has_space(json));
}

// The judge is Json: what it parses as an object is taken, and its compact() is what is left.
TEST(CompactObject, AgreesWithJson) {
  for (const char* json : {
           "{}",
           " {} ",
           R"({"a" : "b c" , "d":[ 1 ,	2 ]})",
           R"({"a\" b":"\\"} )",
           "\n{\n  \"a\": {}\n}\n",
           R"({"a":1,"a":2})",  // a name twice is no fault here
           "",
           " ",
           "[]",
           "1",
           "{",
           "{}x",
           R"({"a":})",
           R"({"a":"\ud800"})",  // none of these is one object
           R"({"a":"\x"})",
           "{} {}",
           "\xEF\xBB\xBF{}",
       }) {
    Out out;
    out.raw("before").raw(json);
    const Result<Json> judged = Json::parse(json);
    const bool is_object = judged && judged->is_object();
    ASSERT_EQ(compact_object(out, 6), is_object) << json;
    if (!is_object) continue;
    EXPECT_EQ(out.view(), "before" + judged->compact().text().str()) << json;
  }
}

}  // namespace
}  // namespace parley::json
