#include "media/base64_kernel.h"

#include <array>

#include "base/kernel_choice.h"

namespace parley::base64 {
namespace {

constexpr auto kKernels = std::to_array<const Kernel*>({
    &kScalarKernel,
#if defined(__x86_64__)
    &kSsse3Kernel,
    &kAvx2Kernel,
#endif
});

KernelChoice<Kernel>& choice() {
  static KernelChoice<Kernel> chosen{kKernels};
  return chosen;
}

}  // namespace

std::span<const Kernel* const> kernels() { return kKernels; }

const Kernel& kernel() { return choice().kernel(); }

void use_kernel(const Kernel& kernel) { choice().use(kernel); }

}  // namespace parley::base64
