#include "schema/uri_reference.h"

#include <gtest/gtest.h>

namespace parley {
namespace {

TEST(UriReference, ResolvesTheExamplesOfTheStandard) {
  constexpr std::string_view kBase = "http://a/b/c/d;p?q";
  const std::pair<const char*, const char*> rows[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, expected] : rows) {
    EXPECT_EQ(resolve_reference(kBase, reference), expected) << reference;
  }
}

TEST(UriReference, ResolvesBesideOtherBases) {
  EXPECT_EQ(resolve_reference("", "item.json"), "item.json");
  EXPECT_EQ(resolve_reference("", "./item.json"), "item.json");
  EXPECT_EQ(resolve_reference("", "a/../item.json"), "/item.json");
  EXPECT_EQ(resolve_reference("folder/schema.json", "item.json"), "folder/item.json");
  EXPECT_EQ(resolve_reference("http://a", "item.json"), "http://a/item.json");
  EXPECT_EQ(resolve_reference("urn:example:1", "#/$defs/a"), "urn:example:1");
  EXPECT_EQ(resolve_reference("http://a/b", "urn:example:1?=x"), "urn:example:1?=x");
  EXPECT_EQ(resolve_reference("tag:a,2024:b/c", "d"), "tag:a,2024:b/d");
}

}  // namespace
}  // namespace parley
