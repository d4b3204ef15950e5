// Choosing among kernels: tables of byte loops, one per instruction set, each with `bool (*supported)()`. A
// list of them has the slowest first, and its first is supported everywhere.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <span>
#include <vector>

namespace parley {

// Those that this machine supports, slowest first.
template <typename Kernel>
std::vector<const Kernel*> supported_kernels(std::span<const Kernel* const> kernels) {
  std::vector<const Kernel*> found;
  std::ranges::copy_if(kernels, std::back_inserter(found),
                       [](const auto* each) { return each->supported(); });
  return found;
}

// The kernel in use: the fastest that is supported, or the one that was forced. Allocates nothing, because it
// is made at the first call that needs one. Safe from any thread.
template <typename Kernel>
class KernelChoice {
 public:
  explicit KernelChoice(std::span<const Kernel* const> kernels)
      : kernel_(*std::find_if(kernels.rbegin(), kernels.rend(),
                              [](const auto* each) { return each->supported(); })) {}

  const Kernel& kernel() const { return *kernel_.load(std::memory_order_relaxed); }
  void use(const Kernel& kernel) { kernel_.store(&kernel, std::memory_order_relaxed); }

 private:
  std::atomic<const Kernel*> kernel_;
};

}  // namespace parley
