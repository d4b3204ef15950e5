// Whether and when a failed attempt is retried. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "parley/dialect/failure.h"
#include "parley/model/http_model.h"

namespace parley::model {

// How long to wait after attempt `attempts` (1, 2, ...), or nullopt if that was the last one. `left` is the
// remaining time of the call, `chance` from 0 to 1.
std::optional<std::chrono::milliseconds> retry_wait(const RetryPolicy& policy, unsigned attempts,
                                                    const Failure& failure, std::chrono::milliseconds left,
                                                    double chance);

}  // namespace parley::model
