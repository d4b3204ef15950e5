// The head of a response, and the responses that a server gives by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/request_reader.h"
#include "parley/net/http.h"

namespace parley::net {

// False for the statuses whose responses never have a body (1xx, 204, 304).
bool may_have_body(int status);

// True if the headers cannot split a response.
bool are_headers(const std::vector<Header>& headers);

// The status line, the headers without those of the framing, `framing` (whole lines) and the blank line.
std::string head_of(int status, const std::vector<Header>& headers, std::string_view framing);

// "Content-Length: 12\r\n"
std::string length_line(std::size_t length);

// A response that ends the connection, as `make` says (ServerOptions::refusal), or a plain text; with
// Retry-After if it is a 503.
std::string refusal_response(const Refusal& refusal, const RefusalMaker& make);

// The frame of one chunk of a chunked body, around `chunk`.
void append_chunk(std::string& out, std::string_view chunk);

}  // namespace parley::net
