#include <cstdio>
#include <cstdlib>

#include "parley/store/store.h"
#include "store/contender.h"

namespace bench::store_task {
namespace {

using namespace parley::store;

class Parley final : public Contender {
 public:
  explicit Parley(const std::string& uri) : store_(open_store(uri).value()) {}

  void append(std::size_t session, std::size_t number) override {
    Record record;
    record.dialect = "parley";
    record.role = "user";
    record.body = body_of(number);
    record.text = record.body.substr(32, 1500);
    check(store_.append(key(session), Batch({std::move(record)})).has_value());
  }

  std::size_t load(std::size_t session) override {
    const auto page = store_.read(key(session));
    check(page.has_value());
    std::size_t bytes = 0;
    for (const StoredRecord& record : page->records) bytes += record.body.size();
    return bytes;
  }

 private:
  static SessionKey key(std::size_t session) { return {"default", "session " + std::to_string(session)}; }
  static void check(bool good) {
    if (good) return;
    std::fputs("the store failed\n", stderr);
    std::exit(1);
  }

  Store store_;
};

}  // namespace

std::unique_ptr<Contender> parley_sqlite(const std::string& path) {
  return std::make_unique<Parley>("sqlite:" + path);
}

}  // namespace bench::store_task
