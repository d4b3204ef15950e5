#include "net/tls.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "net/openssl.h"

namespace parley::net {
namespace {

using boost::system::error_code;

// ---- A socket as a BIO. (OpenSSL's own would raise SIGPIPE.)

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(openssl().BIO_get_data(bio)));
}

// Marks an operation that would block for a retry.
int result_of(BIO* bio, ssize_t count, int retry) {
  openssl().BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    openssl().BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(count);
}

int write_socket(BIO* bio, const char* bytes, int size) {
  return result_of(bio, ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL),
                   BIO_FLAGS_WRITE);
}

int read_socket(BIO* bio, char* bytes, int size) {
  return result_of(bio, ::recv(socket_of(bio), bytes, static_cast<std::size_t>(size), 0), BIO_FLAGS_READ);
}

long control_socket(BIO* /*bio*/, int command, long /*number*/, void* /*argument*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const out = openssl().BIO_meth_new(BIO_TYPE_SOURCE_SINK, "a socket");
    openssl().BIO_meth_set_write(out, write_socket);
    openssl().BIO_meth_set_read(out, read_socket);
    openssl().BIO_meth_set_ctrl(out, control_socket);
    return out;
  }();
  return method;
}

// ---- The context

// The first protocol that the client names and the server speaks.
int choose_protocol(SSL* /*stream*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned int in_size, void* /*argument*/) {
  // Names with their lengths before them.
  for (std::string_view rest(reinterpret_cast<const char*>(in), in_size); !rest.empty();) {
    const std::string_view name = rest.substr(1, static_cast<unsigned char>(rest[0]));
    if (name == "http/1.1" || name == "http/1.0") {
      *out = reinterpret_cast<const unsigned char*>(name.data());
      *out_size = static_cast<unsigned char>(name.size());
      return SSL_TLSEXT_ERR_OK;
    }
    rest.remove_prefix(1 + name.size());
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// For a key that is encrypted. (OpenSSL's own would ask on the terminal.)
int no_passphrase(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

std::string reason_of_openssl() {
  const char* const reason = openssl().ERR_reason_error_string(openssl().ERR_peek_error());
  return reason == nullptr ? "unknown error" : reason;
}

std::unexpected<Error> cannot_use(std::string_view what, const std::string& file, const std::string& reason) {
  return fail(Code::Invalid, "cannot use the " + std::string(what) + " '" + file + "': " + reason);
}

Result<void> check_readable(std::string_view what, const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_use(what, file, std::strerror(errno));
  ::close(descriptor);
  return {};
}

Result<void> use_files(SSL_CTX* context, const std::string& certificate, const std::string& key) {
  PARLEY_CHECK(check_readable("certificate", certificate));
  PARLEY_CHECK(check_readable("key", key));
  openssl().ERR_clear_error();
  if (openssl().SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return cannot_use("certificate", certificate, reason_of_openssl());
  }
  bool is_encrypted = false;
  openssl().SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  openssl().SSL_CTX_set_default_passwd_cb_userdata(context, &is_encrypted);
  const bool is_read = openssl().SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (is_encrypted) return cannot_use("key", key, "it has a passphrase: remove it with 'openssl pkey'");
  const bool is_other = ERR_GET_REASON(openssl().ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH;
  if (!is_read && !is_other) return cannot_use("key", key, reason_of_openssl());
  if (is_other || openssl().SSL_CTX_check_private_key(context) != 1) {  // of the same kind, or of another
    return cannot_use("key", key, "it does not belong to the certificate '" + certificate + "'");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const std::string& certificate,
                                                           const std::string& key) {
  PARLEY_CHECK(load_openssl());
  SSL_CTX* const context = openssl().SSL_CTX_new(openssl().TLS_server_method());
  if (context == nullptr) return fail(Code::Unavailable, "cannot start TLS: " + reason_of_openssl());
  std::shared_ptr<const TlsContext> out(new TlsContext(context));
  openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  openssl().SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // The bytes to write grow while a client does not read. An idle stream keeps no buffers.
  openssl().SSL_CTX_ctrl(
      context, SSL_CTRL_MODE,
      SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS,
      nullptr);
  openssl().SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  PARLEY_CHECK(use_files(context, certificate, key));
  return out;
}

TlsContext::~TlsContext() { openssl().SSL_CTX_free(context_); }

// ---- A stream

TlsStream::TlsStream(const TlsContext& context, int socket) : stream_(openssl().SSL_new(context.context_)) {
  BIO* const bio = stream_ == nullptr ? nullptr : openssl().BIO_new(socket_method());
  if (bio == nullptr) {
    openssl().SSL_free(stream_);
    throw std::bad_alloc();
  }
  openssl().BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  openssl().BIO_set_init(bio, 1);
  openssl().SSL_set_bio(stream_, bio, bio);  // which takes it
  openssl().SSL_set_accept_state(stream_);
}

TlsStream::~TlsStream() { openssl().SSL_free(stream_); }

std::size_t TlsStream::read(std::span<char> buffer, error_code& error) {
  error = {};
  waits_to_write_ = false;
  openssl().ERR_clear_error();
  const int count = openssl().SSL_read(stream_, buffer.data(), static_cast<int>(buffer.size()));
  if (count > 0) return static_cast<std::size_t>(count);
  const int reason = openssl().SSL_get_error(stream_, count);
  waits_to_write_ = reason == SSL_ERROR_WANT_WRITE;
  if (reason == SSL_ERROR_WANT_READ || waits_to_write_) {
    error = boost::asio::error::would_block;
  } else {
    was_plain_http_ = ERR_GET_REASON(openssl().ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    error = boost::asio::error::eof;
  }
  return 0;
}

std::size_t TlsStream::write(std::string_view bytes, error_code& error) {
  error = {};
  openssl().ERR_clear_error();
  const auto size = static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max()));
  const int count = openssl().SSL_write(stream_, bytes.data(), size);
  if (count > 0) return static_cast<std::size_t>(count);
  // After the handshake it never waits for the client to send.
  const bool would_block = openssl().SSL_get_error(stream_, count) == SSL_ERROR_WANT_WRITE;
  error = would_block ? boost::asio::error::would_block : boost::asio::error::connection_reset;
  return 0;
}

bool TlsStream::is_ready() const { return openssl().SSL_is_init_finished(stream_) == 1; }
bool TlsStream::waits_to_write() const { return waits_to_write_; }
bool TlsStream::was_plain_http() const { return was_plain_http_; }

void TlsStream::close() {
  if (std::exchange(is_closed_, true) || !is_ready()) return;
  openssl().ERR_clear_error();
  openssl().SSL_shutdown(stream_);
}

}  // namespace parley::net
