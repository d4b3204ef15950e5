#include <gtest/gtest.h>

#include <set>

#include "parley/dialect/stream.h"
#include "parley/model/http_model.h"

namespace parley {
namespace {

// PROVIDER1
TEST(Provider, EveryRowIsWhole) {
  std::set<std::string_view> names;
  for (const Provider& provider : providers()) {
    EXPECT_TRUE(names.insert(provider.name).second) << provider.name;
    EXPECT_TRUE(StreamReader::of(provider.dialect)) << provider.name;
    EXPECT_TRUE(provider.path.starts_with('/')) << provider.name;
    EXPECT_TRUE(!provider.base_url.empty() || !provider.base_url_variable.empty()) << provider.name;
    if (provider.base_url.empty()) continue;
    const auto url = url_of(provider, {.model = "m"});
    ASSERT_TRUE(url) << provider.name << " " << url.error().message;
    // A key goes nowhere in the open.
    if (!provider.key_variable.empty()) {
      EXPECT_EQ(url->scheme, "https") << provider.name;
    }
  }
}

// PROVIDER2
TEST(Provider, ReadsNamesOfModels) {
  const std::tuple<std::string_view, std::string_view, std::string_view> rows[] = {
      {"openai/gpt-4o", "openai", "gpt-4o"},
      {"openai:gpt-4o", "openai", "gpt-4o"},
      {"ollama/llama3:8b", "ollama", "llama3:8b"},
      {"ollama:llama3:8b", "ollama", "llama3:8b"},
      {"compatible/meta-llama/Llama-3", "compatible", "meta-llama/Llama-3"},
      {"llama-server/any", "llama-server", "any"},
  };
  for (const auto& [text, provider, name] : rows) {
    const auto read = parse_model_name(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->provider->name, provider);
    EXPECT_EQ(read->name.view(), name);
  }
  EXPECT_EQ(parse_model_name("gpt-4o").error().code, Code::Invalid);
  EXPECT_EQ(parse_model_name("openai/").error().code, Code::Invalid);
  EXPECT_EQ(parse_model_name("openai/\xFF").error().code, Code::InvalidUtf8);
  const auto unknown = parse_model_name("opneai/gpt-4o");
  EXPECT_EQ(unknown.error().code, Code::NotFound);
  EXPECT_TRUE(unknown.error().message.contains("openai, responses, azure")) << unknown.error().message;
}

// PROVIDER3
TEST(Provider, PutsANameIntoAPathAsOnePiece) {
  const Provider& gemini = **provider_named("gemini");
  EXPECT_EQ(url_of(gemini, {.base_url = "http://127.0.0.1:1/", .model = "a/b?c#d e%\xC3\xA9"})->href(),
            "http://127.0.0.1:1/v1beta/models/a%2Fb%3Fc%23d%20e%25%C3%A9:generateContent");
  const Provider& azure = **provider_named("azure");
  EXPECT_EQ(url_of(azure, {.base_url = "https://x.example", .version = "v&1", .model = "d"})->href(),
            "https://x.example/openai/deployments/d/chat/completions?api-version=v%261");
}

TEST(Provider, SaysWhereItIs) {
  const Provider& ollama = **provider_named("ollama");
  EXPECT_EQ(url_of(ollama, {.base_url = "localhost:9"})->href(), "http://localhost:9/api/chat");
  const Provider& openai = **provider_named("openai");
  EXPECT_FALSE(url_of(openai, {.base_url = "localhost:9"}));
  EXPECT_EQ(url_of(openai, {.base_url = "ftp://x"}).error().code, Code::Invalid);
  const auto none = url_of(**provider_named("azure"), {.model = "m"});
  EXPECT_EQ(none.error().code, Code::Missing);
  EXPECT_TRUE(none.error().message.contains("AZURE_OPENAI_ENDPOINT"));
}

}  // namespace
}  // namespace parley
