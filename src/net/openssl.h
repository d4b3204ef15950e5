// The functions of OpenSSL that are used, as curl.h has those of libcurl: a program links OpenSSL; the
// command loads it when it starts a server with TLS.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include "parley/base/error.h"

namespace parley::net {

#define PARLEY_OPENSSL_FUNCTIONS(X)         \
  X(BIO_clear_flags)                        \
  X(BIO_get_data)                           \
  X(BIO_meth_new)                           \
  X(BIO_meth_set_ctrl)                      \
  X(BIO_meth_set_read)                      \
  X(BIO_meth_set_write)                     \
  X(BIO_new)                                \
  X(BIO_set_data)                           \
  X(BIO_set_flags)                          \
  X(BIO_set_init)                           \
  X(ERR_clear_error)                        \
  X(ERR_peek_error)                         \
  X(ERR_reason_error_string)                \
  X(SSL_CTX_check_private_key)              \
  X(SSL_CTX_ctrl)                           \
  X(SSL_CTX_free)                           \
  X(SSL_CTX_new)                            \
  X(SSL_CTX_set_alpn_select_cb)             \
  X(SSL_CTX_set_default_passwd_cb)          \
  X(SSL_CTX_set_default_passwd_cb_userdata) \
  X(SSL_CTX_set_options)                    \
  X(SSL_CTX_use_PrivateKey_file)            \
  X(SSL_CTX_use_certificate_chain_file)     \
  X(SSL_free)                               \
  X(SSL_get_error)                          \
  X(SSL_is_init_finished)                   \
  X(SSL_new)                                \
  X(SSL_read)                               \
  X(SSL_set_accept_state)                   \
  X(SSL_set_bio)                            \
  X(SSL_shutdown)                           \
  X(SSL_write)                              \
  X(TLS_server_method)

// openssl().SSL_new is SSL_new, and so on.
struct OpenSsl {
#define PARLEY_OPENSSL_POINTER(name) decltype(&::name) name = nullptr;
  PARLEY_OPENSSL_FUNCTIONS(PARLEY_OPENSSL_POINTER)
#undef PARLEY_OPENSSL_POINTER
};

// Finds them: openssl_linked.cc takes those that the program is linked with. A program that defines this
// function itself (src/cli/load_libraries.cc) is not linked with OpenSSL.
Result<OpenSsl> find_openssl();

// Finds it at the first call; safe from any thread. NotFound if there is none.
Result<void> load_openssl();

// REQUIRES: load_openssl() succeeded.
const OpenSsl& openssl();

}  // namespace parley::net
