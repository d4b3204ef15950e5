// For tests: a secret that no output may contain. tests/house/no_secrets_test.sh runs the tests and the
// command with it and searches everything they print and write for it.
#pragma once

#include <string>

namespace parley {

// It only looks like a key. No source has it as one word, so that sources can be searched too.
inline std::string planted_secret() { return std::string("sk-ant-api03-") + "planted0canary" + "7d1f5b2c9e"; }

}  // namespace parley
