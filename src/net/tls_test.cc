// What the client makes of certificates, with the server that OpenSSL's own command is.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "net/certificate_testing.h"
#include "net/child_testing.h"
#include "parley/net/http.h"

namespace parley::net {
namespace {

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    // It ends after one connection, and only then is sure to have written all that it says.
    server_.emplace(std::vector<std::string>{"openssl", "s_server", "-accept", "127.0.0.1:0", "-key",
                                             made_.key(), "-cert", made_.certificate(), "-www", "-alpn",
                                             "http/1.1", "-naccept", "1"});
    const std::string place = server_->line("ACCEPT ");
    ASSERT_FALSE(place.empty());
    request_.url = parse_url("https://" + place + "/").value();
  }

  Request request_;
  TestCertificate made_;
  std::optional<Child> server_;
};

// HTTP10
TEST_F(Tls, RefusesAnUntrustedCertificate) {
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
  EXPECT_EQ(response.error().message, "the certificate of 127.0.0.1 is not trusted");
}

// HTTP10
TEST_F(Tls, TakesACertificateThatTheFileNames) {
  request_.ca_file = made_.certificate();
  const auto response = send(request_);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(server_->line("ALPN protocols advertised by the client: "), "h2, http/1.1")
      << "HTTP/2 is offered";
}

// HTTP10
TEST_F(Tls, RefusesACertificateForAnotherName) {
  request_.ca_file = made_.certificate();
  request_.addresses = {*request_.url.address};
  Url other = parse_url("https://other.example/").value();
  other.port = request_.url.port;
  request_.url = other;
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message, "the certificate of other.example is not trusted");
}

TEST_F(Tls, RefusesAnInvalidCertificateFile) {
  request_.ca_file = made_.key() + ".missing";
  const auto response = send(request_);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Invalid);
}

}  // namespace
}  // namespace parley::net
