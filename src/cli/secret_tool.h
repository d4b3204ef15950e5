// Keys in the secret service of the desktop (GNOME Keyring, KWallet, ...), through the program secret-tool of
// libsecret. A key goes by standard input or output, never by an argument or a variable.
//
// All fail with Unavailable if secret-tool is missing, fails, e.g. because no secret service runs, or takes
// longer than its time, e.g. because a person is asked for a password and does not give it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/secret.h"

namespace parley::cli {

inline constexpr std::size_t kMostKeyBytes = 8192;

// What the file of keys has in place of a key that is in the secret service, and what its source is called.
inline constexpr std::string_view kInSecretService = "secret-service";

inline constexpr std::chrono::seconds kSecretToolTime{60};

Result<void> store_in_secret_service(const std::string& provider, const Secret& key);
// Fails with NotFound if it has no key for the provider.
Result<Secret> find_in_secret_service(const std::string& provider,
                                      std::chrono::milliseconds time = kSecretToolTime);
Result<void> remove_from_secret_service(const std::string& provider);

}  // namespace parley::cli
