#include "json/kernel.h"

#include <array>
#include <atomic>

#include "json/byte_classes.h"

namespace parley::json {
namespace {

constexpr auto kKernels = std::to_array<const Kernel*>({
    &kScalarKernel,
#if defined(__x86_64__)
    &kAvx2Kernel,
    &kAvx512Kernel,
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

constinit const std::array<Splat, 256> kSplats = [] {
  std::array<Splat, 256> splats{};
  for (std::size_t i = 0; i < splats.size(); ++i) splats[i].bytes.fill(static_cast<char>(i));
  return splats;
}();

std::span<const Kernel* const> kernels() { return kKernels; }

const Kernel& kernel() { return *chosen().load(std::memory_order_relaxed); }

void use_kernel(const Kernel& kernel) { chosen().store(&kernel, std::memory_order_relaxed); }

}  // namespace parley::json
