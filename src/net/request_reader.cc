// The head is collected and checked here, byte by byte, before Beast's parser sees it: the parser accepts
// some of what is refused (folded fields, any Transfer-Encoding, several Host fields). The body goes to the
// parser as it comes.
#include "net/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional/optional.hpp>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "net/fields.h"

namespace parley::net {
namespace {

namespace http = boost::beast::http;

// A body that grows as it comes. (Beast's string_body would reserve what Content-Length announces.)
struct GrowingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(http::header<is_request, Fields>& /*head*/, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& /*length*/, boost::system::error_code& error) {
      error = {};
    }
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (const boost::asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};
using Parser = http::request_parser<GrowingBody>;
using Fields = http::fields;

// Follows the lines of a head (REQUEST_READER1).
class HeadScanner {
 public:
  enum class Step { More, End, Bad };

  Step next(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (last_ == '\r' && c != '\n') return Step::Bad;
    if (c == '\n') {
      if (last_ != '\r') return Step::Bad;
      const bool is_blank = std::exchange(length_, 0) == 0;
      if (!std::exchange(is_first_, false) && !is_blank) ++fields_;
      last_ = c;
      return is_blank ? Step::End : Step::More;
    }
    last_ = c;
    if (c == '\r') return Step::More;
    const bool is_folded = length_ == 0 && (c == ' ' || c == '\t');
    if (is_folded || (byte < 0x20 && c != '\t') || byte == 0x7F) return Step::Bad;
    // The request line has no tabs, and nothing but ASCII.
    if (is_first_ && (c == '\t' || byte >= 0x80)) return Step::Bad;
    ++length_;
    return Step::More;
  }

  std::size_t fields() const { return fields_; }

 private:
  char last_ = 0;
  std::size_t length_ = 0;  // of the line so far
  bool is_first_ = true;
  std::size_t fields_ = 0;  // whole ones
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// uri-host [ ":" port ], by its characters.
bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~%!$&'()*+;=:[]").find(c) != std::string_view::npos;
  });
}

bool is_target(std::string_view method, std::string_view target) {
  if (target.find('#') != std::string_view::npos) return false;
  if (target == "*") return method == "OPTIONS";
  return target.starts_with('/') || target.starts_with("http://") || target.starts_with("https://");
}

std::optional<Refusal> refusal_of_host(const Fields& fields, bool is_1_1) {
  const std::size_t hosts = fields.count(http::field::host);
  if (hosts > 1) return Refusal{400, "more than one Host"};
  if (hosts == 0) return is_1_1 ? std::optional(Refusal{400, "missing Host"}) : std::nullopt;
  if (!is_host(fields[http::field::host])) return Refusal{400, "invalid Host"};
  return std::nullopt;
}

std::optional<Refusal> refusal_of_length(const Fields& fields, bool is_1_1) {
  const std::size_t lengths = fields.count(http::field::content_length);
  const std::size_t codings = fields.count(http::field::transfer_encoding);
  if (lengths > 1 || (lengths == 1 && !is_digits(trimmed(fields[http::field::content_length])))) {
    return Refusal{400, "invalid Content-Length"};
  }
  if (codings == 0) return std::nullopt;
  if (lengths > 0) return Refusal{400, "both Content-Length and Transfer-Encoding"};
  const std::string_view coding = trimmed(fields[http::field::transfer_encoding]);
  if (codings == 1 && is_1_1 && same_name(coding, "chunked")) return std::nullopt;
  const bool ends_chunked =
      codings == 1 && is_1_1 && coding.size() > 7 && same_name(coding.substr(coding.size() - 7), "chunked") &&
      std::string_view(", \t").find(coding[coding.size() - 8]) != std::string_view::npos;
  return ends_chunked ? Refusal{501, "unsupported Transfer-Encoding"}
                      : Refusal{400, "invalid Transfer-Encoding"};
}

}  // namespace

struct RequestReader::Parts {
  RequestLimits limits;
  Parser parser;
  HeadScanner scanner;
  std::string head;
  State state = State::Empty;
  Refusal refusal;
  ServerRequest request;
  bool keeps_alive = false;

  explicit Parts(const RequestLimits& its_limits) : limits(its_limits) {
    parser.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
    parser.body_limit(limits.body_bytes);
    parser.eager(true);
  }

  std::size_t refuse(const Refusal& why, std::size_t used) {
    state = State::Refused;
    refusal = why;
    return used;
  }

  std::size_t read_head(std::string_view bytes) {
    std::size_t used = 0;
    if (state == State::Empty) {
      // A client may send an empty line after a body.
      while (bytes.substr(used).starts_with("\r\n")) used += 2;
      if (bytes.substr(used) == "\r" || used == bytes.size()) return used;
      state = State::Head;
    }
    const std::size_t start = used;
    while (used < bytes.size()) {
      if (head.size() + (used - start) == limits.head_bytes) {
        return refuse({431, "the request header is too large"}, used);
      }
      const HeadScanner::Step step = scanner.next(bytes[used++]);
      if (step == HeadScanner::Step::Bad) return refuse({400, "invalid HTTP/1 request"}, used);
      if (scanner.fields() > limits.fields)
        return refuse({431, "the request has too many header fields"}, used);
      if (step == HeadScanner::Step::End) {
        head.append(bytes.substr(start, used - start));
        parse_head();
        return used;
      }
    }
    head.append(bytes.substr(start));
    return used;
  }

  void parse_head() {
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(head), error);
    if (error == http::error::body_limit) {
      refuse({413, "the request body is too large"}, 0);
    } else if ((error && error != http::error::need_more) || !parser.is_header_done() ||
               used != head.size()) {
      refuse({400, "invalid HTTP/1 request"}, 0);
    } else if (const auto bad = refusal_of_head()) {
      refuse(*bad, 0);
    } else {
      take_head();
      state = parser.is_done() ? State::Whole : State::Body;
    }
    head = {};
  }

  std::optional<Refusal> refusal_of_head() const {
    const auto& message = parser.get();
    const bool is_1_1 = message.version() == 11;
    if (!is_1_1 && message.version() != 10) return Refusal{400, "invalid HTTP/1 request"};
    if (!is_target(message.method_string(), message.target())) return Refusal{400, "invalid request target"};
    if (const auto bad = refusal_of_host(message, is_1_1)) return bad;
    return refusal_of_length(message, is_1_1);
  }

  // Before the body, so that fields after it are not taken (REQUEST_READER5).
  void take_head() {
    const auto& message = parser.get();
    request.method = message.method_string();
    keeps_alive = message.keep_alive();
    std::string_view target = message.target();
    // A proxy's form of a target: "http://host/path".
    if (const std::size_t scheme = target.find("://"); !target.starts_with('/') && target != "*") {
      target.remove_prefix(std::min(target.find_first_of("/?", scheme + 3), target.size()));
    }
    const std::size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    if (request.path.empty()) request.path = "/";
    request.query = target.substr(std::min(mark + 1, target.size()));
    for (const auto& field : message) request.headers.push_back({field.name_string(), field.value()});
  }

  std::size_t read_body(std::string_view bytes) {
    std::size_t used = 0;
    while (used < bytes.size()) {
      boost::system::error_code error;
      const std::string_view rest = bytes.substr(used);
      const std::size_t taken = parser.put(boost::asio::buffer(rest), error);
      used += taken;
      if (error == http::error::body_limit) return refuse({413, "the request body is too large"}, used);
      if (error == http::error::header_limit) return refuse({431, "the trailer is too large"}, used);
      if (error && error != http::error::need_more) return refuse({400, "invalid HTTP/1 request"}, used);
      if (parser.is_done()) state = State::Whole;
      if (error || parser.is_done() || taken == 0) break;
    }
    // What is left is the frame of a chunk: its size, and extensions without end.
    if (state == State::Body && bytes.size() - used > limits.head_bytes) {
      return refuse({400, "the frame of a chunk is too large"}, used);
    }
    return used;
  }
};

RequestReader::RequestReader(const RequestLimits& limits) : parts_(std::make_unique<Parts>(limits)) {}
RequestReader::~RequestReader() = default;

std::size_t RequestReader::read(std::string_view bytes) {
  std::size_t used = 0;
  if (parts_->state == State::Empty || parts_->state == State::Head) used = parts_->read_head(bytes);
  if (parts_->state == State::Body && used < bytes.size()) used += parts_->read_body(bytes.substr(used));
  return used;
}

RequestReader::State RequestReader::state() const { return parts_->state; }

Refusal RequestReader::refusal() const {
  assert(parts_->state == State::Refused);
  return parts_->refusal;
}

bool RequestReader::expects_continue() const {
  return parts_->state == State::Body && is_http_1_1() &&
         same_name(parts_->parser.get()[http::field::expect], "100-continue");
}

bool RequestReader::is_head_method() const { return parts_->request.method == "HEAD"; }
bool RequestReader::is_http_1_1() const { return parts_->parser.get().version() == 11; }
bool RequestReader::keeps_alive() const { return parts_->keeps_alive; }
std::size_t RequestReader::body_bytes() const { return parts_->parser.get().body().size(); }

ServerRequest RequestReader::release() {
  assert(parts_->state == State::Whole);
  ServerRequest out = std::move(parts_->request);
  out.body = std::move(parts_->parser.get().body());
  return out;
}

}  // namespace parley::net
