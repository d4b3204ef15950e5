// The backends there are. Each connects or opens its file at the first call.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/store/backend.h"
#include "parley/store/store.h"

namespace parley::store {

// The backend of any URI, with the errors of open_store().
Result<std::unique_ptr<Backend>> open_backend(std::string_view uri, const StoreOptions& options = {});

std::unique_ptr<Backend> memory_backend();

// `path` as written; a relative one is seen from the working directory of now.
Result<std::unique_ptr<Backend>> sqlite_backend(const std::string& path, const StoreOptions& options);

// "postgresql://...".
Result<std::unique_ptr<Backend>> postgres_backend(Secret uri, const StoreOptions& options);

// "redis://..." or "redis+unix://..." (redis_address.h).
Result<std::unique_ptr<Backend>> redis_backend(const Secret& uri, const StoreOptions& options);

}  // namespace parley::store
