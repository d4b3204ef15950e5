// The kernels of Parley that this machine can run, forced one at a time.
#pragma once

#include <string>
#include <vector>

#include "json/kernel.h"

namespace bench {

inline std::vector<const parley::json::Kernel*> supported_kernels() {
  std::vector<const parley::json::Kernel*> out;
  for (const parley::json::Kernel* kernel : parley::json::kernels()) {
    if (kernel->supported()) out.push_back(kernel);
  }
  return out;
}

// "Parley avx2", and so on.
inline std::string parley_with(const parley::json::Kernel& kernel) {
  return "Parley " + std::string(kernel.name);
}

}  // namespace bench
