// What differs between the drafts, and references. tests/judges/schema_suite.sh runs
// JSON-Schema-Test-Suite, which says the rest.
#include <gtest/gtest.h>

#include <string>

#include "parley/schema/schema.h"

namespace parley {
namespace {

Json json(std::string_view text) {
  const auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Json());
}

// "good", "bad", or the code, the path and the message of the error with the schema.
std::string verdict(std::string_view schema, std::string_view value, const SchemaDocuments& documents = {}) {
  const auto made = Schema::of(json(schema), {}, documents);
  if (!made) {
    return std::string(to_string(made.error().code)) + " " + made.error().path + " " + made.error().message;
  }
  return made->check(json(value)).empty() ? "good" : "bad";
}

std::string with_draft(std::string_view draft, std::string_view rest) {
  return R"({"$schema":")" + std::string(draft) + R"(",)" + std::string(rest);
}

constexpr std::string_view k2020 = "https://json-schema.org/draft/2020-12/schema";
constexpr std::string_view k2019 = "https://json-schema.org/draft/2019-09/schema";
constexpr std::string_view k7 = "http://json-schema.org/draft-07/schema#";
constexpr std::string_view k6 = "http://json-schema.org/draft-06/schema#";
constexpr std::string_view k4 = "http://json-schema.org/draft-04/schema#";

TEST(SchemaDraft, ChecksTheKeywordsOfTheDraftThatIsNamed) {
  struct Row {
    std::string_view rest, value;
    std::string_view is_bad_in;  // of 4, 6, 7, 9 (2019-09) and 0 (2020-12)
  };
  const Row rows[] = {
      {R"("const":1})", "2", "6790"},
      {R"("if":true,"then":false})", "1", "790"},
      {R"("propertyNames":false})", R"({"a":1})", "6790"},
      {R"("dependencies":{"a":["b"]}})", R"({"a":1})", "46790"},
      {R"("dependencies":{"a":false}})", R"({"a":1})", "46790"},
      {R"("dependentRequired":{"a":["b"]}})", R"({"a":1})", "90"},
      {R"("dependentSchemas":{"a":false}})", R"({"a":1})", "90"},
      {R"("prefixItems":[false]})", "[1]", "0"},
      {R"("items":[true],"additionalItems":false})", "[1,2]", "46790"},
      {R"("contains":true,"maxContains":1})", "[1,2]", "90"},
      {R"("unevaluatedProperties":false})", R"({"a":1})", "90"},
      {R"("unevaluatedItems":false})", "[1]", "90"},
      {R"("contains":true,"unevaluatedItems":false})", "[1]", "9"},
      {R"("$ref":"#/definitions/a","maximum":1,"definitions":{"a":true}})", "2", "90"},
      {R"("$ref":"#/$defs/a","$defs":{"a":{"maximum":1}}})", "2", "46790"},
  };
  const std::pair<char, std::string_view> drafts[] = {
      {'4', k4}, {'6', k6}, {'7', k7}, {'9', k2019}, {'0', k2020}};
  for (const Row& row : rows) {
    for (const auto& [name, draft] : drafts) {
      const bool is_bad = row.is_bad_in.find(name) != std::string_view::npos;
      EXPECT_EQ(verdict(with_draft(draft, row.rest), row.value), is_bad ? "bad" : "good") << name << row.rest;
    }
  }
}

TEST(SchemaDraft, ReadsExclusiveBoundsAsDraft4HasThem) {
  const std::string bounds =
      with_draft(k4, R"("exclusiveMinimum":true,"minimum":1,"maximum":3,"exclusiveMaximum":false})");
  EXPECT_EQ(verdict(bounds, "1"), "bad");
  EXPECT_EQ(verdict(bounds, "1.5"), "good");
  EXPECT_EQ(verdict(bounds, "3"), "good");
}

TEST(SchemaDraft, KnowsItsNameInEachSpelling) {
  for (const std::string_view name :
       {"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema#"}) {
    EXPECT_EQ(verdict(with_draft(name, R"("prefixItems":[false]})"), "[1]"), "good") << name;
  }
  EXPECT_EQ(
      verdict(with_draft("http://json-schema.org/draft-03/schema#", R"("type":"any"})"), "1"),
      "unsupported /$schema unknown metaschema 'http://json-schema.org/draft-03/schema#': expected JSON "
      "Schema draft 2020-12, 2019-09, 7, 6 or 4");
}

TEST(SchemaDraft, ObeysTheVocabulariesOfAGivenMetaschema) {
  const SchemaDocuments documents = {
      {"https://example.com/plain", json(with_draft(k2020, R"("$vocabulary":{
         "https://json-schema.org/draft/2020-12/vocab/core":true,
         "https://json-schema.org/draft/2020-12/vocab/applicator":true,
         "https://example.com/vocab":false}})"))},
      {"https://example.com/more",
       json(with_draft(k2020, R"("$vocabulary":{"https://example.com/vocab":true}})"))},
      {"https://example.com/itself", json(with_draft("https://example.com/itself", R"("$id":"x"})"))},
  };
  EXPECT_EQ(verdict(with_draft("https://example.com/plain", R"("type":"string","not":{}})"), "1", documents),
            "bad");
  EXPECT_EQ(verdict(with_draft("https://example.com/plain", R"("type":"string"})"), "1", documents), "good");
  EXPECT_EQ(
      verdict(with_draft("https://example.com/more", R"("type":"string"})"), "1", documents),
      "unsupported /$schema the metaschema requires the vocabulary 'https://example.com/vocab', which is not "
      "supported");
  EXPECT_TRUE(verdict(with_draft("https://example.com/itself", R"("type":"string"})"), "1", documents)
                  .starts_with("unsupported /$schema"));
}

TEST(SchemaReference, ResolvesToAnchorsAndIdsOfTheSameSchema) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"$ref":"#text","$defs":{"t":{"$anchor":"text","type":"string"}}})", "an anchor"},
      {R"({"$ref":"text","$defs":{"t":{"$id":"text","type":"string"}}})", "a relative $id"},
      {R"({"$id":"https://example.com/a/b","$ref":"../c#t","$defs":{"x":{"$id":"/c","$defs":{"y":{"$anchor":"t",
           "type":"string"}}}}})",
       "an anchor in a bundled resource"},
      {R"({"$id":"urn:example:1","$ref":"urn:example:1#/$defs/t","$defs":{"t":{"type":"string"}}})", "a URN"},
      {R"({"$ref":"inner#/$defs/t","$defs":{"t":{"type":"integer"},
           "i":{"$id":"inner","$defs":{"t":{"$ref":"#/$defs/u"},"u":{"type":"string"}}}}})",
       "a pointer from the base of a resource"},
      {R"({"$ref":"#/x-mine/t","x-mine":{"t":{"$ref":"#/x-mine/u"},"u":{"type":"string"}}})",
       "no keyword's place"},
      {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#t","definitions":{"a":{"$id":"#t",
           "type":"string"}}})",
       "an anchor of draft 7"},
      {R"({"$schema":"http://json-schema.org/draft-04/schema#","$ref":"t","definitions":{"a":{"id":"t",
           "type":"string"}}})",
       "an id of draft 4"},
      {R"({"$ref":"#/$defs/a","$defs":{"a":{"$id":"other","$schema":"http://json-schema.org/draft-07/schema#",
           "allOf":[{"$ref":"#/definitions/t","minimum":"ignored"}],"definitions":{"t":{"type":"string"}}}}})",
       "a bundled resource of another draft"},
  };
  for (const auto& [schema, name] : rows) {
    EXPECT_EQ(verdict(schema, R"("x")"), "good") << name;
    EXPECT_EQ(verdict(schema, "1"), "bad") << name;
  }
}

TEST(SchemaReference, TakesNoIdFromAValue) {
  EXPECT_EQ(verdict(R"({"enum":[{"$id":"text","type":"string"}],"$ref":"text"})", "1"),
            "unsupported /$ref unresolved reference to 'text': it is neither an $id in this schema nor a "
            "document "
            "given with it");
}

TEST(SchemaReference, ResolvesToGivenDocuments) {
  const SchemaDocuments documents = {
      {"https://example.com/text", json(R"({"$ref":"kinds#/$defs/text"})")},
      {"https://example.com/kinds", json(R"({"$defs":{"text":{"type":"string"}}})")},
      {"https://example.com/old",
       json(with_draft(k7, R"("items":[{"type":"string"}],"additionalItems":false})"))},
      {"https://example.com/broken", json(R"({"properties":{"a":{"type":"text"}}})")},
      {"https://example.com/unused", json("5")},
  };
  EXPECT_EQ(verdict(R"({"$ref":"https://example.com/text"})", R"("x")", documents), "good");
  EXPECT_EQ(verdict(R"({"$id":"https://example.com/x","items":{"$ref":"text"}})", "[1]", documents), "bad");
  EXPECT_EQ(verdict(R"({"$ref":"https://example.com/old"})", R"(["a",1])", documents), "bad");
  EXPECT_EQ(verdict(R"({"$ref":"https://example.com/broken"})", "1", documents),
            "invalid /properties/a/type expected the name of a type in a schema (in the document "
            "'https://example.com/broken')");
  EXPECT_EQ(verdict(R"({"not":{"$ref":"https://example.com/kinds#/$defs/none"}})", "1", documents),
            "not_found /not/$ref unresolved reference to '#/$defs/none': the document has no such place");
}

TEST(SchemaReference, ToADocumentCountsItsBytes) {
  const SchemaDocuments documents = {{"https://example.com/a", json(R"({"type":"string"})")}};
  const Json schema = json(R"({"$ref":"https://example.com/a"})");
  SchemaLimits limits;
  limits.bytes = schema.text().size() + 17;
  EXPECT_TRUE(Schema::of(schema, limits, documents).has_value());
  limits.bytes -= 1;
  EXPECT_FALSE(Schema::of(schema, limits, documents).has_value());
}

// A tree whose nodes are extended by the schema that uses it: each node is checked by the outermost one.
TEST(SchemaReference, IsDynamicWithADynamicAnchor) {
  const SchemaDocuments documents = {
      {"https://example.com/tree", json(R"({"$dynamicAnchor":"node","type":"object",
         "properties":{"children":{"items":{"$dynamicRef":"#node"}}}})")},
      {"https://example.com/tree9", json(with_draft(k2019, R"("$recursiveAnchor":true,"type":"object",
         "properties":{"children":{"items":{"$recursiveRef":"#"}}}})"))},
  };
  const std::string strict =
      R"({"$dynamicAnchor":"node","$ref":"https://example.com/tree","required":["v"]})";
  const std::string strict9 = with_draft(
      k2019, R"("$id":"https://example.com/s","$recursiveAnchor":true,"$ref":"tree9","required":["v"]})");
  const std::string plain9 =
      with_draft(k2019, R"("$id":"https://example.com/s","$ref":"tree9","required":["v"]})");
  const std::string_view full = R"({"v":1,"children":[{"v":2,"children":[{"v":3}]}]})";
  const std::string_view partly = R"({"v":1,"children":[{"v":2,"children":[{}]}]})";
  for (const std::string& schema : {strict, strict9}) {
    EXPECT_EQ(verdict(schema, full, documents), "good") << schema;
    EXPECT_EQ(verdict(schema, partly, documents), "bad") << schema;
  }
  EXPECT_EQ(verdict(plain9, partly, documents), "good");
}

TEST(SchemaReference, ThatIsACycleEnds) {
  EXPECT_EQ(verdict(R"({"$dynamicAnchor":"a","$dynamicRef":"#a"})", "1"), "bad");
  EXPECT_EQ(
      verdict(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})", "1"),
      "bad");
}

}  // namespace
}  // namespace parley
