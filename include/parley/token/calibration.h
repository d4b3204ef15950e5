// Calibration corrects an estimate of tokens by what a provider reported for requests that were estimated.
//
// Invariants (quoted by tests as CALIBRATION1..CALIBRATION4):
//   CALIBRATION1  kLeast <= factor() <= kMost.
//   CALIBRATION2  Without a report the factor is 1.
//   CALIBRATION3  A report of nothing, and one that is more than kAbsurd times too large or too small,
//                 changes nothing.
//   CALIBRATION4  If every report is the same multiple of its estimate, and within CALIBRATION1, the factor
//                 is that multiple.
//
// A value; one thread at a time.
#pragma once

#include <cstddef>

namespace parley {

class Calibration {
 public:
  static constexpr double kLeast = 0.25;
  static constexpr double kMost = 4;
  static constexpr double kAbsurd = 16;  // such a report is about something else: a cached prefix, an error

  // Takes in one report about a request that was estimated, without this correction, at `estimated`. The
  // factor is the ratio of all that was reported to all that was estimated, a report weighing half as much
  // when four more have come in. Returns whether the report was used (CALIBRATION3).
  bool update(std::size_t estimated, std::size_t reported);

  double factor() const;
  // The corrected estimate, rounded up.
  std::size_t apply(std::size_t estimated) const;

  bool operator==(const Calibration&) const = default;

 private:
  double estimated_ = 0;
  double reported_ = 0;
};

}  // namespace parley
