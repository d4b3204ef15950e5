// The server's side of TLS, on a socket that does not block. TLS 1.2 and later, as the system's OpenSSL
// allows it; HTTP/1 if the client asks which protocol is spoken.
//
// A TlsContext is immutable and safe from any thread; a TlsStream is for one thread.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"

struct ssl_ctx_st;  // OpenSSL's
struct ssl_st;

namespace parley::net {

// A certificate and its key.
class TlsContext {
 public:
  // Reads PEM files: the certificate with those between it and its root, and its key, without a passphrase.
  // Fails with Invalid, naming the file and the reason; with NotFound if the program has no OpenSSL.
  static Result<std::shared_ptr<const TlsContext>> load(const std::string& certificate,
                                                        const std::string& key);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

 private:
  friend class TlsStream;
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

class TlsStream {
 public:
  // `socket` outlives it.
  TlsStream(const TlsContext& context, int socket);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream();

  // As those of a socket that does not block. read() also makes the handshake, and gives eof if the client
  // ends.
  std::size_t read(std::span<char> buffer, boost::system::error_code& error);
  std::size_t write(std::string_view bytes, boost::system::error_code& error);

  bool is_ready() const;        // the handshake is done
  bool waits_to_write() const;  // read() would block because the socket cannot take bytes
  bool was_plain_http() const;  // read() failed because the client does not speak TLS
  void close();                 // says that nothing follows

 private:
  ssl_st* stream_;
  bool waits_to_write_ = false;
  bool was_plain_http_ = false;
  bool is_closed_ = false;
};

}  // namespace parley::net
