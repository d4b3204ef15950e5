// Metadata never enters a prompt: a string that stands in the metadata of a message and nowhere else comes
// out of no provider's dialect, no summary and no token count.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/planted_secret_testing.h"
#include "parley/parley.h"

namespace parley {
namespace {

constexpr std::string_view kCanary = "canary-3f1c";

Message with_metadata(Role role, const char* text, const std::string& secret) {
  return *MessageBuilder(role)
              .name("friday")
              .metadata(*Json::parse(R"({"note":")" + secret + R"(","deep":{"list":[")" + secret + R"("]}})"))
              .text(*Text::checked(text))
              .build();
}

Conversation conversation(const std::string& secret) {
  Conversation talk({with_metadata(Role::User, "What is the weather in Oslo?", secret)});
  talk.append(with_metadata(Role::Assistant, "Twelve degrees and rain.", secret));
  talk.append(with_metadata(Role::User, "And tomorrow?", secret));
  talk.append(with_metadata(Role::Assistant, "The same, with wind.", secret));
  return talk;
}

// AgentScope's dialects are its own store, which has a place for metadata; so has ours. What another provider
// gets is written from them, and that is what this is about.
bool carries_metadata(Dialect dialect) { return dialect != Dialect::OpenManus; }

TEST(Canary, DoesNotGetIntoADialectThatIsSentToAModel) {
  const std::string canary(kCanary);
  for (const DialectInfo& from : dialects()) {
    const Result<Writing> written = write(conversation(canary), from.dialect);
    ASSERT_TRUE(written);
    const Result<Reading> reading = read(written->text.view(), from.dialect);
    ASSERT_TRUE(reading);
    for (const DialectInfo& to : dialects()) {
      if (carries_metadata(to.dialect)) continue;
      const Result<Writing> out = write(reading->conversation, to.dialect);
      ASSERT_TRUE(out);
      EXPECT_EQ(out->text.view().find(kCanary), std::string_view::npos)
          << to_string(from.dialect) << " to " << to_string(to.dialect);
    }
  }
}

TEST(Canary, DoesNotGetIntoASummary) {
  MemoryOptions options;
  options.compressor = std::make_shared<ExtractiveCompressor>();
  options.compression.keep_recent = 1;
  Memory memory = Memory::create(options).value();
  for (int i = 0; i < 20; ++i) {
    const Conversation talk = conversation(std::string(kCanary));
    for (const Message& message : talk.messages()) ASSERT_TRUE(memory.add(message));
  }
  ASSERT_TRUE(memory.compress());
  ASSERT_TRUE(memory.summary());
  EXPECT_EQ(memory.summary()->message.get_text_content()->view().find(kCanary), std::string_view::npos);
}

TEST(Canary, IsNotCounted) {
  for (const char* model : {"gpt-4o", "gpt-4", "claude-sonnet-4", "gemini-2.5-pro", "qwen2.5-vl"}) {
    const TokenCounter counter = TokenCounter::for_model(model);
    EXPECT_EQ(counter.count(conversation(std::string(kCanary))),
              counter.count(conversation(std::string(10'000, 'x'))))
        << model;
  }
}

// A key in a text is in what is converted: nobody asked for it to go. It is in no message of an error.
TEST(Canary, SecretsDoNotGetIntoErrors) {
  const std::string secret = planted_secret();
  for (const std::string& document :
       {"[{\"role\":\"" + secret + "\"}]", "[{\"" + secret + "\":1,\"" + secret + "\":2}]",
        "[{\"role\":" + secret, "{\"" + secret + "\":[{\"role\":7}]}"}) {
    for (const DialectInfo& info : dialects()) {
      const Result<Reading> reading = read(document, info.dialect);
      if (reading) continue;
      EXPECT_TRUE(reading.error().message.find(secret) == std::string::npos);
      EXPECT_TRUE(reading.error().path.find(secret) == std::string::npos);
    }
  }
  EXPECT_TRUE(dialect_named(secret).error().message.find(secret) == std::string::npos);
  EXPECT_TRUE(Encoding::named(secret).error().message.find(secret) == std::string::npos);
}

}  // namespace
}  // namespace parley
