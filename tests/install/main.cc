// A program outside Parley's tree, built against the installed package.
#include <cstdio>
#include <string>

#include "parley/base/base64.h"

int main() {
  const std::string encoded = parley::base64_encode("parley");
  std::puts(encoded.c_str());
  return encoded == "cGFybGV5" ? 0 : 1;
}
