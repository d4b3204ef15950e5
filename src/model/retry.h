// Whether a failed attempt is followed by another one, and when. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "parley/dialect/failure.h"
#include "parley/model/limits.h"

namespace parley::model {

// How long to wait behind attempt `attempts` (1, 2, ...), or nothing if that was the last one. `left` is what
// remains of the time of the call, `chance` from 0 to 1.
std::optional<std::chrono::milliseconds> retry_wait(const RetryPolicy& policy, unsigned attempts,
                                                    const Failure& failure, std::chrono::milliseconds left,
                                                    double chance);

}  // namespace parley::model
