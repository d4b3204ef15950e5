// Reads HTTP/1 requests from bytes, without I/O, and refuses what RFC 9112 forbids. Two servers in a row must
// never disagree about where a request ends.
//
// Invariants (quoted by tests as REQUEST_READER1..REQUEST_READER6):
//   REQUEST_READER1  Lines end with CR LF. A CR or LF alone, another control character, and a line that
//                    begins with a space or a tab (a folded field) are refused as soon as they arrive.
//   REQUEST_READER2  HTTP/1.1 needs exactly one Host, which has the form of one. HTTP/1.0 may have one.
//   REQUEST_READER3  The length of a body is Content-Length, one field of digits only; or
//                    Transfer-Encoding, one field that is "chunked", in HTTP/1.1; or none. Both together
//                    are refused.
//   REQUEST_READER4  The target is a path, an http URL, or "*" of OPTIONS, in visible ASCII without a
//                    '#'.
//   REQUEST_READER5  Fields after a chunked body are dropped: they never become headers.
//   REQUEST_READER6  A head, its number of fields, a body and the frame of a chunk over their limits are
//                    refused, and what is over is not kept. A body takes no more memory than has arrived
//                    of it.
//
// The grammar of fields and chunks is read by Boost.Beast's parser. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "parley/net/async_server.h"

namespace parley::net {

// Why a request is refused; the connection ends then.
struct Refusal {
  int status = 400;
  std::string_view reason;
};

struct RequestLimits {
  std::size_t head_bytes;
  std::size_t fields;
  std::size_t body_bytes;
};

class RequestReader {
 public:
  explicit RequestReader(const RequestLimits& limits);
  ~RequestReader();

  enum class State { Empty, Head, Body, Whole, Refused };

  // Reads from the start of `bytes` and returns how many it used: all of them, unless the request is whole or
  // refused, or a chunk's frame is incomplete (give these bytes again with more).
  std::size_t read(std::string_view bytes);

  State state() const;
  Refusal refusal() const;        // REQUIRES: Refused
  bool expects_continue() const;  // the client waits for "100 Continue" before it sends its body
  // Of a request whose head is read.
  bool is_head_method() const;
  bool is_http_1_1() const;
  bool keeps_alive() const;
  std::size_t body_bytes() const;  // that have arrived

  ServerRequest release();  // REQUIRES: Whole

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parley::net
