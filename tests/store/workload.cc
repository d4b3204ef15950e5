#include "workload.h"

#include <chrono>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "history.h"

namespace parley::store {
namespace {

constexpr std::size_t kTwiceEvery = 5;
constexpr std::size_t kReadEvery = 7;
constexpr std::size_t kResolveEvery = 11;

std::string now() {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count());
}

std::string batch_id(std::size_t worker, std::size_t step) {
  return "b" + std::to_string(worker) + "." + std::to_string(step);
}

// A client that records its operations and their results.
class Teller {
 public:
  Teller(Store& store, const Workload& workload, std::string name, const LineSink& sink)
      : store_(store),
        workload_(workload),
        name_(std::move(name)),
        sink_(sink),
        read_to_(workload.sessions) {}

  void append(std::size_t session, const std::string& id) {
    const Batch batch = batch_named(id);
    begin("append " + name_of(session) + " " + id + " " + std::to_string(batch.records.size()));
    const Result<Appended> came = store_.append(key(session), batch);
    end(came, [](const Appended& appended) {
      return std::to_string(appended.first) + (appended.repeated ? " repeated" : " new");
    });
  }

  void resolve(std::size_t session, const std::string& id) {
    begin("resolve " + name_of(session) + " " + id);
    end(store_.resolve(key(session), id), [](const std::optional<Appended>& found) {
      return found ? std::to_string(found->first) : std::string("none");
    });
  }

  // Reads what came since the last time.
  void read_on(std::size_t session) { read_to_[session] = read(session, read_to_[session]); }

  // Reads a page; returns the position after it.
  Position read(std::size_t session, Position first) {
    begin("read " + name_of(session) + " " + std::to_string(first));
    Result<Page> page = store_.read(key(session), {.first = first});
    // A missing session counts as empty.
    if (!page && page.error().code == Code::NotFound) page = Page{};
    end(page, [](const Page& read) {
      std::string out = std::to_string(read.size);
      for (const StoredRecord& record : read.records) out += " " + said_by(record);
      return out;
    });
    return page && !page->records.empty() ? page->records.back().position + 1 : first;
  }

  Position size_of(std::size_t session) {
    const Result<SessionInfo> info = store_.head(key(session));
    return info ? info->size : 0;
  }

 private:
  std::string name_of(std::size_t session) const { return "s" + std::to_string(session); }
  SessionKey key(std::size_t session) const { return {workload_.tenant, name_of(session)}; }

  // The value of a record, if it is to the byte the one that was sent.
  static std::string said_by(const StoredRecord& record) {
    for (const Record& sent : batch_named(record.batch).records) {
      if (sent.message_id == record.message_id && sent.body == record.body && sent.text == record.text) {
        return record.message_id;
      }
    }
    return "torn";
  }

  void begin(const std::string& what) {
    id_ = name_ + ":" + std::to_string(++count_);
    sink_("invoke " + id_ + " " + now() + " " + what + "\n");
  }

  template <typename T, typename Show>
  void end(const Result<T>& came, const Show& show) {
    const std::string when = " " + id_ + " " + now();
    if (came) {
      sink_("ok" + when + " " + show(*came) + "\n");
    } else {
      sink_((came.error().code == Code::Unresolved ? "unknown" : "fail") + when + "\n");
    }
  }

  Store& store_;
  const Workload& workload_;
  std::string name_;
  const LineSink& sink_;
  std::string id_;
  std::size_t count_ = 0;
  std::vector<Position> read_to_;
};

}  // namespace

std::size_t appends_of(const Workload& workload) {
  const std::size_t twice = (workload.steps + kTwiceEvery - 1) / kTwiceEvery;
  return workload.workers * (workload.steps + twice);
}

Batch batch_named(const std::string& id) {
  const std::size_t count = 1 + hash64(id) % 3;
  std::vector<Record> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    records[i].dialect = "openai";
    records[i].role = i + 1 == count && count > 1 ? "tool" : "user";
    records[i].message_id = value_of(id, i, count);
    records[i].text = "record " + records[i].message_id;
    records[i].body = R"({"role":"user","content":")" + records[i].text + "\"}" + std::string(200, ' ');
  }
  return {id, std::move(records)};
}

void run_worker(Store& store, const Workload& workload, std::size_t index, const LineSink& sink) {
  Teller teller(store, workload, "w" + std::to_string(index), sink);
  const std::size_t neighbour = (index + 1) % workload.workers;
  for (std::size_t step = 0; step < workload.steps; ++step) {
    const auto session_of = [&](std::size_t worker) { return (worker + step) % workload.sessions; };
    teller.append(session_of(index), batch_id(index, step));
    if (step % kTwiceEvery == 0) {
      // Half of the repeats come after the first delivery; half are a neighbour's, at about the same time.
      const std::size_t whose = step % (2 * kTwiceEvery) == 0 ? index : neighbour;
      teller.append(session_of(whose), batch_id(whose, step));
    }
    if (step % kReadEvery == 0) teller.read_on(step / kReadEvery % workload.sessions);
    if (step % kResolveEvery == 0) teller.resolve(session_of(neighbour), batch_id(neighbour, step + 1));
  }
}

void run_last_reader(Store& store, const Workload& workload, const LineSink& sink) {
  Teller teller(store, workload, "last", sink);
  for (std::size_t session = 0; session < workload.sessions; ++session) {
    Position next = 0;
    const Position size = teller.size_of(session);
    do next = teller.read(session, next);
    while (next < size);
  }
}

}  // namespace parley::store
