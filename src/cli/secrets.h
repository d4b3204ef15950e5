// The secrets that this process was given: keys, passwords in URLs, authorization headers.
//
// Every message of the command goes through without_secrets() before it is printed: what has the form of a
// secret is replaced (parley/base/secret.h), and so is every secret that was registered here, whatever its
// form. Conversations that a user asks for are not messages, and stay as they are.
//
// Safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace parley::cli {

// Registers what is secret in the value of a variable, a configuration key, a header or an option: all of it
// if the name indicates it ("api_key", "--token", "Authorization"), and in a URL its password, a user without
// one, and the parameters whose names indicate it.
void register_secrets(std::string_view name, std::string_view value);

// The same for each variable of the environment and each argument of the command line.
void register_secrets_of_process(std::span<char*> arguments);

// The text with "[redacted: ...]" in place of each secret.
std::string without_secrets(std::string_view text);

// The same for each string of a compact JSON text, which may be a part of a document but holds whole strings.
// Member names stay: they are the command's own, even if a password is "config".
std::string json_without_secrets(std::string_view json);

}  // namespace parley::cli
