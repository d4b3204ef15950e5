#include "model/retry.h"

#include <algorithm>

namespace parley::model {

std::optional<std::chrono::milliseconds> retry_wait(const RetryPolicy& policy, unsigned attempts,
                                                    const Failure& failure, std::chrono::milliseconds left,
                                                    double chance) {
  using std::chrono::milliseconds;
  if (!failure.retryable || attempts >= policy.attempts) return std::nullopt;
  milliseconds wait = std::min(policy.first, policy.longest);
  for (unsigned i = 1; i < attempts && wait < policy.longest; ++i) wait = std::min(2 * wait, policy.longest);
  // A quarter of it by chance, so that clients that failed together do not come back together.
  wait -= milliseconds(static_cast<milliseconds::rep>(chance * static_cast<double>(wait.count()) / 4));
  if (failure.wait) wait = *failure.wait;
  const bool is_too_long = failure.wait && *failure.wait > policy.longest_asked;
  return is_too_long || wait >= left ? std::nullopt : std::optional(wait);
}

}  // namespace parley::model
