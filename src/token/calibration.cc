#include <algorithm>
#include <cmath>

#include "parley/token/ledger.h"

namespace parley {
namespace {
constexpr double kDecay = 0.840896415253714543;  // its fourth power is one half
}  // namespace

bool Calibration::update(std::size_t estimated, std::size_t reported) {
  if (estimated == 0 || reported == 0) return false;
  const double ratio = static_cast<double>(reported) / static_cast<double>(estimated);
  if (ratio > kAbsurd || ratio < 1 / kAbsurd) return false;
  estimated_ = estimated_ * kDecay + static_cast<double>(estimated);
  reported_ = reported_ * kDecay + static_cast<double>(reported);
  return true;
}

double Calibration::factor() const {
  if (estimated_ == 0) return 1;
  return std::clamp(reported_ / estimated_, kLeast, kMost);
}

std::size_t Calibration::apply(std::size_t estimated) const {
  const double by = factor();
  if (by == 1) return estimated;
  return static_cast<std::size_t>(std::ceil(static_cast<double>(estimated) * by));
}

}  // namespace parley
