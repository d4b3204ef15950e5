#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parley::net {
namespace {

constexpr std::size_t kHead = 400;
constexpr std::size_t kFields = 10;
constexpr std::size_t kBody = 20;

struct Read {
  RequestReader::State state;
  std::string text;  // "METHOD path?query|body", or "STATUS reason"
  std::string rest;
};

// Reads `bytes`, given in chunks of `size`.
Read read_in_chunks(std::string_view bytes, std::size_t size) {
  RequestReader reader({kHead, kFields, kBody});
  std::string kept;
  std::size_t at = 0;
  const auto is_over = [&] {
    return reader.state() == RequestReader::State::Whole || reader.state() == RequestReader::State::Refused;
  };
  while (at < bytes.size() && !is_over()) {
    kept += bytes.substr(at, size);
    at = std::min(at + size, bytes.size());
    kept.erase(0, reader.read(kept));
  }
  Read out{reader.state(), "", kept + std::string(bytes.substr(at))};
  if (reader.state() == RequestReader::State::Refused) {
    out.text = std::to_string(reader.refusal().status) + " " + std::string(reader.refusal().reason);
    out.rest = "";
  } else if (reader.state() == RequestReader::State::Whole) {
    const ServerRequest request = reader.release();
    out.text = request.method + " " + request.path + "?" + request.query + "|" + request.body;
    for (const Header& header : request.headers) out.text += "|" + header.name + "=" + header.value;
  }
  return out;
}

// The same however the bytes are cut.
Read read(std::string_view bytes) {
  const Read whole = read_in_chunks(bytes, bytes.size());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const Read other = read_in_chunks(bytes, size);
    EXPECT_EQ(other.state, whole.state) << size << ": " << bytes;
    EXPECT_EQ(other.text, whole.text) << size << ": " << bytes;
    EXPECT_EQ(other.rest, whole.rest) << size << ": " << bytes;
  }
  return whole;
}

TEST(RequestReader, ReadsWhatIsAllowed) {
  EXPECT_EQ(read("GET /a?b=c HTTP/1.1\r\nHost: x:80\r\n\r\n").text, "GET /a?b=c||Host=x:80");
  EXPECT_EQ(read("GET / HTTP/1.0\r\n\r\n").text, "GET /?|");
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").text, "OPTIONS *?||Host=x");
  EXPECT_EQ(read("GET http://h/p?q HTTP/1.1\r\nHost: h\r\n\r\n").text, "GET /p?q||Host=h");
  EXPECT_EQ(read("GET http://h HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").text, "GET /?||Host=[::1]:80");
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcd").text,
            "POST /?|abc|Host=x|Content-Length=3");
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcd").rest, "d");
  EXPECT_EQ(read("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nGET").rest, "GET")
      << "empty lines before a request";
  EXPECT_EQ(
      read("P / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\nGET").text,
      "P /?|abc|Host=x|transfer-encoding=Chunked");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: x\r\nX: a\tb \xC3\xA9\r\n\r\n").text,
            "GET /?||Host=x|X=a\tb \xC3\xA9");
}

// REQUEST_READER1..REQUEST_READER4: what two servers in a row could read in two ways.
TEST(RequestReader, RefusesWhatRfc9112Forbids) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GET / HTTP/1.1\r\n\r\n", "400 missing Host"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 more than one Host"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 more than one Host"},
      {"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400 invalid Host"},
      {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "400 invalid Host"},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 invalid Host"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
       "501 unsupported Transfer-Encoding"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", "400 invalid Transfer-Encoding"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
       "400 invalid Transfer-Encoding"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", "400 invalid Transfer-Encoding"},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 invalid Transfer-Encoding"},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7, 7\r\n\r\n1234567", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\nContent-Length: 7\r\n\r\n1234567", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\nContent-Length: 8\r\n\r\n1234567", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +7\r\n\r\n1234567", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x7\r\n\r\n1234567", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", "400 invalid"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400 "},
      {"GET / HTTP/1.1\nHost: x\n\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\nHost: x\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\nHost: x\r\rA: b\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", "400 invalid HTTP/1 request"},
      {std::string("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", 35), "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\x7F\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid request target"},
      {"GET * HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid request target"},
      {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid request target"},
      {"GET a HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid request target"},
      {"GET /\xC3\xA9 HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET / x HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", "400 invalid HTTP/1 request"},
      {"P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", "400 "},
      {"P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n", "400 "},
      {"P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", "400 "},
      {"P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", "400 "},
      {"P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n", "400 "},
  };
  for (const auto& [bytes, expected] : cases) {
    const Read got = read(bytes);
    EXPECT_EQ(got.state, RequestReader::State::Refused) << bytes;
    EXPECT_TRUE(got.text.starts_with(expected)) << bytes << "\n" << got.text;
  }
}

// REQUEST_READER5
TEST(RequestReader, DropsFieldsAfterAChunkedBody) {
  const Read got = read(
      "P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Admin: yes\r\n\r\nGET");
  EXPECT_EQ(got.text, "P /?|a|Host=x|Transfer-Encoding=chunked");
  EXPECT_EQ(got.rest, "GET");
}

// REQUEST_READER6
TEST(RequestReader, RefusesTooManyFields) {
  std::string request = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (std::size_t i = 1; i < kFields; ++i) request += "A: b\r\n";
  EXPECT_TRUE(read(request + "\r\n").text.starts_with("GET /?||Host=x|A=b"));
  EXPECT_EQ(read(request + "A: b\r\n\r\n").text, "431 the request has too many header fields");
}

// REQUEST_READER6
TEST(RequestReader, RefusesWhatIsOverALimit) {
  const auto head = [](std::size_t size) {
    std::string text = "GET / HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n";
    return text.insert(text.size() - 4, size - text.size(), 'x');
  };
  EXPECT_EQ(read(head(kHead)).state, RequestReader::State::Whole);
  EXPECT_EQ(read(head(kHead + 1)).text, "431 the request header is too large");
  EXPECT_EQ(read(std::string(kHead + 1, 'x')).text, "431 the request header is too large");
  const auto body = [](std::size_t size) {
    return "P / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
  };
  EXPECT_EQ(read(body(kBody)).state, RequestReader::State::Whole);
  EXPECT_EQ(read(body(kBody + 1)).text, "413 the request body is too large");
  const std::string chunked = "P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read(chunked + "14\r\n" + std::string(20, 'x') + "\r\n0\r\n\r\n").state,
            RequestReader::State::Whole);
  EXPECT_EQ(read(chunked + "a\r\n" + std::string(10, 'x') + "\r\nb\r\n" + std::string(11, 'x') + "\r\n").text,
            "413 the request body is too large");
}

// REQUEST_READER6: the extensions of a chunk have no limit of their own.
TEST(RequestReader, RefusesTheFrameOfAChunkThatDoesNotEnd) {
  RequestReader reader({kHead, kFields, kBody});
  std::string kept = "P / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;";
  for (std::size_t i = 0; i < 2 * kHead && reader.state() != RequestReader::State::Refused; ++i) {
    kept.erase(0, reader.read(kept));
    kept += 'x';
  }
  ASSERT_EQ(reader.state(), RequestReader::State::Refused);
  EXPECT_EQ(reader.refusal().reason, "the frame of a chunk is too large");
}

// REQUEST_READER6
TEST(RequestReader, ReservesNothingForABodyThatIsAnnounced) {
  constexpr std::size_t kLarge = std::size_t{1} << 40;  // more than there is
  RequestReader reader({kHead, kFields, kLarge});
  reader.read("P / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\nabc");
  EXPECT_EQ(reader.state(), RequestReader::State::Body);
}

TEST(RequestReader, KnowsWhatTheClientExpects) {
  RequestReader reader({kHead, kFields, kBody});
  EXPECT_EQ(reader.state(), RequestReader::State::Empty);
  reader.read(
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reader.state(), RequestReader::State::Body);
  EXPECT_TRUE(reader.expects_continue());
  EXPECT_FALSE(reader.keeps_alive());
  EXPECT_TRUE(reader.is_http_1_1());
  EXPECT_FALSE(reader.is_head_method());
}

}  // namespace
}  // namespace parley::net
