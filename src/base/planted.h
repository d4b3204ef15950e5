// For tests of any room: a secret that must not come out anywhere. tests/house/no_secrets_test.sh runs the
// tests and the command with it and searches everything they say and write for it.
#pragma once

#include <string>

namespace parley {

// It has the form of a key, but is none; in no source as one word, so that sources may be searched too.
inline std::string planted_secret() { return std::string("sk-ant-api03-") + "planted0canary" + "7d1f5b2c9e"; }

}  // namespace parley
