// Marks the functions that may use an instruction set beyond the baseline. Per-file compiler flags would
// leak into inline functions shared with other files; these regions do not.
//
//   PARLEY_TARGET_BEGIN("avx2,bmi")   ... functions ...   PARLEY_TARGET_END
//
// Standard headers are included before a region begins.
#pragma once

#define PARLEY_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define PARLEY_TARGET_BEGIN(isa) \
  PARLEY_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define PARLEY_TARGET_END PARLEY_PRAGMA(clang attribute pop)
#else
#define PARLEY_TARGET_BEGIN(isa) PARLEY_PRAGMA(GCC push_options) PARLEY_PRAGMA(GCC target(isa))
#define PARLEY_TARGET_END PARLEY_PRAGMA(GCC pop_options)
#endif
