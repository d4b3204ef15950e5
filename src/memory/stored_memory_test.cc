#include "parley/memory/stored_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "memory/stored_message.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"
#include "parley/store/store.h"

namespace parley {
namespace {

const store::SessionKey kKey{"default", "s"};

std::shared_ptr<store::Store> new_store() {
  return std::make_shared<store::Store>(*store::open_store("memory:"));
}

StoredMemory opened(const std::shared_ptr<store::Store>& kept, MemoryOptions options = {}) {
  auto memory = StoredMemory::open(kept, kKey, std::move(options));
  EXPECT_TRUE(memory) << memory.error().message;
  return *std::move(memory);
}

// Everything a memory is, but for its options.
std::string state_of(const Memory& memory) { return memory.state_dict()->text().str(); }

Message call(const Text& id) {
  return Message::from_tool_calls(std::vector<ToolCall>{{id, "function", {"f", "{}"}}});
}
Message result(const Text& id) { return Message::tool_message("done", "f", id); }

TEST(StoredMemory, IsThereAgainAfterARestart_STORED2) {
  const auto kept = new_store();
  MemoryOptions options{.budget = {.messages = 6}};
  StoredMemory memory = opened(kept, options);
  ASSERT_TRUE(memory.add(Message::system_message("be brief")));
  const Text mark = "hint";
  ASSERT_TRUE(memory.add(Message::user_message("one"), {&mark, 1}));
  ASSERT_TRUE(memory.add(call("c1")));
  ASSERT_TRUE(memory.add(result("c1")));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(memory.add(Message::user_message(Text(std::to_string(i)))));
  ASSERT_TRUE(memory.edit([&](Memory& m) -> Result<Change> {
    PARLEY_CHECK(m.pin(*m.window().back().id()));
    return Change{};
  }));
  EXPECT_EQ(state_of(opened(kept, options).memory()), state_of(memory.memory()));
  EXPECT_LE(memory.memory().size(), 6U);
  EXPECT_EQ(memory.memory().log_size(), 24U);
}

// A session of several parts: what is shown does not tell where they were cut, and a clear counts for all
// before it.
TEST(StoredMemory, IsReadInPartsAndIsTheSame_STORED2) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept);
  const Text long_words = Text(std::string(400'000, 'x'));
  const auto fill = [&](const std::string& first) {
    for (int i = 0; i < 4; ++i) {
      const Text id = Text(first + std::to_string(i));
      ASSERT_TRUE(memory.add(Message::user_message(long_words)));
      ASSERT_TRUE(memory.add(call(id)));
      ASSERT_TRUE(memory.add(result(id)));
    }
  };
  fill("a");
  EXPECT_EQ(state_of(opened(kept).memory()), state_of(memory.memory()));
  ASSERT_TRUE(memory.clear());
  fill("b");
  const StoredMemory again = opened(kept);
  EXPECT_EQ(again.memory().log_size(), 12U);
  EXPECT_EQ(again.size(), memory.size());
  EXPECT_EQ(state_of(again.memory()), state_of(memory.memory()));
}

TEST(StoredMemory, KeepsCallsThatWaitAcrossARestart) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept);
  ASSERT_TRUE(memory.add(Message::user_message("go")));
  ASSERT_TRUE(memory.add(call("c1")));
  StoredMemory again = opened(kept);
  EXPECT_EQ(again.memory().pending(), std::vector<Text>{"c1"});
  ASSERT_TRUE(again.complete_pending("interrupted"));
  EXPECT_TRUE(opened(kept).memory().pending().empty());
}

TEST(StoredMemory, RefusesAnEditBesideAnother_STORED4) {
  const auto kept = new_store();
  StoredMemory one = opened(kept);
  StoredMemory two = opened(kept);
  ASSERT_TRUE(one.add(Message::user_message("first")));
  const auto late = two.add(Message::user_message("second"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::Conflict);
  EXPECT_EQ(two.memory().size(), 0U);
  EXPECT_EQ(opened(kept).memory().size(), 1U);
}

TEST(StoredMemory, ChangesNothingIfTheStoreRefuses_STORED1) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept);
  ASSERT_TRUE(memory.add(Message::user_message("first")));
  memory.set_lease("not mine");
  const auto refused = memory.add(Message::user_message("second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Conflict);
  memory.set_lease("");
  EXPECT_EQ(memory.memory().size(), 1U);
  ASSERT_TRUE(memory.add(Message::user_message("third")));
  EXPECT_EQ(opened(kept).memory().window().back().content()->view(), "third");
}

TEST(StoredMemory, ShowsNothingAfterAClearAndStoresItAll_STORED3) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept);
  ASSERT_TRUE(memory.add(Message::user_message("old")));
  ASSERT_TRUE(memory.clear());
  ASSERT_TRUE(memory.add(Message::user_message("new")));
  const StoredMemory again = opened(kept);
  ASSERT_EQ(again.memory().log_size(), 1U);
  EXPECT_EQ(again.memory().window()[0].content()->view(), "new");
  const auto page = kept->read(kKey);
  ASSERT_TRUE(page);
  EXPECT_EQ((*to_messages(page->records)).size(), 2U);
}

TEST(StoredMemory, StoresAnEditAsOneBatch) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept, {.budget = {.messages = 2}});
  const std::vector<Message> three = {Message::user_message("a"), Message::user_message("b"),
                                      Message::user_message("c")};
  ASSERT_TRUE(memory.add(three));
  const auto page = kept->read(kKey);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->records.size(), 4U);  // and what left the window
  EXPECT_EQ(page->records[3].kind, store::RecordKind::Change);
  for (const auto& record : page->records) EXPECT_EQ(record.batch, page->records[0].batch);
}

TEST(StoredMemory, NamesTheRecordThatIsNoMessage) {
  const auto kept = new_store();
  store::Record good = *to_record(Message::user_message("hi"));
  store::Record bad = good;
  bad.body = R"({"role":7})";
  ASSERT_TRUE(kept->append(kKey, store::Batch({good, bad})));
  const auto memory = StoredMemory::open(kept, kKey);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().path, "/1");
}

TEST(StoredMemory, NamesTheRecordThatContradictsTheWindow) {
  const struct {
    store::RecordKind kind;
    const char* body;
  } kTable[] = {
      {store::RecordKind::Summary, R"({"message":{"role":"user","content":"s"},"covered":[[0,1]]})"},
      {store::RecordKind::Summary, R"({"message":{"role":"user","content":"s"},"covered":[[1,2]]})"},
      {store::RecordKind::Change, R"({"out":[[1,2]]})"},
      {store::RecordKind::Change, R"({"out":[[0,1]],"removed":[[1,2]]})"},
      {store::RecordKind::Change, R"({"out":[[1,2],[0,1]]})"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.body);
    const auto kept = new_store();
    StoredMemory memory = opened(kept);
    ASSERT_TRUE(memory.add(Message::user_message("a")));
    const Message b = Message::user_message("b");
    const Text id = *b.id();
    ASSERT_TRUE(memory.add(b));
    ASSERT_TRUE(memory.remove({&id, 1}));
    store::Record record;
    record.kind = row.kind;
    record.body = row.body;
    ASSERT_TRUE(kept->append(kKey, store::Batch({record})));
    const auto again = StoredMemory::open(kept, kKey);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::Damaged);
    EXPECT_EQ(again.error().path, "/3");
  }
}

// What left the window is in the store and nowhere else.
TEST(StoredMemory, HoldsOnlyTheWindow) {
  const auto kept = new_store();
  const MemoryOptions options{.budget = {.messages = 10}};
  StoredMemory memory = opened(kept, options);
  std::weak_ptr<const Arena> first;
  {
    const Message message = Message::user_message("first");
    first = Arena::of(message).weak_from_this();
    ASSERT_TRUE(memory.add(message));
  }
  EXPECT_FALSE(first.expired());
  for (int i = 0; i < 300; ++i) {
    const Text id = Text("c" + std::to_string(i));
    ASSERT_TRUE(memory.add(call(id)));
    ASSERT_TRUE(memory.add(result(id)));
    if (i == 5) {
      ASSERT_TRUE(memory.add(Message::user_message("second")));
    }
  }
  EXPECT_TRUE(first.expired());
  const StoredMemory again = opened(kept, options);
  for (const StoredMemory* each : std::initializer_list<const StoredMemory*>{&memory, &again}) {
    const StoredMemory& one = *each;
    EXPECT_EQ(one.memory().log().size(), one.memory().size());
    EXPECT_EQ(one.memory().log_size(), 602U);
    EXPECT_EQ(one.memory().log_dropped(), 602U - one.memory().size());
    EXPECT_EQ(one.memory().uncovered_size(), 602U - one.memory().size());
    const auto log = one.log();
    ASSERT_TRUE(log);
    ASSERT_EQ(log->size(), 602U);
    EXPECT_EQ(log->front().content()->view(), "first");
  }
  // Its ids are known all the same.
  const Message old = memory.log()->front();
  EXPECT_EQ(memory.add(old)->skipped, 1U);
  EXPECT_EQ(opened(kept, options).add(old)->skipped, 1U);
  ASSERT_TRUE(memory.clear());
  EXPECT_TRUE(memory.log()->empty());
  ASSERT_TRUE(memory.add(Message::user_message("new")));
  EXPECT_EQ(memory.log()->size(), 1U);
  EXPECT_EQ(opened(kept, options).log()->size(), 1U);
}

TEST(StoredMemory, AddsARemovedMessageAgain) {
  const auto kept = new_store();
  StoredMemory memory = opened(kept);
  const Message one = Message::user_message("one");
  const Text id = *one.id();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(memory.add(one)->count, 1U);
    EXPECT_EQ(memory.add(one)->skipped, 1U);
    ASSERT_EQ(memory.remove({&id, 1})->count, 1U);
    EXPECT_EQ(state_of(opened(kept).memory()), state_of(memory.memory()));
  }
  StoredMemory again = opened(kept);
  ASSERT_EQ(again.add(one)->count, 1U);
  EXPECT_EQ(again.memory().size(), 1U);
  EXPECT_EQ(again.log()->size(), 3U) << "the store keeps all";
}

TEST(StoredMemory, RefusesAStateThatLacksMessages) {
  Memory gaps = Memory::create({.budget = {.messages = 5}, .log_limit = {.messages = 0}}).value();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(gaps.add(Message::user_message("x")));
  StoredMemory memory = opened(new_store());
  const auto loaded = memory.edit([&](Memory& m) { return m.load_state_dict(*gaps.state_dict()); });
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::Unsupported);
}

class Shouting final : public Compressor {
 public:
  Result<CompressionAnswer> compress(const CompressionRequest& request) override {
    return CompressionAnswer{"much was said", request.messages.size()};
  }
};

// Random edits, each followed by a restart that must show the same (STORED2).
TEST(StoredMemory, EqualsItsRestartAfterAnyEdits_STORED2) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto kept = new_store();
    MemoryOptions options{.budget = {.messages = 12}};
    if (seed % 2 == 1) options.compressor = std::make_shared<Shouting>();
    StoredMemory memory = opened(kept, options);
    const std::vector<Text> marks = {"x", "y"};
    std::vector<Text> ids;
    for (int step = 0; step < 60; ++step) {
      const Text mark = marks[random() % 2];
      const Text id = ids.empty() ? Text("none") : ids[random() % ids.size()];
      Result<Change> done = Change{};
      switch (random() % 11) {
        case 0:
        case 1:
        case 2: {
          const Message message = Message::user_message(Text("message " + std::to_string(step)));
          ids.push_back(*message.id());
          done = memory.add(message, random() % 3 == 0 ? std::span(&mark, 1) : std::span<const Text>());
          break;
        }
        case 3: {
          const Text call_id = Text("c" + std::to_string(step));
          const std::vector<Message> both = {call(call_id), result(call_id)};
          done = memory.add(both);
          break;
        }
        case 4:
          done = memory.remove({&id, 1});
          break;
        case 5:
          done = memory.edit([&](Memory& m) -> Result<Change> {
            (void)(step % 2 == 0 ? m.pin(id) : m.unpin(id));
            return Change{};
          });
          break;
        case 6:
          done = memory.edit([&](Memory& m) -> Result<Change> {
            m.update_messages_mark(mark, step % 2 == 0 ? Text() : marks[0]);
            return Change{};
          });
          break;
        case 7:
          done = memory.compress();
          break;
        case 8:
          done = memory.shrink(0.7);
          break;
        case 9:  // one that was there before
          if (const auto log = memory.log(); !log->empty()) {
            const Message old = (*log)[random() % log->size()];
            if (old.role() == Role::User) done = memory.add(old);
          }
          break;
        default:
          if (random() % 8 == 0) {
            ASSERT_TRUE(memory.clear());
          }
          done = memory.edit([&](Memory& m) {
            return m.update_compressed_summary(step % 3 == 0 ? Text("") : Text("so far"));
          });
      }
      const StoredMemory again = opened(kept, options);
      ASSERT_EQ(state_of(again.memory()), state_of(memory.memory())) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace parley
