// The functions of libcurl that are used. A program links libcurl; the command loads it when it makes the
// first request instead, because loading its thirty libraries (TLS, Kerberos, LDAP) takes longer than most
// commands.
#pragma once

#include <curl/curl.h>

#include "parley/base/error.h"

namespace parley::net {

#define PARLEY_CURL_FUNCTIONS(X) \
  X(easy_cleanup)                \
  X(easy_getinfo)                \
  X(easy_init)                   \
  X(easy_pause)                  \
  X(easy_setopt)                 \
  X(easy_strerror)               \
  X(global_init)                 \
  X(multi_add_handle)            \
  X(multi_assign)                \
  X(multi_cleanup)               \
  X(multi_info_read)             \
  X(multi_init)                  \
  X(multi_perform)               \
  X(multi_poll)                  \
  X(multi_remove_handle)         \
  X(multi_setopt)                \
  X(multi_socket_action)         \
  X(multi_wakeup)                \
  X(slist_append)                \
  X(slist_free_all)

// curl().easy_init is curl_easy_init, and so on.
struct Curl {
#define PARLEY_CURL_POINTER(name) decltype(&::curl_##name) name = nullptr;
  PARLEY_CURL_FUNCTIONS(PARLEY_CURL_POINTER)
#undef PARLEY_CURL_POINTER
};

// Finds them: curl_linked.cc takes those that the program is linked with. A program that defines this
// function itself (src/cli/load_libraries.cc) is not linked with libcurl.
Result<Curl> find_curl();

// Finds and starts it at the first call; safe from any thread. NotFound if there is none.
Result<void> load_curl();

// REQUIRES: load_curl() succeeded.
const Curl& curl();

}  // namespace parley::net
