// Functions that users give may throw; nothing thrown crosses the API.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "parley/base/error.h"

namespace parley::memory {

// What `run` returns, or an error if it throws anything but for want of memory.
template <typename Run>
auto guarded(Run&& run) -> decltype(run()) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return fail(Code::Unavailable, std::string("user callback threw: ") + exception.what());
  } catch (...) {
    return fail(Code::Unavailable, "user callback threw an unknown exception");
  }
}

}  // namespace parley::memory
