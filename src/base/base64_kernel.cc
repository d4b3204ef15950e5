#include "base/base64_kernel.h"

#include <array>
#include <atomic>

namespace parley::base64 {
namespace {

constexpr auto kKernels = std::to_array<const Kernel*>({
    &kScalarKernel,
#if defined(__x86_64__)
    &kSsse3Kernel,
    &kAvx2Kernel,
#endif
});

const Kernel* fastest_supported() {
  const Kernel* best = kKernels.front();
  for (const Kernel* candidate : kKernels) {
    if (candidate->supported()) best = candidate;
  }
  return best;
}

std::atomic<const Kernel*>& chosen() {
  static std::atomic<const Kernel*> kernel{fastest_supported()};
  return kernel;
}

}  // namespace

std::span<const Kernel* const> kernels() { return kKernels; }

const Kernel& kernel() { return *chosen().load(std::memory_order_relaxed); }

void use_kernel(const Kernel& kernel) { chosen().store(&kernel, std::memory_order_relaxed); }

}  // namespace parley::base64
