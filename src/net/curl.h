// The functions of libcurl that are used. It comes with thirty libraries (TLS, Kerberos, LDAP), and loading
// them takes longer than most commands: so that is done when the first request is made, or prepared.
#pragma once

#include <curl/curl.h>

#include "parley/base/error.h"

namespace parley::net {

#define PARLEY_CURL_FUNCTIONS(X) \
  X(easy_cleanup)                \
  X(easy_getinfo)                \
  X(easy_init)                   \
  X(easy_setopt)                 \
  X(easy_strerror)               \
  X(global_init)                 \
  X(multi_add_handle)            \
  X(multi_cleanup)               \
  X(multi_info_read)             \
  X(multi_init)                  \
  X(multi_perform)               \
  X(multi_poll)                  \
  X(multi_remove_handle)         \
  X(multi_wakeup)                \
  X(slist_append)                \
  X(slist_free_all)

// curl().easy_init is curl_easy_init, and so on.
struct Curl {
#define PARLEY_CURL_POINTER(name) decltype(&::curl_##name) name = nullptr;
  PARLEY_CURL_FUNCTIONS(PARLEY_CURL_POINTER)
#undef PARLEY_CURL_POINTER
};

// Loads it, unless it is loaded; safe from any thread. NotFound if it cannot be.
Result<void> load_curl();

// REQUIRES: load_curl() succeeded.
const Curl& curl();

}  // namespace parley::net
