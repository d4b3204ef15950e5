#include "json/kernel.h"

#include <array>

#include "base/kernel_choice.h"
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

KernelChoice<Kernel>& choice() {
  static KernelChoice<Kernel> chosen{kKernels};
  return chosen;
}

}  // namespace

constinit const std::array<Splat, 256> kSplats = [] {
  std::array<Splat, 256> splats{};
  for (std::size_t i = 0; i < splats.size(); ++i) splats[i].bytes.fill(static_cast<char>(i));
  return splats;
}();

std::span<const Kernel* const> kernels() { return kKernels; }

const Kernel& kernel() { return choice().kernel(); }

void use_kernel(const Kernel& kernel) { choice().use(kernel); }

}  // namespace parley::json
