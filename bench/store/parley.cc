#include <algorithm>

#include "parley/store/store.h"
#include "store/contender.h"

namespace bench::store_task {
namespace {

using namespace ::parley::store;

constexpr const char* kWho = "Parley's store";
constexpr std::size_t kFilled = 10'000;  // at once

class Parley final : public ParleyContender {
 public:
  explicit Parley(const std::string& uri) : store_(open_store(uri).value()) {}

  void append(std::size_t session, std::size_t number) override {
    Record record = said();
    record.body = body_of(number);
    record.text = text_of(record.body);
    check(store_.append(key(session), Batch({std::move(record)})).has_value(), kWho);
  }

  std::size_t load(std::size_t session) override {
    const auto page = store_.read(key(session));
    check(page.has_value(), kWho);
    std::size_t bytes = 0;
    for (const StoredRecord& record : page->records) bytes += record.body.size();
    return bytes;
  }

  void fill(std::size_t session, std::size_t count) override {
    Record record = said();
    record.body = R"({"role":"user","content":"what was said"})";
    while (count > 0) {
      const std::size_t some = std::min(count, kFilled);
      check(store_.append(key(session), Batch(std::vector<Record>(some, record))).has_value(), kWho);
      count -= some;
    }
  }

 private:
  static SessionKey key(std::size_t session) { return {"default", "session " + std::to_string(session)}; }
  static Record said() {
    Record record;
    record.dialect = "parley";
    record.role = "user";
    return record;
  }

  Store store_;
};

}  // namespace

std::unique_ptr<ParleyContender> parley(const std::string& uri) { return std::make_unique<Parley>(uri); }

}  // namespace bench::store_task
