#include "memory/session_facts.h"

#include <gtest/gtest.h>

#include "memory/stored_message.h"
#include "parley/dialect/dialect.h"
#include "parley/memory/stored_memory.h"

namespace parley::memory {
namespace {

const SessionFacts kFacts{.model = "openai/gpt-4o", .turns = 3, .tokens = 51, .title = "Oslo \"in\" May"};

Json metadata_of(const SessionFacts& facts, const std::optional<Usage>& usage = {}) {
  json::Writer w;
  w.begin_object();
  put_facts(w, facts, usage);
  return w.end_object().take();
}

Message answer(const SessionFacts& facts) {
  return MessageBuilder(Role::Assistant).text(Text("yes")).metadata(metadata_of(facts)).build().value();
}

class Facts : public testing::Test {
 protected:
  void add(const Message& message) { add(to_record(message).value()); }
  void add(const store::Record& record) {
    ASSERT_TRUE(store->append(key, store::Batch({record})));
    ++size;
  }
  std::optional<SessionFacts> read(store::Position most = 1000) {
    return read_facts(*store, key, size, most).value();
  }

  std::shared_ptr<store::Store> store = std::make_shared<store::Store>(store::open_store("memory:").value());
  store::SessionKey key{"default", "s"};
  store::Position size = 0;
};

TEST(SessionFacts, AreReadAsTheyWereWritten) {
  EXPECT_EQ(facts_in(metadata_of(kFacts)), kFacts);
  EXPECT_EQ(facts_in(metadata_of({})), SessionFacts());
  EXPECT_EQ(facts_in(*Json::parse(R"({"cut":"stopped"})")), std::nullopt);
  EXPECT_EQ(facts_in(*Json::parse(R"({"session":3})")), std::nullopt);
  EXPECT_EQ(facts_in(*Json::parse(R"({"model":3,"session":{"turns":"x","tokens":-1}})")), SessionFacts());
}

TEST(SessionFacts, UsageIsWrittenIfSomethingWasReported) {
  EXPECT_EQ(metadata_of({}, Usage()).get("usage"), std::nullopt);
  Usage usage;
  usage.input = 12;
  usage.output = 5;
  EXPECT_EQ(metadata_of({}, usage).get("usage")->text(), Text(R"({"input":12,"output":5})"));
}

TEST_F(Facts, AreThoseOfTheLastAnswerAndTheRequestsAfterIt) {
  add(Message::user_message(Text("one")));
  add(answer({.model = "a/b", .turns = 1}));
  add(Message::user_message(Text("two")));
  EXPECT_EQ(read(), (SessionFacts{.model = "a/b", .turns = 2}));
  add(answer({.model = "c/d", .turns = 2}));
  EXPECT_EQ(read(), (SessionFacts{.model = "c/d", .turns = 2}));
}

TEST_F(Facts, AreFoundFarFromTheEndUnlessThatIsTooFar) {
  add(answer(kFacts));
  for (int i = 0; i < 100; ++i) add(Message::tool_message(Text("x"), Text("t"), Text("id")));
  EXPECT_EQ(read(), kFacts);
  EXPECT_EQ(read(100), std::nullopt);
  EXPECT_EQ(read(101), kFacts);
}

TEST_F(Facts, AMemoryThatReadsTheSessionHasThem) {
  const auto opened = [&] { return facts_of(StoredMemory::open(store, key).value()); };
  EXPECT_EQ(opened(), SessionFacts()) << "no session";
  add(Message::user_message(Text("one")));
  EXPECT_EQ(opened(), SessionFacts{.turns = 1});
  add(answer({.model = "a/b", .turns = 1, .tokens = 7}));
  add(facts_record(kFacts));
  EXPECT_EQ(opened(), kFacts);
  // More than a page after them.
  for (int i = 0; i < 3; ++i) add(Message::user_message(Text(std::string(700'000, 'x'))));
  EXPECT_EQ(opened(), read());
  EXPECT_EQ(opened().turns, kFacts.turns + 3);
  EXPECT_EQ(opened().title, kFacts.title);
}

TEST_F(Facts, AUserCannotSetThem) {
  add(MessageBuilder(Role::User).text(Text("\"session\"")).metadata(metadata_of(kFacts)).build().value());
  add(Message::assistant_message(Text(R"({"session":{"turns":9}})")));
  EXPECT_EQ(read(), SessionFacts{.turns = 1}) << "what is counted, and nothing else";
}

TEST_F(Facts, ATitleThatIsSetChangesNoMemory) {
  add(Message::user_message(Text("one")));
  add(facts_record(kFacts));
  EXPECT_EQ(read(), kFacts);
  const StoredMemory memory = StoredMemory::open(store, key).value();
  EXPECT_EQ(memory.memory().window().size(), 1U);
}

TEST_F(Facts, NeverEnterAPrompt) {
  for (const DialectInfo& dialect : dialects()) {
    if (dialect.dialect == Dialect::Parley || dialect.name.starts_with("agentscope")) continue;
    const Message user = Message::user_message(Text("hi"));
    const Result<Writing> writing = write(Conversation({user, answer(kFacts)}), dialect.dialect);
    ASSERT_TRUE(writing) << dialect.name;
    EXPECT_FALSE(writing->text.view().contains("gpt-4o")) << dialect.name;
  }
}

}  // namespace
}  // namespace parley::memory
