// Where the stores under test live: one row per backend, and for each a place that is made fresh and goes
// with its folder or its server.
//
// One thread at a time, but for the stores.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parley/store/conformance.h"
#include "parley/store/store.h"

namespace parley::store {

// Holds the data of one store while it lives.
class TestBackend {
 public:
  virtual ~TestBackend() = default;
  // One more opening of the same data; where it cannot be shared, the same store again.
  virtual Result<std::shared_ptr<Store>> open() = 0;
  // What another process opens the data with; empty where none can.
  virtual std::string uri() const { return {}; }
  conformance::Open opener() {
    return [this] { return open(); };
  }
};

struct TestBackendKind {
  std::string_view name;  // "memory"
  // Fails if the place cannot be had, saying why.
  Result<std::unique_ptr<TestBackend>> (*make)();
};

// The backends of this build.
std::span<const TestBackendKind> test_backend_kinds();

}  // namespace parley::store
